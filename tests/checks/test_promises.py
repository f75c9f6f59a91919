"""Shows that the scripts which compare promises with what happens notice a broken one."""
import sys

from check_case import REPOSITORY, SCRIPTS, CheckTest

sys.path.insert(0, str(SCRIPTS))
from check_conformance import FAMILIES  # noqa: E402  (the path above must come first)


class Conformance(CheckTest):
    def check(self, row, case, reason=None):
        """All rows n/a but FT-001, which is `row`; one test result, `case`."""
        rows = [f"| {family}-{i:03} | n/a | no threads there |" for family, count in FAMILIES.items()
                for i in range(1, count + 1)]
        rows[0] = row
        arguments = [self.root, self.write("conformance.md", "\n".join(rows))]
        self.write("nested/a.xml", f"<testsuites><testsuite>{case}</testsuite></testsuites>")
        if reason:
            self.refuses("check_conformance.py", reason, *arguments)
        else:
            self.accepts("check_conformance.py", *arguments)

    ROW = "| FT-001 | tested | `future.FT_001_holds_a_value` |"
    RAN = 'status="run" result="completed"'
    PASSED = f'<testcase classname="future" name="FT_001_holds_a_value" {RAN}/>'
    FAILED = PASSED.replace("/>", "><failure/></testcase>")
    INSTANCE = f'<testcase classname="all/future" name="FT_001_holds_a_value/3" value_param="3" {RAN}/>'

    def test_accepts_a_test_that_passed(self):
        self.check(self.ROW, self.PASSED)
        self.check(self.ROW.replace("tested", "better"), self.INSTANCE)
        self.check(self.ROW, self.PASSED.replace('"future"', '"future/0" type_param="int"'))

    def test_compares_an_instance_that_a_row_names(self):
        row = self.ROW.replace("value`", "value/3`")
        self.check(row, self.INSTANCE + self.INSTANCE.replace("/3", "/4").replace("/>", "><failure/></testcase>"))
        self.check(row, self.INSTANCE.replace("/3", "/4"), "value/3 did not run")
        self.check(row, self.INSTANCE.replace("/>", "><failure/></testcase>"), "value/3 failed or was skipped")

    def test_refuses_a_test_that_did_not_pass(self):
        self.check(self.ROW, "", "did not run")
        self.check(self.ROW, self.FAILED, "failed or was skipped")
        self.check(self.ROW, self.PASSED.replace("completed", "skipped"), "failed or was skipped")
        self.check(self.ROW, self.PASSED.replace('"run"', '"notrun"'), "failed or was skipped")
        self.check(self.ROW, self.INSTANCE + self.INSTANCE.replace("/>", "><failure/></testcase>"),
                   "failed or was skipped")

    def test_refuses_a_test_of_another_row(self):
        self.check(self.ROW.replace("FT_001", "FT_0011"), self.PASSED, "does not contain FT_001")

    def test_refuses_missing_doubled_and_unknown_rows(self):
        self.check("", self.PASSED, "FT-001: missing")
        self.check(f"{self.ROW}\n{self.ROW}", self.PASSED, "FT-001: appears twice")
        self.check(f"{self.ROW}\n| FT-031 | n/a | none |", self.PASSED, "FT-031: no such row")

    def test_refuses_rows_that_say_nothing(self):
        self.check("| FT-001 | n/a | - |", self.PASSED, "needs a reason")
        self.check("| FT-001 | tested | soon |", self.PASSED, "names no test")
        self.check("| FT-001 | done | `x` |", self.PASSED, "unknown status 'done'")


class Example(CheckTest):
    def outcome(self, promise, program):
        source = self.write("a.cpp", f"// Shows a thing.\n{promise}\n")
        executable = self.write("a", f"#!{sys.executable}\n{program}\n")
        executable.chmod(0o755)
        return self.run_script(SCRIPTS / "run_example.py", source, executable)[0]

    def test_compares_exit_code_and_output(self):
        self.assertEqual(self.outcome("// prints: ^h.llo$", "print('1\\nhello')"), 0)
        self.assertEqual(self.outcome("// prints: hello", "print('goodbye')"), 1)
        self.assertEqual(self.outcome("// prints: hello", "print('hello'); exit(3)"), 1)
        self.assertEqual(self.outcome("// says: hello", "print('hello')"), 1)


class Snippet(CheckTest):
    SCRIPT = REPOSITORY / "tests" / "must_not_compile" / "check_snippet.py"

    def outcome(self, first_line, compiler_message=None):
        """With a compiler that fails with the message, or succeeds if there is none."""
        snippet = self.write("a.cpp", f"{first_line}\n")
        compiler = self.write("compiler.py", f"exit({compiler_message!r})\n")
        return self.run_script(self.SCRIPT, snippet, sys.executable, compiler)[0]

    def test_must_fail_for_the_stated_reason(self):
        self.assertEqual(self.outcome("// expect: not cop(y|ied)", "error: not copyable"), 0)
        self.assertEqual(self.outcome("// expect: not copyable", "error: no such header"), 1)
        self.assertEqual(self.outcome("// expect: not copyable"), 1)

    def test_flags_of_the_second_line_reach_the_compiler(self):
        snippet = self.write("a.cpp", "// expect: -fno-rtti -O1 -S\n// flags: -fno-rtti -O1\n")
        compiler = self.write("compiler.py", "import sys; exit(' '.join(sys.argv))\n")
        self.assertEqual(self.run_script(self.SCRIPT, snippet, sys.executable, compiler)[0], 0)

    def test_control_must_compile(self):
        self.assertEqual(self.outcome("// compiles"), 0)
        self.assertEqual(self.outcome("// compiles", "error: no such header"), 1)

    def test_first_line_must_demand_something(self):
        self.assertEqual(self.outcome("int x;", "error"), 1)

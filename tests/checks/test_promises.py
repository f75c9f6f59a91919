"""Shows that the scripts which compare promises with what happens notice a broken one."""
import sys

from check_case import REPOSITORY, SCRIPTS, CheckTest


class Conformance(CheckTest):
    """A repository with a table of two rows, a test for the first and a reason for the second."""
    TABLE = '''[[family]]
id = "FT"
title = "FutureTask"
rows = 2
[family.left_out]
"no security manager here" = [2]
'''
    TEST = "TEST(future, FT_001_holds_a_value) {}\n"
    ROW = "| FT-001 | tested | `future.FT_001_holds_a_value` |"
    PAGE = "docs/conformance.md"
    RAN = 'status="run" result="completed"'
    PASSED = f'<testcase classname="future" name="FT_001_holds_a_value" {RAN}/>'
    FAILED = PASSED.replace("/>", "><failure/></testcase>")
    INSTANCE = f'<testcase classname="all/future" name="FT_001_holds_a_value/3" value_param="3" {RAN}/>'

    def setUp(self):
        super().setUp()
        self.tree()

    def tree(self, table=TABLE, tests=TEST):
        self.write("tests/conformance.toml", table)
        self.write("tests/unit/a_test.cpp", tests)
        self.write(self.PAGE, "")

    def page(self):
        """The page as --write makes it."""
        self.accepts("check_conformance.py", "--write", self.root)
        return (self.root / self.PAGE).read_text(encoding="utf-8")

    def with_results(self, case):
        """The check of a page that is up to date, with one test result."""
        self.page()
        self.write("results/nested/a.xml", f"<testsuites><testsuite>{case}</testsuite></testsuites>")
        return ["--results", self.root / "results", self.root]

    def test_writes_every_row_and_counts_them(self):
        page = self.page()
        self.assertIn(f"{self.ROW}\n| FT-002 | n/a | no security manager here |\n", page)
        self.assertIn("| FutureTask (FT) | 2 | 1 | 0 | 1 |\n| all | 2 | 1 | 0 | 1 |\n", page)
        self.accepts("check_conformance.py")
        self.tree(self.TABLE.replace("rows = 2", "rows = 2\nbetter = [1]\nnote = 'Both modes.'"))
        self.assertIn(self.ROW.replace("tested", "better"), self.page())
        self.assertIn("\nBoth modes.\n", self.page())

    def test_a_test_may_back_several_rows_and_several_tests_one_row(self):
        self.tree(self.TABLE.replace("rows = 2", "rows = 3"),
                  "TYPED_TEST(queue,\n           FT_001_FT_003_is_empty_at_first) {}\n" + self.TEST)
        page = self.page()
        self.assertIn("| FT-001 | tested | `queue.FT_001_FT_003_is_empty_at_first`, `future.FT_001_holds_a_value` |", page)
        self.assertIn("| FT-003 | tested | `queue.FT_001_FT_003_is_empty_at_first` |", page)

    def test_refuses_a_stale_page(self):
        self.refuses("check_conformance.py", "docs/conformance.md:1: stale")  # still empty
        page = self.page()
        line = page.splitlines().index(self.ROW) + 1
        self.write("tests/unit/a_test.cpp", self.TEST.replace("holds", "keeps"))
        self.refuses("check_conformance.py", f"docs/conformance.md:{line}: stale: the tests say "
                                             "'| FT-001 | tested | `future.FT_001_keeps_a_value` |'; run")
        self.write("tests/unit/b_test.cpp", "TEST_F(future, FT_001_again_in_another_file) {}\n")
        self.refuses("check_conformance.py", f"docs/conformance.md:{line}: stale")
        self.page()
        self.accepts("check_conformance.py")

    def test_refuses_a_page_that_was_changed_by_hand(self):
        page = self.page()
        for edited in (page.replace("no security", "no"), page.replace(self.ROW + "\n", ""), page + "more\n"):
            self.write(self.PAGE, edited)
            self.refuses("check_conformance.py", "stale")

    def test_refuses_a_row_without_a_test_and_a_reason(self):
        self.tree(tests="// TEST(future, FT_001_in_a_comment) {}\n")
        self.refuses("check_conformance.py", "FT-001: no test carries this ID")
        self.refuses("check_conformance.py", "FT-001: no test carries this ID", "--write", self.root)

    def test_refuses_a_row_that_is_left_out_and_tested(self):
        self.tree(tests=self.TEST + "TEST(future, FT_002_is_secure) {}\n")
        self.refuses("check_conformance.py", "FT-002: left out, but future.FT_002_is_secure tests it")

    def test_refuses_unknown_and_doubled_rows(self):
        self.tree(tests=self.TEST + "TEST(future, FT_003_too_many) {}\n")
        self.refuses("check_conformance.py", "future.FT_003_too_many: no row FT-003")
        self.tree(self.TABLE.replace("[2]", "[2, 3]"))
        self.refuses("check_conformance.py", "FT-003: no such row")
        self.tree(self.TABLE.replace("rows = 2", "rows = 2\nbetter = [2]"))
        self.refuses("check_conformance.py", "FT-002: appears twice")

    def test_refuses_a_reason_that_says_nothing(self):
        self.tree(self.TABLE.replace("no security manager here", "-"))
        self.refuses("check_conformance.py", "'-' is no reason")

    def test_accepts_a_test_that_passed(self):
        for case in (self.PASSED, self.INSTANCE, self.PASSED.replace('"future"', '"future/0" type_param="int"')):
            self.accepts("check_conformance.py", *self.with_results(case))

    def test_refuses_a_test_that_did_not_pass(self):
        for case, reason in (
                ("", "did not run"), (self.FAILED, "failed or was skipped"),
                (self.PASSED.replace("completed", "skipped"), "failed or was skipped"),
                (self.PASSED.replace('"run"', '"notrun"'), "failed or was skipped"),
                (self.INSTANCE + self.INSTANCE.replace("/>", "><failure/></testcase>"), "failed or was skipped")):
            self.refuses("check_conformance.py", f"FT-001: future.FT_001_holds_a_value {reason}", *self.with_results(case))


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

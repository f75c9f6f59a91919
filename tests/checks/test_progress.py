"""Shows that ./run and ./test tell how far they have come, ./test how long it took, and that ./run
builds only what it runs."""
import os
import re
import shutil
import subprocess
import unittest

from check_case import REPOSITORY, SCRIPTS, CheckTest


class Progress(CheckTest):
    def build(self, fake_cmake, call="build_preset dev"):
        """build_preset with a program in the place of CMake, in an empty folder."""
        cmake = self.write("bin/cmake", f"#!/bin/bash\n{fake_cmake}\n")
        cmake.chmod(0o755)
        path = f"{cmake.parent}:{os.environ['PATH']}"
        result = subprocess.run(["bash", "-c", f"set -euo pipefail; source {SCRIPTS}/lib.sh; {call}"], text=True,
                                cwd=self.root, env={**os.environ, "PATH": path}, check=False,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return result.returncode, result.stdout

    def test_a_build_shows_each_tenth_of_its_way(self):
        code, output = self.build('for i in {1..200}; do echo "[$i/200] Building CXX object $i"; done')
        self.assertEqual(code, 0, output)
        self.assertIn("dev: 20 of 200, 10 %\n", output)
        self.assertIn("dev: 200 of 200, 100 %\n", output)
        self.assertLess(output.count("\n"), 20)
        self.assertIn("object 77\n", (self.root / "build/dev/build.log").read_text(encoding="utf-8"))

    def test_the_tests_show_each_tenth_of_their_way(self):
        code, output = self.build("", 'printf " 5/10 Test #5: a ...\\n" | show_progress tsan log')
        self.assertEqual(code, 0, output)
        self.assertEqual(output, "    tsan: 5 of 10, 50 %\n")

    def test_a_build_that_fails_shows_its_last_lines_and_ends_the_script(self):
        code, output = self.build('echo "[1/2] Building"; echo "error: no such thing" >&2; exit 3')
        self.assertEqual(code, 1, output)
        self.assertIn("error: no such thing", output)
        self.assertIn("dev: the build failed", output)

    def test_a_build_is_limited_to_the_targets_that_are_named(self):
        code, output = self.build('echo "$@" >>calls', "targets=(one two); build_preset dev")
        self.assertEqual(code, 0, output)
        calls = (self.root / "calls").read_text(encoding="utf-8")
        self.assertRegex(calls, r"--build --preset dev --parallel \d+ --target one two\n")

    def test_run_names_a_target_for_everything_that_it_runs(self):
        choices = re.findall(r"^    (\w+)\) (.*)$", (REPOSITORY / "run").read_text(encoding="utf-8"), re.M)
        self.assertGreaterEqual(len(choices), 4)
        for name, action in choices:
            self.assertRegex(action, r"targets=\(\S+\)", name)


class Times(CheckTest):
    """./test in a repository of its own, with programs that only pretend to build and to test."""
    SUMMARY = "100% tests passed, 0 tests failed out of 2\n\nTotal Test time (real) =   0.01 sec\n"

    def setUp(self):
        super().setUp()
        shutil.copy(REPOSITORY / "test", self.root)
        self.write("scripts/lib.sh", (SCRIPTS / "lib.sh").read_text(encoding="utf-8"))
        self.program("scripts/tidy", "echo tidy: no finding")
        (self.root / "build/browser/node_modules/playwright-core").mkdir(parents=True)
        self.program("bin/dpkg", "echo Status: install ok installed")
        self.program("bin/setarch", 'shift 2; exec "$@"')
        for name in ("cmake", "g++", "ninja", "pkg-config", "clang-format", "clang-19", "ld.lld-19", "llvm-symbolizer-19",
                     "chromium", "nodejs", "npm"):
            self.program(f"bin/{name}", "exit 0")

    def program(self, name, text):
        self.write(name, f"#!/bin/bash\n{text}\n").chmod(0o755)

    def run_test(self, *arguments, summary=SUMMARY, code=0):
        self.program("bin/ctest", f"printf '1/2 Test #1: a ...\\n2/2 Test #2: b ...\\n\\n'; printf '%s' '{summary}'\n"
                     'mkdir -p "build/$2/Testing/Temporary"; echo "[  PASSED  ] 7 tests." >"build/$2/Testing/Temporary/LastTest.log"\n'
                     f"exit {code}")
        done = subprocess.run([self.root / "test", *arguments], text=True, check=False,
                              env={**os.environ, "PATH": f"{self.root}/bin:{os.environ['PATH']}"},
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode, done.stdout

    def test_every_stage_says_how_long_it_took_and_how_long_all_did(self):
        code, output = self.run_test()
        self.assertEqual(code, 0, output)
        said = re.findall(r"^==> (\w+): the stage took \d+ s; \d+ s since \./test began$", output, re.M)
        self.assertEqual(said, ["asan", "tsan", "static", "dev"])
        self.assertIn("tsan: 7 tests in these programs passed\n", output)

    def test_the_summary_of_ctest_stays_last(self):
        code, output = self.run_test("--quick")
        self.assertEqual(code, 0, output)
        self.assertRegex(output, r"2/2 Test #2: b \.\.\.\n\n==> dev: the stage took .*\n100% tests passed")
        self.assertTrue(output.endswith(self.SUMMARY), output)

    def test_a_stage_that_fails_still_fails(self):
        failed = "50% tests passed, 1 tests failed out of 2\n\nThe following tests FAILED:\n\t1 - a (Failed)\n"
        code, output = self.run_test("--only", "dev", summary=failed, code=8)
        self.assertEqual(code, 1, output)
        self.assertTrue(output.endswith(failed + "error: stage dev failed\n"), output)


if __name__ == "__main__":
    unittest.main()

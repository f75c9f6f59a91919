"""Shows that ./run and ./test tell how far they have come, and that ./run builds only what it runs."""
import os
import re
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


if __name__ == "__main__":
    unittest.main()

"""A temporary repository to break, and a way to run a script on it."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
SCRIPTS = REPOSITORY / "scripts"


class CheckTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def run_script(self, script, *arguments):
        result = subprocess.run([sys.executable, "-B", script, *arguments], text=True, check=False,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return result.returncode, result.stdout

    def accepts(self, script, *arguments):
        code, output = self.run_script(SCRIPTS / script, *(arguments or [self.root]))
        self.assertEqual(code, 0, output)

    def refuses(self, script, reason, *arguments):
        code, output = self.run_script(SCRIPTS / script, *(arguments or [self.root]))
        self.assertEqual(code, 1, output)
        self.assertIn(reason, output)

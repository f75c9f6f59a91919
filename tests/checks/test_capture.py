"""Shows that the moving pictures of the terminal show what a program printed."""
import sys
import unittest
import xml.etree.ElementTree as ElementTree

from check_case import REPOSITORY, CheckTest

sys.path.insert(0, str(REPOSITORY / "tools"))
import capture  # noqa: E402  (the path above must come first)


def words(lines):
    return ["".join(text for _, text in line) for line in lines]


class Pictures(unittest.TestCase):
    def test_the_lab_is_shown_by_the_last_rows_of_its_screen(self):
        screen = "".join(f"row {i}\r\n" for i in range(30))
        shots = list(capture.pictures(capture.SHOWS["lab"], [(0.0, screen), (0.1, "too soon\n"), (0.9, "end")]))
        self.assertEqual([when for when, _ in shots], [0.0, 0.9, 0.9])
        self.assertEqual(words(shots[0][1]), [f"row {i}" for i in range(11, 30)] + [""])
        self.assertEqual(words(shots[-1][1])[-2:], ["too soon", "end"])

    def test_the_tour_is_shown_by_the_rows_that_it_redraws_and_then_by_its_summary(self):
        first = "".join(f"old {i}\n" for i in range(10))
        again = "\x1b[10A" + "".join(f"\x1b[K\x1b[32mnew {i}\x1b[0m\n" for i in range(10))
        shots = list(capture.pictures(capture.SHOWS["tour"], [(0.0, "old"), (0.5, first), (1.0, again), (1.1, "summary")]))
        self.assertEqual(len(shots), 3)  # the first piece was not a whole screen
        self.assertEqual(words(shots[1][1]), [f"new {i}" for i in range(9)] + ["new 9"])
        self.assertEqual(shots[1][1][0], [("32", "new 0")])
        self.assertEqual(words(shots[2][1]), ["summary"])

    def test_blocks_become_shapes_and_words_stay_words(self):
        self.assertEqual(capture.draw([("32", "\u2588\u2588\u2584"), ("0", " a < b")]),
                         '<path fill="#57ab5a" d="M16.0 17v-14.0h16.8V17zM32.8 17v-7.0h8.4V17z"/>'
                         '<text x="49.6" y="15" fill="#e6edf3" textLength="42.0">a &lt; b</text>')


class Program(CheckTest):
    def capture(self, kind):
        """A script that prints its arguments, captured."""
        script = self.write("program", '#!/bin/bash\nfor i in {1..12}; do echo "called with: $*"; done\n')
        script.chmod(0o755)
        return self.run_script(REPOSITORY / "tools" / "capture.py", kind, script, self.root / "picture.svg")

    def test_runs_the_program_and_writes_the_picture(self):
        for kind, said in (("lab", "called with: lab demo --report report.html"), ("tour", "called with:")):
            code, output = self.capture(kind)
            self.assertEqual(code, 0, output)
            svg = (self.root / "picture.svg").read_text(encoding="utf-8")
            self.assertIn(f">{said}</text>", svg)
            ElementTree.fromstring(svg)

    def test_refuses_an_unknown_kind_with_the_usage(self):
        code, output = self.capture("film")
        self.assertEqual(code, 1)
        self.assertIn("usage: capture.py lab", output)


if __name__ == "__main__":
    unittest.main()

"""Runs a program of Spool on a terminal of its own and makes a moving picture for the documents.

usage: capture.py lab  <spool>      <picture.svg>
       capture.py tour <spool-tour> <picture.svg>
"""
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from fcntl import ioctl
from pathlib import Path
from termios import TIOCSWINSZ
from xml.sax.saxutils import escape

CELL, MARGIN = 8.4, 16
COLOURS = {"0": "#e6edf3", "1": "#ffffff", "2": "#7d8590", "31": "#f47067", "32": "#57ab5a", "33": "#e0a526",
           "34": "#539bf5", "36": "#39c5cf"}
BLOCKS = "\u2581\u2582\u2583\u2584\u2585\u2586\u2587\u2588"  # an eighth of a cell, two eighths, ...
CODE = re.compile(r"\x1b\[\??(\d*)([a-zA-Z])")


@dataclass(frozen=True)
class Show:
    """What to run, and how its screen becomes pictures."""
    arguments: tuple
    columns: int
    rows: int
    line: int  # height of a row
    seconds_per_picture: float
    seconds_at_the_end: float
    # The rows that the program redraws, above a summary. 0: pictures show the last rows.
    live_rows: int = 0

    def picture(self, screen, row):
        """The rows to show while the program runs; None if they are not complete yet."""
        if self.live_rows == 0:
            return screen[-self.rows:]
        return screen[:self.live_rows] if row >= self.live_rows else None

    def last_picture(self, screen):
        return screen[self.live_rows:] if self.live_rows else screen[-self.rows:]


SHOWS = {
    "lab": Show(("lab", "demo", "--report", "report.html"), 92, 20, 19, 0.5, 8),
    "tour": Show((), 80, 14, 20, 0.4, 6, live_rows=10),
}


def record(show, program):
    """The output as (seconds, text) pieces."""
    master, slave = pty.openpty()
    ioctl(slave, TIOCSWINSZ, struct.pack("HHHH", show.rows + 2, show.columns, 0, 0))
    begin, pieces = time.monotonic(), []
    environment = {**os.environ, "TERM": "xterm", "LC_ALL": "C.UTF-8", "NO_COLOR": ""}
    with tempfile.TemporaryDirectory() as folder:
        with subprocess.Popen([Path(program).resolve(), *show.arguments], stdout=slave, env=environment, cwd=folder):
            os.close(slave)
            while True:
                try:
                    pieces.append((time.monotonic() - begin, os.read(master, 65536).decode(errors="ignore")))
                except OSError:  # the program has ended
                    return pieces


def pictures(show, pieces):
    """Yields (seconds, lines) whenever enough time has passed, and at the end.

    A line is a list of (colour, text)."""
    screen, row, colour, last = [[]], 0, "0", -1.0
    for when, text in pieces:
        for part in re.split(r"(\x1b\[\??\d*[a-zA-Z]|\n)", text.replace("\r", "")):
            code = CODE.fullmatch(part)
            if part == "\n":
                row += 1
                screen += [[]] if row == len(screen) else []
            elif code and code[2] == "A":
                row -= int(code[1])
            elif code and code[2] == "K":
                screen[row] = []
            elif code and code[2] == "m":
                colour = code[1]
            elif part and not code:
                screen[row].append((colour, part))
        shown = show.picture(screen, row)
        if shown is not None and when - last >= show.seconds_per_picture:
            last = when
            yield when, [list(line) for line in shown]
    yield pieces[-1][0], show.last_picture(screen)


def draw(line):
    """One line as SVG. Blocks become shapes, so that no font decides how they look."""
    out, column = [], 0
    for colour, text in line:
        for run in re.findall(f"[{BLOCKS}]+|[^{BLOCKS}]+", text):
            x, fill = MARGIN + column * CELL, COLOURS[colour]
            if run[0] in BLOCKS:
                cells = re.finditer(r"(.)\1*", run)
                shapes = "".join(f"M{x + c.start() * CELL:.1f} 17v-{(BLOCKS.index(c[1]) + 1) * 1.75:.1f}"
                                 f"h{len(c[0]) * CELL:.1f}V17z" for c in cells)
                out.append(f'<path fill="{fill}" d="{shapes}"/>')
            elif run.strip():
                start, words = x + (len(run) - len(run.lstrip())) * CELL, run.strip()
                out.append(f'<text x="{start:.1f}" y="15" fill="{fill}" textLength="{len(words) * CELL:.1f}">'
                           f"{escape(words)}</text>")
            column += len(run)
    return "".join(out)


def moving_picture(show, shots):
    """The SVG of all pictures, each shown for as long as the program showed it."""
    begin, length = shots[0][0], shots[-1][0] - shots[0][0] + show.seconds_at_the_end
    # A viewer without animation shows the picture with the most blocks.
    poster = max(range(len(shots)), key=lambda i: sum(str(shots[i]).count(b) for b in BLOCKS))
    lines, styles, frames = {}, [], []
    for i, (when, screen) in enumerate(shots):
        until = shots[i + 1][0] if i + 1 < len(shots) else begin + length
        drawings = [(row, draw(line)) for row, line in enumerate(screen)]
        uses = "".join(f'<use href="#{lines.setdefault(drawing, f"l{len(lines)}")}" y="{MARGIN + row * show.line}"/>'
                       for row, drawing in drawings if drawing)
        frames.append(f'<g id="f{i}">{uses}</g>')
        styles.append(f"#f{i}{{opacity:{int(i == poster)};"
                      f"animation:s{i} {length:.1f}s step-end {when - begin - length:.2f}s infinite}}"
                      f"@keyframes s{i}{{0%{{opacity:1}}{100 * (until - when) / length:.3f}%{{opacity:0}}}}")
    width, height = show.columns * CELL + 2 * MARGIN, show.rows * show.line + 2 * MARGIN
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" xml:space="preserve" width="{width:.0f}" height="{height}">',
        "<style>text{font:14px ui-monospace,Menlo,Consolas,monospace;white-space:pre}", *styles, "</style>",
        '<rect width="100%" height="100%" rx="8" fill="#0d1117"/>',
        "<defs>", *(f'<g id="{name}">{drawing}</g>' for drawing, name in lines.items()), "</defs>",
        *frames, "</svg>"]) + "\n"


def main(kind, program, target):
    show = SHOWS[kind]
    shots = list(pictures(show, record(show, program)))
    Path(target).write_text(moving_picture(show, shots), encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[1] not in SHOWS:
        sys.exit(__doc__)
    main(*sys.argv[1:])

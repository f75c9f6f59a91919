"""Runs `spool lab demo` on a terminal of its own and makes a moving picture of it, for the documentation.

usage: capture.py <spool> <picture.svg>
"""
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import time
from fcntl import ioctl
from termios import TIOCSWINSZ
from xml.sax.saxutils import escape

COLUMNS, ROWS, CELL, LINE, MARGIN = 92, 20, 8.4, 19, 16
SECONDS_PER_PICTURE, SECONDS_AT_THE_END = 0.5, 8
COLOURS = {"0": "#e6edf3", "1": "#ffffff", "2": "#7d8590", "31": "#f47067", "32": "#57ab5a", "33": "#e0a526",
           "34": "#539bf5", "36": "#39c5cf"}
BLOCKS = "\u2581\u2582\u2583\u2584\u2585\u2586\u2587\u2588"  # an eighth of a cell, two eighths, ...
CODE = re.compile(r"\x1b\[\??(\d*)([a-zA-Z])")


def record(spool):
    """The output as (seconds, text) pieces."""
    master, slave = pty.openpty()
    ioctl(slave, TIOCSWINSZ, struct.pack("HHHH", ROWS + 2, COLUMNS, 0, 0))
    begin, pieces = time.monotonic(), []
    environment = {**os.environ, "TERM": "xterm", "LC_ALL": "C.UTF-8", "NO_COLOR": ""}
    with tempfile.TemporaryDirectory() as folder:
        with subprocess.Popen([spool, "lab", "demo", "--report", "report.html"], stdout=slave, env=environment, cwd=folder):
            os.close(slave)
            while True:
                try:
                    pieces.append((time.monotonic() - begin, os.read(master, 65536).decode(errors="ignore")))
                except OSError:  # the end
                    return pieces


def pictures(pieces):
    """(seconds, lines) whenever enough time has passed; a line is a list of (colour, text). The last rows of the screen."""
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
        if when - last >= SECONDS_PER_PICTURE:
            last = when
            yield when, [list(line) for line in screen[-ROWS:]]
    yield pieces[-1][0], screen[-ROWS:]


def draw(line):
    """One line as SVG: blocks become shapes, so that no font decides how they look."""
    out, column = [], 0
    for colour, text in line:
        for run in re.findall(f"[{BLOCKS}]+|[^{BLOCKS}]+", text):
            x, fill = MARGIN + column * CELL, COLOURS[colour]
            if run[0] in BLOCKS:
                cells = re.finditer(r"(.)\1*", run)
                shapes = "".join(f"M{x + c.start() * CELL:.1f} 17v-{(BLOCKS.index(c[1]) + 1) * 1.75:.1f}h{len(c[0]) * CELL:.1f}V17z" for c in cells)
                out.append(f'<path fill="{fill}" d="{shapes}"/>')
            elif run.strip():
                start, words = x + (len(run) - len(run.lstrip())) * CELL, run.strip()
                out.append(f'<text x="{start:.1f}" y="15" fill="{fill}" textLength="{len(words) * CELL:.1f}">{escape(words)}</text>')
            column += len(run)
    return "".join(out)


def main(spool, target):
    shots = list(pictures(record(spool)))
    begin, length = shots[0][0], shots[-1][0] - shots[0][0] + SECONDS_AT_THE_END
    # Where nothing moves, the fullest picture stands for all.
    poster = max(range(len(shots)), key=lambda i: sum(str(shots[i]).count(b) for b in BLOCKS))
    lines, styles, frames = {}, [], []
    for i, (when, screen) in enumerate(shots):
        until = shots[i + 1][0] if i + 1 < len(shots) else begin + length
        drawings = [(row, draw(line)) for row, line in enumerate(screen)]
        uses = "".join(f'<use href="#{lines.setdefault(drawing, f"l{len(lines)}")}" y="{MARGIN + row * LINE}"/>'
                       for row, drawing in drawings if drawing)
        frames.append(f'<g id="f{i}">{uses}</g>')
        styles.append(f"#f{i}{{opacity:{int(i == poster)};"
                      f"animation:s{i} {length:.1f}s step-end {when - begin - length:.2f}s infinite}}"
                      f"@keyframes s{i}{{0%{{opacity:1}}{100 * (until - when) / length:.3f}%{{opacity:0}}}}")
    width, height = COLUMNS * CELL + 2 * MARGIN, ROWS * LINE + 2 * MARGIN
    with open(target, "w", encoding="utf-8") as file:
        print(f'<svg xmlns="http://www.w3.org/2000/svg" xml:space="preserve" width="{width:.0f}" height="{height}">',
              "<style>text{font:14px ui-monospace,Menlo,Consolas,monospace;white-space:pre}", *styles, "</style>",
              '<rect width="100%" height="100%" rx="8" fill="#0d1117"/>',
              "<defs>", *(f'<g id="{name}">{drawing}</g>' for drawing, name in lines.items()), "</defs>",
              *frames, "</svg>", sep="\n", file=file)


if __name__ == "__main__":
    main(*sys.argv[1:])

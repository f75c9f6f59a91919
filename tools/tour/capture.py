"""Runs spool-tour on a terminal of its own and makes a moving picture of it, for the documentation.

usage: capture.py <spool-tour> <picture.svg>
"""
import os
import pty
import re
import subprocess
import sys
import time
from xml.sax.saxutils import escape

COLUMNS, ROWS, CELL, LINE, MARGIN = 80, 14, 8.4, 20, 16
SECONDS_PER_PICTURE, SECONDS_OF_SUMMARY = 0.4, 6
COLOURS = {"0": "#e6edf3", "1": "#ffffff", "2": "#7d8590", "31": "#f47067", "32": "#57ab5a", "33": "#e0a526",
           "34": "#539bf5", "36": "#39c5cf"}
CODE = re.compile(r"\x1b\[\??(\d*)([a-zA-Z])")


def record(tour):
    """The output as (seconds, text) pieces."""
    master, slave = pty.openpty()
    begin, pieces = time.monotonic(), []
    environment = {**os.environ, "TERM": "xterm", "LC_ALL": "C.UTF-8", "NO_COLOR": ""}
    with subprocess.Popen([tour], stdout=slave, env=environment):
        os.close(slave)
        while True:
            try:
                pieces.append((time.monotonic() - begin, os.read(master, 65536).decode()))
            except OSError:  # the end
                return pieces


def pictures(pieces):
    """(seconds, lines) whenever enough time has passed; a line is a list of (colour, text). Last: the summary."""
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
        if row >= 10 and when - last >= SECONDS_PER_PICTURE:
            last = when
            yield when, [list(line) for line in screen[:10]]
    yield pieces[-1][0], screen[10:]


def draw(line):
    """One line as SVG: blocks become squares, so that no font decides how they look."""
    out, column = [], 0
    for colour, text in line:
        for run in re.findall("\u2588+|[^\u2588]+", text):
            x = MARGIN + column * CELL
            if run[0] == "\u2588":
                out.append(f'<path fill="{COLOURS[colour]}" d="M{x:.1f} 4h{len(run) * CELL:.1f}v13H{x:.1f}z"/>')
            elif run.strip():
                start = x + (len(run) - len(run.lstrip())) * CELL
                words = run.strip()
                out.append(f'<text x="{start:.1f}" y="15" fill="{COLOURS[colour]}" '
                           f'textLength="{len(words) * CELL:.1f}">{escape(words)}</text>')
            column += len(run)
    return "".join(out)


def main(tour, target):
    shots = list(pictures(record(tour)))
    begin, length = shots[0][0], shots[-1][0] - shots[0][0] + SECONDS_OF_SUMMARY
    # Where nothing moves, the picture of the fullest pool stands for all.
    poster = max(range(len(shots)), key=lambda i: str(shots[i]).count("\u2588"))
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

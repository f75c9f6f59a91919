"""Fails when a file has more than 400 lines: split it by what its parts are for.

usage: check_length.py [repository]

Measures files, not functions: functions would need a parser, and a review notices long ones.
"""
import sys

from common import SOURCES, files_under, finish, numbered_lines, root_from

LIMIT = 400
FOLDERS = ["include", "src", "tests", "examples", "tools", "scripts", "cmake"]


def main(arguments):
    root = root_from(arguments)
    problems = []
    for path in files_under(root, FOLDERS, SOURCES | {".py", ".sh", ".cmake", ".txt"}):
        count = sum(1 for _ in numbered_lines(path))
        if count > LIMIT:
            problems.append(f"{path.relative_to(root)}: {count} lines, more than {LIMIT}")
    finish("check_length", problems)


if __name__ == "__main__":
    main(sys.argv[1:])

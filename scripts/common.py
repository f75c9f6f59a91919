"""Shared by the check_*.py scripts. Each takes the repository to check as an optional argument."""
import sys
from pathlib import Path

SOURCES = {".hpp", ".cpp"}


def root_from(arguments):
    return Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent


def files_under(root, folders, suffixes=SOURCES):
    """The files in these folders of root that have one of the suffixes, sorted."""
    return sorted(path for folder in folders for path in (root / folder).rglob("*")
                  if path.is_file() and path.suffix in suffixes and "__pycache__" not in path.parts)


def numbered_lines(path):
    return enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)


def code_of(line):
    """The line without its // comment."""
    return line.split("//", 1)[0]


def finish(name, problems):
    """Prints the problems, one per line, and exits; with code 1 if there are any."""
    for problem in problems:
        print(problem)
    print(f"{name}: {len(problems)} problem(s)")
    sys.exit(1 if problems else 0)

"""Fails when a test sleeps, when a test's name makes no claim, or when a mark for later is left.

usage: check_tests.py [repository]

A sleep makes a test slow or flaky, usually both. Only tests in tests/timing may sleep, because they
measure time, and the pause points, which hold threads up. The library's own this_task::sleep_for is
allowed: it ends at a stop request, and tests exercise it.
"""
import re
import sys

from common import SOURCES, code_of, files_under, finish, numbered_lines, root_from

SLEEP = re.compile(r"(?<!this_task::)\b(sleep_for|sleep_until|nanosleep|usleep|sleep)\s*\(")
MAY_SLEEP = "tests/support/pause_point.cpp"
TEST = re.compile(r"\b(?:TEST|TEST_F|TEST_P|TYPED_TEST|TYPED_TEST_P)\s*\(\s*\w+\s*,\s*(\w+)\s*\)")
# Split into pieces, so that the check does not match this file.
LATER = re.compile(r"\b(" + "TO" "DO|FIX" "ME|X" "XX" + r")\b")
FOLDERS = ["include", "src", "tests", "examples", "tools", "scripts", "cmake"]


def problems_in_test(root, path):
    name = path.relative_to(root)
    text = path.read_text(encoding="utf-8")
    if name.parts[:2] != ("tests", "timing") and name.as_posix() != MAY_SLEEP:
        for number, line in numbered_lines(path):
            if SLEEP.search(code_of(line)):
                yield f"{name}:{number}: a sleep outside tests/timing"
    for match in TEST.finditer(text):  # a name may be on its own line
        words = [word for word in match[1].removeprefix("DISABLED_").split("_") if word]
        if len(words) < 3:
            number = text.count("\n", 0, match.start()) + 1
            yield f"{name}:{number}: test name '{match[1]}' has fewer than three words"


def main(arguments):
    root = root_from(arguments)
    problems = []
    for path in files_under(root, ["tests"]):
        problems += problems_in_test(root, path)
    for path in files_under(root, FOLDERS, SOURCES | {".py", ".sh", ".cmake", ".txt"}):
        for number, line in numbered_lines(path):
            if LATER.search(line):
                problems.append(f"{path.relative_to(root)}:{number}: unfinished work; do it or open an issue")
    finish("check_tests", problems)


if __name__ == "__main__":
    main(sys.argv[1:])

"""Fails when a comment makes a line longer than 100 columns, or pushes the code before it onto a second line.

usage: check_comments.py [repository]

Code itself may take 110 columns (.clang-format). The line that scripts/run_example.py reads may be longer. A
trailing comment pushes code when that code would fit on one line without the comment: the comment belongs on the
line above then.
"""
import re
import sys

from common import files_under, finish, numbered_lines, root_from

COMMENT_COLUMNS = 100
CODE_COLUMNS = 110
FOLDERS = ["include", "src", "tests", "examples", "tools", "benchmarks"]
TRAILING = re.compile(r"^(?P<code>\s+\S.*?;)\s+//")
COMPLETE = re.compile(r"([;}:]|//.*|^\s*|^\s*#.*|^\s*(template|requires|case|else|do)\b.*)$")  # the line before begins no statement that goes on


def pushed(above, line):
    """Is `line` the rest of the statement in `above`, and only because of its comment?"""
    trailing = TRAILING.match(line)
    if trailing is None or COMPLETE.search(above):
        return False
    code = trailing["code"]
    if above.endswith("{") and code.count("}") <= code.count("{"):  # the first statement of a block
        return False
    indent = len(above) - len(above.lstrip())
    if len(code) - len(code.lstrip()) <= indent:
        return False
    gap = "" if above.endswith(("(", "{")) else " "
    return len(above + gap + code.strip()) <= CODE_COLUMNS


def main(arguments):
    root = root_from(arguments)
    problems = []
    for path in files_under(root, FOLDERS):
        name = path.relative_to(root)
        above = ""
        for number, line in numbered_lines(path):
            is_comment = "//" in line.replace("://", "") and not line.startswith("// prints: ")
            if len(line) > COMMENT_COLUMNS and is_comment:
                problems.append(f"{name}:{number}: {len(line)} columns in a line with a comment")
            if pushed(above, line):
                problems.append(f"{name}:{number}: the comment pushes its code onto a second line")
            above = line
    finish("check_comments", problems)


if __name__ == "__main__":
    main(sys.argv[1:])

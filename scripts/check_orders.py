"""Fails when an explicit memory order in include/ or src/ stands without a reason.

usage: check_orders.py [repository]

The reason is a // comment on the same line or on the line above. Fences are allowed in sync/ only,
because ThreadSanitizer does not see their happens-before edges.
"""
import re
import sys

from common import code_of, files_under, finish, numbered_lines, root_from

ORDER = re.compile(r"\bmemory_order(_|::)(relaxed|consume|acquire|release|acq_rel|seq_cst)\b")
COMMENT = re.compile(r"//.*\w")
FENCE = re.compile(r"\batomic_(thread|signal)_fence\b")


def main(arguments):
    root = root_from(arguments)
    problems = []
    for path in files_under(root, ["include", "src"]):
        name = path.relative_to(root)
        above = ""
        for number, line in numbered_lines(path):
            code = code_of(line)
            if ORDER.search(code) and not COMMENT.search(line) and not COMMENT.search(above):
                problems.append(f"{name}:{number}: explicit memory order without a comment")
            if FENCE.search(code) and "sync" not in name.parts:
                problems.append(f"{name}:{number}: fence outside sync/")
            above = line
    finish("check_orders", problems)


if __name__ == "__main__":
    main(sys.argv[1:])

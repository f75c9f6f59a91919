"""Fails when an #include points against the order of the parts.

usage: check_layers.py [repository]

Checks include/spool/<part>/ and src/<part>/. Ignores system and standard headers.
"""
import re
import sys

from common import files_under, finish, numbered_lines, root_from

# The parts that each part may include, besides itself.
MAY_INCLUDE = {
    "base": set(),
    "sync": {"base"},
    "queue": {"base", "sync"},
    "future": {"base", "sync"},
    "executor": {"base", "sync", "queue", "future"},
    "pool": {"base", "sync", "queue", "future", "executor"},
    "schedule": {"base", "sync", "queue", "future", "executor", "pool"},
    "live": {"base", "sync", "queue", "future", "executor", "pool", "schedule"},
    "testing": {"base", "sync", "executor"},
}
PLUMBING = "detail"       # what several parts are built with and no user includes
MAY_INCLUDE[PLUMBING] = {"base", "sync", "future"}
EVERYTHING = "spool.hpp"  # includes every part; no part may include it
VERSION = "version.hpp"   # includes nothing of ours; every part may include it

INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')


def problem_with(part, target, quoted):
    """Returns why a file of this part may not include target, or None."""
    if ".." in target.split("/"):
        return "climbs out of its folder; name the file from spool/ or from src/"
    ours = target.startswith("spool/")
    if not ours and not quoted:
        return None  # a standard or system header
    pieces = target.removeprefix("spool/").split("/")
    if not ours and (len(pieces) == 1 or pieces[0] == "detail"):
        return None  # relative to its own folder
    if pieces == [VERSION]:
        return None
    if part == VERSION or pieces == [EVERYTHING]:
        return f"{part} may not include {target}"
    other = pieces[0]
    if other not in MAY_INCLUDE:
        return f"unknown part '{other}'"
    if part == EVERYTHING and other == PLUMBING:
        return f"{target} is plumbing, not for users"
    if part != EVERYTHING and other not in {part, PLUMBING} and other not in MAY_INCLUDE[part]:
        return f"{part} may not include {other}"
    if "detail" in pieces[1:] and part not in {other, PLUMBING}:
        return f"{target} is private to {other}"
    return None


def main(arguments):
    root = root_from(arguments)
    problems = []
    for base in ("include/spool", "src"):
        for path in files_under(root, [base]):
            part = path.relative_to(root / base).parts[0]
            name = path.relative_to(root)
            if part not in MAY_INCLUDE and part not in (EVERYTHING, VERSION):
                problems.append(f"{name}: unknown part '{part}'")
                continue
            for number, line in numbered_lines(path):
                match = INCLUDE.match(line)
                reason = match and problem_with(part, match[2], match[1] == '"')
                if reason:
                    problems.append(f"{name}:{number}: {reason}")
    finish("check_layers", problems)


if __name__ == "__main__":
    main(sys.argv[1:])

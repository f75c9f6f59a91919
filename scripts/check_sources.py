"""Fails when src/sources.cmake and the files of the library disagree.

usage: check_sources.py [repository]

A header missing from the list would not be installed; a missing source would not be compiled.
"""
import re
import sys

from common import finish, root_from

# Each list names all files of its folders. A folder of a component is not part of the library's own.
LISTS = {
    "SPOOL_LIVE_PUBLIC_HEADERS": "include/spool/live",
    "SPOOL_LIVE_SOURCES": "src/live",
    "SPOOL_PUBLIC_HEADERS": "include",
    "SPOOL_SOURCES": "src",
}
LIST_FILE = "src/sources.cmake"


def main(arguments):
    root = root_from(arguments)
    text = re.sub(r"#.*", "", (root / LIST_FILE).read_text(encoding="utf-8"))
    problems = []
    elsewhere = set()  # the files of the folders before
    for variable, folder in LISTS.items():
        if not (root / folder).is_dir():
            continue
        match = re.search(rf"\bset\(\s*{variable}\b([^)]*)\)", text)
        if not match:
            problems.append(f"{LIST_FILE}: does not set {variable}")
            continue
        listed = match[1].split()
        present = {path.relative_to(root).as_posix() for path in (root / folder).rglob("*") if path.is_file()}
        present -= {LIST_FILE, *elsewhere}
        elsewhere |= present
        for name in sorted({*listed, *present}):
            if name not in listed:
                problems.append(f"{name}: not listed in {variable}")
            elif name not in present:
                problems.append(f"{name}: listed in {variable}, but not in {folder}/")
            elif listed.count(name) > 1:
                problems.append(f"{name}: listed twice in {variable}")
    finish("check_sources", problems)


if __name__ == "__main__":
    main(sys.argv[1:])

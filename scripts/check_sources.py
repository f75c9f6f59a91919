"""Fails when src/sources.cmake and the files of the library disagree.

usage: check_sources.py [repository]

A header missing from the list would not be installed; a missing source would not be compiled.
"""
import re
import sys

from common import finish, root_from

# Each list names all files of one folder; an optional component has lists of its own.
LISTS = {"SPOOL_PUBLIC_HEADERS": "include", "SPOOL_SOURCES": "src",
         "SPOOL_REMOTE_HEADERS": "include/spool/remote", "SPOOL_REMOTE_SOURCES": "src/remote"}
COMPONENTS = ("include/spool/remote/", "src/remote/")
LIST_FILE = "src/sources.cmake"


def main(arguments):
    root = root_from(arguments)
    text = re.sub(r"#.*", "", (root / LIST_FILE).read_text(encoding="utf-8"))
    problems = []
    for variable, folder in LISTS.items():
        is_component = f"{folder}/" in COMPONENTS
        if is_component and not (root / folder).is_dir():
            continue
        match = re.search(rf"\bset\(\s*{variable}\b([^)]*)\)", text)
        if not match:
            problems.append(f"{LIST_FILE}: does not set {variable}")
            continue
        listed = match[1].split()
        present = {path.relative_to(root).as_posix() for path in (root / folder).rglob("*") if path.is_file()}
        present.discard(LIST_FILE)
        if not is_component:
            present = {name for name in present if not name.startswith(COMPONENTS)}
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

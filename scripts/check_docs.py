"""Fails when C++ shown in the documentation is not, line for line, code that is built and run.

usage: check_docs.py [repository]

Every ```cpp block in README.md and docs/ must stand below a marker such as
    <!-- from examples/010_hello.cpp#region -->
and must equal the text between "// [region]" and "// [/region]" in that file, except for a common
indentation.
"""
import re
import sys
import textwrap

from common import finish, numbered_lines, root_from

MARKER = re.compile(r"\s*<!--\s*from\s+([^#\s]+)#(\w+)\s*-->\s*")
FENCE = re.compile(r"\s*```\s*(cpp|c\+\+|cxx|cc)\b", re.IGNORECASE)
REGION_EDGE = re.compile(r"\s*// \[/?\w+\]\s*")


def region(path, name):
    """The lines of a region, or None if the region is missing or not closed."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    edges = [line.strip() for line in lines]
    try:
        begin = edges.index(f"// [{name}]")
        end = edges.index(f"// [/{name}]", begin)
    except ValueError:
        return None
    return [line for line in lines[begin + 1:end] if not REGION_EDGE.fullmatch(line)]


def normal(lines):
    return textwrap.dedent("\n".join(lines)).strip("\n")


def problems_in(root, page):
    name = page.relative_to(root)
    marker = block = None
    for number, line in numbered_lines(page):
        if block is not None:
            if line.strip() != "```":
                block.append(line)
                continue
            expected = region(root / marker[1], marker[2]) if marker else None
            if marker is None:
                yield f"{name}:{start}: C++ without a '<!-- from file#region -->' above it"
            elif expected is None:
                yield f"{name}:{start}: no region '{marker[2]}' in {marker[1]}"
            elif normal(expected) != normal(block):
                yield f"{name}:{start}: differs from region '{marker[2]}' of {marker[1]}"
            marker = block = None
        elif FENCE.match(line):
            block, start = [], number
        elif line.strip():  # blank lines are allowed between a marker and its block
            marker = MARKER.fullmatch(line)
    if block is not None:
        yield f"{name}:{start}: the block is never closed"


def main(arguments):
    root = root_from(arguments)
    pages = [page for page in [root / "README.md", *sorted((root / "docs").rglob("*.md"))] if page.is_file()]
    finish("check_docs", [problem for page in pages for problem in problems_in(root, page)])


if __name__ == "__main__":
    main(sys.argv[1:])

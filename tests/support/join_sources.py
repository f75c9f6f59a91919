"""Joins test sources into one, so that what they share is compiled once.

usage: join_sources.py <output> <source>...

The #include lines of all come first; then each source, in a namespace of its own, so that their helpers may have the same names. One
that opens a named namespace itself stays outside of any.
"""
import re
import sys
from pathlib import Path

INCLUDE = re.compile(r'\s*#\s*include\s*(<[^>]+>|"([^"]+)")')
NAMED_NAMESPACE = re.compile(r"^(inline )?namespace [\w:]+ \{", re.MULTILINE)


def split(path):
    """The includes of a source, and its text with a blank line for each."""
    includes, body = [], []
    for line in path.read_text().splitlines():
        found = INCLUDE.match(line)
        body.append("" if found else line)
        if found:
            beside = path.parent / found[2] if found[2] else None
            includes.append(f'#include "{beside}"' if beside and beside.exists() else line.strip())
    return includes, "\n".join(body)


def main(output, *sources):
    includes, bodies = {}, []  # a dict keeps the order
    for number, path in enumerate(map(Path, sources), 1):
        own, body = split(path)
        includes.update(dict.fromkeys(own))
        text = f'#line 1 "{path}"\n{body}\n'
        if not NAMED_NAMESPACE.search(body):
            text = f"namespace joined_{number} {{\n{text}}}\n"
        bodies.append(text)
    Path(output).write_text("\n".join([*includes, *bodies]))


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Compiles one snippet and compares what happens with what its first line demands.

usage: check_snippet.py <snippet> <compiler> [flag...]      (see CMakeLists.txt for the first line)
"""
import os
import re
import subprocess
import sys


def main(snippet, *command):
    with open(snippet, encoding="utf-8") as file:
        first_line = file.readline().strip()
        flags = re.fullmatch(r"// flags: (.+)", file.readline().strip())
    must_compile = first_line == "// compiles"
    expected = re.fullmatch(r"// expect: (.+)", first_line)
    if not must_compile and not expected:
        return f"{snippet}:1: the first line must be '// expect: <regex>' or '// compiles'"

    # -S, not -fsyntax-only: the latter may leave templates uninstantiated. LC_ALL: ASCII quotes in messages.
    result = subprocess.run([*command, *(flags[1].split() if flags else []), "-S", "-o", "-", snippet], env={**os.environ, "LC_ALL": "C"},
                            text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    compiled = result.returncode == 0
    if must_compile:
        return None if compiled else f"{snippet}: must compile, but:\n{result.stderr}"
    if compiled:
        return f"{snippet}: compiles, but must not"
    if not re.search(expected[1], result.stderr):
        return f"{snippet}: no message matches '{expected[1]}' in:\n{result.stderr}"
    return None


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

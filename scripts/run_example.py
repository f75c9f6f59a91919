"""Runs an example and checks its exit code and output against the promise in its source.

usage: run_example.py <source> <executable>

The second line of the source is "// prints: <regex>". The standard output must contain a match.
"""
import re
import subprocess
import sys
from pathlib import Path


def main(source, executable):
    lines = Path(source).read_text(encoding="utf-8").splitlines()
    promise = re.fullmatch(r"// prints: (.+)", lines[1]) if len(lines) > 1 else None
    if not promise:
        return f"{source}:2: the second line must be '// prints: <regex>'"
    result = subprocess.run([executable], stdout=subprocess.PIPE, text=True, check=False)
    print(result.stdout, end="", flush=True)
    if result.returncode != 0:
        return f"{source}: exit code {result.returncode}"
    if not re.search(promise[1], result.stdout, re.MULTILINE):
        return f"{source}: the output does not match '{promise[1]}'"
    return None


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

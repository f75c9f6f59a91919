"""Prints how much of include/ and src/ the tests reached, from the counters of the coverage preset.

usage: coverage.py <build directory>
"""
import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

from common import root_from


def main(build):
    root = root_from([])
    hits = defaultdict(lambda: defaultdict(int))  # file -> line -> how often it ran, over all objects
    for counters in Path(build).resolve().rglob("*.gcda"):
        command = ["gcov", "--json-format", "--stdout", counters]
        answer = subprocess.run(command, capture_output=True, check=True)
        for text in answer.stdout.splitlines():
            for file in json.loads(text)["files"]:
                path = (root / file["file"]).resolve()
                if path.is_relative_to(root / "include") or path.is_relative_to(root / "src"):
                    for line in file["lines"]:
                        hits[path.relative_to(root)][line["line_number"]] += line["count"]
    if not hits:
        sys.exit(f"no counters in {build}: build and test the coverage preset first")
    for name, lines in sorted(hits.items()):
        missed = sorted(number for number, count in lines.items() if count == 0)
        share = 100 * (len(lines) - len(missed)) / len(lines)
        print(f"{share:6.1f} %  {name}" + (f"  not reached: {', '.join(map(str, missed))}" if missed else ""))


if __name__ == "__main__":
    main(*sys.argv[1:])

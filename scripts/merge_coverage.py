"""Converts the counts of gcov for gcovr, with one entry for each line and branch of the source.

usage: merge_coverage.py BUILD_FOLDER OUTPUT

gcovr 5.2 identifies an instance of a template by its index in a list, and that list differs between
object files. This script merges the instances of a template or inline function: a branch is covered
if it is covered in any instance. If the compiler made a different number of branches of a line in
different instances, they cannot be merged, and the instance with the best coverage counts. Not
counted as branches:
- the two outcomes of a call, return or throw, which the compiler makes for every call;
- branches of a line that only closes brackets: destructors, mostly for stack unwinding.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys

PARTS = ("include", "src")
ONLY_CLOSES = re.compile(r"[\s)}\];,]*(//.*)?")


def counted_files(build):
    """The .gcda file of every object file, or its .gcno file if the object never ran."""
    for notes in sorted(build.rglob("*.gcno")):
        counts = notes.with_suffix(".gcda")
        yield counts if counts.exists() else notes


def ask_gcov(path):
    command = ["gcov", "--json-format", "--stdout", "--branch-probabilities", str(path)]
    text = subprocess.run(command, check=True, capture_output=True, cwd=path.parent).stdout
    return [json.loads(line) for line in text.splitlines() if line.strip()]


def conditions(branches):
    """Pairs of counts, without the branches of calls."""
    pairs = [branches[i:i + 2] for i in range(0, len(branches), 2)] if len(branches) % 2 == 0 else [branches]
    return [[branch["count"] for branch in pair] for pair in pairs if not any(branch["throw"] for branch in pair)]


def share_covered(branches):
    return (sum(map(bool, branches)) / len(branches), len(branches)) if branches else (-1, 0)


class Source:
    """The counts of one source file."""

    def __init__(self):
        self.lines = {}      # number -> count
        self.branches = {}   # (number, start of its function, branches per pair) -> pairs of counts

    def add(self, found):
        begins = {f["name"]: (f["start_line"], f["start_column"]) for f in found["functions"]}
        for line in found["lines"]:
            number = line["line_number"]
            self.lines[number] = self.lines.get(number, 0) + line["count"]
            pairs = conditions(line["branches"])
            if not pairs:
                continue
            key = (number, begins.get(line.get("function_name")), tuple(map(len, pairs)))
            known = self.branches.setdefault(key, [[0] * len(pair) for pair in pairs])
            for sums, pair in zip(known, pairs):
                sums[:] = map(sum, zip(sums, pair))

    def entries(self, text):
        branches = {number: [] for number in self.lines}
        for (number, _, _), pairs in sorted(self.branches.items(), key=str):
            found = [count for pair in pairs for count in pair]
            if not ONLY_CLOSES.fullmatch(text[number - 1]):
                branches[number] = max(branches[number], found, key=share_covered)
        for number, count in sorted(self.lines.items()):
            yield {"line_number": number, "count": count, "gcovr/noncode": False, "gcovr/excluded": False,
                   "branches": [{"count": n, "fallthrough": False, "throw": False} for n in branches[number]]}


def main(arguments):
    build, output = map(pathlib.Path, arguments)
    root = pathlib.Path.cwd()
    sources = {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for answers in pool.map(ask_gcov, counted_files(build.resolve())):
            for answer in answers:
                for found in answer["files"]:
                    path = pathlib.Path(os.path.normpath(os.path.join(answer["current_working_directory"], found["file"])))
                    if path.is_relative_to(root) and path.relative_to(root).parts[0] in PARTS:
                        sources.setdefault(str(path.relative_to(root)), Source()).add(found)
    files = [{"file": name, "functions": [], "lines": list(source.entries((root / name).read_text().splitlines()))}
             for name, source in sorted(sources.items())]
    output.write_text(json.dumps({"gcovr/format_version": "0.3", "files": files}))


if __name__ == "__main__":
    main(sys.argv[1:])

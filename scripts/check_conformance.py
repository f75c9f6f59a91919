"""Writes docs/conformance.md from the tests, or fails if the page differs from what they say.

usage: check_conformance.py [--write] [--results <folder with GoogleTest XML results>] [repository]

Without --write the check fails on a stale page, on a row without a test and without a reason, and
on a test with the ID of no row. With --results it also fails if a test on the page did not run and
pass.

A test belongs to a row if its name carries the row's ID: TEST(suite, FT_001_what_it_claims).
Several tests may belong to one row, and one test to several rows. tests/conformance.toml lists the
rows, those that are better and those that are left out. A row of the page is one of
    | FT-001 | tested | `suite.FT_001_what_it_claims` |   behaves like the original
    | FT-002 | better | `suite.FT_002_what_it_claims` |   differs on purpose, and the test shows how
    | FT-003 | n/a    | why it has no meaning here    |
The page names a typed or parametrised test without its instance; all instances must pass.
"""
import argparse
import re
import sys
import tomllib
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from common import code_of, files_under, finish, root_from

PAGE = "docs/conformance.md"
TABLE = "tests/conformance.toml"
TEST = re.compile(r"\b(?:TEST|TEST_F|TEST_P|TYPED_TEST|TYPED_TEST_P)\s*\(\s*(\w+)\s*,\s*(\w+)\s*\)")
ID = re.compile(r"(?<![A-Za-z0-9])([A-Z]+)_(\d{3})(?!\d)")
INTRODUCTION = f"""\
# Conformance

<!-- written by scripts/check_conformance.py from the tests and {TABLE}, changes here are lost -->

Spool keeps the promises of Java's executors. The public JSR-166 test suite (TCK) says in detail what those are. Each
behaviour that the suite asserts has an ID here, with one of three answers:

- `tested`: Spool behaves the same, and the named test shows it. The test carries the ID in its name.
- `better`: Spool deliberately behaves differently; the named test shows how.
- `n/a`: the behaviour has no counterpart in C++, for the given reason.

A check among the tests fails if this page differs from the tests, or if a test named here did not run and pass.
"""


@dataclass(frozen=True)
class Row:
    id: str
    status: str  # tested, better or n/a
    tests: tuple
    reason: str = ""

    def line(self):
        last = self.reason or ", ".join(f"`{name}`" for name in self.tests)
        return f"| {self.id} | {self.status} | {last} |"


def read_tests(root):
    """Returns {ID: names of the tests that carry it}, in the order of the sources."""
    found = {}
    for path in files_under(root, ["tests"]):
        text = "\n".join(code_of(line) for line in path.read_text(encoding="utf-8").splitlines())
        for suite, name in TEST.findall(text):
            for family, number in ID.findall(name):
                found.setdefault(f"{family}-{number}", []).append(f"{suite}.{name}")
    return found


def rows_of(family, tests):
    """Every row of a family, in order; a row without a test and without a reason has no tests."""
    reasons = {number: reason for reason, numbers in family.get("left_out", {}).items() for number in numbers}
    rows = []
    for number in range(1, family["rows"] + 1):
        row_id = f"{family['id']}-{number:03}"
        status = "n/a" if number in reasons else "better" if number in family.get("better", []) else "tested"
        rows.append(Row(row_id, status, tuple(tests.get(row_id, [])), reasons.get(number, "")))
    return rows


def problems_in(family, rows):
    """What keeps the rows of a family from making a page."""
    left_out = [number for numbers in family.get("left_out", {}).values() for number in numbers]
    listed = left_out + family.get("better", [])
    for number in sorted(set(listed)):
        if not 1 <= number <= family["rows"]:
            yield f"{TABLE}: {family['id']}-{number:03}: no such row"
        if listed.count(number) > 1:
            yield f"{TABLE}: {family['id']}-{number:03}: appears twice"
    for reason in family.get("left_out", {}):
        if not re.search(r"\w", reason) or "|" in reason:
            yield f"{TABLE}: {family['id']}: '{reason}' is no reason"
    for row in rows:
        if row.status == "n/a" and row.tests:
            yield f"{TABLE}: {row.id}: left out, but {row.tests[0]} tests it"
        if row.status != "n/a" and not row.tests:
            yield f"{TABLE}: {row.id}: no test carries this ID, and no reason says why"


def page_of(families):
    """The text of the page, for [(family, rows)]."""
    lines = [INTRODUCTION, "| class | rows | tested | better | n/a |", "|---|---:|---:|---:|---:|"]
    every_row = [row for _, rows in families for row in rows]
    for title, rows in [*((f"{family['title']} ({family['id']})", rows) for family, rows in families),
                        ("all", every_row)]:
        counts = [sum(row.status == status for row in rows) for status in ("tested", "better", "n/a")]
        lines.append(f"| {title} | {len(rows)} | " + " | ".join(map(str, counts)) + " |")
    for family, rows in families:
        lines += ["", f"## {family['title']} ({family['id']})", ""]
        lines += [family["note"], ""] if "note" in family else []
        lines += ["| ID | status | test, or reason |", "|---|---|---|", *(row.line() for row in rows)]
    return "\n".join(lines) + "\n"


def difference(page, expected):
    """Yields the first line of the page that is not as expected, as a problem."""
    pairs = zip_longest(page.splitlines(), expected.splitlines())
    for number, (is_now, should_be) in enumerate(pairs, start=1):
        if is_now != should_be:
            yield (f"{PAGE}:{number}: stale: the tests say '{should_be or 'nothing'}'; "
                   "run python3 scripts/check_conformance.py --write")
            return


def test_name(case):
    """Returns suite.name, without the instance of a typed or parametrised test."""
    suite, name = case.get("classname"), case.get("name")
    if case.get("type_param") is not None:
        suite = suite.rpartition("/")[0]  # [prefix/]suite/<type>
    if case.get("value_param") is not None:
        name = name.rpartition("/")[0]  # name/<value>
    return f"{suite.rpartition('/')[2]}.{name}"


def read_results(directory):
    """Returns {test name: whether every instance of the test ran and passed}."""
    passed = {}
    for path in Path(directory).rglob("*.xml"):
        for case in ElementTree.parse(path).iter("testcase"):
            good = (case.get("status") == "run" and case.get("result") == "completed"
                    and case.find("failure") is None and case.find("skipped") is None)
            name = test_name(case)
            passed[name] = good and passed.get(name, True)
    return passed


def failures(rows, passed):
    for row in rows:
        for name in row.tests:
            if name not in passed:
                yield f"{row.id}: {name} did not run"
            elif not passed[name]:
                yield f"{row.id}: {name} failed or was skipped"


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write the page instead of comparing it")
    parser.add_argument("--results", type=Path, help="results of GoogleTest as XML, searched recursively")
    parser.add_argument("repository", nargs="*")
    options = parser.parse_args(arguments)
    root = root_from(options.repository)

    tests = read_tests(root)
    table = tomllib.loads((root / TABLE).read_text(encoding="utf-8"))["family"]
    families = [(family, rows_of(family, tests)) for family in table]
    rows = [row for _, rows in families for row in rows]
    problems = [problem for family, its_rows in families for problem in problems_in(family, its_rows)]
    unknown = tests.keys() - {row.id for row in rows}
    problems += [f"{tests[row_id][0]}: no row {row_id}" for row_id in sorted(unknown)]
    page = root / PAGE
    if options.write and not problems:
        page.write_text(page_of(families), encoding="utf-8")
    elif not problems:
        problems += difference(page.read_text(encoding="utf-8") if page.exists() else "", page_of(families))
    if options.results:
        problems += failures(rows, read_results(options.results))
    finish("check_conformance", problems)


if __name__ == "__main__":
    main(sys.argv[1:])

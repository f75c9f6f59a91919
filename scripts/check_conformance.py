"""Fails when a row of the conformance table is missing or is not backed by a test that ran and passed.

usage: check_conformance.py <directory with GoogleTest XML results> <conformance.md>

A row is one of
    | FT-001 | tested | `suite.FT_001_what_it_claims` |   behaves as the original does
    | FT-002 | better | `suite.FT_002_what_it_claims` |   differs on purpose, and the test shows how
    | FT-003 | n/a    | why it has no meaning here    |
Several tests may back one row. A typed or parametrised test is named without its instance: then all must pass. A parametrised
one may be named with its instance, as `suite.test/instance`: then that one must.
"""
import re
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from common import finish, numbered_lines

FAMILIES = {  # rows per family, numbered from 001
    "FT": 30, "AES": 33, "ECS": 14, "EX": 36, "TPE": 101, "STPE": 55,
    "LBQ": 49, "ABQ": 48, "SQ": 60, "PBQ": 45, "DQ": 45, "LTQ": 56, "LBD": 53, "BQ": 18,
}

ROW = re.compile(r"\|\s*([A-Z]+-\d+)\s*\|([^|]*)\|(.*)\|\s*")


def test_names(case):
    """suite.name, without the instance of a typed or parametrised test; and with that of a parametrised one."""
    suite, name = case.get("classname"), case.get("name")
    if case.get("type_param") is not None:
        suite = suite.rpartition("/")[0]  # [prefix/]suite/<type>
    suite = suite.rpartition("/")[2]
    if case.get("value_param") is not None:
        yield f"{suite}.{name}"
        name = name.rpartition("/")[0]  # name/<value>
    yield f"{suite}.{name}"


def read_results(directory):
    """Test name -> whether every instance of it ran and passed."""
    passed = {}
    for path in Path(directory).rglob("*.xml"):
        for case in ElementTree.parse(path).iter("testcase"):
            good = (case.get("status") == "run" and case.get("result") == "completed"
                    and case.find("failure") is None and case.find("skipped") is None)
            for name in test_names(case):
                passed[name] = good and passed.get(name, True)
    return passed


def problems_in_row(row_id, status, last_cell, passed):
    if status == "n/a":
        if not re.search(r"\w", last_cell):
            yield "n/a needs a reason"
        return
    if status not in ("tested", "better"):
        yield f"unknown status '{status}'"
        return
    names = re.findall(r"`([^`]+)`", last_cell)
    if not names:
        yield "names no test"
    for name in names:
        if not re.search(rf"(?<![A-Za-z0-9]){row_id.replace('-', '_')}(?!\d)", name):
            yield f"{name} does not contain {row_id.replace('-', '_')}"
        if name not in passed:
            yield f"{name} did not run"
        elif not passed[name]:
            yield f"{name} failed or was skipped"


def main(results, document):
    passed = read_results(results)
    expected = [f"{family}-{i:03}" for family, count in FAMILIES.items() for i in range(1, count + 1)]
    seen = set()
    problems = []
    for number, line in numbered_lines(Path(document)):
        match = ROW.fullmatch(line)
        if not match:
            continue
        row_id, status, last_cell = (cell.strip() for cell in match.groups())
        where = f"{document}:{number}: {row_id}"
        if row_id not in expected:
            problems.append(f"{where}: no such row")
        if row_id in seen:
            problems.append(f"{where}: appears twice")
        seen.add(row_id)
        problems += [f"{where}: {what}" for what in problems_in_row(row_id, status, last_cell, passed)]
    problems += [f"{document}: {row_id}: missing" for row_id in expected if row_id not in seen]
    finish("check_conformance", problems)


if __name__ == "__main__":
    main(*sys.argv[1:])

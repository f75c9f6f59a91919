"""Writes the figures of bench_run.py into the documentation: tables between markers, and charts.

usage: bench_report.py <pools.json> <performance.md> [--charts <folder>]

Text outside the markers stays as it is. Charts go to a folder beside the document, named after it.
"""
import argparse
import json
import sys
from pathlib import Path

import bench_aims
from bench_catalogue import WORKLOADS
from bench_stats import growth_series, ranked, rows_of, tables_for
from bench_svg import bar_chart, line_chart

BEGIN = "<!-- figures of the pools: written by scripts/bench, changes here are lost -->"
END = "<!-- /figures of the pools -->"


def machine_lines(document):
    machine = document["machine"]
    packages = ", ".join(f"{name} {version}" for name, version in sorted(machine["packages"].items()))
    return [f"Measured on {machine['date']}: {machine['cpu']}, {machine['cores']} cores, {machine['memory_GB']} GB, "
            f"Linux {machine['kernel']}; {machine['compiler']}, `{machine['flags']}`. {packages}.",
            "",
            "Ratios are to the best contender that hands every task to another thread. A star marks those whose submitter "
            "may run tasks itself."]


def chart_of(workload, runs):
    """SVG text, or None if a chart would show nothing."""
    rows = rows_of(runs, workload.name)
    title = f"{workload.name}: {workload.title}"
    if not rows or workload.name == "W13":
        return None
    if workload.name.startswith("growth"):
        series = {f"{label}: {what.replace('_', ' ')}": points
                  for (label, what), points in growth_series(rows).items()}
        return line_chart(title, "ns per task, median", series) if series else None
    main = workload.figures[0]
    rows = [row for row in ranked(rows, main) if row.median(main.key) is not None]
    return bar_chart(title, main, rows) if rows else None


def section(workload, runs, charts, link):
    """Lines for one workload; writes its chart. Empty if the workload has no runs."""
    table = tables_for(workload, runs)
    if not table:
        return []
    lines = [f"### {workload.name}: {workload.title}", "", workload.about, ""]
    chart = chart_of(workload, runs)
    if chart:
        name = f"{workload.name.lower()}.svg"
        charts.mkdir(parents=True, exist_ok=True)
        (charts / name).write_text(chart, encoding="utf-8")
        lines += [f"![{workload.name}: {workload.title}]({link}/{name})", ""]
    return lines + table + [""]


def replaced(page, lines):
    """The page with the lines between the markers. \\raises ValueError without exactly one pair"""
    if page.count(BEGIN) != 1 or page.count(END) != 1 or page.index(BEGIN) > page.index(END):
        raise ValueError(f"the page needs one line '{BEGIN}' and one '{END}' after it")
    before, rest = page.split(BEGIN)
    return before + "\n".join([BEGIN, "", *lines, END]) + rest.split(END)[1]


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("figures", type=Path)
    parser.add_argument("page", type=Path)
    parser.add_argument("--charts", type=Path, help="by default a folder named after the page, beside it")
    options = parser.parse_args(arguments)
    charts = options.charts or options.page.with_suffix("")

    document = json.loads(options.figures.read_text(encoding="utf-8"))
    lines = machine_lines(document) + [""]
    aims = bench_aims.table(document["runs"])
    lines += ["### What Spool aims at, and how far it is", "", *aims, ""] if aims else []
    for workload in WORKLOADS:
        lines += section(workload, document["runs"], charts, charts.name)
    try:
        page = replaced(options.page.read_text(encoding="utf-8"), lines)
    except ValueError as e:
        print(f"error: {options.page}: {e}", file=sys.stderr)
        return 1
    options.page.write_text(page, encoding="utf-8")
    print(f"{options.page}: written, charts in {charts}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

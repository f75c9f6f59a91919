"""Writes a page of results from the figures of a benchmark: machine, tables, charts and aims.

usage: bench_report.py pools  <pools.json> <pools.md>
       bench_report.py queues <queue.json> <queues.md> --build <build/bench>

The whole page is generated. Charts go to a folder beside the page, named after it. The figures of
the pools say where they come from; those of the queues do not, so --build names the build folder.
"""
import argparse
import json
import sys
from pathlib import Path

import bench_aims
from bench_catalogue import WORKLOADS, Figure
from bench_machine import facts
from bench_stats import Row, growth_series, ranked, rows_of, table, tables_for
from bench_svg import bar_chart, line_chart

NOTICE = "<!-- written by scripts/bench, changes here are lost -->"
GUIDE = "[docs/performance.md](../../docs/performance.md) says what is measured and how to read the tables."
QUEUE_RATE = Figure("M_s", "M elements/s", "more", True)


def head(title, machine):
    """The title, and where the figures come from."""
    packages = ", ".join(f"{name} {version}" for name, version in sorted(machine["packages"].items()))
    return [f"# {title}", "", NOTICE, "",
            f"Measured on {machine['date']} at commit {machine.get('commit', 'unknown')}: "
            f"{machine['cpu']}, {machine['cores']} cores, {machine['memory_GB']} GB, Linux {machine['kernel']}; "
            f"{machine['compiler']}, `{machine['flags']}`. {packages}.", ""]


def chart_lines(charts, name, title, svg):
    """Writes the chart beside the page; the lines that show it."""
    charts.mkdir(parents=True, exist_ok=True)
    (charts / f"{name}.svg").write_text(svg, encoding="utf-8")
    return [f"![{title}]({charts.name}/{name}.svg)", ""]


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


def earlier_lines(workload, document):
    """Says where the figures of a workload come from, if that was an earlier run."""
    def stamp(facts_or_run):
        return facts_or_run.get("date"), facts_or_run.get("commit")
    stamps = {stamp(run) for run in document["runs"] if run["workload"] == workload.name and run.get("date")}
    return [f"Measured on {date} at commit {commit}."
            for date, commit in sorted(stamps - {stamp(document["machine"])})]


def section(workload, document, charts):
    """Lines for one workload; writes its chart. Empty if the workload has no runs."""
    runs = document["runs"]
    lines = tables_for(workload, runs)
    if not lines:
        return []
    title = f"{workload.name}: {workload.title}"
    chart = chart_of(workload, runs)
    return [f"## {title}", "", " ".join([workload.about, *earlier_lines(workload, document)]), "",
            *(chart_lines(charts, workload.name.lower(), title, chart) if chart else []), *lines, ""]


def pools_page(document, charts):
    aims = bench_aims.table(document["runs"])
    lines = head("The pools beside their peers", document["machine"])
    lines += ["Ratios are to the best contender that hands every task to another thread. A star marks a contender whose "
              f"submitter may run tasks itself. {GUIDE}", ""]
    lines += ["## What Spool aims at, and how far it is", "", *aims, ""] if aims else []
    return lines + [line for workload in WORKLOADS for line in section(workload, document, charts)]


def queues_page(tables, machine, charts):
    lines = head("The queues without a pool", machine)
    lines += [f"Producers push and consumers pop; a thread that finds nothing to do yields. {GUIDE}", ""]
    for number, measured in enumerate(tables, start=1):
        rows = ranked([Row(one["name"], one["name"], True, {QUEUE_RATE.key: one["figures"]})
                       for one in measured["contenders"]], QUEUE_RATE)
        lines += [f"## {measured['title']}", "",
                  *chart_lines(charts, f"q{number}", measured["title"], bar_chart(measured["title"], QUEUE_RATE, rows)),
                  *table(rows, [QUEUE_RATE]), ""]
    return lines


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kind", choices=["pools", "queues"])
    parser.add_argument("figures", type=Path)
    parser.add_argument("page", type=Path)
    parser.add_argument("--build", type=Path, default=Path("build/bench"))
    options = parser.parse_args(arguments)
    charts = options.page.with_suffix("")

    document = json.loads(options.figures.read_text(encoding="utf-8"))
    lines = (pools_page(document, charts) if options.kind == "pools"
             else queues_page(document, facts(options.build), charts))
    options.page.parent.mkdir(parents=True, exist_ok=True)
    options.page.write_text("\n".join(lines).rstrip("\n") + "\n", encoding="utf-8")
    print(f"{options.page}: written, charts in {charts}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

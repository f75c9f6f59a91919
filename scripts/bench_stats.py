"""Statistics of many runs: medians, spread, and the ratio of each contender to the best."""
from dataclasses import dataclass
from statistics import median


@dataclass
class Row:
    """One contender in one workload."""
    contender: str
    label: str
    hands_over: bool
    values: dict  # figure -> every value measured

    def median(self, key):
        return median(self.values[key]) if self.values.get(key) else None

    def spread(self, key):
        return (min(self.values[key]), max(self.values[key])) if self.values.get(key) else None

    def count(self, key):
        return len(self.values.get(key, []))


def rows_of(runs, workload):
    """A row for each contender that ran the workload, in the order of the first runs."""
    rows = {}
    for run in runs:
        if run["workload"] != workload:
            continue
        row = rows.setdefault(run["contender"], Row(run["contender"], run["label"], run["hands_over"], {}))
        for key, value in run["figures"].items():
            row.values.setdefault(key, []).append(value)
    return list(rows.values())


def summaries(runs):
    """Medians and spread of each contender in each workload, for `spool lab bench`."""
    workloads = dict.fromkeys(run["workload"] for run in runs)
    return [{"workload": workload, "contender": row.contender, "label": row.label, "hands_over": row.hands_over,
             "figures": {key: {"median": row.median(key), "min": row.spread(key)[0], "max": row.spread(key)[1],
                               "n": row.count(key)} for key in row.values}}
            for workload in workloads for row in rows_of(runs, workload)]


def best(rows, figure):
    """The best median among the contenders that hand every task to another thread, or None."""
    medians = [row.median(figure.key) for row in rows if row.hands_over and row.median(figure.key) is not None]
    if not medians:
        return None
    return max(medians) if figure.better == "more" else min(medians)


def ratio(row, rows, figure):
    """The median divided by the best median: 1 for the best. At most 1 if more is better, else at
    least 1; except for contenders that do not hand over and so cannot be the best."""
    reference, mine = best(rows, figure), row.median(figure.key)
    if reference is None or mine is None or reference == 0:
        return None
    return mine / reference


def ranked(rows, figure):
    """The rows, best first; rows without the figure last."""
    sign = -1 if figure.better == "more" else 1
    return sorted(rows, key=lambda row: (row.median(figure.key) is None, sign * (row.median(figure.key) or 0)))


def number(value):
    """About three significant digits, without an exponent; a dash for None."""
    if value is None:
        return "-"
    size = abs(value)
    if size >= 100 or value == 0:
        return f"{value:.0f}"
    if size >= 10:
        return f"{value:.1f}"
    return f"{value:.2f}" if size >= 1 else f"{value:.3f}"


def spread_text(low_high):
    return "-" if low_high is None else f"{number(low_high[0])} .. {number(low_high[1])}"


def table(rows, figures):
    """Lines of a Markdown table, best first. A star: the submitter may run tasks itself."""
    header, align = ["contender"], ["---"]
    for figure in figures:
        header += [figure.header] + (["min .. max", "ratio to best"] if figure.compared else [])
        align += ["---:"] * (3 if figure.compared else 1)
    lines = ["| " + " | ".join(header + ["n"]) + " |", "|" + "|".join(align + ["---:"]) + "|"]
    for row in ranked(rows, figures[0]):
        cells = [row.label + ("" if row.hands_over else " *")]
        for figure in figures:
            cells.append(number(row.median(figure.key)))
            if figure.compared:
                share = ratio(row, rows, figure)
                cells += [spread_text(row.spread(figure.key)), "-" if share is None else f"{share:.2f}"]
        lines.append("| " + " | ".join(cells + [str(row.count(figures[0].key))]) + " |")
    return lines


def ceilings_table(row, figures):
    """Transposed: one line for each figure of the single contender."""
    lines = ["| what | median | min .. max | n |", "|---|---:|---:|---:|"]
    for figure in figures:
        lines.append(f"| {figure.header} | {number(row.median(figure.key))} | {spread_text(row.spread(figure.key))} "
                     f"| {row.count(figure.key)} |")
    return lines


def growth_series(rows):
    """(label, figure) -> [(size, median)], from figures named `what@size`."""
    series = {}
    for row in rows:
        for key in row.values:
            what, at, size = key.partition("@")
            if at:
                series.setdefault((row.label, what), []).append((int(size), row.median(key)))
    return {name: sorted(points) for name, points in series.items()}


def growth_table(rows):
    series = growth_series(rows)
    sizes = sorted({size for points in series.values() for size, _ in points})
    lines = ["| contender | figure | " + " | ".join(f"{size:,}" for size in sizes) + " |",
             "|---|---|" + "---:|" * len(sizes)]
    for (label, what), points in sorted(series.items()):
        at = dict(points)
        lines.append(f"| {label} | {what.replace('_', ' ')} | "
                     + " | ".join(number(at.get(size)) for size in sizes) + " |")
    return lines


def tables_for(workload, runs):
    """The Markdown table of a workload, of any shape; empty if the workload has no runs."""
    rows = rows_of(runs, workload.name)
    if not rows:
        return []
    if workload.name.startswith("growth"):
        return growth_table(rows)
    if workload.name == "W13":
        return ceilings_table(rows[0], workload.figures)
    # A figure that no row has (context switches, if only the JVM ran) gets no column.
    return table(rows, [f for f in workload.figures if any(row.median(f.key) is not None for row in rows)])

"""Spool's aims in each workload, and how far a set of runs is from them.

An aim compares a median of a Spool pool with a limit: as a ratio to the median of another
contender, or as an absolute value. "Best" is the best contender that is not Spool and that hands
every task to another thread.
"""
from dataclasses import dataclass
from typing import Callable

from bench_stats import growth_series, number, rows_of

FIXED, STEALING, CACHED, SCHEDULED = "spool-fixed-linked", "spool-stealing", "spool-cached", "spool-scheduled"
NO_SPIN, LOW_LATENCY = "spool-fixed-no-spin", "spool-fixed-low-latency"
MUTEX, TPE, FJP, STPE = "baseline", "java-tpe", "java-fjp", "java-stpe"
SPINNING = ("tbb-enqueue", "eigen")
TBB, TBB_STATIC, OMP, OMP_DYNAMIC, OMP_GUIDED = ("tbb-auto", "tbb-static", "openmp-static", "openmp-dynamic",
                                                 "openmp-guided")


class Medians:
    """The rows of every workload, by contender."""

    def __init__(self, runs):
        self.sizes = {run["workload"]: run["size"] for run in runs}
        self.rows = {name: {row.contender: row for row in rows_of(runs, name)} for name in self.sizes}

    def row(self, workload, contender):
        return self.rows.get(workload, {}).get(contender)

    def others(self, workload, key, wanted):
        """Rows of other contenders that have the figure and are wanted, by ascending median."""
        rows = [row for row in self.rows.get(workload, {}).values()
                if not row.contender.startswith("spool") and row.median(key) is not None and wanted(row)]
        return sorted(rows, key=lambda row: row.median(key))


@dataclass(frozen=True)
class Reached:
    value: float
    text: str


@dataclass(frozen=True)
class Aim:
    workload: str
    pool: str
    wanted: str
    limit: float
    at_least: bool
    measure: Callable  # Medians -> Reached, or None if it was not measured

    def is_met(self, reached):
        return reached.value >= self.limit if self.at_least else reached.value <= self.limit


def share(mine, other, key, unit, called=None):
    """The median of `mine` divided by the median of `other`; None if one of them is missing."""
    if mine is None or other is None or mine.median(key) is None or not other.median(key):
        return None
    value = mine.median(key) / other.median(key)
    return Reached(value, f"{value:.2f}x ({number(mine.median(key))} {unit}; "
                          f"{called or other.label} {number(other.median(key))})")


def hands_over(row):
    return row.hands_over


def is_cpp(row):
    return not row.contender.startswith("java")


def least(workload, pool, key, unit, limit, whose, wanted=hands_over):
    """Aim: at least `limit` times the highest rate among the wanted rows."""
    return Aim(workload, pool, f"{unit} at least {limit}x {whose}", limit, True, lambda medians: share(
        medians.row(workload, pool), (medians.others(workload, key, wanted) or [None])[-1], key, unit))


def most(workload, pool, key, unit, limit, whose, wanted=hands_over):
    """Aim: at most `limit` times the lowest figure among the wanted rows."""
    return Aim(workload, pool, f"{unit} at most {limit}x {whose}", limit, False, lambda medians: share(
        medians.row(workload, pool), (medians.others(workload, key, wanted) or [None])[0], key, unit))


def only(*contenders):
    return lambda row: row.contender in contenders


def two_workers(pool):
    def measure(medians):
        return share(medians.row("W1", pool), medians.row("W1x1", pool), "Mtasks_s", "Mtasks/s", "one worker")
    return Aim("W1, W1x1", pool, "two workers no slower than one", 1.0, True, measure)


def cores_of_the_best_that_spins(workload):
    def measure(medians):
        spinning = medians.others(workload, "p50_us", only(*SPINNING))
        return share(medians.row(workload, LOW_LATENCY), spinning[0] if spinning else None, "cores_busy", "cores busy")
    return Aim(workload, LOW_LATENCY, "no more cores busy than that one", 1.0, False, measure)


def bytes_per_task(medians):
    row = medians.row("W9", FIXED)
    return row and Reached(row.median("bytes_per_task"), f"{number(row.median('bytes_per_task'))} bytes")


def given_back(medians):
    row = medians.row("W9", FIXED)
    if row is None:
        return None
    grown = row.median("bytes_per_task") * medians.sizes["W9"] / 1e6
    percent = 100 * (1 - (row.median("drained_MB") - row.median("before_MB")) / grown)
    return Reached(percent, f"{percent:.1f} %")


def rest(medians):
    rows = [row for row in medians.rows.get("W10", {}).values() if row.contender.startswith("spool")]
    if not rows:
        return None
    busiest = max(rows, key=lambda row: row.median("cpu_ms"))
    return Reached(busiest.median("cpu_ms"), f"{number(busiest.median('cpu_ms'))} ms at most ({busiest.label})")


def growth(workload, pool, what):
    def measure(medians):
        row = medians.row(workload, pool)
        costs = [cost for (_, name), points in growth_series([row] if row else []).items() if name == what
                 for _, cost in points]
        if not costs:
            return None
        value = max(costs) / min(costs)
        return Reached(value, f"{value:.2f}x ({number(min(costs))} to {number(max(costs))} ns)")
    return Aim(workload, pool, f"{what.replace('_', ' ')} at most 1.5x the smallest", 1.5, False, measure)


def loop_aims():
    """P1 to P6. "Best" is the best of the named peers."""
    found = []
    for workload, limit in (("P1", 1.5), ("P1w", 1.0)):
        for key in ("r1", "r2", "r4", "r16"):
            found += [most(workload, STEALING, key, f"ns ({key})", limit, "oneTBB", only(TBB)),
                      most(workload, STEALING, key, f"ns ({key})", 0.5, "OpenMP", only(OMP))]
    for key in ("n3", "n4", "n5", "n6", "n7"):
        found += [most("P2", STEALING, key, f"us ({key})", 1.05, "the best", only(TBB, TBB_STATIC, OMP)),
                  most("P2", STEALING, key, f"us ({key})", 1.1, "one thread", only("serial"))]
    found += [most("P3", STEALING, key, f"us ({key})", 1.03, "the best", only(TBB, OMP_DYNAMIC, OMP_GUIDED))
              for key in ("triangular", "heavy")]
    for key in ("large", "small"):
        found += [most("P4", STEALING, key, f"us ({key})", 1.03, "the best", only(TBB, TBB_STATIC, OMP)),
                  most("P4", "spool-deterministic", key, f"us ({key})", 1.1, "the best", only(TBB, TBB_STATIC, OMP))]
    for key in ("ints", "strings", "sorted", "reversed", "equal"):
        limit = 0.95 if key in ("ints", "strings") else 1.05
        found += [most("P5", STEALING, key, f"ms ({key})", limit, "oneTBB", only(TBB)),
                  most("P5s", STEALING, key, f"ms ({key})", 1.1, "oneTBB", only(TBB))]
    found += [most("P6", STEALING, key, f"us ({key})", 1.0, "oneTBB", only(TBB)) for key in ("nested", "inside")]
    cpu = {"P1": ("r2", "r16"), "P2": ("n4", "n7"), "P3": ("triangular", "heavy"), "P4": ("large",),
           "P5": ("ints", "strings"), "P6": ("nested", "inside")}
    for workload, keys in cpu.items():
        found += [most(workload, STEALING, f"{key}_cpu", f"CPU ({key})", 1.15, "oneTBB", only(TBB)) for key in keys]
        found += [Aim(workload, "spool-fixed", f"{key} at most 2x the work-stealing pool", 2.0, False,
                      lambda medians, w=workload, k=key: share(medians.row(w, "spool-fixed"), medians.row(w, STEALING),
                                                               k, "", "work-stealing")) for key in keys]
    return found


def aims():
    found = []
    for workload in ("W1", "W1x1", "W2"):
        found += [least(workload, FIXED, "Mtasks_s", "Mtasks/s", 1.0, "the best"),
                  least(workload, FIXED, "Mtasks_s", "Mtasks/s", 2.0, "the JDK's ThreadPoolExecutor", only(TPE)),
                  least(workload, FIXED, "Mtasks_s", "Mtasks/s", 2.0, "every C++ pool", is_cpp)]
    for workload in ("W1", "W2"):
        found.append(least(workload, STEALING, "Mtasks_s", "Mtasks/s", 1.3, "the best"))
    found += [two_workers(FIXED), two_workers(STEALING),
              least("W3", STEALING, "Mtasks_s", "Mtasks/s", 1.1, "the best"),
              most("W4", FIXED, "mean_us", "mean us", 0.5, "the best"),
              most("W4b", FIXED, "p50_us", "p50 us", 1.05, "the mutex pool", only(MUTEX)),
              least("W5", STEALING, "Mspawns_s", "Mspawns/s", 2.0, "oneTBB's task_group", only("tbb-task-group")),
              most("W5", STEALING, "fib_ms", "ms", 1.5, "ForkJoinPool", only(FJP))]
    for workload in ("W6", "W7"):
        found += [most(workload, pool, "time_per_ideal", "time / ideal", 1.05, "the best")
                  for pool in (FIXED, STEALING)]
    found += [most("W8", CACHED, "cold_ms", "cold ms", 1.05, "the best"),
              most("W8", CACHED, "warm_ms", "warm ms", 1.05, "the best"),
              Aim("W9", FIXED, "at most 72 bytes for a queued task", 72, False, bytes_per_task),
              Aim("W9", FIXED, "at least 90 % of the growth given back", 90, True, given_back),
              Aim("W10", "every kind", "less than 1 ms of CPU time in 3 s", 1.0, False, rest)]
    for key, unit in (("Minserts_s", "M inserts/s"), ("Mcancels_s", "M cancels/s")):
        found += [least("W11", SCHEDULED, key, unit, 1.0, "the best"),
                  least("W11", SCHEDULED, key, unit, 1.5, "the JDK's", only(STPE))]
    found += [most("W11", SCHEDULED, "bytes_per_timer", "bytes/timer", 1.0, "the best"),
              most("W11a", SCHEDULED, "late_p50_us", "p50 us late", 1.05, "the best"),
              most("W11a", SCHEDULED, "late_p99_us", "p99 us late", 1.05, "the best")]
    # The tail counts from the due time: in an open loop, a task that the pool lets its producer post
    # late is late too.
    for workload in ("W12", "W12s"):
        found += [most(workload, pool, "cores_busy", "cores busy", limit, "the mutex pool", only(MUTEX))
                  for pool, limit in ((FIXED, 1.15), (STEALING, 1.15), (NO_SPIN, 1.05))]
        found += [most(workload, FIXED, "p50_us", "p50 us", 1.05, "the mutex pool", only(MUTEX)),
                  most(workload, FIXED, "p99_from_due_us", "p99 us from due", 1.5, "the mutex pool", only(MUTEX)),
                  most(workload, LOW_LATENCY, "p50_us", "p50 us", 1.5, "the best that spins", only(*SPINNING)),
                  cores_of_the_best_that_spins(workload),
                  most(workload, LOW_LATENCY, "p99_from_due_us", "p99 us from due", 1.0, "the mutex pool", only(MUTEX))]
    for workload in ("W14", "W14d"):
        for pool in (FIXED, STEALING):
            found += [least(workload, pool, "Mtasks_s", "Mtasks/s", 1.5, "every C++ pool", is_cpp),
                      least(workload, pool, "Mtasks_s", "Mtasks/s", 1.5, "the JDK's ThreadPoolExecutor", only(TPE)),
                      least(workload, pool, "Mtasks_s", "Mtasks/s", 1.2, "ForkJoinPool", only(FJP))]
    for pool in (FIXED, STEALING):
        found += [growth("growth-tasks", pool, "post_ns"), growth("growth-tasks", pool, "drain_ns"),
                  growth("growth-workers", pool, "ns_per_task")]
    return found + loop_aims()


def table(runs):
    """Lines: how many aims were met, and a Markdown table of the measured aims, missed ones bold.
    Empty if no aim was measured."""
    medians = Medians(runs)
    labels = {run["contender"]: run["label"] for run in runs}
    rows, met = [], 0
    for aim in aims():
        reached = aim.measure(medians)
        if reached is None:
            continue
        good = aim.is_met(reached)
        met += good
        shown = reached.text if good else f"**missed: {reached.text}**"
        rows.append(f"| {aim.workload} | {labels.get(aim.pool, aim.pool)} | {aim.wanted} | {shown} |")
    if not rows:
        return []
    return [f"{met} of {len(rows)} met.", "", "| workload | pool | aim | reached |", "|---|---|---|---|", *rows]

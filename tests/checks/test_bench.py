"""Shows that the figures of the benchmarks are summed up and written into the results correctly."""
import contextlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import unittest
import xml.etree.ElementTree as ElementTree

from check_case import REPOSITORY, SCRIPTS, CheckTest

sys.path.insert(0, str(SCRIPTS))
import bench_aims  # noqa: E402  (the path above must come first)
import bench_catalogue  # noqa: E402
import bench_machine  # noqa: E402
import bench_report  # noqa: E402
import bench_run  # noqa: E402
import bench_stats  # noqa: E402
import bench_svg  # noqa: E402

RATE = bench_catalogue.Figure("Mtasks_s", "Mtasks/s", "more", True)
TIME = bench_catalogue.Figure("ms", "ms", "less", True)


def run(contender, hands_over=True, workload="W1", **figures):
    return {"workload": workload, "contender": contender, "label": contender.title(), "hands_over": hands_over,
            "size": 1, "repetition": 1, "figures": figures}


RUNS = [run("spool-fixed", Mtasks_s=9.0, ms=3.0), run("baseline", Mtasks_s=5.0, ms=2.0),
        run("caller", False, Mtasks_s=40.0, ms=1.0), run("spool-fixed", Mtasks_s=11.0, ms=5.0),
        run("spool-fixed", Mtasks_s=10.0, ms=4.0), run("baseline", Mtasks_s=4.0, ms=2.0)]


class Statistics(unittest.TestCase):
    def setUp(self):
        self.rows = {row.contender: row for row in bench_stats.rows_of(RUNS, "W1")}

    def ratio(self, contender, figure):
        return bench_stats.ratio(self.rows[contender], list(self.rows.values()), figure)

    def test_median_and_spread(self):
        self.assertEqual(self.rows["spool-fixed"].median("Mtasks_s"), 10.0)
        self.assertEqual(self.rows["baseline"].median("Mtasks_s"), 4.5)
        self.assertEqual(self.rows["spool-fixed"].spread("Mtasks_s"), (9.0, 11.0))
        self.assertIsNone(self.rows["baseline"].median("unknown"))

    def test_summaries_have_each_contender_of_each_workload(self):
        runs = [{"workload": workload, "contender": "one", "label": "One", "hands_over": True, "figures": {"ns": value}}
                for workload in ("W1", "W2") for value in (3.0, 1.0, 2.0)]
        summary = bench_stats.summaries(runs)
        self.assertEqual([(one["workload"], one["contender"]) for one in summary], [("W1", "one"), ("W2", "one")])
        self.assertEqual(summary[0]["figures"], {"ns": {"median": 2.0, "min": 1.0, "max": 3.0, "n": 3}})

    def test_the_best_hands_every_task_over(self):
        self.assertEqual(self.ratio("spool-fixed", RATE), 1.0)
        self.assertEqual(self.ratio("baseline", RATE), 0.45)
        self.assertEqual(self.ratio("caller", RATE), 4.0)
        self.assertEqual(self.ratio("spool-fixed", TIME), 2.0)
        self.assertEqual(self.ratio("caller", TIME), 0.5)

    def test_nobody_is_best_where_nobody_hands_over(self):
        rows = bench_stats.rows_of([run("caller", False, ms=1.0)], "W1")
        self.assertIsNone(bench_stats.ratio(rows[0], rows, TIME))

    def test_order_follows_what_is_better(self):
        by_rate = bench_stats.ranked(self.rows.values(), RATE)
        self.assertEqual([row.contender for row in by_rate], ["caller", "spool-fixed", "baseline"])
        by_time = bench_stats.ranked(self.rows.values(), TIME)
        self.assertEqual([row.contender for row in by_time], ["caller", "baseline", "spool-fixed"])

    def test_table_marks_the_caller_and_what_is_missing(self):
        lines = bench_stats.table(list(self.rows.values()), [RATE, bench_catalogue.Figure("none", "none")])
        self.assertEqual(lines[2], "| Caller * | 40.0 | 40.0 .. 40.0 | 4.00 | - | 1 |")
        self.assertEqual(lines[3], "| Spool-Fixed | 10.0 | 9.00 .. 11.0 | 1.00 | - | 3 |")

    def test_growth_is_a_series_by_size(self):
        rows = bench_stats.rows_of([run("a", **{"ns@100": 3.0, "ns@10": 2.0})], "W1")
        self.assertEqual(bench_stats.growth_series(rows), {("A", "ns"): [(10, 2.0), (100, 3.0)]})

    def test_numbers_have_three_digits(self):
        shown = [bench_stats.number(x) for x in (None, 0, 0.0321, 1.234, 45.67, 1234.5)]
        self.assertEqual(shown, ["-", "0", "0.032", "1.23", "45.7", "1234"])


class Aims(unittest.TestCase):
    def aims(self, *runs):
        """What is said of each aim that these runs measure, by workload and aim."""
        cells = [line.strip("| ").split(" | ") for line in bench_aims.table(list(runs))[4:]]
        return {(workload, wanted): reached for workload, _, wanted, reached in cells}

    def test_a_rate_is_held_against_the_best_that_hands_over_and_is_not_spool(self):
        said = self.aims(run("spool-stealing", workload="W3", Mtasks_s=12.0), run("eigen", workload="W3", Mtasks_s=10.0),
                         run("slow", workload="W3", Mtasks_s=2.0), run("caller", False, workload="W3", Mtasks_s=90.0),
                         run("spool-fixed-linked", workload="W3", Mtasks_s=50.0))
        self.assertEqual(said, {("W3", "Mtasks/s at least 1.1x the best"): "1.20x (12.0 Mtasks/s; Eigen 10.0)"})

    def test_says_what_is_missed_and_counts_what_is_met(self):
        runs = [run("spool-cached", workload="W8", cold_ms=21.2, warm_ms=20.0),
                run("poco", workload="W8", cold_ms=20.0, warm_ms=25.0), run("glib", workload="W8", cold_ms=30.0)]
        self.assertEqual(self.aims(*runs), {
            ("W8", "cold ms at most 1.05x the best"): "**missed: 1.06x (21.2 cold ms; Poco 20.0)**",
            ("W8", "warm ms at most 1.05x the best"): "0.80x (20.0 warm ms; Poco 25.0)"})
        self.assertEqual(bench_aims.table(runs)[0], "1 of 2 met.")

    def test_a_limit_itself_is_met(self):
        mutex = run("baseline", workload="W12", p99_from_due_us=4.0)
        said = self.aims(run("spool-fixed-low-latency", workload="W12", p99_from_due_us=4.0), mutex)
        self.assertEqual(said, {("W12", "p99 us from due at most 1.0x the mutex pool"): "1.00x (4.00 p99 us from due; Baseline 4.00)"})

    def test_the_default_may_keep_hardly_more_cores_busy_than_the_mutex_pool(self):
        said = self.aims(run("spool-fixed-linked", workload="W12", p50_us=21.0, p99_from_due_us=60.0, cores_busy=1.4),
                         run("baseline", workload="W12", p50_us=20.0, p99_from_due_us=40.0, cores_busy=1.0))
        self.assertEqual(said, {
            ("W12", "cores busy at most 1.15x the mutex pool"): "**missed: 1.40x (1.40 cores busy; Baseline 1.00)**",
            ("W12", "p50 us at most 1.05x the mutex pool"): "1.05x (21.0 p50 us; Baseline 20.0)",
            ("W12", "p99 us from due at most 1.5x the mutex pool"): "1.50x (60.0 p99 us from due; Baseline 40.0)"})

    def test_cores_are_those_of_the_spinning_one_with_the_lowest_latency(self):
        said = self.aims(run("spool-fixed-low-latency", workload="W12s", p50_us=1.0, cores_busy=1.5),
                         run("eigen", workload="W12s", p50_us=0.5, cores_busy=1.2),
                         run("tbb-enqueue", workload="W12s", p50_us=2.0, cores_busy=2.0))
        self.assertEqual(said[("W12s", "no more cores busy than that one")],
                         "**missed: 1.25x (1.50 cores busy; Eigen 1.20)**")

    def test_memory_that_is_kept_is_a_share_of_what_the_tasks_took(self):
        one = run("spool-fixed-linked", workload="W9", bytes_per_task=80.0, before_MB=1.0, drained_MB=21.0)
        said = self.aims(one | {"size": 1_000_000})
        self.assertEqual(said, {("W9", "at most 72 bytes for a queued task"): "**missed: 80.0 bytes**",
                                ("W9", "at least 90 % of the growth given back"): "**missed: 75.0 %**"})

    def test_the_busiest_pool_counts_at_rest(self):
        said = self.aims(run("spool-cached", workload="W10", cpu_ms=0.2), run("spool-stealing", workload="W10", cpu_ms=1.5),
                         run("eigen", workload="W10", cpu_ms=9.0))
        self.assertEqual(list(said.values()), ["**missed: 1.50 ms at most (Spool-Stealing)**"])

    def test_growth_is_the_dearest_over_the_cheapest(self):
        said = self.aims(run("spool-stealing", workload="growth-workers",
                             **{"ns_per_task@1": 12.0, "ns_per_task@8": 19.2, "ns_per_task@64": 15.0}))
        self.assertEqual(list(said.values()), ["**missed: 1.60x (12.0 to 19.2 ns)**"])

    def test_two_workers_are_held_against_one(self):
        said = self.aims(run("spool-stealing", Mtasks_s=9.0), run("spool-stealing", workload="W1x1", Mtasks_s=10.0))
        self.assertEqual(list(said.values()), ["**missed: 0.90x (9.00 Mtasks/s; one worker 10.0)**"])

    def test_futures_are_held_against_every_cpp_pool_and_the_pools_of_the_jdk(self):
        peers = {"baseline": 6.0, "java-tpe": 8.0, "java-fjp": 10.0}
        for workload in ("W14", "W14d"):
            for pool in ("spool-fixed-linked", "spool-stealing"):
                said = self.aims(run(pool, workload=workload, Mtasks_s=12.0),
                                 run("eigen", False, workload=workload, Mtasks_s=8.1),
                                 *(run(name, workload=workload, Mtasks_s=rate) for name, rate in peers.items()))
                self.assertEqual(said, {
                    (workload, "Mtasks/s at least 1.5x every C++ pool"): "**missed: 1.48x (12.0 Mtasks/s; Eigen 8.10)**",
                    (workload, "Mtasks/s at least 1.5x the JDK's ThreadPoolExecutor"):
                        "1.50x (12.0 Mtasks/s; Java-Tpe 8.00)",
                    (workload, "Mtasks/s at least 1.2x ForkJoinPool"): "1.20x (12.0 Mtasks/s; Java-Fjp 10.0)"})

    def test_nothing_is_said_of_what_was_not_measured(self):
        self.assertEqual(bench_aims.table([]), [])
        self.assertEqual(bench_aims.table([run("spool-stealing", workload="W3", Mtasks_s=12.0)]), [])


class Selection(unittest.TestCase):
    def names(self, *wanted):
        return [workload.name for workload in bench_catalogue.chosen(wanted)]

    def test_a_name_stands_for_its_variants(self):
        self.assertEqual(self.names("W1"), ["W1", "W1x1"])
        self.assertEqual(self.names("W11"), ["W11", "W11a"])
        self.assertEqual(self.names("W14"), ["W14", "W14d"])
        self.assertEqual(self.names("W4b", "growth"), ["W4b", "growth-tasks", "growth-workers"])
        self.assertEqual(len(self.names()), len(bench_catalogue.WORKLOADS))

    def test_refuses_an_unknown_name(self):
        with self.assertRaisesRegex(ValueError, "W99"):
            self.names("W1", "W99")


class Measuring(CheckTest):
    def outcome(self, program, seconds=20):
        return bench_run.measure([sys.executable, "-c", program], seconds)

    def test_says_why_there_is_no_figure(self):
        self.assertEqual(self.outcome("print('{\"a\": 1}')"), {"a": 1})
        self.assertIn("exit code 3: lost one", self.outcome("import sys; print('lost one', file=sys.stderr); exit(3)"))
        self.assertIn("no JSON", self.outcome("print('hello')"))
        self.assertIn("longer than", self.outcome("while True: pass", 0.2))

    def test_does_short_workloads_more_often(self):
        offers = [{"workload": "W1", "contender": "a"}, {"workload": "W10", "contender": "a"}]
        self.assertEqual(bench_run.one_repetition(offers, quick=False), [offers[0]] * 5 + [offers[1]])
        self.assertEqual(bench_run.one_repetition(offers, quick=True), offers)

    def test_keeps_other_workloads_of_the_same_machine(self):
        machine = {"cpu": "x", "cores": 2, "kernel": "6", "compiler": "c", "flags": "-O3"}
        path = self.write("pools.json", json.dumps({"machine": machine, "runs": [
            run("old", workload="W1"), run("old", workload="W2")]}))
        fresh = [run("new", workload="W1")]
        kept = bench_run.with_earlier(path, machine, {"W1"}, fresh)
        self.assertEqual([(r["workload"], r["contender"]) for r in kept], [("W2", "old"), ("W1", "new")])
        self.assertEqual(bench_run.with_earlier(path, machine | {"cores": 4}, {"W1"}, fresh), fresh)


class Report(CheckTest):
    DOCUMENT = {"machine": {"cpu": "A <fast> CPU", "cores": 2, "memory_GB": 8, "kernel": "6.1", "compiler": "g++ 12",
                            "flags": "-O3", "packages": {"libtbb-dev": "2021.8"}, "date": "2026-01-31",
                            "commit": "abc1234"},
                "runs": RUNS + [run("spool-fixed", workload="growth-tasks", **{"post_ns@10": 2.0, "post_ns@1000": 3.0}),
                                run("machine", workload="W13", call_ns=1.5)]}

    def report(self, runs=None, target="results/pools.md"):
        """The page that is made of these runs."""
        figures = self.write("pools.json", json.dumps(self.DOCUMENT | ({"runs": runs} if runs else {})))
        code, output = self.run_script(SCRIPTS / "bench_report.py", "pools", figures, self.root / target)
        self.assertEqual(code, 0, output)
        return (self.root / target).read_text(encoding="utf-8")

    def test_the_page_has_machine_commit_tables_and_charts(self):
        page = self.report()
        self.assertTrue(page.startswith(f"# The pools beside their peers\n\n{bench_report.NOTICE}\n"))
        self.assertIn("Measured on 2026-01-31 at commit abc1234: A <fast> CPU, 2 cores", page)
        self.assertIn("| Spool-Fixed | 10.0 | 9.00 .. 11.0 | 1.00 |", page)
        self.assertIn("(pools/w1.svg)", page)
        self.assertIn("| call of a std::function, ns | 1.50 |", page)
        self.assertNotIn("W2:", page)
        self.assertNotIn("aims at", page)  # nothing was measured that has an aim

    def test_says_which_aims_were_met_on_the_page_and_on_the_terminal(self):
        runs = [run("spool-stealing", workload="W3", Mtasks_s=12.0), run("eigen", workload="W3", Mtasks_s=10.0)]
        self.assertIn("how far it is\n\n1 of 1 met.\n\n| workload |", self.report(runs))
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            bench_run.print_tables(bench_catalogue.chosen(["W3"]), runs)
        self.assertIn("what Spool aims at: 1 of 1 met.\n", printed.getvalue())

    def test_figures_kept_from_an_earlier_run_say_so(self):
        now = {"date": "2026-01-31", "commit": "abc1234"}
        page = self.report([run("baseline", Mtasks_s=5.0) | now,
                            run("baseline", workload="W2", Mtasks_s=5.0) | {"date": "2025-12-24", "commit": "0ld"}])
        self.assertIn("2 workers. Measured on 2025-12-24 at commit 0ld.\n", page.partition("## W2")[2])
        self.assertNotIn("Measured", page.partition("## W1")[2].partition("## W2")[0])

    def test_replaces_the_whole_page_and_writes_the_same_again(self):
        self.write("results/pools.md", "old\n")
        first = self.report()
        self.assertNotIn("old", first)
        self.assertEqual(self.report(), first)

    def test_charts_are_well_formed_and_know_the_dark(self):
        self.report()
        for name in ("w1", "growth-tasks"):
            text = (self.root / "results" / "pools" / f"{name}.svg").read_text(encoding="utf-8")
            self.assertTrue(ElementTree.fromstring(text).tag.endswith("svg"))
            self.assertIn("prefers-color-scheme: dark", text)

    def test_the_queues_have_a_page_with_a_table_and_a_chart_each(self):
        contenders = [{"name": "std::mutex", "median": 5, "figures": [4, 5, 6]},
                      {"name": "spool::linked", "median": 10, "figures": [9, 10, 12]}]
        figures = self.write("queue.json", json.dumps([{"title": "1 -> 1", "contenders": contenders}]))
        page = self.root / "queues.md"
        code, output = self.run_script(SCRIPTS / "bench_report.py", "queues", figures, page, "--build", self.root)
        self.assertEqual(code, 0, output)
        text = page.read_text(encoding="utf-8")
        self.assertRegex(text, r"Measured on \d{4}-\d\d-\d\d at commit \w+")
        self.assertIn("## 1 -> 1\n\n![1 -> 1](queues/q1.svg)\n", text)
        self.assertIn("| spool::linked | 10.0 | 9.00 .. 12.0 | 1.00 | 3 |\n"
                      "| std::mutex | 5.00 | 4.00 .. 6.00 | 0.50 | 3 |\n", text)
        self.assertTrue((self.root / "queues" / "q1.svg").exists())

    def test_bars_grow_with_the_figure(self):
        rows = bench_stats.ranked(bench_stats.rows_of(RUNS, "W1"), RATE)
        svg = ElementTree.fromstring(bench_svg.bar_chart("a & b", RATE, rows))
        bars = [bar for bar in svg.iter() if bar.tag.endswith("rect")]
        self.assertEqual([bar.get("class") for bar in bars], ["caller", "spool", "peer"])
        widths = [float(bar.get("width")) for bar in bars]
        self.assertAlmostEqual(widths[0] / widths[1], 4.0, places=1)


class Script(CheckTest):
    """scripts/bench in a repository of its own, with programs that only pretend to measure."""

    def setUp(self):
        super().setUp()
        shutil.copytree(SCRIPTS, self.root / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
        self.write("scripts/bench_run.py", "import json, sys\n"
                   "name = 'pools-quick' if '--quick' in sys.argv else 'pools'\n"
                   f"json.dump({Report.DOCUMENT!r}, open(f'build/bench/{{name}}.json', 'w'))\n")
        queue = json.dumps([{"title": "1 -> 1", "contenders": [{"name": "a", "figures": [1]}]}])
        self.program("build/bench/benchmarks/spool-bench-queue", f"echo '{queue}' >build/bench/queue.json")
        self.program("bin/dpkg", "echo Status: install ok installed")
        for name in ("cmake", "g++", "ninja", "javac", "pkg-config"):
            self.program(f"bin/{name}", "exit 0")

    def program(self, name, text):
        self.write(name, f"#!/bin/bash\n{text}\n").chmod(0o755)

    def bench(self, *arguments):
        """Runs the script; the pages in the repository afterwards."""
        done = subprocess.run([self.root / "scripts" / "bench", *arguments], text=True, check=False,
                              env={**os.environ, "PATH": f"{self.root}/bin:{os.environ['PATH']}"},
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(done.returncode, 0, done.stdout)
        return sorted(str(page.relative_to(self.root)) for page in self.root.rglob("*.md"))

    def test_a_real_run_writes_the_results(self):
        self.assertEqual(self.bench(), ["benchmarks/results/pools.md", "benchmarks/results/queues.md"])

    def test_a_quick_run_leaves_the_repository_alone(self):
        self.assertEqual(self.bench("--quick"), ["build/bench/quick/pools.md", "build/bench/quick/queues.md"])
        self.assertFalse((self.root / "benchmarks").exists())

    def test_a_run_of_one_half_leaves_the_page_of_the_other_alone(self):
        self.assertEqual(self.bench("queue"), ["benchmarks/results/queues.md"])


class Results(unittest.TestCase):
    """The guide, the pages that are committed, and what makes them."""

    def test_the_guide_has_a_line_for_every_workload(self):
        rows = [line.split("|")[1] for line in (REPOSITORY / "docs/performance.md").read_text(encoding="utf-8").splitlines()
                if line.startswith("|")]
        named = {name.strip() for row in rows for name in row.split(",")}
        self.assertEqual([w.name for w in bench_catalogue.WORKLOADS if w.name not in named], [])

    def test_the_committed_pages_are_generated_ones_and_have_their_charts(self):
        for name in ("pools", "queues"):
            page = REPOSITORY / "benchmarks" / "results" / f"{name}.md"
            text = page.read_text(encoding="utf-8")
            self.assertIn(bench_report.NOTICE, text)
            self.assertRegex(text, r"\nMeasured on \d{4}-\d\d-\d\d at commit \w+")
            charts = re.findall(r"!\[[^\]]*\]\(([^)]*)\)", text)
            self.assertTrue(charts)
            self.assertEqual([chart for chart in charts if not (page.parent / chart).exists()], [])

    def test_the_commit_is_that_of_the_repository_or_unknown(self):
        self.assertRegex(bench_machine.commit(), r"^([0-9a-f]{7,}( with changes)?|unknown)$")


if __name__ == "__main__":
    unittest.main()

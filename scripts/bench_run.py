"""Measures every workload with every contender, in random order, each run in its own process.

usage: bench_run.py --build <build/bench> [--repetitions n] [--quick] [--seed n] [workload ...]

Each repetition runs every pair of workload and contender once, short workloads several times, in a
new random order. Prints tables and writes <build>/pools.json (pools-quick.json with --quick).
Workloads that are not measured this time keep their earlier figures, if those come from the same
machine and compiler.
"""
import argparse
import json
import random
import subprocess
import sys
import time
from pathlib import Path

import bench_aims
from bench_catalogue import BY_NAME, chosen
from bench_machine import facts, java_heap, same_machine
from bench_stats import summaries, tables_for


class Programs:
    """The executables that measure: which measurements they offer, and how to start one."""

    def __init__(self, build):
        self.native = build / "benchmarks" / "pools" / "spool-bench-pools"
        self.classes = build / "benchmarks" / "pools" / "java"

    def java(self, workload):
        # W9 measures the growth of the heap, so the heap must start small.
        return ["java", "-XX:+UseG1GC", *java_heap(small_start=workload == "W9"), "-cp", str(self.classes), "Bench"]

    def offers(self):
        """One dictionary for each measurement, with its `program`."""
        commands = {"native": [str(self.native), "--list"]}
        if (self.classes / "Bench.class").exists():
            commands["java"] = [*self.java(""), "--list"]
        else:
            print("no Java classes here: the JDK's pools will be missing")
        found = []
        for program, command in commands.items():
            output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            found += [json.loads(line) | {"program": program} for line in output.splitlines()]
        return found

    def command(self, offer, size):
        if offer["program"] == "java":
            return [*self.java(offer["workload"]), offer["workload"], offer["contender"], str(size)]
        return [str(self.native), "--workload", offer["workload"], "--contender", offer["contender"],
                "--size", str(size)]


def measure(command, seconds):
    """The parsed JSON line that the process printed, or a string with the reason of the failure."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return f"took longer than {seconds} s"
    if done.returncode != 0:
        return f"exit code {done.returncode}: {done.stderr.strip()[-300:]}"
    try:
        return json.loads(done.stdout)
    except json.JSONDecodeError:
        return f"no JSON: {done.stdout[:200]!r}"


def one_repetition(offers, quick):
    """Each offer as often as its workload says; once with --quick."""
    return [offer for offer in offers for _ in range(1 if quick else BY_NAME[offer["workload"]].times)]


def run_all(programs, offers, options):
    """Runs every offer in each repetition, newly shuffled. Returns runs and failures."""
    order, runs, failures = one_repetition(offers, options.quick), [], []
    shuffle = random.Random(options.seed).shuffle
    for repetition in range(1, options.repetitions + 1):
        shuffle(order)
        started = time.monotonic()
        for offer in order:
            workload = BY_NAME[offer["workload"]]
            size = workload.quick_size if options.quick else offer["size"]
            result = measure(programs.command(offer, size), workload.seconds)
            where = {"repetition": repetition, "workload": offer["workload"], "contender": offer["contender"]}
            if isinstance(result, str):
                failures.append(where | {"reason": result})
                print(f"FAILED {offer['workload']} {offer['contender']}: {result}", flush=True)
            else:
                runs.append(result | {"repetition": repetition})
        print(f"repetition {repetition} of {options.repetitions}: {len(order)} measurements, "
              f"{time.monotonic() - started:.0f} s", flush=True)
    return runs, failures


def with_earlier(path, machine, measured, runs):
    """These runs, preceded by the earlier runs of the other workloads."""
    if not path.exists():
        return runs
    earlier = json.loads(path.read_text(encoding="utf-8"))
    if not same_machine(earlier["machine"], machine):
        print(f"{path}: from another machine or compiler, not kept")
        return runs
    return [run for run in earlier["runs"] if run["workload"] not in measured] + runs


def print_tables(workloads, runs):
    for workload in workloads:
        lines = tables_for(workload, runs)
        if lines:
            print(f"\n{workload.name}: {workload.title}\n\n" + "\n".join(lines))
    print("\n* the submitter may run tasks itself, so it is nobody's best")
    aims = bench_aims.table(runs)
    if aims:
        print("\nwhat Spool aims at: " + "\n".join(aims))


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to see that it works")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000)
    parser.add_argument("workloads", nargs="*")
    options = parser.parse_args(arguments)
    try:
        workloads = chosen(options.workloads)
    except ValueError as e:
        parser.error(str(e))

    programs = Programs(options.build)
    wanted = {workload.name for workload in workloads}
    offers = [offer for offer in programs.offers() if offer["workload"] in wanted]
    machine = facts(options.build)
    runs, failures = run_all(programs, offers, options)
    # Stays with the figures when a later run keeps them.
    stamp = {key: machine[key] for key in ("date", "commit")}
    runs = [run | stamp for run in runs]
    print_tables(workloads, runs)

    path = options.build / ("pools-quick.json" if options.quick else "pools.json")
    all_runs = with_earlier(path, machine, wanted, runs)
    document = {"machine": machine, "seed": options.seed, "repetitions": options.repetitions,
                "quick": options.quick, "failures": failures, "results": summaries(all_runs), "runs": all_runs}
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    print(f"{len(runs)} runs, {len(failures)} failed; figures in {path}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""The workloads: the name of each, what it measures, and which figures the tables show."""
import re
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Figure:
    key: str  # in the JSON
    header: str  # in tables and charts
    better: str = "less"  # or "more"
    compared: bool = False  # shown with its spread and its ratio to the best


@dataclass(frozen=True)
class Workload:
    name: str
    title: str
    about: str
    figures: list = field(default_factory=list)  # the first orders the rows and is drawn
    quick_size: int = 1000  # with --quick
    seconds: int = 120  # time limit of a run
    # Runs per repetition: a single short run may fall entirely into a quiet or a noisy moment.
    times: int = 1


def mtasks(*more):
    return [Figure("Mtasks_s", "Mtasks/s", "more", True), *more, Figure("cpu_ns_per_task", "CPU ns/task"),
            Figure("context_switches", "context switches")]


def ideal():
    return [Figure("time_per_ideal", "time / ideal", compared=True), Figure("ms", "ms"),
            Figure("cpu_per_ideal", "CPU / ideal CPU")]


def trip():
    return [Figure("p50_us", "p50 us", compared=True), Figure("p99_us", "p99 us", compared=True),
            Figure("mean_us", "mean us", compared=True), Figure("p999_us", "p99.9 us"),
            Figure("cpu_us_per_trip", "CPU us per trip")]


def futures():
    return mtasks(Figure("ns_per_submit", "ns per submit"), Figure("bytes_per_pending", "bytes per pending future"))


def open_loop():
    return [Figure("p50_us", "p50 us", compared=True), Figure("p99_us", "p99 us", compared=True),
            Figure("p999_us", "p99.9 us"), Figure("p99_from_due_us", "p99 from due time us"),
            Figure("cores_busy", "cores busy")]


def loop_times(unit, *named):
    """The time of one call, then its CPU time, for each (key, header)."""
    return ([Figure(key, f"{header} {unit}", compared=True) for key, header in named]
            + [Figure(f"{key}_cpu", f"CPU {unit}, {header}") for key, header in named])


def regions():
    return loop_times("ns", ("r1", "1 child"), ("r2", "2 children"), ("r4", "4 children"), ("r16", "16 children"))


def sorts():
    return loop_times("ms", ("ints", "ints"), ("strings", "strings"), ("sorted", "sorted"), ("reversed", "reversed"),
                      ("equal", "all equal"))


WORKLOADS = [
    Workload("W1", "one producer, empty tasks",
             "One outside thread posts 2,000,000 tasks that capture eight bytes and count; 2 workers.",
             mtasks(Figure("ns_per_post", "ns per post")), 20_000, times=5),
    Workload("W1x1", "one producer, one worker", "The same with 1 worker.",
             mtasks(Figure("ns_per_post", "ns per post")), 20_000, times=5),
    Workload("W2", "four producers",
             "Four outside threads, released together, post 500,000 tasks each; 2 workers.", mtasks(), 20_000,
             times=3),
    Workload("W3", "tasks that post tasks",
             "One outside post of a root; each task posts two of the next depth, 2^20 - 1 in all; 16 bytes captured.",
             mtasks(), 10, times=3),
    Workload("W4", "submit and get, one at a time",
             "One outside thread submits a task that returns 42 and gets the future, 100,000 times. Native futures where "
             "there are any, else a shared packaged_task.", trip(), 500),
    Workload("W4b", "submit and get after a rest",
             "The same 500 times with a millisecond of sleep before each, so that the workers are parked.",
             trip(), 20, times=5),
    Workload("W5", "fork-join",
             "fib(30) without a cut-off: spawn fib(n-1), call fib(n-2) in place, join, add; two threads in all.",
             [Figure("fib_ms", "fib(30) ms", compared=True), Figure("Mspawns_s", "Mspawns/s", "more"),
              Figure("cpu_ms", "CPU ms"), Figure("small_fib_ms", "fib(27) ms"),
              Figure("small_Mspawns_s", "Mspawns/s", "more")], 15, times=3),
    Workload("W6", "fan-out, fan-in",
             "1000 rounds of 1000 tasks of 1 us CPU; the producer waits for each round on a count-down latch.",
             ideal(), 20, times=3),
    Workload("W7", "uneven tasks",
             "100,000 tasks, CPU time exponentially distributed with a mean of 10 us; one producer, 2 workers.",
             ideal(), 1_000),
    Workload("W8", "burst of blocking tasks",
             "200 tasks that each sleep 20 ms. Cold: a new pool, its construction included. Warm: the same pool again. "
             "Pools that cannot grow are built with 200 threads.",
             [Figure("cold_ms", "cold ms", compared=True), Figure("warm_ms", "warm ms", compared=True)], 20),
    Workload("W9", "memory of queued tasks",
             "Both workers are held at a gate; 2,000,000 tasks with 24 bytes captured are posted; growth of the "
             "resident anonymous memory (JDK: of the live heap). Then the gate opens.",
             [Figure("bytes_per_task", "bytes/task", compared=True), Figure("ns_per_post", "ns per post"),
              Figure("drain_ns_per_task", "drain ns/task"), Figure("before_MB", "before MB"),
              Figure("drained_MB", "after drain MB"), Figure("trimmed_MB", "after malloc_trim / gc MB")], 20_000),
    Workload("W10", "idle",
             "100,000 tasks (10,000 round trips where there is no queue), then 3 s of rest: CPU time of the process "
             "during the rest. The JVM's has a resolution of 10 ms and includes its own threads.",
             [Figure("cpu_ms", "CPU ms in the rest", compared=True),
              Figure("context_switches", "context switches")], 100),
    Workload("W11", "timers put in and cancelled",
             "1,000,000 one-shot timers, 1 to 60 s, put in by one outside thread, then cancelled in the same order; the "
             "second such round. Memory is that of the first; an array of handles that is only the caller's is not counted.",
             [Figure("Minserts_s", "Minserts/s", "more", True), Figure("Mcancels_s", "Mcancel calls/s", "more", True),
              Figure("Mgone_s", "Mcancels/s until gone", "more"),
              Figure("bytes_per_timer", "bytes/timer", compared=True)], 20_000, 180, times=3),
    Workload("W11a", "timers that fire",
             "10,000 timers over 0 to 2 s: how late the callback starts.",
             [Figure("late_p50_us", "late p50 us", compared=True), Figure("late_p99_us", "late p99 us", compared=True),
              Figure("late_worst_us", "worst us")], 100, times=3),
    Workload("W12", "open loop, spinning producer",
             "A task of 5 us CPU every 50 us for 5 s, 24 bytes captured; from just before the post to its first "
             "instruction. The producer spins between posts and so keeps one core.", open_loop(), 1_000),
    Workload("W12s", "open loop, sleeping producer",
             "The same for 2 s; the producer sleeps until each post is due.", open_loop(), 1_000),
    Workload("W13", "ceilings", "What no pool can pass on this machine.",
             [Figure("call_ns", "call of a std::function, ns"),
              Figure("make_and_call_ns", "constructing it as well, 8 bytes captured, ns"),
              Figure("make_and_call_24_bytes_ns", "the same with 24 bytes (heap), ns"),
              Figure("fetch_add_ns", "uncontended fetch_add, ns"),
              Figure("lonely_mutex_ns", "std::mutex in a process of one thread, ns"),
              Figure("clock_ns", "steady_clock::now(), ns"), Figure("iteration_ns", "iteration of the CPU work, ns"),
              Figure("serial_fib30_ms", "serial fib(30), ms"), Figure("thread_us", "std::thread and join, us"),
              Figure("ping_pong_us", "mutex + condition variable, us per round trip"),
              Figure("spinning_ping_pong_ns", "two pinned threads spinning on one word, ns per round trip"),
              Figure("ring_M_s", "ring from one thread to another, M/s", "more"),
              Figure("pinned_ring_M_s", "the same, pinned, M/s", "more")], 100_000),
    Workload("W14", "submit and collect",
             "One outside thread submits 1,000,000 tasks that each return an int, keeps the futures, then gets them all; "
             "2 workers. Native futures where there are any, else a shared packaged_task. Memory is the growth while all "
             "tasks are pending behind a gate, without the array of futures (JDK: of the live heap); the rest is that of "
             "a second round without the gate.", futures(), 20_000, times=3),
    Workload("W14d", "submit and drop",
             "The same, but the thread drops each future at once; the time ends when the last task has run.",
             futures(), 20_000, times=3),
    Workload("P1", "empty region, from outside",
             "A thread that is no worker forks 1, 2, 4 or 16 empty children and joins them; two threads, or two workers. "
             "OpenMP: a parallel region with that many tasks.", regions(), 1, times=3),
    Workload("P1w", "empty region, on a worker", "The same, called by a task.", regions(), 1, times=3),
    Workload("P2", "axpy", "y += a x, doubles, 10^3 to 10^7 elements.",
             loop_times("us", ("n3", "10^3"), ("n4", "10^4"), ("n5", "10^5"), ("n6", "10^6"), ("n7", "10^7")), 1,
             times=3),
    Workload("P3", "uneven loops",
             "2000 elements whose i-th takes i steps; 10,000 elements of 100 steps, one of which takes a million.",
             loop_times("us", ("triangular", "triangular"), ("heavy", "one heavy")), 1, times=3),
    Workload("P4", "reduction", "The sum of 2*10^7 and of 10^4 floats, as a double.",
             loop_times("us", ("large", "2*10^7"), ("small", "10^4")), 1, times=3),
    Workload("P5", "sort", "10^7 ints and 10^6 strings, random; 10^7 ints sorted, reversed, all equal.", sorts(), 1, 240),
    Workload("P5s", "stable sort", "The same. oneTBB: std::stable_sort(std::execution::par).", sorts(), 1, 240),
    Workload("P6", "nested loops",
             "A loop of 100 whose body is a loop of 1000; a loop of 10,000 inside a submitted task. 20 steps per element.",
             loop_times("us", ("nested", "nested"), ("inside", "inside a task")), 1, times=3),
    Workload("growth-tasks", "cost of a task by queued tasks",
             "10^4 to 10^7 tasks queued behind a gate, 2 workers: ns per post, and per task while draining.",
             quick_size=10_000, seconds=240, times=3),
    Workload("growth-workers", "cost of a task by workers", "1,000,000 empty tasks as in W1, with 1 to 64 workers.",
             quick_size=10_000, seconds=240, times=5),
]

BY_NAME = {workload.name: workload for workload in WORKLOADS}


def chosen(names):
    """The workloads of these names, each with its variants (W4: W4 and W4b); all without a name."""
    if not names:
        return list(WORKLOADS)
    unknown = [name for name in names if not any(matches(name, w.name) for w in WORKLOADS)]
    if unknown:
        raise ValueError(f"no workload {', '.join(unknown)}; there are {', '.join(BY_NAME)}")
    return [workload for workload in WORKLOADS if any(matches(name, workload.name) for name in names)]


def matches(name, workload):
    return workload == name or (re.fullmatch(r"[WP]\d+|growth", name) is not None
                                and re.fullmatch(re.escape(name) + r"([a-z]\d*|-\w+)", workload) is not None)

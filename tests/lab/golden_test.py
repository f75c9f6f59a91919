"""Runs `spool lab` as a user would and compares what it says with what it is known to say.

usage: golden_test.py <case> <spool> [--update]

Simulated runs are the same everywhere; figures of real runs are masked. --update rewrites the golden file.
"""
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ESCAPE, HIDE, SHOW = "\x1b", "\x1b[?25l", "\x1b[?25h"

# A line and a field each: what is wrong with these scenarios, and the words that say so.
BAD_SCENARIOS = [
    ('{\n"duration": "1s",,\n}', ":2: not valid JSON"),
    ('{"pool": {},\n"duration": "soon"\n}', ':2: duration: expected a duration such as "50ms"'),
    ('{"duration": "1s",\n"pool": {"core": 1,\n"maximum": -1},\n"classes": []}', ":3: pool.maximum: expected a whole number"),
    ('{"duration": "1s",\n"pool": {},\n"classes": [{"name": "a",\n"arrivals": {"kind": "poisson", "rate": 1e12}, "service": "1ms"}]}',
     ":4: classes[0].arrivals.rate: expected a number above 0 and at most 1000000, got 1000000000000.0"),
    ('{"duration": "1s",\n"pool": {},\n"classes": [{"name": "a", "arrivals": {"kind": "poisson", "rate": 1}, "service": "1ms"}],\n"goal": "fast"}',
     ':4: goal: "fast": expected something like p99<50ms'),
    ('{"duration": "1s",\n"pool": {},\n"classes": [{"name": "a",\n"arrivals": {"kind": "rain"}}]}',
     ":4: classes[0].arrivals.kind: expected one of constant, poisson"),
]


def fail(what, output=""):
    sys.exit(f"{output}\ngolden_test: {what}")


def run(*command, code=0, **more):
    result = subprocess.run(command, capture_output=True, text=True, check=False, **more)
    if result.returncode != code:
        fail(f"{' '.join(map(str, command))}: exit code {result.returncode}, expected {code}", result.stdout + result.stderr)
    return result


def compare(name, text):
    """With the golden file of this name."""
    file = HERE / "golden" / f"{name}.txt"
    if "--update" in sys.argv:
        file.write_text(text, encoding="utf-8")
    if text != file.read_text(encoding="utf-8"):
        fail(f"differs from {file} (if that is meant: --update)", text)


def masked(text):
    """Numbers and their units as #, so that what a real clock decides does not count."""
    text = re.sub(r"\d[\d.,]*( ?(ns|us|ms|s|m|%))?(?![\w])", "#", text)
    return re.sub(r" +", " ", text)


def on_terminal(*command, at_frame=lambda process: None, **environment):
    """Exit code and output of a command whose standard output is a terminal."""
    master, slave = pty.openpty()
    with subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave,
                          env={**os.environ, "TERM": "xterm", **environment}) as process:
        os.close(slave)
        output, told = b"", False
        while True:
            try:
                part = os.read(master, 65536)
            except OSError:  # how Linux tells the end of a terminal
                part = b""
            if not part:
                break
            output += part
            if not told and b"workers" in output:
                told = True
                at_frame(process)
        os.close(master)
        return process.wait(), output.decode().replace("\r\n", "\n")


def list_(spool):
    compare("list", run(spool, "lab", "list").stdout)


def installed(spool):
    """The program finds its scenarios where an installation has them."""
    with tempfile.TemporaryDirectory() as prefix:
        program = Path(prefix) / "bin" / "spool"
        program.parent.mkdir()
        shutil.copy(spool, program)
        shutil.copytree(HERE.parents[1] / "tools/lab/scenarios", Path(prefix) / "share/spool/scenarios")
        compare("list", run(program, "lab", "list").stdout)


def check(spool):
    text = run(spool, "lab", "check", "queue-too-long", "--cpus", "4", code=1).stdout
    text += run(spool, "lab", "check", HERE / "settings.json", code=1).stdout
    text += run(spool, "lab", "check", HERE / "small_core.json", code=1).stdout
    text += run(spool, "lab", "check", "flash-crowd", "--cpus", "4", code=1).stdout
    text += run(spool, "lab", "check", "steady-web", "--cpus", "4").stdout
    compare("check", text)


def check_json(spool):
    answer = json.loads(run(spool, "lab", "check", HERE / "settings.json", "--json", code=1).stdout)
    ids = [f["id"] for f in answer["findings"]]
    if ids != ["overload", "queue-outlasts-deadline", "more-threads-than-cpus"]:
        fail(f"findings {ids}")


def what_if(spool):
    text = run(spool, "lab", "what-if", "flash-crowd").stdout
    compare("what_if", re.sub(r"simulated in [\d.]+ s", "simulated in # s", text))
    if "p99 total" not in run(spool, "lab", "what-if", "flash-crowd", "--goal", "total.p99<150ms").stdout:
        fail("no figures of a goal on total times")
    answer = json.loads(run(spool, "lab", "what-if", "flash-crowd", "--json", "--goal", "p99<1ms,threads<3", code=1).stdout)
    if answer["evaluated"] < 200 or answer["meets_goal"] or not answer["why"]:
        fail("the JSON of what-if", json.dumps(answer, indent=1))


def run_simulated(spool):
    text = run(spool, "lab", "run", "flash-crowd", "--simulate").stdout
    text += run(spool, "lab", "run", "batch-and-interactive", "--simulate", "--quiet").stdout
    text += run(spool, "lab", "run", "--rate", "100", "--arrivals", "constant", "--service", "fixed:20ms", "--core", "1",
                "--queue", "array:5", "--duration", "2s", "--deadline", "100ms", "--simulate", "--quiet").stdout
    text += run(spool, "lab", "run", "steady-web", "--simulate", "--quiet", "--goal", "total.p99<60ms,total.max<1s").stdout
    text += run(spool, "lab", "run", "steady-web", "--simulate", "--quiet", "--goal", "total.p99<1ms", code=1).stdout
    compare("run", text)


def run_json(spool):
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "r.html"
        answer = json.loads(run(spool, "lab", "run", "flash-crowd", "--simulate", "--json", "--report", report).stdout)
        beside = json.loads((Path(folder) / "r.json").read_text(encoding="utf-8"))["runs"][0]
        csv = (Path(folder) / "r.csv").read_text(encoding="utf-8").splitlines()
    if answer["summary"] != beside["summary"] or answer["series"] != beside["series"]:
        fail("the JSON on standard output is not the one beside the report")
    if len(csv) != len(answer["series"]["at"]) + 1 or csv[0].split(",")[:4] != ["seconds", "arrivals_per_s", "completed_per_s", "refused_per_s"]:
        fail("the CSV", "\n".join(csv[:3]))
    compare("run_json", json.dumps(answer["summary"], indent=1) + "\n")


def run_real(spool):
    result = run(spool, "lab", "run", "--rate", "200", "--service", "fixed:2ms", "--core", "4", "--duration", "2.2s")
    if ESCAPE in result.stdout:
        fail("escape codes without a terminal", result.stdout)
    compare("run_real", re.sub(r"^(.*workers.*\n)\1+", r"\1", masked(result.stdout), flags=re.MULTILINE))


def stretched(spool):
    """A machine that is busy with something else stretches tasks that compute; the run says so, in the report too."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # for all that this process starts
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(4)]
    try:
        with tempfile.TemporaryDirectory() as folder:
            report = Path(folder) / "r.html"
            result = run(spool, "lab", "run", "--rate", "10", "--arrivals", "constant", "--service", "fixed:20ms", "--work", "cpu",
                         "--core", "2", "--duration", "2s", "--quiet", "--report", report)
            warnings = json.loads((Path(folder) / "r.json").read_text(encoding="utf-8"))["runs"][0]["warnings"]
    finally:
        for one in others:
            one.kill()
            one.wait()
    if "warning: the machine stretched the tasks that compute" not in result.stderr or not any("stretched" in w for w in warnings):
        fail("no warning of the stretched tasks", result.stdout + result.stderr)


def terminal(spool):
    command = [spool, "lab", "run", "flash-crowd", "--speed", "8"]
    code, output = on_terminal(*command, LC_ALL="C.UTF-8", NO_COLOR="")
    if code != 0 or output.count(HIDE) != 1 or output.count(SHOW) != 1:
        fail("the cursor", output)
    if f"{ESCAPE}[14A" not in output or f"{ESCAPE}[33m\u2588" not in output or not set(output) & set("\u2582\u2583\u2584\u2585\u2586\u2587") or "s left" not in output:
        fail("no bars, no sparklines, no time left, or not redrawn in place", output)
    if ESCAPE in output.split(SHOW)[1] or "wait p50" not in output.split(SHOW)[1]:
        fail("the outcome is not plain", output)
    code, output = on_terminal(*command, LC_ALL="C", NO_COLOR="1")
    if code != 0 or not output.isascii() or f"{ESCAPE}[33m" in output or "##" not in output:
        fail("not plain ASCII in the C locale", output)
    for plain in ({"TERM": "dumb"}, {}):
        code, output = on_terminal(*command, *([] if plain else ["--quiet"]), **plain)
        if code != 0 or ESCAPE in output:
            fail("escape codes", output)


def interrupt(spool):
    for number in (signal.SIGINT, signal.SIGTERM):
        with tempfile.TemporaryDirectory() as folder:
            report = Path(folder) / "r.html"
            code, output = on_terminal(spool, "lab", "run", "thread-leak", "--report", str(report),
                                       at_frame=lambda process: process.send_signal(number))
            if code != 128 + number or output.count(SHOW) != 1 or "interrupted after" not in output:
                fail(f"exit code {code}", output)
            if '"interrupted":true' not in report.read_text(encoding="utf-8"):
                fail("no report of what there was", output)


def demo(spool):
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "demo.html"
        text = run(spool, "lab", "demo", "--speed", "5", "--report", report).stdout.replace(str(report), "REPORT")
        runs = json.loads((Path(folder) / "demo.json").read_text(encoding="utf-8"))["runs"]
    if [r["title"] for r in runs] != ["before", "after"] or runs[0]["settings"] == runs[1]["settings"]:
        fail("the report does not compare the two", text)
    if runs[1]["summary"]["all"]["wait_ms"]["p99"] * 3 > runs[0]["summary"]["all"]["wait_ms"]["p99"]:
        fail("the recommended settings are hardly better", text)
    text = re.sub(r"^( +\d+\.\d s  workers|warning:).*\n", "", text, flags=re.MULTILINE)
    compare("demo", masked(re.sub(r": (met|missed) \(", ": VERDICT (", text)))  # a busy machine may miss the goal


def bench(spool):
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "bench.html"
        text = run(spool, "lab", "bench", "--from", HERE / "pools.json", "--report", report).stdout
        if '"kind":"bench"' not in report.read_text(encoding="utf-8"):
            fail("no report")
    compare("bench", text.replace(str(report), "REPORT"))


def errors(spool):
    with tempfile.TemporaryDirectory() as folder:
        for text, words in BAD_SCENARIOS:
            file = Path(folder) / "bad.json"
            file.write_text(text, encoding="utf-8")
            for command in ("run", "what-if", "check"):
                result = run(spool, "lab", command, file, code=2)
                if words not in result.stderr or result.stdout:
                    fail(f"{command}: no '{words}'", result.stderr)
    for wrong, words in ((["--rate", "1e12"], "--rate 1e+12: expected a number above 0 and at most 1000000"),
                         (["--rate", "10", "--duration", "1e9s"], "--duration 1e9s: expected a duration such as 50ms or 1.5s, at most 21600 s"),
                         (["--rate", "10", "--core", "1000000000000"], "--core 1000000000000: expected a whole number between 0 and"),
                         (["--rate", "10", "--queue", "array:100000000"], "array:N with N up to 1000000"),
                         (["--arrivals", "bursts:1e30:1s"], "expected a whole number between 1 and 1000000"),
                         (["queue-too-long", "--duration", "21600s"], "tasks come, retries included: expected at most 5000000"),
                         (["steady-web", "--goal", "p98<1s"], '--goal "p98<1s": expected p50')):
        for command in ("run", "what-if"):
            result = run(spool, "lab", command, *wrong, code=2)
            if words not in result.stderr or result.stdout:
                fail(f"{command} {wrong}: no '{words}'", result.stderr)
    for wrong in (["run"], ["run", "no-such-scenario"], ["run", "flash-crowd", "--queue", "long"], ["what-if", "flash-crowd", "--goal", "fast"],
                  ["run", "--rate", "10", "--service", "slow"], ["fly"], ["run", "--arrivals", "poisson"], ["run", "flash-crowd", "--rate", "5"], ["bench", "--from", "no-such-file"], []):
        if not run(spool, "lab", *wrong, code=2).stderr:
            fail(f"no message for {wrong}")


if __name__ == "__main__":
    CASES = {f.__name__: f for f in (installed, check, check_json, what_if, run_json, run_real, stretched, terminal, interrupt, demo, bench, errors)}
    {**CASES, "list": list_, "run": run_simulated}[sys.argv[1]](sys.argv[2])

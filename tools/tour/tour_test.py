"""Runs spool-tour as a user would and checks what it shows.

usage: tour_test.py plain|terminal|options|interrupt <spool-tour>
"""
import os
import pty
import re
import signal
import subprocess
import sys

ESCAPE = "\x1b"
HIDE, SHOW = "\x1b[?25l", "\x1b[?25h"  # the cursor

# act, peak size, last size, peak queue, rejected, completed
SUMMARY = [
    ("Core growth", 4, 4, 0, 0, 0),
    ("Queueing", 4, 4, 12, 0, 0),
    ("Growth to the maximum", 8, 8, 12, 0, 0),
    ("Rejection", 8, 8, 12, 5, 0),
    ("Draining", 8, r"\d", 12, 0, 20),  # on a slow machine the first have left already
    ("Shrinking", r"\d", 4, 0, 0, 0),
    ("Resize up", 8, 8, 6, 0, 0),
    ("Resize down", 8, 2, 2, 0, 10),
    ("Shutdown", 2, 0, 4, 1, 6),
    ("in all", 8, 0, 12, 6, 36),
]


def expect(holds, what, output):
    if not holds:
        sys.exit(f"{output}\ntour_test: {what}")


def check_summary(output):
    for row in SUMMARY:
        pattern = "^" + r"\s+".join(str(cell) for cell in row) + r"\s*$"
        expect(re.search(pattern, output, re.MULTILINE), f"no line '{pattern}'", output)
    expect("36 tasks accepted, 36 completed, 6 refused" in output, "the accounts are not in order", output)


def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)


def run_on_terminal(*command, at_first_output=lambda process: None, **environment):
    """Exit code and output of a command whose standard output is a terminal."""
    master, slave = pty.openpty()
    with subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave,
                          env={**os.environ, "TERM": "xterm", **environment}) as process:
        os.close(slave)
        output = b""
        while True:
            try:
                part = os.read(master, 65536)
            except OSError:  # how Linux tells the end of a terminal
                part = b""
            if not part:
                break
            if not output:
                at_first_output(process)
            output += part
        os.close(master)
        return process.wait(), output.decode().replace("\r\n", "\n")


def plain(tour):
    result = run(tour, "--fast")
    output = result.stdout + result.stderr
    expect(result.returncode == 0, f"exit code {result.returncode}", output)
    expect(ESCAPE not in output, "escape codes without a terminal", output)
    expect(result.stderr == "", "something on standard error", output)
    expect(re.search(r"^4\. Rejection: .*\n.* rejected [1-5]$", output, re.MULTILINE), "no sample", output)
    check_summary(output)


def terminal(tour):
    code, output = run_on_terminal(tour, "--fast", LC_ALL="C.UTF-8", NO_COLOR="")
    expect(code == 0, f"exit code {code}", output)
    expect(output.startswith(HIDE) and output.count(HIDE) == output.count(SHOW) == 1, "the cursor", output)
    expect(f"{ESCAPE}[10A" in output, "nothing is redrawn in place", output)
    expect(f"{ESCAPE}[31m" in output and "\u2588" in output, "no red bar", output)
    shown, summary = output.split(SHOW)
    expect("act 9 of 9" in shown and ESCAPE not in summary, "the summary is not plain", output)
    check_summary(summary)

    code, output = run_on_terminal(tour, "--fast", LC_ALL="C", NO_COLOR="1")
    expect(code == 0 and output.isascii() and "##" in output, "not ASCII in the C locale", output)
    expect(f"{ESCAPE}[31m" not in output, "colours in spite of NO_COLOR", output)

    code, output = run_on_terminal(tour, "--fast", TERM="dumb")
    expect(code == 0 and ESCAPE not in output, "escape codes on a dumb terminal", output)


def options(tour):
    result = run(tour, "--help")
    expect(result.returncode == 0 and result.stdout.startswith("usage: spool-tour"), "--help", result.stdout)
    for wrong in (["--slow"], ["--fast", "x"], [""]):
        result = run(tour, *wrong)
        expect(result.returncode == 2 and result.stdout == "", f"{wrong} accepted", result.stdout)
        expect(f"unknown option '{wrong[-1]}'" in result.stderr, f"no message for {wrong}", result.stderr)


def interrupt(tour):
    for number in (signal.SIGINT, signal.SIGTERM):
        code, output = run_on_terminal(tour, at_first_output=lambda process: process.send_signal(number))
        expect(code == 128 + number, f"exit code {code}", output)
        expect(output.count(SHOW) == 1, "the cursor stays hidden", output)
        expect("stopped early" in output.split(SHOW)[1], "no last word", output)


if __name__ == "__main__":
    {f.__name__: f for f in (plain, terminal, options, interrupt)}[sys.argv[1]](sys.argv[2])

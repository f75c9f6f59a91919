"""Runs the sample program and gives its exposition to a parser that others wrote.

usage: check_exposition.py <program> prometheus|open_metrics
       check_exposition.py <program> rules <folder>

rules: every metric that the board and the alerting rules in the folder name must be in the exposition,
and `promtool check rules` must find nothing. prometheus: `promtool check metrics` (Debian: prometheus) must find nothing. open_metrics: the parser
of python3-prometheus-client must accept it. Ends with 77, which CTest shows as skipped, if the parser
is not installed.
"""
import pathlib
import re
import shutil
import subprocess
import sys


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def check_rules(text, folder):
    known = set(re.findall(r"^# TYPE (\w+)", text, re.MULTILINE))
    for file in ("alert-rules.yml", "grafana-board.json"):
        used = set(re.findall(r"\bspool_\w+", (folder / file).read_text(encoding="utf-8")))
        unknown = {name for name in used if name.removesuffix("_bucket") not in known}
        if unknown or not used:
            sys.exit(f"{file} names metrics that do not exist: {sorted(unknown)}")
    promtool = shutil.which("promtool")
    if promtool is None:
        skip("promtool is not installed (Debian: prometheus); the names are right")
    subprocess.run([promtool, "check", "rules", folder / "alert-rules.yml"], check=True)


def main(program, form, folder=None):
    text = subprocess.run([program, form], check=True, capture_output=True, text=True, timeout=60).stdout
    if form == "rules":
        check_rules(text, pathlib.Path(folder))
        return
    if form == "prometheus":
        promtool = shutil.which("promtool")
        if promtool is None:
            skip("promtool is not installed (Debian: prometheus)")
        done = subprocess.run([promtool, "check", "metrics"], input=text, capture_output=True, text=True, check=False)
        print(done.stdout + done.stderr)
        sys.exit(1 if done.returncode != 0 or done.stdout + done.stderr else 0)
    try:
        from prometheus_client.openmetrics.parser import text_string_to_metric_families
    except ImportError:
        debian = "/usr/bin/python3"  # another Python may come first, without Debian's packages
        if sys.executable != debian and pathlib.Path(debian).exists():
            sys.exit(subprocess.run([debian, *sys.argv], check=False).returncode)
        skip("prometheus_client is not installed (Debian: python3-prometheus-client)")
    families = {family.name: family for family in text_string_to_metric_families(text)}
    for name in ("spool_pool", "spool_pool_tasks_completed", "spool_task_wait_seconds"):
        if name not in families or not families[name].samples:
            sys.exit(f"no samples of {name}")
    print(f"{len(families)} families accepted")


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Runs `spool remote` against a file that spool-remote-demo's kind of jobs could have left.

usage: cli_test.py <spool>
"""
import os
import re
import sqlite3
import subprocess
import sys
import tempfile

ID = "0123456789abcdef0123456789abcdef"


def run(program, *arguments, code=0, broker=None):
    env = {**os.environ, "SPOOL_BROKER": broker} if broker else os.environ
    done = subprocess.run([program, "remote", *arguments], capture_output=True, text=True, env=env, check=False)
    assert done.returncode == code, f"{arguments}: code {done.returncode}, not {code}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def expect(pattern, text):
    assert re.search(pattern, text, re.MULTILINE), f"no match for {pattern!r} in:\n{text}"


def main(program):
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "jobs.db")
        broker = f"sqlite:{file}"
        expect("up to date", run(program, "migrate", broker=broker))
        db = sqlite3.connect(file, isolation_level=None)
        db.execute("INSERT INTO job (id, queue, function, signature, args, submitter, state, priority, created_at, "
                   "run_at, retries, crash_limit, backoff, time_limit, keep, error_type, error_text, finished_at) "
                   "VALUES (?, 'media', 'thumbnail', 1, x'8201626869', '', 4, 3, 1, 1, 0, 3, 0, 0, 1000000000000000000, "
                   "'std::runtime_error', 'no \x1b[31mluck', 1)", (bytes.fromhex(ID),))
        expect(r"media +0 +0 +0 +0 +1", run(program, "top", broker=broker))
        expect(rf"^{ID}  failed +media +thumbnail .*no \?\[31mluck", run(program, "list", broker=broker))
        assert run(program, "list", "--state", "queued", broker=broker) == ""
        expect("is no state", run(program, "list", "--state", "lost", broker=broker, code=2))
        shown = run(program, "show", ID, broker=broker)
        expect(r"arguments  \[1,\"hi\"\]", shown)
        expect(r"error      std::runtime_error: no \?\[31mluck", shown)
        run(program, "retry", ID, broker=broker)
        expect("not failed", run(program, "retry", ID, broker=broker, code=1))
        run(program, "pause", "media", broker=broker)
        expect("paused", run(program, "--broker", broker, "top"))
        expect("no worker has function \"thumbnail\"", run(program, "top", broker=broker))
        run(program, "pause", "media", "--resume", broker=broker)
        assert "paused" not in run(program, "top", broker=broker)
        expect("cancelled", run(program, "cancel", ID, broker=broker))
        expect("finished", run(program, "cancel", ID, broker=broker, code=1))
        expect("does not know", run(program, "show", "f" * 32, broker=broker, code=1))
        expect("is no job id", run(program, "show", "xyz", broker=broker, code=2))
        expect("name the broker", run(program, "top", code=2))
        db.execute("PRAGMA user_version = 99")
        expect("version 99", run(program, "top", broker=broker, code=1))
    print("ok")


if __name__ == "__main__":
    main(*sys.argv[1:])

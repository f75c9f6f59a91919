"""Where figures come from: machine, compiler, versions of the peers."""
import os
import platform
import re
import subprocess
from datetime import datetime, timezone
from pathlib import Path

PACKAGES = ["libtbb-dev", "libboost1.81-dev", "libboost-dev", "libeigen3-dev", "libpoco-dev", "libglib2.0-dev",
            "libuv1-dev", "openjdk-17-jdk-headless", "libconcurrentqueue-dev"]


def first_match(path, pattern, default="unknown"):
    try:
        found = re.search(pattern, Path(path).read_text(encoding="utf-8"), re.MULTILINE)
    except OSError:
        return default
    return found[1].strip() if found else default


def output_of(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout
    except OSError:
        return ""


def memory_gb():
    return round(int(first_match("/proc/meminfo", r"^MemTotal:\s+(\d+)", "0")) / 1e6, 1)


def java_heap(small_start):
    """JVM options: a heap of at most 8 GB, or a third of the memory. It starts with half of that,
    or with 64 MB if `small_start`."""
    most = max(1, min(8, int(memory_gb() / 3)))
    return ["-Xms64m" if small_start else f"-Xms{max(1, most // 2)}g", f"-Xmx{most}g"]


def commit():
    """The commit of the sources, and whether they differ from it. Results do not count."""
    git = ["git", "-C", str(Path(__file__).resolve().parent.parent)]
    found = output_of(*git, "rev-parse", "--short", "HEAD").strip()
    changes = output_of(*git, "status", "--porcelain", "--", "include", "src", "benchmarks", ":!benchmarks/results")
    return (found or "unknown") + (" with changes" if found and changes else "")


def facts(build):
    cache = Path(build) / "CMakeCache.txt"
    compiler = first_match(cache, r"^CMAKE_CXX_COMPILER:\w+=(.*)$", "c++")
    flags = [first_match(cache, rf"^CMAKE_CXX_FLAGS{kind}:\w+=(.*)$", "") for kind in ("_RELEASE", "")]
    versions = output_of("dpkg-query", "-W", "-f", "${Package} ${Version} ${Status}\n", *PACKAGES)
    return {
        "cpu": first_match("/proc/cpuinfo", r"^model name\s*:\s*(.*)$", platform.machine()),
        "cores": os.cpu_count(),
        "memory_GB": memory_gb(),
        "kernel": platform.release(),
        "compiler": (output_of(compiler, "--version").splitlines() or [compiler])[0],
        "flags": " ".join(flags).strip(),
        "packages": dict(line.split()[:2] for line in versions.splitlines() if line.endswith(" installed")),
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%d"),
        "commit": commit(),
    }


def same_machine(a, b):
    return all(a.get(key) == b.get(key) for key in ("cpu", "cores", "kernel", "compiler", "flags"))

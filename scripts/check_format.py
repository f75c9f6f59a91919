"""Fails when clang-format would change a source file.

usage: check_format.py [repository]

Versions of clang-format format the same code differently, so one version decides. Without that
version the check is skipped (exit code 77, which CTest reports as skipped).
"""
import shutil
import subprocess
import sys

from common import files_under, finish, root_from

VERSION = "14"
FOLDERS = ["include", "src", "tests", "examples", "tools", "benchmarks"]


def find_clang_format():
    for name in (f"clang-format-{VERSION}", "clang-format"):
        path = shutil.which(name)
        if path:
            answer = subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout
            if f"version {VERSION}." in answer:
                return path
    print(f"check_format: skipped, clang-format {VERSION} is not installed")
    sys.exit(77)


def main(arguments):
    root = root_from(arguments)
    files = files_under(root, FOLDERS)
    if not files:
        finish("check_format", ["no source files found"])
    command = [find_clang_format(), "--dry-run", "--Werror", "--style=file", *files]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    problems = [line for line in result.stderr.splitlines() if "error:" in line]
    if result.returncode and not problems:
        problems = [result.stderr]
    finish("check_format", problems)


if __name__ == "__main__":
    main(sys.argv[1:])

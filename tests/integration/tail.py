#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""scripts/tail works: a short run gives every figure of its table and leaves no process.

Says nothing about the figures: they need half an hour and a machine to themselves.
"""
import ctypes
import json
import math
import os
import subprocess
import sys
import tempfile

SKIPPED = 77
PROGRAMS = ("tied-replica", "tied-client")
POLICIES = ("single/round-robin", "tied", "single+hedge:10ms@100%/round-robin",
            "tied+hedge:auto@5%")
FIGURES = ("p50", "p90", "p99", "p99_9")
PR_SET_CHILD_SUBREAPER = 36


def expect(is_so, text):
    if not is_so:
        sys.exit(f"tail: {text}")


def check_cells(report):
    found = [(cell["scenario"], cell["rate_per_s"]) for cell in report["cells"]]
    expect(found == [("A1", 460), ("B", 460)], f"cells: {found}")
    calls = set()
    for cell in report["cells"]:
        expect(tuple(p["policy"] for p in cell["policies"]) == POLICIES, f"policies: {cell}")
        for policy in cell["policies"]:
            expect(len(policy["runs"]) == 1, f"repetitions: {policy}")
            run = policy["runs"][0]
            values = [run[name] for name in FIGURES]
            expect(all(math.isfinite(x) and x >= 5 for x in values), f"too fast: {run}")
            expect(values == sorted(values), f"no percentiles: {run}")
            expect(1 <= run["executions"] <= 2, f"executions: {run}")
            expect(run["copies"] >= 1 + run["hedges"] - 1e-9, f"copies: {run}")
            calls.add(run["calls"])
    expect(len(calls) == 1, f"not the same arrivals for all: {calls}")


def main():
    script, folder = sys.argv[1:]
    if not all(os.access(os.path.join(folder, program), os.X_OK) for program in PROGRAMS):
        print("tail: not all programs are built")
        sys.exit(SKIPPED)
    # What the script leaves behind becomes a child of this process.
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    with tempfile.TemporaryDirectory() as out:
        argv = [sys.executable, script, "--quick", "--bin", folder, "--out", out]
        done = subprocess.run(argv, stdout=subprocess.PIPE, text=True, check=False)
        print(done.stdout)
        expect(done.returncode == 0, f"exit code {done.returncode}")
        try:
            left = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            left = None
        expect(left is None, f"a process is left behind: {left}")
        with open(f"{out}/report.json", encoding="utf-8") as file:
            report = json.load(file)
        check_cells(report)
        expect(len(report["goals"]) == 10, f"goals: {report['goals']}")


if __name__ == "__main__":
    main()

#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""scripts/sim-vs-real works: a short run gives every figure of its table and leaves no process.

Says nothing about the figures: they need minutes and a machine to themselves.
"""
import ctypes
import json
import math
import os
import subprocess
import sys
import tempfile

SKIPPED = 77
PROGRAMS = ("tied-replica", "tied-client", "tied-sim")
SERVICES = ("exp(4ms)", "bimodal(2ms,10ms,0.1)")
LOADS = (0.3, 0.7)
POLICIES = ("single", "tied/random")
PR_SET_CHILD_SUBREAPER = 36


def expect(is_so, text):
    if not is_so:
        sys.exit(f"sim_vs_real: {text}")


def check_rows(report):
    expected = [(service, load, policy, figure) for service in SERVICES for load in LOADS
                for policy in POLICIES for figure in ("p50", "p99")]
    found = [(row["service"], row["load"], row["policy"], row["figure"]) for row in report["rows"]]
    expect(found == expected, f"rows: {found}")
    for row in report["rows"]:
        low, high = row["sim_ci95_ms"]
        expect(low <= row["sim_ms"] <= high, f"outside its own interval: {row}")
        for value in (row["real_ms"], row["sim_ms"], row["real_half_width_ms"], row["chance"]):
            expect(math.isfinite(value) and value >= 0, f"no figure: {row}")
        expect(row["real_ms"] > 1 and row["sim_ms"] > 1, f"shorter than the service: {row}")
        expect(1 <= row["real_copies_per_call"] <= 2, f"copies: {row}")
        expect(1 <= row["sim_copies_per_call"] <= 2, f"copies: {row}")
    expect(len(report["inputs"]) == len(SERVICES) * len(LOADS), "inputs")
    expect(all(row["one_way_ms"] > 0 for row in report["inputs"]), "a message takes no time")


def main():
    script, folder = sys.argv[1:]
    if not all(os.access(os.path.join(folder, program), os.X_OK) for program in PROGRAMS):
        print("sim_vs_real: not all programs are built")
        sys.exit(SKIPPED)
    # What the script leaves behind becomes a child of this process.
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    with tempfile.TemporaryDirectory() as out:
        argv = [sys.executable, script, "--quick", "--bin", folder, "--out", out]
        for option, values in (("--service", SERVICES), ("--load", LOADS), ("--policy", POLICIES)):
            for value in values:
                argv += [option, str(value)]
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
        check_rows(report)
        lines = [line for line in done.stdout.splitlines()
                 if line.startswith(("| exp", "| bimodal"))]
        expect(len(lines) == len(report["rows"]), f"{len(lines)} lines in the table")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every row of the table "Known failures" in docs/testing.md has a test, and each program that it
names has one whose name begins with, or carries, the row's ID."""
import os
import re
import sys

root = os.environ["TIED_SOURCE_DIR"]
page = open(os.path.join(root, "docs", "testing.md"), encoding="utf-8").read()
rows = re.findall(r"^\| ((?:BE|CL|CK|RQ|ZQ|MP)-\d\d) \| [^|]+ \| ([^|]+) \|$", page, re.M)
faults = []


def source(program):
    layer, _, name = program.partition(".")
    path = os.path.join(root, "tests", layer, "test_%s.c" % name)
    return open(path, encoding="utf-8").read() if os.path.exists(path) else ""


for failure, cell in rows:
    programs = re.findall(r"`([a-z]+\.[a-z0-9_]+)`", cell)
    if not programs:
        faults.append("%s has no test" % failure)
    for program in programs:
        mark = r"^static void \w*%s_\w+ \(void \*\*state\)" % failure.replace("-", "_")
        if not re.search(mark, source(program), re.M):
            faults.append("%s: %s has no test of that name" % (failure, program))
if len(rows) < 107:
    faults.append("the table has %d rows" % len(rows))
for fault in faults:
    print(fault)
print("%d failures" % len(rows))
sys.exit(1 if faults else 0)

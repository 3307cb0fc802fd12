#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""C code in the README is code that the tests compile.

Each ```c block follows a line <!-- path --> and stands in that file, line for line; the file is one
of the examples, which every build compiles. The README also names the two commands.
"""
import os
import re
import sys

root = os.environ["TIED_SOURCE_DIR"]
path = os.path.join(root, "README.md")
if not os.path.exists(path):
    print("no README.md")
    sys.exit(77)
text = open(path, encoding="utf-8").read()
faults = []
blocks = 0
for match in re.finditer(r"(?:<!-- *(\S+) *-->\n+)?```c\n(.*?)```", text, re.S):
    source, code = match.groups()
    blocks += 1
    line = text.count("\n", 0, match.start()) + 1
    if not source or not re.fullmatch(r"(lib|replica|client)/examples/\w+\.c", source):
        faults.append(f"README.md:{line}: no <!-- .../examples/....c --> before this block")
        continue
    try:
        example = open(os.path.join(root, source), encoding="utf-8").read()
    except OSError as error:
        faults.append(f"README.md:{line}: {source}: {error.strerror}")
        continue
    if code not in example:
        faults.append(f"README.md:{line}: differs from {source}")
for command in ("scripts/demo", "scripts/test"):
    if command not in text:
        faults.append(f"README.md does not name {command}")
print("\n".join(faults) or f"{blocks} blocks")
sys.exit(1 if faults else 0)

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""docs/options.md has every field of the option structs, every error code and every outcome."""
import os
import re
import sys

root = os.environ["TIED_SOURCE_DIR"]
path = os.path.join(root, "docs", "options.md")
if not os.path.exists(path):
    print("no docs/options.md")
    sys.exit(77)
page = open(path, encoding="utf-8").read()
faults = []


def read(header):
    text = open(os.path.join(root, header), encoding="utf-8").read()
    return re.sub(r"/\*.*?\*/", "", text, flags=re.S)


names = 0
for header, struct in (
    ("client/include/tied/client.h", "tied_client_options"),
    ("client/include/tied/client.h", "tied_call"),
    ("replica/include/tied/replica.h", "tied_replica_options"),
    ("lib/include/tied/client_core.h", "tied_client_core_options"),
    ("lib/include/tied/replica_core.h", "tied_replica_core_options"),
):
    body = re.search(r"^struct %s \{(.*?)^\};" % struct, read(header), re.S | re.M).group(1)
    for field in re.findall(r"(\w+)\s*;", body):
        names += 1
        if f"`{field}`" not in page:
            faults.append(f"{struct}.{field} is not on the page")

for name, value, retriable, text in re.findall(
    r'X \((\w+), (-\d+), ([01]), "([^"]*)"\)', read("lib/include/tied/error.h")
):
    names += 1
    row = f"| `TIED_ERR_{name}` | {value} | {'yes' if retriable == '1' else 'no'} | {text} |"
    if row not in page:
        faults.append(f"not on the page: {row}")

outcomes = re.search(r"define TIED_OUTCOME_MAP\(X\)(.*?)\n\n", read("lib/include/tied/types.h"), re.S)
for text in re.findall(r'X \(\w+, \d+, "(\w+)"\)', outcomes.group(1)):
    names += 1
    if f"| `{text}` |" not in page:
        faults.append(f"outcome {text} is not on the page")

print("\n".join(faults) or f"{names} names")
sys.exit(1 if faults or names < 60 else 0)

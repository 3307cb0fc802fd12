#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every public function states its contract: ownership, thread, blocking, callback-safe, on error.

A comment holds for the declarations that follow it up to the next comment, or, if they stand without
a blank line between, up to the next blank line. It has the five lines, or names a function that has
them ("Contract as tied_x ()", "the contract of tied_x ()"), or says that the functions have the
contracts of their namesakes in another header, or gives the contract of each in words that cover
thread, blocking and errors.
"""
import glob
import os
import re
import sys

LINES = ("Ownership:", "Thread:", "Blocking:", "Callback-safe:", "On error:")
NAME = re.compile(r"\b(tied_[a-z0-9_]+)\s*\(")
root = os.environ["TIED_SOURCE_DIR"]
headers = sorted(
    path
    for folder in ("lib", "replica", "client")
    for path in glob.glob(os.path.join(root, folder, "include/tied/*.h"))
)

comment_of = {}  # function -> (header, text of the comment that covers it)
for path in headers:
    text = open(path, encoding="utf-8").read()
    comment = ""
    for token in re.finditer(r"/\*.*?\*/|TIED_EXPORT\b[^;]*;|^struct[^;]*\{|^#\w+", text, re.S | re.M):
        word = token.group(0)
        if word.startswith("/*"):
            words = re.sub(r"\s*\n\s*\*?\s*", " ", word)
            # Without a blank line before it, a comment adds to the one that opened the group.
            is_same_group = not re.search(r"\n[ \t]*\n[ \t]*$", text[: token.start()])
            comment = comment + words if is_same_group else words
        elif word.startswith("TIED_EXPORT"):
            declaration = re.sub(r"/\*.*?\*/", "", word, flags=re.S)
            name = NAME.search(declaration.replace("TIED_EXPORT", ""))
            if name:
                comment_of[name.group(1)] = (os.path.basename(path), comment)
        else:
            comment = ""


def has_lines(name):
    return name in comment_of and all(line in comment_of[name][1] for line in LINES)


def has_contract(name):
    _, comment = comment_of[name]
    if has_lines(name):
        return True
    if re.search(r"contracts of their namesakes in (\w+)\.h", comment):
        other = name.replace("tied_client_core", "tied_replica_core")
        other = other.replace("tied_client_", "tied_replica_") if other == name else other
        return other != name and (other not in comment_of or has_contract(other))
    named = re.search(r"[Cc]ontracts? (?:as|of) (tied_[a-z0-9_]+) \(\)", comment)
    if named:
        return has_lines(named.group(1))
    if re.search(r"Contract of each:", comment):
        each = comment[comment.index("Contract of each:") :].lower()
        return all(word in each for word in ("thread", "block")) and (
            "fail" in each or "error" in each
        )
    return False


without = [f"{comment_of[name][0]}: {name}" for name in comment_of if not has_contract(name)]
print(f"{len(comment_of)} public functions, {len(without)} without a contract")
print("\n".join(without))
sys.exit(1 if without or not comment_of else 0)

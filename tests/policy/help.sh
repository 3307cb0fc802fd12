#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Options and distributions in a program's --help and in its page docs/man/<program>.1 are the same.
set -euo pipefail
cd "$TIED_SOURCE_DIR"
failed=0 compared=0
for program in "$TIED_PROGRAM_DIR"/*; do
    name=${program##*/}
    page=docs/man/$name.1
    [ -x "$program" ] || continue
    if [ ! -f "$page" ]; then
        [ ! -d docs/man ] || { echo "$name has no page $page"; failed=1; }
        continue
    fi
    options='(^|[^-A-Za-z0-9])--[a-z][-a-z0-9]*'
    differences=$(diff \
        <("$program" --help | grep -oE -- "$options" | grep -oE -- '--.*' | sort -u) \
        <(sed 's/\\-/-/g' "$page" | grep -oE -- "$options" | grep -oE -- '--.*' | sort -u) || true)
    distributions='(^|[^A-Za-z0-9_])[a-z][a-z0-9_]+[(]'
    differences+=$(diff \
        <("$program" --help | grep -oE "$distributions" | grep -oE '[a-z].*' | sort -u) \
        <(grep -E '^\.BI [a-z0-9_]+\(' "$page" | grep -oE '[a-z][a-z0-9_]+\(' | sort -u) || true)
    if [ -n "$differences" ]; then
        printf '%s: < only in --help, > only in %s\n%s\n' "$name" "$page" "$differences"
        failed=1
    fi
    compared=$((compared + 1))
done
[ $failed -eq 0 ] || exit 1
[ $compared -gt 0 ] || { echo 'no program has a page yet'; exit 77; }

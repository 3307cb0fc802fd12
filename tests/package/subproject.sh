#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# As a part of another project: add_subdirectory and FetchContent from a local folder. Neither may
# bring tests, examples or install rules with it.
set -euo pipefail
[ -z "${TIED_SANITIZE:-}" ] || { echo "packages are tested without sanitizers"; exit 77; }
[ -n "${CXX:-}" ] || { echo "no C++ compiler"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for way in OFF ON; do
    echo "== FetchContent $way"
    build=$work/$way
    "$CMAKE" -S "$TIED_SOURCE_DIR/tests/package/consumer" -B "$build" \
        -DTIED_SOURCE="$TIED_SOURCE_DIR" -DUSE_FETCHCONTENT=$way \
        -DCMAKE_C_COMPILER="$CC" -DCMAKE_CXX_COMPILER="$CXX" >"$work/log" || { cat "$work/log"; exit 1; }
    "$CMAKE" --build "$build" >"$work/log" || { cat "$work/log"; exit 1; }
    for program in consumer consumer_static consumer_cxx; do "$build/$program"; done
    if grep -q '^TIED_\(BUILD_TESTS\|BUILD_EXAMPLES\|INSTALL\):BOOL=ON' "$build/CMakeCache.txt"; then
        echo "a subproject builds tests, examples or install rules"
        exit 1
    fi
done

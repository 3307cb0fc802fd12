#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every C file is as clang-format writes it. The result depends on the version: 14 is the one.
set -euo pipefail
cd "$TIED_SOURCE_DIR"
if [ -z "${CLANG_FORMAT:-}" ] || ! "$CLANG_FORMAT" --version | grep -q 'version 14\.'; then
    echo "clang-format 14 is not here: formatting not checked"
    exit 77
fi
folders=()
for folder in lib replica client sim tests; do [ ! -d $folder ] || folders+=($folder); done
find "${folders[@]}" \( -name '*.c' -o -name '*.h' -o -name '*.cc' \) -print0 |
    xargs -0 "$CLANG_FORMAT" --dry-run -Werror

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# libtied.so exports exactly the functions that a public header marks TIED_EXPORT.
set -euo pipefail
cd "$TIED_SOURCE_DIR"
sanitizer='^(__(asan|ubsan|tsan|sancov|odr_asan)|_(init|fini)$)'
exported=$("$NM" -D --defined-only "$TIED_SHARED_LIBRARY" | awk '{print $3}' |
    grep -vE "$sanitizer" | sort -u)
# From the mark to the semicolon; what is left before the first parenthesis ends in the name.
declared=$(grep -hv '^#' {lib,replica,client}/include/tied/*.h | tr '\n' ' ' |
    grep -oE 'TIED_EXPORT [^;{]*;' | sed -E 's/ *\(.*$//; s/.*[ *]//' | sort -u)
foreign=$(grep -v '^tied_' <<<"$exported" || true)
extra=$(comm -23 <(echo "$exported") <(echo "$declared"))
missing=$(comm -13 <(echo "$exported") <(echo "$declared"))
[ -z "$foreign" ] || printf 'exported without the prefix:\n%s\n' "$foreign"
[ -z "$extra" ] || printf 'exported but in no public header:\n%s\n' "$extra"
[ -z "$missing" ] || printf 'declared but not in the library:\n%s\n' "$missing"
[ -z "$foreign$extra$missing" ] || exit 1
echo "$(wc -l <<<"$exported") functions"

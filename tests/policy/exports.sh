#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# libtied.so exports exactly the functions that a public header marks TIED_EXPORT.
set -euo pipefail
cd "$TIED_SOURCE_DIR"
exported=$("$NM" -D --defined-only "$TIED_SHARED_LIBRARY" | awk '{print $3}' | grep -vE '^(__(asan|ubsan|tsan|sancov|odr_asan)|_(init|fini)$)' | sort -u)
declared=$(cat {lib,replica,client}/include/tied/*.h | tr '\n' ' ' | grep -oE 'TIED_EXPORT [^;{]*;' |
               sed -E 's/ *\(\(?[a-z_]*.*$//; s/.*[ *]//' | sort -u)
foreign=$(grep -v '^tied_' <<<"$exported" || true)
extra=$(comm -23 <(echo "$exported") <(echo "$declared"))
missing=$(comm -13 <(echo "$exported") <(echo "$declared"))
[ -z "$foreign" ] || printf 'exported without the prefix:\n%s\n' "$foreign"
[ -z "$extra" ] || printf 'exported but in no public header:\n%s\n' "$extra"
[ -z "$missing" ] || printf 'declared but not in the library:\n%s\n' "$missing"
[ -z "$foreign$extra$missing" ] || exit 1
echo "$(wc -l <<<"$exported") functions"

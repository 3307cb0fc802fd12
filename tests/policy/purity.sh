#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The core reaches nothing outside itself: what libtied_core.a leaves undefined, minus what it
# defines, is on this list. No clock, socket, thread, stdio or allocation is.
set -euo pipefail
allowed='^(memcpy|memmove|memset|memcmp|strlen|strnlen|strcmp|strncmp|memchr|abort|__stack_chk_fail|_GLOBAL_OFFSET_TABLE_)$'
if [ -n "${TIED_SANITIZE:-}" ]; then
    allowed="$allowed|^__(asan|ubsan|tsan|sanitizer|sancov)_"
fi
defined=$("$NM" --defined-only "$TIED_CORE_ARCHIVE" | awk 'NF == 3 {print $3}' | sort -u)
undefined=$("$NM" --undefined-only "$TIED_CORE_ARCHIVE" | awk 'NF == 2 {print $2}' | sort -u)
[ -n "$defined" ] || { echo "no symbols in $TIED_CORE_ARCHIVE"; exit 1; }
foreign=$(comm -13 <(printf '%s\n' "$defined") <(printf '%s\n' "$undefined") | grep -vE "$allowed" || true)
if [ -n "$foreign" ]; then
    echo "the core uses what it must not:"
    while read -r symbol; do
        "$NM" -A --undefined-only "$TIED_CORE_ARCHIVE" | grep -w -- "$symbol"
    done <<<"$foreign"
    exit 1
fi
echo "pure: $(wc -l <<<"$undefined") undefined symbols, all its own or allowed"

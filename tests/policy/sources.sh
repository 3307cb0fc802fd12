#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Things that must not appear in sources, each with its reason, and the licence line that must.
set -euo pipefail
cd "$TIED_SOURCE_DIR"
failed=0

# forbid REASON PATTERN FOLDER...
forbid () {
    local reason=$1 pattern=$2 hits
    shift 2
    hits=$(grep -rnE --include='*.c' --include='*.h' -e "$pattern" "$@" 2>/dev/null || true)
    if [ -n "$hits" ]; then
        printf '%s:\n%s\n' "$reason" "$hits"
        failed=1
    fi
}

all=(lib replica client sim tests)
code=(lib replica client sim)
forbid 'a zsock_recv picture trusts the peer with the frames of a message' \
    '\bzsock_(b)?recv[[:space:]]*\(' "${code[@]}"
forbid 'ZMQ_HEARTBEAT_* kills the connection of a peer that is merely stopped; we have PING' \
    'ZMQ_HEARTBEAT' "${code[@]}"
forbid 'with ROUTER_HANDOVER a second connection takes over the first' \
    'ROUTER_HANDOVER' "${code[@]}"
forbid 'msgpack_unpack_next allocates what the peer asks for: tests only' \
    'msgpack_unpack_next' "${code[@]}"
forbid 'error codes of msgpack-c are true in C: a loop on them does not end' \
    'while[[:space:]]*\([[:space:]]*msgpack_' "${all[@]}"
forbid 'tests wait for events' '\b(usleep|nanosleep|zclock_sleep|sleep)[[:space:]]*\(' tests
forbid 'assert () vanishes with NDEBUG; use TI_ASSERT' \
    '(^|[^A-Za-z0-9_])assert[[:space:]]*\(' "${code[@]}"
forbid 'what the core decides it decides with integers: no NaN, the same bits everywhere' \
    '\b(float|double)[[:space:]]+\**[a-z_]' lib/base lib/core lib/wire
forbid 'unbounded string functions' \
    '\b(gets|strcpy|strcat|sprintf|vsprintf|strtok)[[:space:]]*\(' "${code[@]}"
forbid 'unfinished work' '\b(TODO|FIXME|XXX|HACK)\b' "${all[@]}"
forbid 'a library does not print' '\b(printf|puts|perror)[[:space:]]*\(' \
    lib/base lib/wire lib/core lib/zmq lib/text lib/yaml lib/policy replica/src client/src

while IFS= read -r file; do
    if ! head -n 1 "$file" | grep -q 'SPDX-License-Identifier: MIT'; then
        echo "$file: the first line is the licence"
        failed=1
    fi
done < <(find "${all[@]}" \( -name '*.c' -o -name '*.h' -o -name '*.cc' \) 2>/dev/null)
exit $failed

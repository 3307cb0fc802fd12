#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What a reader of the README does: take the server and the client from the page, build them against
# an installed library with pkg-config, run two servers as each other's peers, and call them.
set -euo pipefail
[ -z "${TIED_SANITIZE:-}" ] || { echo "packages are tested without sanitizers"; exit 77; }
work=$(mktemp -d)
servers=()
finish () {
    for server in "${servers[@]}"; do kill "$server" 2>/dev/null || true; done
    rm -rf "$work"
}
trap finish EXIT

"$CMAKE" --install "$TIED_BINARY_DIR" --prefix "$work/prefix" >/dev/null
PKG_CONFIG_PATH=$(dirname "$(find "$work/prefix" -name tied.pc)")
export PKG_CONFIG_PATH
LD_LIBRARY_PATH=$(pkg-config --variable=libdir tied)
export LD_LIBRARY_PATH
for name in server hello; do
    awk -v mark="/$name.c -->" 'index ($0, mark) {found = 1} /^```$/ {if (on) exit} on {print}
        found && /^```c$/ {on = 1}' "$TIED_SOURCE_DIR/README.md" >"$work/$name.c"
    [ -s "$work/$name.c" ] || { echo "README.md has no $name.c"; exit 1; }
    # A call of the page has a second, which a busy machine may need for less.
    sed -i 's/^\( *\)tied_client_options_init (&options);/&\n\1options.timeout_ns = TIED_S (60);/' "$work/$name.c"
    # shellcheck disable=SC2046
    "$CC" -Wall -Wextra -Werror "$work/$name.c" -o "$work/$name" $(pkg-config --cflags --libs tied)
done

# The servers serve until the end of their input, which descriptor 3 holds open.
mkfifo "$work/input"
"$work/server" a "ipc://$work/a" "ipc://$work/pa" b "ipc://$work/pb" <"$work/input" &
servers+=($!)
exec 3>"$work/input"
"$work/server" b "ipc://$work/b" "ipc://$work/pb" a "ipc://$work/pa" <"$work/input" 3>&- &
servers+=($!)
# The client of the page does not wait for servers that are still to come.
for ((i = 0; i < 600; i++)); do
    [ -S "$work/a" ] && [ -S "$work/b" ] && break
    sleep 0.1
done
answer=$("$work/hello" "a=ipc://$work/a" "b=ipc://$work/b" reader) || true
echo "$answer"
[[ $answer =~ ^ok:\ hello\ reader\ from\ [ab]\  ]] || { echo 'not the expected answer'; exit 1; }
exec 3>&-
for server in "${servers[@]}"; do wait "$server"; done
servers=()

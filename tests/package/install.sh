#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Install into an empty folder, move it, and build against it: by find_package and by pkg-config,
# shared and static, in C and C++.
set -euo pipefail
[ -z "${TIED_SANITIZE:-}" ] || { echo "packages are tested without sanitizers"; exit 77; }
[ -n "${CXX:-}" ] || { echo "no C++ compiler"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
consumer=$TIED_SOURCE_DIR/tests/package/consumer

"$CMAKE" --install "$TIED_BINARY_DIR" --prefix "$work/first" >/dev/null
mv "$work/first" "$work/moved"
prefix=$work/moved
for header in "$TIED_SOURCE_DIR"/{lib,replica,client}/include/tied/*.h; do
    [ -f "$prefix/include/tied/${header##*/}" ] || { echo "not installed: $header"; exit 1; }
done
[ -n "$(find "$prefix" -name LICENSE)" ] || { echo "no licence"; exit 1; }
if grep -rIl "$TIED_BINARY_DIR\|$TIED_SOURCE_DIR" "$prefix"; then
    echo "installed files name the build machine's folders"
    exit 1
fi

echo '== find_package'
"$CMAKE" -S "$consumer" -B "$work/build" -DCMAKE_PREFIX_PATH="$prefix" \
    -DCMAKE_C_COMPILER="$CC" -DCMAKE_CXX_COMPILER="$CXX" >"$work/log" || { cat "$work/log"; exit 1; }
"$CMAKE" --build "$work/build" >"$work/log" || { cat "$work/log"; exit 1; }
for program in consumer consumer_static consumer_cxx; do "$work/build/$program"; done

echo '== pkg-config'
pc=$(dirname "$(find "$prefix" -name tied.pc)")
export PKG_CONFIG_PATH=$pc
lib=$(pkg-config --variable=libdir tied)
# shellcheck disable=SC2046
"$CC" "$consumer/consumer.c" -o "$work/shared" $(pkg-config --cflags --libs tied)
LD_LIBRARY_PATH=$lib "$work/shared"
# shellcheck disable=SC2046
"$CXX" -std=c++17 "$consumer/consumer.cc" -o "$work/cxx" $(pkg-config --cflags --libs tied)
LD_LIBRARY_PATH=$lib "$work/cxx"
# shellcheck disable=SC2046
"$CC" "$consumer/consumer.c" -o "$work/static" $(pkg-config --cflags tied) \
    "$lib/libtied.a" $(pkg-config --libs libzmq yaml-0.1) -pthread
"$work/static"
[ "$(pkg-config --modversion tied)" = "$(grep -oP 'TIED_VERSION_(MAJOR|MINOR|PATCH) \K[0-9]+' "$TIED_SOURCE_DIR/lib/include/tied/version.h" | paste -sd.)" ]

if [ -x "$prefix/bin/tied-replica" ]; then
    echo '== programs'
    "$prefix/bin/tied-replica" --help >/dev/null
    "$prefix/bin/tied-client" --help >/dev/null
fi

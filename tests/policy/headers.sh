#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Each public header compiles alone, as C11 and as C++17, without a warning.
set -euo pipefail
cd "$TIED_SOURCE_DIR"
flags="-fsyntax-only -Wall -Wextra -Wpedantic -Werror -Ilib/include -Ireplica/include -Iclient/include"
failed=0 count=0
for header in lib/include/tied/*.h replica/include/tied/*.h client/include/tied/*.h; do
    name=tied/${header##*/}
    # Twice, for the guard; the typedef because ISO C wants at least one declaration.
    source="#include <$name>
#include <$name>
typedef int not_empty;"
    # shellcheck disable=SC2086
    "$CC" -x c -std=c11 -Wstrict-prototypes $flags - <<<"$source" || { echo "C11: $name"; failed=1; }
    if [ -n "${CXX:-}" ]; then
        # shellcheck disable=SC2086
        "$CXX" -x c++ -std=c++17 $flags - <<<"$source" || { echo "C++17: $name"; failed=1; }
    fi
    count=$((count + 1))
done
[ -n "${CXX:-}" ] || { echo "no C++ compiler: half of this test did not run"; [ $failed = 0 ] && exit 77; }
echo "$count headers"
exit $failed

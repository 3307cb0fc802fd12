# SPDX-License-Identifier: MIT
# Warnings as a target, so that they apply to our code and are not exported to users.
add_library (tied_warnings INTERFACE)
target_compile_options (tied_warnings INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wstrict-prototypes
    -Wmissing-prototypes -Wvla -Wundef -Wcast-align -Wformat=2 -Wimplicit-fallthrough
    -Wpointer-arith -Wwrite-strings
    $<$<C_COMPILER_ID:GNU>:-Wlogical-op -Wduplicated-cond -Wduplicated-branches>)
if (TIED_SANITIZE)
    # gcc judges value ranges after instrumentation has hidden them: the other builds keep these on.
    target_compile_options (tied_warnings INTERFACE
        $<$<C_COMPILER_ID:GNU>:-Wno-format-truncation -Wno-format-overflow -Wno-stringop-overflow
        -Wno-maybe-uninitialized>)
endif ()
option (TIED_WERROR "Treat warnings as errors" OFF)
if (TIED_WERROR)
    target_compile_options (tied_warnings INTERFACE -Werror)
endif ()

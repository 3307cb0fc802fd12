# SPDX-License-Identifier: MIT
# Warnings as a target, so that they apply to our code and are not exported to users.
add_library (tied_warnings INTERFACE)
target_compile_options (tied_warnings INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wstrict-prototypes
    -Wmissing-prototypes -Wvla -Wundef -Wcast-align -Wformat=2 -Wimplicit-fallthrough
    -Wpointer-arith -Wwrite-strings
    $<$<C_COMPILER_ID:GNU>:-Wlogical-op -Wduplicated-cond -Wduplicated-branches>)
option (TIED_WERROR "Treat warnings as errors" OFF)
if (TIED_WERROR)
    target_compile_options (tied_warnings INTERFACE -Werror)
endif ()

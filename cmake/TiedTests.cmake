# SPDX-License-Identifier: MIT
# How a test is registered: label, time limit and environment are the same for `ctest`, for the
# presets and for scripts/test.
set (tied_test_environment
    "ASAN_OPTIONS=allow_user_segv_handler=0:detect_leaks=1"
    "UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1"
    "TSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/support/tsan.supp:halt_on_error=1"
    "LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/support/lsan.supp:print_suppressions=0")

# tied_add_test (<name> <label> <time limit in s> COMMAND ...): exit code 77 means skipped. The limit
# is for hangs: some ten times what the slowest test of the kind takes, for a machine may have ten
# times as much to do.
function (tied_add_test name label timeout)
    cmake_parse_arguments (PARSE_ARGV 3 arg "" "" "COMMAND;ENVIRONMENT")
    if (TIED_SANITIZE)
        math (EXPR timeout "${timeout} * 3")
    endif ()
    add_test (NAME ${name} COMMAND ${arg_COMMAND})
    set_tests_properties (${name} PROPERTIES
        LABELS ${label}
        TIMEOUT ${timeout}
        SKIP_RETURN_CODE 77
        ENVIRONMENT "${tied_test_environment};${arg_ENVIRONMENT}")
endfunction ()

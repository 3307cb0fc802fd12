# SPDX-License-Identifier: MIT
# What every target of ours has in common.

# Strict ISO C11: target_compile_features (c_std_11) would give a later standard.
# The core gets no feature macros, so that a clock or a thread function does not even compile there;
# everything else is POSIX and Linux (epoll, eventfd).
function (tied_target_defaults target)
    cmake_parse_arguments (PARSE_ARGV 1 arg "ISO_ONLY" "" "")
    set_target_properties (${target} PROPERTIES
        C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF
        C_VISIBILITY_PRESET hidden POSITION_INDEPENDENT_CODE ON)
    target_link_libraries (${target} PRIVATE $<BUILD_INTERFACE:tied_warnings>)
    if (NOT arg_ISO_ONLY)
        target_compile_definitions (${target} PRIVATE _GNU_SOURCE)
    endif ()
endfunction ()

# SPDX-License-Identifier: MIT
# TIED_SANITIZE instruments everything in this build, the tests included.
set (TIED_SANITIZE "" CACHE STRING "Sanitizers: empty, address,undefined or thread")
set_property (CACHE TIED_SANITIZE PROPERTY STRINGS "" "address,undefined" "thread")
if (NOT TIED_SANITIZE STREQUAL "")
    # Their reports need lines, and no more of what debugging does.
    add_compile_options (-fsanitize=${TIED_SANITIZE} -fno-omit-frame-pointer
        $<$<NOT:$<CONFIG:Debug,RelWithDebInfo>>:-g1>)
    if (TIED_SANITIZE MATCHES "undefined")
        add_compile_options (-fno-sanitize-recover=undefined)
    endif ()
    add_link_options (-fsanitize=${TIED_SANITIZE})
endif ()
if (TIED_BUILD_FUZZERS)
    if (NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
        message (FATAL_ERROR "TIED_BUILD_FUZZERS needs clang: use the preset fuzz")
    endif ()
    # Coverage counters in the library; the driver itself is linked into the fuzzers only.
    add_compile_options (-fsanitize=fuzzer-no-link)
endif ()

# SPDX-License-Identifier: MIT
# Every examples/*.c is one program that uses public headers only, so it links the shared library.
# One whose head comment says "Run by ctest" is a test as well: examples.<name>. One that includes
# czmq.h is left out when czmq is not there.
foreach (folder lib replica client)
    file (GLOB sources CONFIGURE_DEPENDS "${folder}/examples/*.c")
    foreach (source IN LISTS sources)
        cmake_path (GET source STEM name)
        file (STRINGS "${source}" czmq_lines REGEX "^#include <czmq\\.h>")
        if (czmq_lines AND NOT CZMQ_FOUND)
            continue ()
        endif ()
        set (target example_${name})
        add_executable (${target} "${source}")
        set_target_properties (${target} PROPERTIES
            OUTPUT_NAME ${name}
            RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/examples")
        target_link_libraries (${target} PRIVATE
            tied::tied $<$<BOOL:${CZMQ_FOUND}>:PkgConfig::CZMQ> PkgConfig::ZMQ Threads::Threads)
        tied_target_defaults (${target})
        set_property (DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${source}")
        file (STRINGS "${source}" run_lines REGEX "Run by ctest")
        if (TIED_BUILD_TESTS AND run_lines)
            tied_add_test (examples.${name} examples 300 COMMAND ${target})
        endif ()
    endforeach ()
endforeach ()

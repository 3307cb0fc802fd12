# SPDX-License-Identifier: MIT
# A program is <folder>/tied-<name>.c plus what lies in <folder>/app/.
function (tied_program name folder)
    file (GLOB sources CONFIGURE_DEPENDS "${folder}/${name}.c" "${folder}/app/*.c")
    if (NOT EXISTS "${PROJECT_SOURCE_DIR}/${folder}/${name}.c" AND
        NOT EXISTS "${PROJECT_SOURCE_DIR}/${folder}/app/${name}.c")
        return ()
    endif ()
    add_executable (${name} ${sources})
    target_include_directories (${name} PRIVATE "${PROJECT_SOURCE_DIR}/lib")
    target_link_libraries (${name} PRIVATE
        tied_static $<TARGET_NAME_IF_EXISTS:tied_tools> PkgConfig::CZMQ PkgConfig::ZMQ
        Threads::Threads m)
    tied_target_defaults (${name})
    set_target_properties (${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
endfunction ()

tied_program (tied-replica replica)
tied_program (tied-client client)

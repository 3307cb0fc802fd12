# SPDX-License-Identifier: MIT
# A program is <folder>/<name>.c with the other .c files of <folder> and <folder>/app. Programs may
# use internal functions, so they link the static library.
function (tied_program name folder)
    file (GLOB main_source CONFIGURE_DEPENDS "${folder}/${name}.c" "${folder}/app/${name}.c")
    file (GLOB sources CONFIGURE_DEPENDS "${folder}/*.c" "${folder}/app/*.c")
    if (NOT main_source)
        return ()
    endif ()
    add_executable (${name} ${sources})
    target_include_directories (${name} PRIVATE
        "${PROJECT_SOURCE_DIR}/lib" "${PROJECT_SOURCE_DIR}/${folder}/app")
    target_link_libraries (${name} PRIVATE
        $<TARGET_NAME_IF_EXISTS:tied_tools> tied_static PkgConfig::ZMQ Threads::Threads m)
    tied_target_defaults (${name})
    set_target_properties (${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
    if (TIED_INSTALL)
        install (TARGETS ${name} RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
    endif ()
endfunction ()

tied_program (tied-replica replica)
tied_program (tied-client client)

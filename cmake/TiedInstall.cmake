# SPDX-License-Identifier: MIT
# Headers, libraries, CMake package and pkg-config file. All of them find each other relative to
# where they lie, so an installed tree can be moved.
include (CMakePackageConfigHelpers)
set (tied_cmake_dir "${CMAKE_INSTALL_LIBDIR}/cmake/tied")

foreach (dir lib replica client)
    install (DIRECTORY "${dir}/include/tied" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
             FILES_MATCHING PATTERN "*.h")
endforeach ()
install (TARGETS tied tied_static EXPORT tied-targets
         LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
         ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install (EXPORT tied-targets NAMESPACE tied:: DESTINATION "${tied_cmake_dir}")

configure_package_config_file (cmake/tied-config.cmake.in
    "${PROJECT_BINARY_DIR}/tied-config.cmake" INSTALL_DESTINATION "${tied_cmake_dir}")
# Before 1.0 a minor version may break the interface.
write_basic_package_version_file ("${PROJECT_BINARY_DIR}/tied-config-version.cmake"
    COMPATIBILITY SameMinorVersion)
install (FILES "${PROJECT_BINARY_DIR}/tied-config.cmake"
               "${PROJECT_BINARY_DIR}/tied-config-version.cmake"
         DESTINATION "${tied_cmake_dir}")

cmake_path (RELATIVE_PATH CMAKE_INSTALL_PREFIX
    BASE_DIRECTORY "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" OUTPUT_VARIABLE pc_to_prefix)
configure_file (cmake/tied.pc.in "${PROJECT_BINARY_DIR}/tied.pc" @ONLY)
install (FILES "${PROJECT_BINARY_DIR}/tied.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
install (FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}")
file (GLOB man_pages CONFIGURE_DEPENDS docs/man/*.1)
if (man_pages)
    install (FILES ${man_pages} DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
endif ()

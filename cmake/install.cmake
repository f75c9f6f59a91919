# Installs the library, the headers, a CMake package and a pkg-config file. No installed file names
# an absolute path, so the prefix may be moved afterwards.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/spool")

install(TARGETS spool EXPORT spool-targets FILE_SET HEADERS)
install(EXPORT spool-targets NAMESPACE spool:: DESTINATION "${package_dir}")
# Each component has a file of its own, which the package includes if it is there.
if(SPOOL_HAS_LIVE)
    install(TARGETS spool_live EXPORT spool-live-targets FILE_SET HEADERS)
    install(EXPORT spool-live-targets NAMESPACE spool:: DESTINATION "${package_dir}")
endif()

configure_package_config_file(cmake/spool-config.cmake.in "${PROJECT_BINARY_DIR}/spool-config.cmake"
    INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/spool-config-version.cmake"
    COMPATIBILITY SameMinorVersion)  # until 1.0; SameMajorVersion from then on
install(FILES
    "${PROJECT_BINARY_DIR}/spool-config.cmake"
    "${PROJECT_BINARY_DIR}/spool-config-version.cmake"
    DESTINATION "${package_dir}")

# The .pc file finds its directories relative to its own location: see spool.pc.in.
file(RELATIVE_PATH includedir_from_libdir "${CMAKE_INSTALL_FULL_LIBDIR}" "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
configure_file(cmake/spool.pc.in "${PROJECT_BINARY_DIR}/spool.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/spool.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

# What other build systems need to find libdagtap under a prefix, and the header for programs that
# bring host versions of their kernels; each room installs its own library.
install(FILES ${CMAKE_SOURCE_DIR}/include/dagtap/softgpu.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/dagtap)

include(CMakePackageConfigHelpers)

include(${CMAKE_CURRENT_LIST_DIR}/install-dagpatch.cmake)
foreach(package dagtap dagtap-trace)
  configure_file(${CMAKE_SOURCE_DIR}/cmake/${package}.pc.in ${CMAKE_BINARY_DIR}/${package}.pc @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/${package}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/dagtap)
configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/dagtap-config.cmake.in
  ${CMAKE_BINARY_DIR}/dagtap-config.cmake INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/dagtap-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/dagtap-config.cmake ${CMAKE_BINARY_DIR}/dagtap-config-version.cmake
  DESTINATION ${package_folder})

# What pkg-config needs to find libdagpatch under a prefix, and the library for the Python package,
# alone and under one name: a wheel holds no links.
configure_file(${CMAKE_SOURCE_DIR}/cmake/dagpatch.pc.in ${CMAKE_BINARY_DIR}/dagpatch.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/dagpatch.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES $<TARGET_FILE:dagpatch_shared> DESTINATION dagpatch RENAME libdagpatch.so
  COMPONENT python EXCLUDE_FROM_ALL)

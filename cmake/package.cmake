# A Debian package of all that is installed: cpack -G DEB in the build folder. The folders below the
# prefix stay as they are, because dagtap finds its injected library beside itself.
install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright) # where Debian looks
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs FILES_MATCHING PATTERN "*.md" PATTERN "man" EXCLUDE)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME dagtap)
set(CPACK_PACKAGE_VENDOR dagtap)
set(CPACK_PACKAGE_CONTACT "dagtap maintainers")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "traces every piece of GPU work, kernels of replayed graphs included")
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_CURRENT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_CURRENT_LIST_DIR}/package-tools.cmake)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"dagtap records HIP and CUDA programs: calls, kernels, copies, graphs with their
nodes and replays, scopes and waits, and accounts for each of them. The package
has the command, the libraries libdagtap, libdagtap-trace and libdagpatch with
their headers, and a software GPU.")
include(CPack)

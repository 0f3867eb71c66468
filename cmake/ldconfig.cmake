# The last step of an installation, unless DESTDIR is set: the loader finds libraries in the folders
# of /etc/ld.so.conf by a cache. So ldconfig runs if the libraries have gone into one of them, and
# otherwise this says how programs find them.
if(NOT "$ENV{DESTDIR}" STREQUAL "")
  return()
endif()
find_program(ldconfig ldconfig PATHS /usr/sbin /sbin NO_CACHE)
if(NOT ldconfig)
  return()
endif()
file(REAL_PATH ${CMAKE_INSTALL_PREFIX}/lib installed)

# -N and -X change nothing.
execute_process(COMMAND ${ldconfig} -v -N -X OUTPUT_VARIABLE listed ERROR_QUIET)
string(REGEX MATCHALL "\n/[^:\n]*:" listed "\n${listed}")
set(searched FALSE)
foreach(folder IN LISTS listed)
  string(REGEX REPLACE "^\n|:$" "" folder ${folder})
  file(REAL_PATH ${folder} folder)
  if(folder STREQUAL installed)
    set(searched TRUE)
  endif()
endforeach()

if(NOT searched)
  message(STATUS "The loader does not search ${installed}: programs find the libraries there by "
    "LD_LIBRARY_PATH or a run path, or if you add the folder to /etc/ld.so.conf and run ldconfig")
  return()
endif()
execute_process(COMMAND ${ldconfig} RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
if(failed)
  message(STATUS "Run ldconfig as root, so that programs find the libraries in ${installed}")
else()
  message(STATUS "ldconfig: programs find the libraries in ${installed}")
endif()

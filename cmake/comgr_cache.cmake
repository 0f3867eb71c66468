# The compiler that HIP loads in tests, with a cache in front (tests/comgr_cache.c).

cmake_path(SET DAGTAP_COMGR_CACHE_SOURCE NORMALIZE ${CMAKE_CURRENT_LIST_DIR}/../tests/comgr_cache.c)

# dagtap_comgr_cache(LIBRARIES INCLUDE RET): for the libamd_comgr.so.N in the folder LIBRARIES, with
# the header in INCLUDE. Sets RET to the folder that belongs in front of LIBRARIES in
# LD_LIBRARY_PATH; sets nothing if there is no such library.
function(dagtap_comgr_cache libraries include ret)
  file(GLOB installed ${libraries}/libamd_comgr.so.[0-9])
  find_path(header amd_comgr.h PATHS ${include} PATH_SUFFIXES amd_comgr NO_DEFAULT_PATH NO_CACHE)
  if(NOT installed OR NOT header)
    return()
  endif()
  set(folder ${CMAKE_BINARY_DIR}/tests/comgr)
  cmake_path(GET installed FILENAME name)
  # A library that has the installed one's path for its name: so the cache depends on a path. The
  # bare name is the cache's own.
  file(WRITE ${folder}/installed.c "")
  add_library(comgr_installed SHARED ${folder}/installed.c)
  target_link_options(comgr_installed PRIVATE LINKER:-soname,${installed})
  set_target_properties(comgr_installed PROPERTIES NO_SONAME ON LIBRARY_OUTPUT_DIRECTORY ${folder}/link)
  # Without a sanitizer: it does not know the compiler's memory.
  add_library(comgr_cache MODULE ${DAGTAP_COMGR_CACHE_SOURCE})
  target_compile_definitions(comgr_cache PRIVATE _GNU_SOURCE COMGR_INSTALLED="${installed}"
    COMGR_CACHE="${folder}/compiled")
  target_compile_options(comgr_cache PRIVATE -Wall -Wextra)
  target_include_directories(comgr_cache SYSTEM PRIVATE ${header})
  target_link_libraries(comgr_cache PRIVATE -Wl,--no-as-needed comgr_installed)
  set_target_properties(comgr_cache PROPERTIES C_VISIBILITY_PRESET default PREFIX "" OUTPUT_NAME ${name}
    SUFFIX "" SKIP_BUILD_RPATH ON LIBRARY_OUTPUT_DIRECTORY ${folder})
  set(${ret} ${folder} PARENT_SCOPE)
endfunction()

# What every target of the tree shares: warnings, sanitizers, the two header roots, one line to make
# a test.

add_library(dagtap_options INTERFACE)
target_compile_options(dagtap_options INTERFACE
  -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wpointer-arith
  -Wno-unused-parameter -fno-strict-aliasing)
target_compile_definitions(dagtap_options INTERFACE _GNU_SOURCE DAGTAP_VERSION="${PROJECT_VERSION}")
target_include_directories(dagtap_options INTERFACE ${CMAKE_SOURCE_DIR}/include ${CMAKE_SOURCE_DIR}/src)
# A shared library names everything that it needs (weak symbols excepted): what is missing shows
# when it is linked, not in somebody's process. Clang leaves its sanitizers' runtime to the program.
if(NOT (DAGTAP_SANITIZE AND CMAKE_C_COMPILER_ID MATCHES Clang))
  target_link_options(dagtap_options INTERFACE
    $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,SHARED_LIBRARY>:LINKER:-z,defs>)
endif()
if(DAGTAP_SANITIZE)
  target_compile_options(dagtap_options INTERFACE -fsanitize=${DAGTAP_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=undefined)
  target_link_options(dagtap_options INTERFACE -fsanitize=${DAGTAP_SANITIZE})
endif()

find_package(Threads REQUIRED)
if(DAGPATCH_ONLY)
  return()
endif()
find_package(PkgConfig REQUIRED)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(ZLIB REQUIRED IMPORTED_TARGET zlib)
pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3)
pkg_check_modules(OTF2 REQUIRED IMPORTED_TARGET otf2)
find_path(DAGTAP_RAPIDJSON_INCLUDE rapidjson/reader.h REQUIRED)
if(DAGTAP_WHEEL)
  return()
endif()
pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)
pkg_check_modules(JSONC REQUIRED IMPORTED_TARGET json-c)

# A process that preloads an instrumented library needs the sanitizer's runtime preloaded before it.
set(DAGTAP_SANITIZER_RUNTIME "")
if(DAGTAP_SANITIZE)
  string(REGEX MATCH "^[a-z]" sanitizer_initial ${DAGTAP_SANITIZE})
  execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=lib${sanitizer_initial}san.so
    OUTPUT_VARIABLE DAGTAP_SANITIZER_RUNTIME OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()

# What a test finds in its environment. handle_segv=2: cmocka's own SIGSEGV handler would hide
# AddressSanitizer's report. use_sigaltstack=0: HIP's threads end on stacks of their own.
# verify_asan_link_order=0: a program built with the sanitizer may have our library preloaded.
# intercept_tls_get_addr=0: LeakSanitizer takes each dynamic TLS block 16 bytes behind a page's
# start for one with glibc 2.19's header, and dies scanning what it reads there (address and size)
# when malloc placed it so. allocator_may_return_null=1: a request that no memory can hold gives
# NULL, as malloc's does. The suppressions name the vendors' libraries, which are not ours to mend.
# No limit of a wait inside dagtap runs out, however slow the machine is (src/base/timer.h): a test
# of what happens at one sets that one to 0.
set(DAGTAP_TEST_ENVIRONMENT
  "DAGTAP_TIMERS=limits=never"
  "BUILD_DIR=${CMAKE_BINARY_DIR}"
  "SOURCE_DIR=${CMAKE_SOURCE_DIR}"
  "SANITIZER_RUNTIME=${DAGTAP_SANITIZER_RUNTIME}"
  "ASAN_OPTIONS=handle_segv=2:use_sigaltstack=0:verify_asan_link_order=0:intercept_tls_get_addr=0:allocator_may_return_null=1"
  "LSAN_OPTIONS=suppressions=${CMAKE_SOURCE_DIR}/tests/lsan.supp:print_suppressions=0"
  "UBSAN_OPTIONS=print_stacktrace=1"
  "TSAN_OPTIONS=suppressions=${CMAKE_SOURCE_DIR}/tests/tsan.supp:allocator_may_return_null=1")

# Seconds: what ends a test that hangs, also on a machine ten times slower than ours. Long ones take
# more than some 20 s here.
set(DAGTAP_TEST_TIMEOUT 600)
set(DAGTAP_LONG_TEST_TIMEOUT 900)

include(${CMAKE_CURRENT_LIST_DIR}/test.cmake)

# dagtap_test(NAME label1;label2 sources... LINK libs...): one cmocka program, run by CTest.
function(dagtap_test name labels)
  cmake_parse_arguments(arg "" "" "LINK" ${ARGN})
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS} ${CMAKE_SOURCE_DIR}/tests/timers.c)
  if("one-thread" IN_LIST labels)
    target_sources(${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests/single_thread.c)
  endif()
  target_link_libraries(${name} PRIVATE dagtap_options PkgConfig::CMOCKA Threads::Threads ${arg_LINK})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  dagtap_add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${labels}" TIMEOUT ${DAGTAP_TEST_TIMEOUT}
    ENVIRONMENT "${DAGTAP_TEST_ENVIRONMENT}")
endfunction()

# dagtap_failing_memory(test): its allocations can fail (tests/failing_memory.h).
function(dagtap_failing_memory test)
  target_sources(${test} PRIVATE ${CMAKE_SOURCE_DIR}/tests/failing_memory.c)
  target_link_options(${test} PRIVATE
    -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=reallocarray,--wrap=strdup)
endfunction()

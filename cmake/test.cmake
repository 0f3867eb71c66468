# How a test is started: by tests/run.sh, which gives it a folder for its files and a seed, and says
# what to do when it fails.

find_program(DAGTAP_BASH bash REQUIRED)
cmake_path(SET DAGTAP_TEST_LAUNCHER NORMALIZE ${CMAKE_CURRENT_LIST_DIR}/../tests/run.sh)

# The folder of the interpreter. A version manager's python3 is a script that takes ten times as
# long to start, and some tests start it a hundred times.
execute_process(COMMAND python3 -c "import os, sys; print(os.path.dirname(sys.executable))"
  OUTPUT_VARIABLE DAGTAP_PYTHON_FOLDER OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)

# What takes longest, in this order, starts first: a long test that starts last leaves the other
# processors idle. In a clean checkout CTest knows no times of an earlier run. Above 1000, because
# it compares with those where it knows them.
set(DAGTAP_LONG_TESTS jax_rocm_train jax_rocm_long conformance_perfetto cli_threads python_wheel rocm.._untraced
  rocm.._patch_random patch_suite_model record_live record_ring trace_damaged capture_cuda_moments
  patch_cuda_suite_played cli_ring cli_live preload_failures_hip capture_hip_calls merge_jobs cli_terminal trace_graph_orders
  cli_kill9 capture_hip_moments cli_counts_eager preload_random_hip)

function(dagtap_test_cost name)
  list(LENGTH DAGTAP_LONG_TESTS cost)
  math(EXPR cost "${cost} + 1000")
  foreach(long ${DAGTAP_LONG_TESTS})
    if(name MATCHES "^${long}")
      set_property(TEST ${name} PROPERTY COST ${cost})
      return()
    endif()
    math(EXPR cost "${cost} - 1")
  endforeach()
endfunction()

# dagtap_add_test(NAME name [CONFIGURATIONS c] COMMAND program args...): add_test, through the
# launcher. The name begins with the folder's.
function(dagtap_add_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;CONFIGURATIONS" "COMMAND")
  cmake_path(GET CMAKE_CURRENT_SOURCE_DIR FILENAME folder)
  if(NOT arg_NAME MATCHES "^${folder}")
    message(FATAL_ERROR "the test ${arg_NAME} has not its folder's name, ${folder}, in front (CONTRIBUTING.md)")
  endif()
  list(POP_FRONT arg_COMMAND program)
  if(TARGET ${program})
    set(program $<TARGET_FILE:${program}>)
  endif()
  set(repeat "ctest --test-dir '${CMAKE_BINARY_DIR}' -R '^${arg_NAME}$' --output-on-failure")
  set(when "")
  if(arg_CONFIGURATIONS)
    set(when CONFIGURATIONS ${arg_CONFIGURATIONS})
    string(APPEND repeat " -C ${arg_CONFIGURATIONS}")
  endif()
  add_test(NAME ${arg_NAME} ${when} COMMAND ${DAGTAP_BASH} ${DAGTAP_TEST_LAUNCHER}
    ${CMAKE_BINARY_DIR}/tests/kept/${arg_NAME} "${repeat}" ${program} ${arg_COMMAND})
  set_property(TEST ${arg_NAME} PROPERTY ENVIRONMENT_MODIFICATION "PATH=path_list_prepend:${DAGTAP_PYTHON_FOLDER}")
  dagtap_test_cost(${arg_NAME})
endfunction()

# What the wheel of the Python package dagtap has beside Python: a prefix of its own inside the
# package, with the files that are used alone and under one name, because a wheel holds no links.
# dagtap finds its libraries in ../lib/dagtap of its own place.
set(native dagtap/native)
set(python_component COMPONENT python-dagtap EXCLUDE_FROM_ALL)
install(PROGRAMS $<TARGET_FILE:dagtap> DESTINATION ${native}/bin ${python_component})
foreach(library dagtap_annotate dagtap_trace_shared)
  install(PROGRAMS $<TARGET_FILE:${library}> DESTINATION ${native}/lib
    RENAME $<TARGET_SONAME_FILE_NAME:${library}> ${python_component})
endforeach()
install(PROGRAMS $<TARGET_FILE:dagtap_inject> $<TARGET_FILE:dagtap_jax> DESTINATION ${native}/lib/dagtap ${python_component})
install(PROGRAMS $<TARGET_FILE:softgpu> DESTINATION ${native}/lib/dagtap/softgpu
  RENAME $<TARGET_SONAME_FILE_NAME:softgpu> ${python_component})

/* What the library implements: for each function hsa_foo of the dispatch tables a softgpu_hsa_foo
 * of the same type, in the file that owns its subject. Those that no file implements are defaults
 * in table.c. */
#ifndef SOFTGPU_API_H
#define SOFTGPU_API_H

#include "vendor/hsa_newer.h"

#define SOFTGPU_DECLARE(index, name) __typeof__(name) softgpu_##name;
HSA_CORE_TABLE(SOFTGPU_DECLARE)
HSA_AMD_EXT_TABLE_2(SOFTGPU_DECLARE)
HSA_FINALIZER_EXT_TABLE(SOFTGPU_DECLARE)
HSA_IMAGE_EXT_TABLE(SOFTGPU_DECLARE)
HSA_NEWER_IMAGE_EXT_TABLE(SOFTGPU_DECLARE)
#undef SOFTGPU_DECLARE

#endif

/* Declares the library's implementations: for each function hsa_foo of the dispatch tables a
 * function softgpu_hsa_foo of the same type. Each is defined in the file of its subject.
 * hsa_table.c defines defaults for the functions that no file implements. The HSA specification and
 * AMD's headers hold their contracts; comments here state only what the software GPU adds. */
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

/* The loader extension (HSA_EXTENSION_AMD_LOADER, versions 1.00 to 1.03). The table of each version
 * begins with the functions of the version before, so the first bytes of the newest table are an
 * older table. */
#ifndef SOFTGPU_LOADER_EXT_H
#define SOFTGPU_LOADER_EXT_H

#include <hsa/hsa_ven_amd_loader.h>

#define LOADER_EXT_MAJOR 1
#define LOADER_EXT_MINOR 3

/* Returns the constant table of the newest version. Any thread. */
const hsa_ven_amd_loader_1_03_pfn_t *loader_ext_table(void);

#endif

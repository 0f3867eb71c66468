/* The kernels of the bed on HIP (bed_hip.c). */
#ifndef DAGTAP_TESTS_PATCH_BED_HIP_KERNELS_H
#define DAGTAP_TESTS_PATCH_BED_HIP_KERNELS_H

#include "bed.h"
#include "example.h"

/* The source of all kernels, for hiprtc. */
extern const char bed_hip_source[];

/* Their names, by enum bed_kernel. */
extern const struct example_kernel bed_hip_kernels[BED_KERNELS];

#endif

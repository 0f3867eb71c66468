/*
 * The kernels of the reference run: as many as it had, with names as in a MaxText step on AMD GPUs
 * (Tensile, XLA fusions, composable kernel, RCCL, rocPRIM), dimensions and durations.
 */
#ifndef DAGTAP_BENCH_REFERENCE_KERNELS_H
#define DAGTAP_BENCH_REFERENCE_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

#define REFERENCE_KERNELS	146
#define REFERENCE_KERNELS_FIRST 117 /* kernels that are the first activity of some call */

/* ROCclr's kernels for fills and copies, after the program's own. */
enum { REFERENCE_FILL = REFERENCE_KERNELS, REFERENCE_COPY, REFERENCE_KERNELS_LOADED };

struct reference_kernel {
	char name[640];
	uint32_t blocks[3];
	uint16_t block[3];
	uint32_t group_bytes;
	uint32_t duration_ns;
	bool is_library; /* not XLA's: launched by another HIP function */
};

/* Fills KERNELS[REFERENCE_KERNELS_LOADED]. */
void reference_kernels_make(struct reference_kernel *kernels);

/* Writes the name of the HLO operation of a module's N-th thunk. */
void reference_instruction_name(uint32_t n, char *ret_text, uint32_t room);

#endif

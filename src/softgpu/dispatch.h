/* Running one kernel dispatch packet on the host. */
#ifndef SOFTGPU_DISPATCH_H
#define SOFTGPU_DISPATCH_H

#include <stdbool.h>
#include <stdint.h>

#include <hsa/hsa.h>

#include "softgpu/executable.h"
#include "softgpu/kernel.h"

/* Scratch of one processor, kept between dispatches. */
struct dispatcher {
	struct softgpu_kernel info;
	uint64_t *kernarg;
	size_t kernarg_bytes;
	bool has_faulted; /* the last kernel touched what is not there */
};

/* Computes the kernel when it has a host function and counts what it was. NULL: the packet's kernel
 * object is not that of a loaded kernel. */
const struct kernel_entry *dispatch_run(struct dispatcher *dispatcher,
					const hsa_kernel_dispatch_packet_t *packet);
void dispatcher_release(struct dispatcher *dispatcher);

#endif

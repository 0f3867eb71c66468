/* Computes the kernel of one dispatch packet on the host. The packet processor (processor.c) and
 * its dispatcher belong to one thread. */
#ifndef SOFTGPU_DISPATCH_H
#define SOFTGPU_DISPATCH_H

#include <stdbool.h>
#include <stdint.h>

#include <hsa/hsa.h>

#include "softgpu/executable.h"
#include "softgpu/kernel.h"

/* The buffers of one packet processor, kept between dispatches. Zeroed at first. */
struct dispatcher {
	struct softgpu_kernel info; /* of the last kernel */
	uint64_t *kernarg;	    /* owned; private copy of the arguments */
	size_t kernarg_bytes;	    /* size of that buffer */
	bool has_faulted;	    /* the last blit kernel accessed invalid memory */
};

/* Runs the host function of PACKET's kernel, if it has one, on the calling thread, and counts the
 * dispatch by its kind. Returns the kernel's entry; NULL when the packet's kernel object is not
 * that of a loaded kernel. Sets has_faulted. After it, fault_take says whether the host function
 * called softgpu_memory_fault. */
const struct kernel_entry *dispatch_run(struct dispatcher *dispatcher,
					const hsa_kernel_dispatch_packet_t *packet);
/* Frees the buffers. */
void dispatcher_release(struct dispatcher *dispatcher);

#endif

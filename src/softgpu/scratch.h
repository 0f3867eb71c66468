/* Scratch memory: a queue gets as much as its kernels need, at the first packet that needs more
 * than the queue has. The kernels are host functions, which do not use it: tools are told of it, as
 * ROCr tells them (from ROCR 6 on), and nothing else happens. */
#ifndef SOFTGPU_SCRATCH_H
#define SOFTGPU_SCRATCH_H

#include "softgpu/queue.h"

/* Gives QUEUE scratch memory for work-items with PRIVATE_BYTES each, because of packet INDEX.
 * Called by the packet processor before it runs the packet. */
void scratch_require(struct softgpu_queue *queue, uint32_t private_bytes, uint64_t index);

/* Takes the scratch memory of QUEUE, which is being destroyed. The packet processor has ended. */
void scratch_release(struct softgpu_queue *queue);

#endif

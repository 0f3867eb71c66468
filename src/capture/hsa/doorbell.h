/* Reads the memory block of a signal that may be a doorbell: whether it is one, and of which queue.
 * The runtime reads the same words when a program stores to the signal. The signal must be
 * alive. */
#ifndef CAPTURE_HSA_DOORBELL_H
#define CAPTURE_HSA_DOORBELL_H

#include <stdbool.h>
#include <stdint.h>

#include <hsa/amd_hsa_queue.h>
#include <hsa/amd_hsa_signal.h>

/* Whether SIGNAL is a doorbell of any kind of queue. False for handle 0. */
static inline bool doorbell_is(hsa_signal_t signal)
{
	const amd_signal_t *block = (const amd_signal_t *)(uintptr_t)signal.handle;

	return block && (block->kind == AMD_SIGNAL_KIND_DOORBELL ||
			 block->kind == AMD_SIGNAL_KIND_LEGACY_DOORBELL);
}

/* Returns the queue of AQL packets whose doorbell SIGNAL is, or NULL: SIGNAL is no doorbell, or it
 * belongs to a queue without AQL packets, such as a copy engine's. */
static inline amd_queue_t *doorbell_queue(hsa_signal_t signal)
{
	const amd_signal_t *block = (const amd_signal_t *)(uintptr_t)signal.handle;
	amd_queue_t *queue = doorbell_is(signal) ? block->queue_ptr : NULL;

	if (!queue || queue->hsa_queue.doorbell_signal.handle != signal.handle ||
	    !(queue->hsa_queue.features & HSA_QUEUE_FEATURE_KERNEL_DISPATCH))
		return NULL;
	return queue;
}

#endif

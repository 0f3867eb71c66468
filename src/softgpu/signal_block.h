/* The block behind a signal handle of the slab. For the files that implement signals, doorbells,
 * handlers and profiling; all other files use handles (signal.h). */
#ifndef SOFTGPU_SIGNAL_BLOCK_H
#define SOFTGPU_SIGNAL_BLOCK_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <hsa/amd_hsa_signal.h>

#include "softgpu/signal.h"

struct handler;
struct softgpu_queue;

enum signal_kind {
	SIGNAL_INTERRUPT, /* may have an event; async handlers are allowed */
	SIGNAL_MEMORY,	  /* threads poll it; the program may get a pointer to its value */
	SIGNAL_IPC,	  /* as SIGNAL_MEMORY; can also be attached to by an IPC handle */
	SIGNAL_DOORBELL,
};

/* The words that tools and the HIP runtime may read have the places of ROCr's SharedSignal: amd at
 * 0, the SDMA words at 64 and 96. The software GPU uses all other words for itself. */
struct softgpu_signal {
	amd_signal_t amd;
	uint64_t sdma_start_ts; /* ticks of the last profiled copy, written by its copy engine */
	/* List of armed handlers. Under the handler lock, except for a test whether it is NULL. */
	_Atomic(struct handler *) armed;
	uint64_t id;		     /* SIGNAL_ID until destroyed */
	_Atomic uint32_t copy_agent; /* agent index + 1 of the last profiled copy; 0: none */
	/* In a free block the index + 1 of the next free one; in a live block the number of
	 * attachments (signal_attach). */
	uint32_t next_free;
	uint64_t sdma_end_ts;
	_Atomic uint32_t refs;	  /* number of references, and SIGNAL_DEAD when destroyed */
	_Atomic uint32_t waiters; /* threads that sleep on the value */
	uint32_t kind;		  /* enum signal_kind */
	uint32_t is_queued;	  /* in the handler thread's list; under the handler lock */
	struct softgpu_signal *ready_next; /* next in that list; under the handler lock */
};

_Static_assert(sizeof(struct softgpu_signal) == 128, "SharedSignal");
_Static_assert(offsetof(struct softgpu_signal, sdma_start_ts) == 64, "sdma_start_ts");
_Static_assert(offsetof(struct softgpu_signal, sdma_end_ts) == 96, "sdma_end_ts");

#define SIGNAL_ID   0x71FCCA6A3D5D5276ull
#define SIGNAL_DEAD 0x80000000u

static inline hsa_signal_t signal_handle(const struct softgpu_signal *block)
{
	return (hsa_signal_t){(uint64_t)(uintptr_t)block};
}

/* Returns the block of SIGNAL; NULL when it is not a live signal of the slab. Counts no error and
 * takes no reference. */
struct softgpu_signal *signal_block(hsa_signal_t signal);

/* Returns the word that holds SIGNAL's value: for a doorbell its queue's doorbell_value. RET_BLOCK
 * is its block, or NULL for a signal in pool memory. Returns NULL, and counts an error, for a
 * handle that is not a live signal. */
volatile int64_t *signal_value_word(hsa_signal_t signal, struct softgpu_signal **ret_block);

/* Creates a block with one reference, which signal_destroy releases. QUEUE is the queue of a
 * doorbell, else NULL. An interrupt signal gets an event as long as there are events left. Returns
 * NULL when there is no room. */
struct softgpu_signal *signal_make(enum signal_kind kind, int64_t initial,
				   struct softgpu_queue *queue);
/* Destroys a signal: from now on its handle is an error. The block becomes free when the last
 * reference is released, and is not reused before many other blocks. */
void signal_destroy(struct softgpu_signal *block);

/* Adds an attachment to a signal of kind SIGNAL_IPC. Returns false for NULL and for another
 * kind. */
bool signal_attach(struct softgpu_signal *block);
/* Removes an attachment. Returns true when there was none left: the caller then destroys the
 * signal. */
bool signal_detach(struct softgpu_signal *block);

/* Called after every change of the value at VALUE: wakes the threads that wait for the signal, the
 * handler thread if handlers are armed, and the threads that wait for the epoch. BLOCK is NULL for
 * a signal in pool memory. */
void signal_changed(struct softgpu_signal *block, volatile int64_t *value);

/* Returns whether VALUE fulfils CONDITION against COMPARE; false for an unknown condition. */
static inline bool signal_condition_holds(hsa_signal_condition_t condition, int64_t value,
					  int64_t compare)
{
	switch (condition) {
	case HSA_SIGNAL_CONDITION_EQ:
		return value == compare;
	case HSA_SIGNAL_CONDITION_NE:
		return value != compare;
	case HSA_SIGNAL_CONDITION_LT:
		return value < compare;
	case HSA_SIGNAL_CONDITION_GTE:
		return value >= compare;
	default:
		return false;
	}
}

#endif

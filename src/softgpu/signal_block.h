/* The block behind a signal handle that we made. For signal.c, signal_api.c, handler.c and queue.c;
 * everybody else goes by handle (signal.h). */
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
	SIGNAL_INTERRUPT, /* may have an event; async handlers allowed */
	SIGNAL_MEMORY,	  /* GPU-only: polled, its value pointer may be handed out */
	SIGNAL_IPC,	  /* likewise, and there may be handles of it to attach to */
	SIGNAL_DOORBELL,
};

/* Laid out as ROCr's SharedSignal in what others may look at: amd at 0, the SDMA words at 64 and
 * 96. The words between and behind are ours. */
struct softgpu_signal {
	amd_signal_t amd;
	uint64_t sdma_start_ts;
	_Atomic(struct handler *) armed; /* list, under the handler lock; NULL test without it */
	uint64_t id;			 /* SIGNAL_ID while alive */
	_Atomic uint32_t copy_agent;	 /* index + 1 of the agent of the last profiled copy */
	uint32_t next_free; /* while alive: how often it is attached to (signal_attach) */
	uint64_t sdma_end_ts;
	_Atomic uint32_t refs; /* count, and SIGNAL_DEAD once destroyed */
	_Atomic uint32_t waiters;
	uint32_t kind;
	uint32_t is_queued;		   /* in the handler thread's list; under its lock */
	struct softgpu_signal *ready_next; /* likewise */
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

/* The live block of a handle, or NULL for any other handle (counts nothing). */
struct softgpu_signal *signal_block(hsa_signal_t signal);

/* The value behind a live handle of ours or in pool memory (RET_BLOCK is NULL then); NULL, and a
 * counted error, for anything else. */
volatile int64_t *signal_value_word(hsa_signal_t signal, struct softgpu_signal **ret_block);

/* Makes a block. NULL when there is no room. QUEUE: for a doorbell. */
struct softgpu_signal *signal_make(enum signal_kind kind, int64_t initial,
				   struct softgpu_queue *queue);
void signal_destroy(struct softgpu_signal *block);

/* One more user of a block of kind SIGNAL_IPC; false when it is none, or destroyed. */
bool signal_attach(struct softgpu_signal *block);
/* One user less. True: it was the last, and the block is to be destroyed. */
bool signal_detach(struct softgpu_signal *block);

/* After every change of a value: wakes the waiters, the handlers and the epoch's sleepers. BLOCK is
 * NULL for a signal in pool memory. */
void signal_changed(struct softgpu_signal *block, volatile int64_t *value);

bool signal_condition_holds(hsa_signal_condition_t condition, int64_t value, int64_t compare);

#endif

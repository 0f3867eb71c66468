/* The call context of each packet that is reserved in a queue and not yet recorded.
 *
 * The context (struct frame_context) is taken where a thread reserves packets by moving the write
 * index, because another thread may ring the doorbell. The gate looks it up by the packet's index.
 * One reservation of many packets uses one cell, so a batch may be larger than the ring.
 *
 * Threading: any thread puts, without a lock. Only the holder of the queue's gate takes, in the
 * order of indices. No call allocates except reservations_init.
 *
 * Memory order: the release store of `first` in reservations_put pairs with the acquire load in
 * reservations_take. A reservation is put before its packets are written, and the gate takes it
 * after it has read the packet's valid header with acquire; so a reservation that was put is
 * found. */
#ifndef CAPTURE_HSA_RESERVATIONS_H
#define CAPTURE_HSA_RESERVATIONS_H

#include <stdatomic.h>
#include <stdint.h>

#include "capture/frame.h"

/* One cell. The thread that changes `first` from 0 to RESERVATION_BUSY fills the cell; the gate's
 * holder reads it and sets `first` to 0 again. */
struct reservation {
	_Atomic uint64_t first; /* index of the first packet + 1; 0: free, or RESERVATION_BUSY */
	uint64_t count;		/* packets */
	struct frame_context context;
};

#define RESERVATION_BUSY  UINT64_MAX
#define RESERVATION_SPARE 64

struct reservations {
	struct reservation *cells; /* mask + 1 cells; the cell of a packet is index & mask */
	uint64_t mask;		   /* twice the ring's size, less one */
	/* Used when the own cell still holds a reservation whose index differs by a multiple of
	 * the table's size. */
	struct reservation spare[RESERVATION_SPARE];
	/* Reservations that found no cell: their packets have no context. Never reset. */
	_Atomic uint64_t lost;
	/* Written and read by the gate's holder: the reservation that was taken last, the packets
	 * current_first <= index < current_end. */
	uint64_t current_first;
	uint64_t current_end;
	struct frame_context current;
};

/* Allocates CELL_COUNT cells, a power of two. Returns 0 or -ENOMEM. */
int reservations_init(struct reservations *r, uint64_t cell_count);

/* Frees the cells. Call only while no other thread knows R. */
void reservations_release(struct reservations *r);

/* Empties all cells. Call only while no thread puts or takes: the queue is new, or its gate does
 * not record. */
void reservations_reset(struct reservations *r);

/* Notes that packets FIRST to FIRST + COUNT - 1 belong to the calling thread's innermost call, and
 * takes COUNT ordinals of that call. Counts in `lost` when there is no free cell. Any thread. */
void reservations_put(struct reservations *r, uint64_t first, uint64_t count);

/* Returns the context of the packet at INDEX, with the ordinal of that packet; cid 0 when the
 * context is unknown. Called by the gate's holder, in the order of indices. */
struct frame_context reservations_take(struct reservations *r, uint64_t index);

#endif

/* Who reserved which slots of a ring: the call context is taken where a slot is reserved, because
 * the thread that rings the doorbell may be another one.
 *
 * Any thread puts, without a lock; the holder of the queue's gate takes, in the order of indices.
 * One reservation of many packets is one cell, so a batch may be larger than the ring. */
#ifndef CAPTURE_HSA_RESERVATIONS_H
#define CAPTURE_HSA_RESERVATIONS_H

#include <stdatomic.h>
#include <stdint.h>

#include "capture/frame.h"

struct reservation {
	_Atomic uint64_t first; /* index + 1; 0 = free, RESERVATION_BUSY = being filled */
	uint64_t count;
	struct frame_context context;
};

#define RESERVATION_BUSY  UINT64_MAX
#define RESERVATION_SPARE 64

struct reservations {
	struct reservation *cells; /* twice the ring's size; by index */
	uint64_t mask;
	/* For those whose own cell is taken by one a whole table away. */
	struct reservation spare[RESERVATION_SPARE];
	_Atomic uint64_t lost; /* found no cell: their packets have no context; never reset */
	/* The gate holder's: the reservation that it is in the middle of. */
	uint64_t current_first;
	uint64_t current_end;
	struct frame_context current;
};

/* CELL_COUNT: a power of two. 0 or -ENOMEM. */
int reservations_init(struct reservations *r, uint64_t cell_count);
void reservations_release(struct reservations *r);
/* Forgets everything; nobody else may use R meanwhile. */
void reservations_reset(struct reservations *r);

/* COUNT slots from FIRST belong to the calling thread's innermost call. */
void reservations_put(struct reservations *r, uint64_t first, uint64_t count);

/* The context of slot INDEX; cid 0 when it is not known. */
struct frame_context reservations_take(struct reservations *r, uint64_t index);

#endif

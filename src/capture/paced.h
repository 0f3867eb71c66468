/* Writes many records at once, off the hot path. A large graph is written faster than the
 * housekeeper prepares chunks. The calling thread is inside a slow call (instantiating or
 * updating a graph), so it may wait for chunks; together the waits are limited (TIMER_PACE, 100
 * ms), since there may never be room, for instance on a full disk. */
#ifndef DAGTAP_CAPTURE_PACED_H
#define DAGTAP_CAPTURE_PACED_H

#include <stddef.h>
#include <stdint.h>

#include "base/timer.h"
#include "record/record.h"

/* State of one series of records; zero at first. */
struct pace {
	uint32_t records;	  /* written so far */
	struct timer_limit limit; /* for all pauses together; starts with the first pause */
};

/* As writer_put with the calling thread's writer. May sleep until the limit of PACE. */
void paced_put(struct pace *pace, enum record_type type, uint32_t tag, const void *record,
	       size_t bytes);

#endif

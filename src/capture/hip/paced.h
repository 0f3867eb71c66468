/* Writing many records at once, off the hot path: a large graph is written faster than chunks are
 * made ready. Nobody else is in a hurry here, so it is worth a wait; in all not a long one, since
 * there may be no room to come (a full disk). */
#ifndef DAGTAP_CAPTURE_HIP_PACED_H
#define DAGTAP_CAPTURE_HIP_PACED_H

#include <stddef.h>
#include <stdint.h>

#include "base/timer.h"
#include "record/record.h"

struct pace {
	uint32_t records;
	struct timer_limit limit; /* of all pauses together; begins with the first */
};

/* writer_put on this thread's writer; may sleep, until the limit of PACE, which is zero at first. */
void paced_put(struct pace *pace, enum record_type type, uint32_t tag, const void *record,
	       size_t bytes);

#endif

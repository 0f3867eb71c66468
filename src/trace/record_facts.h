/* What records say, for those who look at them before they are loaded. Threading: functions of
 * their arguments. */
#ifndef DAGTAP_TRACE_RECORD_FACTS_H
#define DAGTAP_TRACE_RECORD_FACTS_H

#include <stdint.h>

#include "record/record.h"

/* The time at which a record was written, host ns; 0 if it does not say. If a recording has no end,
 * the latest of these is the process's end. */
uint64_t record_moment(const struct record_header *header);

/* The key of a packet among all queues of a process: a queue has fewer than 2^40 packets. */
static inline uint64_t packet_key(uint32_t queue_id, uint64_t packet_index)
{
	return ((uint64_t)queue_id << 40) + packet_index;
}

#endif

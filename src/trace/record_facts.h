/* What records say, for those who look at them before they are loaded. Threading: functions of
 * their arguments. */
#ifndef DAGTAP_TRACE_RECORD_FACTS_H
#define DAGTAP_TRACE_RECORD_FACTS_H

#include <stdint.h>

#include "record/record.h"
#include "record/record_check.h"

/* Host times of a record, ns: a call's begin and end; of others the same time twice. 0: none. */
struct record_times {
	uint64_t first_ns;
	uint64_t last_ns;
};

/* HEADER is that of a well-formed record, perhaps of an unknown type. A recording without an end
 * lasts until the latest time in its records. */
static inline struct record_times record_times(const struct record_header *header)
{
	const uint64_t *words = (const uint64_t *)header;
	const struct record_shape *shape;

	if (header->type >= RECORD_TYPE_COUNT || record_shapes[header->type].first_time == 0)
		return (struct record_times){0, 0};
	shape = &record_shapes[header->type];
	return (struct record_times){words[shape->first_time], words[shape->last_time]};
}

/* The key of a packet among all queues of a process: a queue has fewer than 2^40 packets. */
static inline uint64_t packet_key(uint32_t queue_id, uint64_t packet_index)
{
	return ((uint64_t)queue_id << 40) + packet_index;
}

#endif

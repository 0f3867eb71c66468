/* Encodes one event of a plane; used in the loops over millions of rows. The fields that differ
 * from event to event are encoded here, the others are pieces (format/timeline/pieces.h). The
 * functions do not check room: the caller has it from xspace_out_room. */
#ifndef DAGTAP_FORMAT_XSPACE_EVENT_H
#define DAGTAP_FORMAT_XSPACE_EVENT_H

#include <stdint.h>

#include "format/xspace/xspace.h"
#include "wire/varint.h"

#define XSPACE_KEY_VARINT(field) ((uint8_t)((field) << 3))
#define XSPACE_KEY_BYTES(field)	 ((uint8_t)((field) << 3 | 2))

struct xspace_event {
	uint32_t metadata_id; /* of the event's name (xspace_plane_event) */
	uint64_t offset_ps;   /* from the line's origin */
	uint64_t duration_ps;
};

/* The bytes of the fields that xspace_event_head writes after the event's length. */
static inline unsigned xspace_event_bytes(const struct xspace_event *event)
{
	unsigned bytes = 2 + varint_bytes(event->metadata_id) + varint_bytes(event->offset_ps);

	return bytes + (event->duration_ps ? 1 + varint_bytes(event->duration_ps) : 0);
}

/* Writes the head of an event at AT and returns its end. BODY_BYTES: of these fields and of all
 * stats that the caller writes after them. */
static inline uint8_t *xspace_event_head(uint8_t *at, const struct xspace_event *event,
					 size_t body_bytes)
{
	*at++ = XSPACE_KEY_BYTES(XLINE_EVENTS);
	at = varint_put(at, body_bytes);
	*at++ = XSPACE_KEY_VARINT(XEVENT_METADATA_ID);
	at = varint_put(at, event->metadata_id);
	*at++ = XSPACE_KEY_VARINT(XEVENT_OFFSET_PS);
	at = varint_put(at, event->offset_ps);
	if (event->duration_ps) {
		*at++ = XSPACE_KEY_VARINT(XEVENT_DURATION_PS);
		at = varint_put(at, event->duration_ps);
	}
	return at;
}

/* The size of a numeric stat and its encoding at AT, which returns the end. STAT is below 128;
 * FIELD gives the number's type. */
static inline unsigned xspace_number_bytes(uint64_t value)
{
	return 5 + varint_bytes(value);
}

static inline uint8_t *xspace_number_put(uint8_t *at, enum xspace_stat stat, enum xstat_field field,
					 uint64_t value)
{
	*at++ = XSPACE_KEY_BYTES(XEVENT_STATS);
	*at++ = (uint8_t)(3 + varint_bytes(value));
	*at++ = XSPACE_KEY_VARINT(XSTAT_METADATA_ID);
	*at++ = (uint8_t)stat;
	*at++ = XSPACE_KEY_VARINT(field);
	return varint_put(at, value);
}

#endif

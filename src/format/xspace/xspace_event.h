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

/* Writes the first fields of an event at AT and returns their end. The caller writes its stats
 * behind them, then calls xspace_event_end. */
static inline uint8_t *xspace_event_begin(uint8_t *at, const struct xspace_event *event)
{
	*at = XSPACE_KEY_BYTES(XLINE_EVENTS);
	at += 2; /* a length of one byte is enough for most events */
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

/* Ends the event that was begun at BEGIN, whose stats end before END: writes its length, and moves
 * its fields if that takes more bytes. Returns its end. */
static inline uint8_t *xspace_event_end(uint8_t *begin, uint8_t *end)
{
	uint8_t *fields = begin + 2;
	size_t bytes = (size_t)(end - fields);
	unsigned more = varint_bytes(bytes) - 1;
	uint8_t length[VARINT_BYTES_MAX];

	if (more == 0) {
		begin[1] = (uint8_t)bytes;
		return end;
	}
	varint_put(length, bytes);
	memmove(fields + more, fields, bytes);
	memcpy(begin + 1, length, more + 1);
	return end + more;
}

/* Writes a numeric stat at AT and returns its end. STAT is below 128; FIELD gives the number's
 * type. */
static inline uint8_t *xspace_number_put(uint8_t *at, enum xspace_stat stat, enum xstat_field field,
					 uint64_t value)
{
	uint8_t *end = varint_put(at + 5, value);

	at[0] = XSPACE_KEY_BYTES(XEVENT_STATS);
	at[1] = (uint8_t)(end - at - 2);
	at[2] = XSPACE_KEY_VARINT(XSTAT_METADATA_ID);
	at[3] = (uint8_t)stat;
	at[4] = XSPACE_KEY_VARINT(field);
	return end;
}

#endif

/* Inside the packing of records: how the frequent types are cut into fields.
 *
 * Only the writer looks here. A block says itself how it was cut, so this table may change. A type
 * that is not in it, or that has grown, is cut into words of 64 bits. */
#ifndef DAGTAP_TRACE_PACK_LAYOUT_H
#define DAGTAP_TRACE_PACK_LAYOUT_H

#include <stdint.h>

#define PACK_NO_KEY 0xff

/* Of any type; the first four bytes, type and size, are the row's shape. */
#define PACK_TAG_OFFSET 4

struct pack_field {
	uint16_t offset;
	uint16_t end_offset; /* not 0: the field is a begin, and its end lies there; 8 bytes each */
	uint8_t bytes;	     /* 1, 2, 4 or 8 */
	uint8_t key; /* field, earlier in the list, that rows are looked up by; or PACK_NO_KEY */
};

/* What follows the fields, up to the end of the record. */
enum pack_tail { PACK_TAIL_WORDS, PACK_TAIL_TEXT, PACK_TAIL_COUNT };

struct pack_layout {
	const struct pack_field *fields;
	uint16_t field_count;
	uint16_t fixed_bytes; /* the fields cover these, but for the first four */
	uint8_t tail;	      /* enum pack_tail */
	uint8_t tail_key;     /* field or PACK_NO_KEY */
	uint8_t place;	      /* field, before all that have a key (pack_refs.h); or PACK_NO_KEY */
};

/* Never NULL. */
const struct pack_layout *pack_layout_of(uint16_t type);

#endif

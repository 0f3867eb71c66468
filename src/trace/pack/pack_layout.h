/* Inside trace/pack/: the fields into which the encoder divides the frequent record types.
 *
 * Only the encoder uses this table. Each block stores its own list of fields, so the table may
 * change without a new format version. Of a type without a layout, and of bytes behind the fields
 * of a layout, the encoder stores words of 64 bits. */
#ifndef DAGTAP_TRACE_PACK_LAYOUT_H
#define DAGTAP_TRACE_PACK_LAYOUT_H

#include <stdint.h>

#define PACK_NO_KEY 0xff /* in place of the number of a field */

/* Offset of the tag in every record. The four bytes before it, type and size, are the shape of the
 * row (pack_table.h) and are stored there. */
#define PACK_TAG_OFFSET 4

struct pack_field {
	uint16_t offset;     /* in the record, in bytes */
	uint16_t end_offset; /* not 0: the field is a begin and its end is there; 8 bytes each */
	uint8_t bytes;	     /* 1, 2, 4 or 8 */
	/* Number of an earlier field, the key of the rows (pack_refs.h), or PACK_NO_KEY. */
	uint8_t key;
};

/* Content of a record after its fields, up to its end. */
enum pack_tail {
	PACK_TAIL_WORDS, /* words of 64 bits, each packed as a field */
	PACK_TAIL_TEXT,	 /* one text; equal texts of a block are stored once */
	PACK_TAIL_COUNT
};

struct pack_layout {
	const struct pack_field *fields;
	uint16_t field_count;
	uint16_t fixed_bytes; /* the fields cover these, except the first four */
	uint8_t tail;	      /* enum pack_tail */
	uint8_t tail_key;     /* number of the key field of the tail, or PACK_NO_KEY */
	uint8_t place;	      /* number of the place field (pack_refs.h), or PACK_NO_KEY; it comes
				 before all fields that have a key */
};

/* The layout of a type. Never NULL: other types have a layout of the tag alone, with a tail of
 * words. */
const struct pack_layout *pack_layout_of(uint16_t type);

#endif

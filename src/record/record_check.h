/* Checks that a record is well-formed before a reader casts it to its type's struct. */
#ifndef DAGTAP_RECORD_RECORD_CHECK_H
#define DAGTAP_RECORD_RECORD_CHECK_H

#include <stddef.h>
#include <stdint.h>

#include "record/record.h"

/* Where the length of a type's text is. */
enum record_text_length { RECORD_TEXT_NONE, RECORD_TEXT_IN_TAG, RECORD_TEXT_IN_FIELD };

/* What all records of a type have. */
struct record_shape {
	uint16_t least_bytes; /* without text */
	uint8_t text;	      /* enum record_text_length */
	uint8_t field_bytes;  /* of the length field, for RECORD_TEXT_IN_FIELD */
	uint16_t field_at;    /* its offset */
	/* Words of the first and of the last host time; 0: the type has none. */
	uint8_t first_time;
	uint8_t last_time;
};

extern const struct record_shape record_shapes[RECORD_TYPE_COUNT];

/* The same as record_check, which calls it for what is not usual. */
const char *record_find_fault(const struct record_header *header, uint32_t room);

/* Checks the record at HEADER: its size is at most ROOM bytes (counted from the header on) and at
 * least its type's, and its text and attributes lie within it. Of a record of an unknown type only
 * the size is checked. Returns NULL if the record is well-formed, else a static text that says what
 * is wrong. Any thread; reads nothing behind ROOM bytes. */
static inline const char *record_check(const struct record_header *header, uint32_t room)
{
	uint32_t bytes = header->words * 8u;

	if (header->type < RECORD_TYPE_COUNT && bytes >= sizeof(*header) && bytes <= room &&
	    bytes >= record_shapes[header->type].least_bytes &&
	    record_shapes[header->type].text == RECORD_TEXT_NONE)
		return NULL;
	return record_find_fault(header, room);
}

#endif

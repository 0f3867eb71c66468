/* A small decoder of protocol buffers for the tests, independent of src/wire. */
#ifndef DAGTAP_TESTS_FORMAT_DECODE_H
#define DAGTAP_TESTS_FORMAT_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct message {
	const uint8_t *bytes;
	size_t size;
};

struct field {
	uint32_t number;
	uint64_t value;		/* of a varint or fixed-size field */
	struct message message; /* of a length-delimited field; empty for other fields */
};

/*
 * Reads the field at *OFFSET and moves *OFFSET behind it. Returns false at the end; a broken
 * encoding fails the test.
 */
bool decode_next(const struct message *message, size_t *offset, struct field *ret_field);

/* Finds the INDEX-th field with NUMBER; returns false if there are fewer. */
bool decode_find(const struct message *message, uint32_t number, unsigned index,
		 struct field *ret_field);

/* Returns the value of a number field, 0 if it is absent. */
uint64_t decode_number(const struct message *message, uint32_t number);

/* Returns a nested message, empty if it is absent. */
struct message decode_message(const struct message *message, uint32_t number);

/* Whether the message has the bytes of TEXT. */
bool decode_is_text(const struct message *message, const char *text);

#endif

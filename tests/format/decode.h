/* The reading side of protocol buffers, as little as the tests need. */
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
	uint64_t value;		/* of a number */
	struct message message; /* of text and messages; no bytes otherwise */
};

/* The next field from *OFFSET on; false at the end. Fails the test on a broken encoding. */
bool decode_next(const struct message *message, size_t *offset, struct field *ret_field);

/* The INDEX-th field of that number; false if there are fewer. */
bool decode_find(const struct message *message, uint32_t number, unsigned index,
		 struct field *ret_field);

/* A number, 0 when it is not there. */
uint64_t decode_number(const struct message *message, uint32_t number);

/* A nested message, empty when it is not there. */
struct message decode_message(const struct message *message, uint32_t number);

bool decode_is_text(const struct message *message, const char *text);

#endif

/* Reads protocol buffers: iterates over the fields of a message in memory. Copies and allocates
 * nothing, and never reads outside the message. Any thread.
 *
 *	struct proto_reader reader = proto_reader_of(bytes, size);
 *	struct proto_field field;
 *	int got;
 *
 *	while ((got = proto_reader_next(&reader, &field)) > 0) {
 *		if (field.number == 1 && field.wire == PROTO_BYTES)
 *			...
 *	}
 *	if (got < 0)
 *		... reader.at is where the message is not well-formed
 *
 * The caller skips a field by ignoring it. Groups, which proto3 does not have, are taken as not
 * well-formed. Source: https://protobuf.dev/programming-guides/encoding/ */
#ifndef DAGTAP_WIRE_PROTO_READER_H
#define DAGTAP_WIRE_PROTO_READER_H

#include <stddef.h>
#include <stdint.h>

/* Wire types, numbered as in the encoding. */
enum proto_wire { PROTO_VARINT = 0, PROTO_FIXED64 = 1, PROTO_BYTES = 2, PROTO_FIXED32 = 5 };

struct proto_field {
	uint32_t number;
	enum proto_wire wire;
	uint64_t value;	      /* all but PROTO_BYTES */
	const uint8_t *bytes; /* PROTO_BYTES: points into the message */
	size_t size;	      /* PROTO_BYTES */
};

struct proto_reader {
	const uint8_t *at; /* the next field; after a failure the malformed field */
	const uint8_t *end;
};

/* A reader of the message at BYTES, which must outlive the reader and its fields. */
static inline struct proto_reader proto_reader_of(const void *bytes, size_t size)
{
	return (struct proto_reader){.at = bytes, .end = (const uint8_t *)bytes + size};
}

/* A reader of the nested message in a field of type PROTO_BYTES. */
static inline struct proto_reader proto_reader_into(const struct proto_field *field)
{
	return proto_reader_of(field->bytes, field->size);
}

/* Gets the next field. Returns 1 if there is one, 0 at the end of the message, or -EBADMSG. */
int proto_reader_next(struct proto_reader *reader, struct proto_field *ret_field);

/* The value of a PROTO_FIXED64 field as a double. */
double proto_field_double(const struct proto_field *field);

#endif

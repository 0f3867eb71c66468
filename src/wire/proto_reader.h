/* Protocol buffers, the reading side: the fields of a message that lies in memory, one after the
 * other. Nothing is copied or allocated; every read is inside the message.
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
 * A field that is not wanted is skipped by not looking at it. Groups, which proto3 does not have,
 * are not well-formed here.
 * Facts: https://protobuf.dev/programming-guides/encoding/
 */
#ifndef DAGTAP_WIRE_PROTO_READER_H
#define DAGTAP_WIRE_PROTO_READER_H

#include <stddef.h>
#include <stdint.h>

enum proto_wire { PROTO_VARINT = 0, PROTO_FIXED64 = 1, PROTO_BYTES = 2, PROTO_FIXED32 = 5 };

struct proto_field {
	uint32_t number;
	enum proto_wire wire;
	uint64_t value;	      /* not of PROTO_BYTES */
	const uint8_t *bytes; /* of PROTO_BYTES, inside the message */
	size_t size;
};

struct proto_reader {
	const uint8_t *at; /* the next field; after a failure the one that is not well-formed */
	const uint8_t *end;
};

static inline struct proto_reader proto_reader_of(const void *bytes, size_t size)
{
	return (struct proto_reader){.at = bytes, .end = (const uint8_t *)bytes + size};
}

/* The message that a field of type PROTO_BYTES holds. */
static inline struct proto_reader proto_reader_into(const struct proto_field *field)
{
	return proto_reader_of(field->bytes, field->size);
}

/* 1 and the field; 0 at the end; -EBADMSG. */
int proto_reader_next(struct proto_reader *reader, struct proto_field *ret_field);

/* A field of type double. */
double proto_field_double(const struct proto_field *field);

#endif

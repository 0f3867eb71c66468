/* The protobuf decoder. The take_ functions return the place behind what they read; NULL if it is
 * malformed or not complete. */
#include "wire/proto_reader.h"

#include <errno.h>
#include <string.h>

#define FIELD_MAX ((1u << 29) - 1)

/* Malformed if the value has more than 64 bits. */
static const uint8_t *take_varint(const uint8_t *at, const uint8_t *end, uint64_t *ret_value)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64 && at < end; shift += 7) {
		uint8_t byte = *at++;

		if (shift == 63 && byte > 1)
			return NULL;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			*ret_value = value;
			return at;
		}
	}
	return NULL;
}

static const uint8_t *take_fixed(const uint8_t *at, const uint8_t *end, unsigned bytes,
				 uint64_t *ret_value)
{
	uint64_t value = 0;

	if ((size_t)(end - at) < bytes)
		return NULL;
	for (unsigned i = 0; i < bytes; i++)
		value |= (uint64_t)at[i] << (8 * i);
	*ret_value = value;
	return at + bytes;
}

static const uint8_t *take_bytes(const uint8_t *at, const uint8_t *end, struct proto_field *field)
{
	uint64_t size = 0;

	at = take_varint(at, end, &size);
	if (!at || size > (size_t)(end - at))
		return NULL;
	field->bytes = at;
	field->size = (size_t)size;
	return at + size;
}

int proto_reader_next(struct proto_reader *reader, struct proto_field *ret_field)
{
	struct proto_field field = {0};
	const uint8_t *at;
	uint64_t key;

	if (reader->at == reader->end)
		return 0;
	at = take_varint(reader->at, reader->end, &key);
	if (!at || key >> 3 == 0 || key >> 3 > FIELD_MAX)
		return -EBADMSG;
	field.number = (uint32_t)(key >> 3);
	field.wire = (enum proto_wire)(key & 7);
	switch (field.wire) {
	case PROTO_VARINT:
		at = take_varint(at, reader->end, &field.value);
		break;
	case PROTO_FIXED64:
		at = take_fixed(at, reader->end, 8, &field.value);
		break;
	case PROTO_FIXED32:
		at = take_fixed(at, reader->end, 4, &field.value);
		break;
	case PROTO_BYTES:
		at = take_bytes(at, reader->end, &field);
		break;
	default:
		at = NULL;
	}
	if (!at)
		return -EBADMSG;
	reader->at = at;
	*ret_field = field;
	return 1;
}

double proto_field_double(const struct proto_field *field)
{
	double number;

	memcpy(&number, &field->value, sizeof(number));
	return number;
}

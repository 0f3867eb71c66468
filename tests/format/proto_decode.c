/* A small decoder of protocol buffers: proto_decode.h. */
#include "proto_decode.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static uint64_t decode_varint(const struct message *message, size_t *offset)
{
	uint64_t value = 0;

	for (unsigned shift = 0;; shift += 7) {
		uint8_t byte;

		assert_true(*offset < message->size && shift < 64);
		byte = message->bytes[(*offset)++];
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return value;
	}
}

bool decode_next(const struct message *message, size_t *offset, struct field *ret_field)
{
	uint64_t key, bytes;

	if (*offset == message->size)
		return false;
	key = decode_varint(message, offset);
	*ret_field = (struct field){.number = (uint32_t)(key >> 3)};
	switch (key & 7) {
	case 0:
		ret_field->value = decode_varint(message, offset);
		return true;
	case 1:
		assert_true(message->size - *offset >= 8);
		for (unsigned i = 0; i < 8; i++)
			ret_field->value |= (uint64_t)message->bytes[(*offset)++] << (8 * i);
		return true;
	case 2:
		bytes = decode_varint(message, offset);
		assert_true(bytes <= message->size - *offset);
		ret_field->message = (struct message){message->bytes + *offset, bytes};
		*offset += bytes;
		return true;
	default:
		fail_msg("wire type %u", (unsigned)(key & 7));
		return false;
	}
}

bool decode_find(const struct message *message, uint32_t number, unsigned index,
		 struct field *ret_field)
{
	size_t offset = 0;

	while (decode_next(message, &offset, ret_field)) {
		if (ret_field->number == number && index-- == 0)
			return true;
	}
	return false;
}

uint64_t decode_number(const struct message *message, uint32_t number)
{
	struct field field;

	return decode_find(message, number, 0, &field) ? field.value : 0;
}

struct message decode_message(const struct message *message, uint32_t number)
{
	struct field field;

	return decode_find(message, number, 0, &field) ? field.message : (struct message){0};
}

bool decode_is_text(const struct message *message, const char *text)
{
	return message->size == strlen(text) && memcmp(message->bytes, text, message->size) == 0;
}

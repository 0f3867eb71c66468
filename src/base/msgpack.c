/* MessagePack (see msgpack.h). */
#include "base/msgpack.h"

#include <stddef.h>
#include <string.h>

#define MAX_DEPTH 16 /* more than any metadata needs */

static uint64_t read_big_endian(struct msgpack *reader, size_t bytes)
{
	uint64_t value = 0;

	if (bytes > (size_t)(reader->end - reader->at)) {
		reader->is_broken = true;
		return 0;
	}
	for (size_t i = 0; i < bytes; i++)
		value = value << 8 | *reader->at++;
	return value;
}

static void skip_bytes(struct msgpack *reader, uint64_t bytes)
{
	if (bytes > (uint64_t)(reader->end - reader->at))
		reader->is_broken = true;
	else
		reader->at += bytes;
}

static struct msgpack_value text_value(struct msgpack *reader, uint64_t length)
{
	struct msgpack_value value = {MSGPACK_TEXT, length, (const char *)reader->at};

	skip_bytes(reader, length);
	return value;
}

/* Reads a value whose first byte is FIRST, from 0xc0 to 0xdf; the byte itself was read. */
static struct msgpack_value take_long(struct msgpack *reader, uint8_t first)
{
	struct msgpack_value value = {.type = MSGPACK_OTHER};

	if (first >= 0xdc) { /* an array or a map with a count of 2 or 4 bytes */
		value.type = first <= 0xdd ? MSGPACK_ARRAY : MSGPACK_MAP;
		value.number = read_big_endian(reader, 2u << (first & 1));
	} else if (first >= 0xd9) { /* a text with a length of 1, 2 or 4 bytes */
		return text_value(reader, read_big_endian(reader, 1u << (first - 0xd9)));
	} else if (first >= 0xd4) { /* an extension of 1 to 16 bytes, and its type */
		skip_bytes(reader, (1u << (first - 0xd4)) + 1);
	} else if (first >= 0xd0) { /* signed: not used, because nothing is negative */
		skip_bytes(reader, 1u << (first - 0xd0));
	} else if (first >= 0xcc) { /* unsigned */
		value.type = MSGPACK_NUMBER;
		value.number = read_big_endian(reader, 1u << (first - 0xcc));
	} else if (first >= 0xca) { /* a float of 4 or 8 bytes */
		skip_bytes(reader, 4u << (first - 0xca));
	} else if (first >= 0xc7) { /* an extension: length, type, bytes */
		skip_bytes(reader, read_big_endian(reader, 1u << (first - 0xc7)) + 1);
	} else if (first >= 0xc4) { /* bytes with a length of 1, 2 or 4 bytes */
		skip_bytes(reader, read_big_endian(reader, 1u << (first - 0xc4)));
	} /* else nil, false or true */
	return value;
}

struct msgpack_value msgpack_take(struct msgpack *reader)
{
	uint8_t first = (uint8_t)read_big_endian(reader, 1);

	if (first <= 0x7f)
		return (struct msgpack_value){MSGPACK_NUMBER, first, NULL};
	if (first <= 0x8f)
		return (struct msgpack_value){MSGPACK_MAP, first & 0xfu, NULL};
	if (first <= 0x9f)
		return (struct msgpack_value){MSGPACK_ARRAY, first & 0xfu, NULL};
	if (first <= 0xbf)
		return text_value(reader, first & 0x1fu);
	if (first >= 0xe0)
		return (struct msgpack_value){.type = MSGPACK_OTHER};
	return take_long(reader, first);
}

static void skip_nested(struct msgpack *reader, unsigned int depth)
{
	struct msgpack_value value = msgpack_take(reader);
	uint64_t count =
		value.type == MSGPACK_ARRAY || value.type == MSGPACK_MAP ? value.number : 0;

	if (depth == MAX_DEPTH)
		reader->is_broken = true;
	for (uint64_t i = 0; i < count && !reader->is_broken; i++) {
		skip_nested(reader, depth + 1);
		if (value.type == MSGPACK_MAP)
			skip_nested(reader, depth + 1);
	}
}

void msgpack_skip(struct msgpack *reader)
{
	skip_nested(reader, 0);
}

bool msgpack_is_text(const struct msgpack_value *value, const char *text)
{
	return value->type == MSGPACK_TEXT && value->number == strlen(text) &&
	       memcmp(value->text, text, value->number) == 0;
}

bool msgpack_find(const struct msgpack *map, const char *key, struct msgpack *ret_value)
{
	struct msgpack reader = *map;
	struct msgpack_value head = msgpack_take(&reader);

	if (head.type != MSGPACK_MAP)
		return false;
	for (uint64_t i = 0; i < head.number && !reader.is_broken; i++) {
		struct msgpack_value name = msgpack_take(&reader);

		if (reader.is_broken)
			return false;
		if (msgpack_is_text(&name, key)) {
			*ret_value = reader;
			return true;
		}
		msgpack_skip(&reader);
	}
	return false;
}

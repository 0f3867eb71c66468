/* The protobuf encoder. */
#include "wire/proto.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "wire/utf8.h"
#include "wire/varint.h"

enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };

void proto_init(struct proto *proto)
{
	*proto = (struct proto){0};
}

void proto_release(struct proto *proto)
{
	free(proto->bytes);
	proto_init(proto);
}

void proto_reset(struct proto *proto)
{
	proto->used = 0;
}

static bool grow(struct proto *proto, size_t more)
{
	if (!proto->error &&
	    (more > SIZE_MAX - proto->used ||
	     table_reserve((void **)&proto->bytes, &proto->size, proto->used + more, 1) < 0))
		proto->error = -ENOMEM;
	return !proto->error;
}

static inline bool has_room(struct proto *proto, size_t more)
{
	return (!proto->error && proto->size - proto->used >= more) || grow(proto, more);
}

/* There must be room for VARINT_BYTES_MAX bytes at AT. */
static size_t encode_varint(uint8_t *at, uint64_t value)
{
	return (size_t)(varint_put(at, value) - at);
}

static size_t encode_key(uint8_t *at, uint32_t field, enum wire_type type)
{
	return encode_varint(at, (uint64_t)field << 3 | type);
}

void proto_put_u64(struct proto *proto, uint32_t field, uint64_t value)
{
	if (!has_room(proto, (size_t)2 * VARINT_BYTES_MAX))
		return;
	proto->used += encode_key(proto->bytes + proto->used, field, WIRE_VARINT);
	proto->used += encode_varint(proto->bytes + proto->used, value);
}

void proto_put_i64(struct proto *proto, uint32_t field, int64_t value)
{
	proto_put_u64(proto, field, (uint64_t)value);
}

void proto_put_fixed64(struct proto *proto, uint32_t field, uint64_t value)
{
	if (!has_room(proto, VARINT_BYTES_MAX + sizeof(value)))
		return;
	proto->used += encode_key(proto->bytes + proto->used, field, WIRE_FIXED64);
	for (unsigned i = 0; i < sizeof(value); i++)
		proto->bytes[proto->used++] = (uint8_t)(value >> (8 * i));
}

void proto_put_double(struct proto *proto, uint32_t field, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	proto_put_fixed64(proto, field, bits);
}

void proto_put_bytes(struct proto *proto, uint32_t field, const void *bytes, size_t count)
{
	if (count > SIZE_MAX - (size_t)2 * VARINT_BYTES_MAX ||
	    !has_room(proto, (size_t)2 * VARINT_BYTES_MAX + count))
		return;
	proto->used += encode_key(proto->bytes + proto->used, field, WIRE_BYTES);
	proto->used += encode_varint(proto->bytes + proto->used, count);
	if (count > 0)
		memcpy(proto->bytes + proto->used, bytes, count);
	proto->used += count;
}

void proto_put_raw(struct proto *proto, const void *bytes, size_t count)
{
	if (count == 0 || !has_room(proto, count))
		return;
	memcpy(proto->bytes + proto->used, bytes, count);
	proto->used += count;
}

/* Writes the text with U+FFFD in place of bytes that are not UTF-8. */
static void put_repaired_text(struct proto *proto, uint32_t field, const char *text, size_t bytes)
{
	size_t mark = proto_begin(proto, field);

	while (bytes > 0) {
		size_t length = utf8_character(text, bytes);

		if (length > 0)
			proto_put_raw(proto, text, length);
		else
			proto_put_raw(proto, UTF8_REPLACEMENT, UTF8_REPLACEMENT_BYTES);
		text += length ? length : 1;
		bytes -= length ? length : 1;
	}
	proto_end(proto, mark);
}

void proto_put_text(struct proto *proto, uint32_t field, const char *text)
{
	size_t bytes = strlen(text);

	if (utf8_valid(text, bytes))
		proto_put_bytes(proto, field, text, bytes);
	else
		put_repaired_text(proto, field, text, bytes);
}

/* Reserves one byte for the length, which is enough for most messages. proto_end moves the
 * message if its length needs more. */
size_t proto_begin(struct proto *proto, uint32_t field)
{
	if (!has_room(proto, VARINT_BYTES_MAX + 1))
		return 0;
	proto->used += encode_key(proto->bytes + proto->used, field, WIRE_BYTES);
	return proto->used++;
}

void proto_end(struct proto *proto, size_t mark)
{
	uint8_t length[VARINT_BYTES_MAX];
	size_t bytes, count;

	if (proto->error)
		return;
	bytes = proto->used - mark - 1;
	count = encode_varint(length, bytes);
	if (count > 1) {
		if (!has_room(proto, count - 1))
			return;
		memmove(proto->bytes + mark + count, proto->bytes + mark + 1, bytes);
		proto->used += count - 1;
	}
	memcpy(proto->bytes + mark, length, count);
}

int proto_write(const struct proto *proto, uint32_t field, FILE *out)
{
	uint8_t head[2 * VARINT_BYTES_MAX];
	size_t count;

	if (proto->error)
		return proto->error;
	count = encode_key(head, field, WIRE_BYTES);
	count += encode_varint(head + count, proto->used);
	errno = 0;
	if (fwrite(head, 1, count, out) != count ||
	    fwrite(proto->bytes, 1, proto->used, out) != proto->used)
		return errno ? -errno : -EIO;
	return 0;
}

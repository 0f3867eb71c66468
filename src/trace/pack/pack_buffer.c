/* The encodings of pack_buffer.h. */
#include "trace/pack/pack_buffer.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/table.h"

/* Higher levels take several times as long, and compress the differences of predicted numbers only
 * a little better. */
#define ZSTD_LEVEL 1

/* For shorter data, a zstd frame saves less than its own header takes. */
#define ZSTD_BYTES_LEAST 32

#define VARINT_BYTES_MOST 10

/* First byte of a blob; part of the file format. */
enum blob_form { BLOB_CONSTANT, BLOB_STORED, BLOB_ZSTD };

static bool reserve(struct pack_buffer *buffer, size_t size)
{
	if (!buffer->failed && table_reserve((void **)&buffer->bytes, &buffer->room,
					     buffer->size + (uint64_t)size, 1) < 0)
		buffer->failed = true;
	return !buffer->failed;
}

uint8_t *pack_buffer_extend(struct pack_buffer *buffer, size_t size)
{
	uint8_t *place;

	if (!reserve(buffer, size))
		return NULL;
	place = buffer->bytes + buffer->size;
	buffer->size += size;
	return place;
}

void pack_buffer_release(struct pack_buffer *buffer)
{
	free(buffer->bytes);
	*buffer = (struct pack_buffer){0};
}

void pack_put_bytes(struct pack_buffer *buffer, const void *bytes, size_t size)
{
	uint8_t *place = size ? pack_buffer_extend(buffer, size) : NULL;

	if (place)
		memcpy(place, bytes, size);
}

void pack_put_byte(struct pack_buffer *buffer, uint8_t byte)
{
	pack_put_bytes(buffer, &byte, 1);
}

void pack_put_varint(struct pack_buffer *buffer, uint64_t value)
{
	if (!reserve(buffer, VARINT_BYTES_MOST))
		return;
	for (; value >= 128; value >>= 7)
		buffer->bytes[buffer->size++] = (uint8_t)(value | 128);
	buffer->bytes[buffer->size++] = (uint8_t)value;
}

static bool is_constant(const uint8_t *bytes, size_t size)
{
	return !memcmp(bytes, bytes + 1, size - 1);
}

/* Compresses BYTES behind the end of BUFFER, without adding them to its size. Returns the bytes of
 * the zstd frame; 0 if it saves less than 1/64, or on failure. */
static size_t compress(struct pack_buffer *buffer, const void *bytes, size_t size)
{
	size_t got;

	if (size < ZSTD_BYTES_LEAST || !reserve(buffer, ZSTD_compressBound(size)))
		return 0;
	got = ZSTD_compressCCtx(buffer->zstd, buffer->bytes + buffer->size,
				buffer->room - buffer->size, bytes, size, ZSTD_LEVEL);
	return ZSTD_isError(got) || got + got / 64 >= size ? 0 : got;
}

void pack_put_blob(struct pack_buffer *buffer, const void *bytes, size_t size)
{
	size_t start = buffer->size;
	size_t got;

	if (size == 0)
		return;
	if (is_constant(bytes, size)) {
		pack_put_byte(buffer, BLOB_CONSTANT);
		pack_put_bytes(buffer, bytes, 1);
		return;
	}
	/* compress() writes the frame behind the longest possible prefix; memmove then closes the
	 * gap. */
	if (!pack_buffer_extend(buffer, 1 + VARINT_BYTES_MOST))
		return;
	got = compress(buffer, bytes, size);
	buffer->size = start;
	pack_put_byte(buffer, got ? BLOB_ZSTD : BLOB_STORED);
	if (!got) {
		pack_put_bytes(buffer, bytes, size);
		return;
	}
	pack_put_varint(buffer, got);
	memmove(buffer->bytes + buffer->size, buffer->bytes + start + 1 + VARINT_BYTES_MOST, got);
	buffer->size += got;
}

const uint8_t *pack_take_bytes(struct pack_cursor *cursor, size_t size)
{
	const uint8_t *bytes = cursor->at;

	if (cursor->failed || (size_t)(cursor->end - cursor->at) < size) {
		cursor->failed = true;
		return NULL;
	}
	cursor->at += size;
	return bytes;
}

uint8_t pack_take_byte(struct pack_cursor *cursor)
{
	const uint8_t *byte = pack_take_bytes(cursor, 1);

	return byte ? *byte : 0;
}

uint64_t pack_take_varint(struct pack_cursor *cursor)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint8_t byte = pack_take_byte(cursor);

		value |= (uint64_t)(byte & 127) << shift;
		if (byte < 128)
			return value;
	}
	cursor->failed = true;
	return 0;
}

size_t pack_take_size(struct pack_cursor *cursor, size_t most)
{
	uint64_t size = pack_take_varint(cursor);

	if (size <= most)
		return (size_t)size;
	cursor->failed = true;
	return 0;
}

static const uint8_t *decompress(struct pack_cursor *cursor, size_t size, uint8_t *scratch)
{
	size_t stored = pack_take_size(cursor, ZSTD_compressBound(size));
	const uint8_t *bytes = pack_take_bytes(cursor, stored);

	if (bytes && ZSTD_decompressDCtx(cursor->zstd, scratch, size, bytes, stored) == size)
		return scratch;
	cursor->failed = true;
	return NULL;
}

const uint8_t *pack_take_blob(struct pack_cursor *cursor, size_t size, uint8_t *scratch)
{
	if (size == 0)
		return cursor->failed ? NULL : scratch;
	switch (pack_take_byte(cursor)) {
	case BLOB_CONSTANT:
		memset(scratch, pack_take_byte(cursor), size);
		return cursor->failed ? NULL : scratch;
	case BLOB_STORED:
		return pack_take_bytes(cursor, size);
	case BLOB_ZSTD:
		return decompress(cursor, size, scratch);
	default:
		cursor->failed = true;
		return NULL;
	}
}

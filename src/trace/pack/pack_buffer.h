/* Inside trace/pack/: a growing output buffer, an input cursor, and the encodings that the writer
 * and the reader of packed records share: bytes, varints, compressed blobs.
 *
 * Errors are sticky: callers make all their calls and check `failed` at the end. */
#ifndef DAGTAP_TRACE_PACK_BUFFER_H
#define DAGTAP_TRACE_PACK_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

/* Output bytes. Starts zeroed and grows when written. After an allocation has failed, `failed` is
 * set and further writes do nothing. */
struct pack_buffer {
	uint8_t *bytes; /* owned by the buffer */
	size_t size;	/* bytes in use; a caller may reset it to 0 */
	size_t room;	/* bytes allocated */
	bool failed;
	struct ZSTD_CCtx_s *zstd; /* owned by the caller; only pack_put_blob needs it */
};

/* Adds SIZE bytes to the buffer and returns their address, which the caller fills before the next
 * call. NULL: out of memory. */
uint8_t *pack_buffer_extend(struct pack_buffer *buffer, size_t size);
void pack_buffer_release(struct pack_buffer *buffer); /* frees bytes and zeroes the struct */

/* Append to the buffer. A varint holds 7 bits per byte, lowest first: 1 to 10 bytes. Failures set
 * `failed`. */
void pack_put_bytes(struct pack_buffer *buffer, const void *bytes, size_t size);
void pack_put_byte(struct pack_buffer *buffer, uint8_t byte);
void pack_put_varint(struct pack_buffer *buffer, uint64_t value);

/* Appends SIZE bytes as a blob: one repeated byte, a zstd frame, or the bytes themselves, whichever
 * is shortest. SIZE is not stored; the reader must know it. SIZE 0 appends nothing. */
void pack_put_blob(struct pack_buffer *buffer, const void *bytes, size_t size);

/* Reads from the caller's memory. A read past the end or an invalid value sets `failed`; all later
 * reads return 0 or NULL. */
struct pack_cursor {
	const uint8_t *at;
	const uint8_t *end;
	bool failed;
	struct ZSTD_DCtx_s *zstd; /* owned by the caller; only pack_take_blob needs it */
};

/* Read what pack_put_bytes, pack_put_byte and pack_put_varint wrote, and advance the cursor.
 * pack_take_bytes returns a pointer into the caller's memory. Beyond the end they set `failed`. */
const uint8_t *pack_take_bytes(struct pack_cursor *cursor, size_t size);
uint8_t pack_take_byte(struct pack_cursor *cursor);
uint64_t pack_take_varint(struct pack_cursor *cursor);

/* Reads a varint that is a count or a size. A value above MOST sets `failed`. */
size_t pack_take_size(struct pack_cursor *cursor, size_t most);

/* Reads what pack_put_blob wrote. Returns the SIZE bytes, either in the cursor's memory or in
 * SCRATCH, which must have room for SIZE bytes. NULL: the blob is invalid. */
const uint8_t *pack_take_blob(struct pack_cursor *cursor, size_t size, uint8_t *scratch);

/* Maps a signed difference (two's complement) to an unsigned number that is small when the
 * difference is small in either direction; pack_unzigzag reverses it. */
static inline uint64_t pack_zigzag(uint64_t difference)
{
	return (difference << 1) ^ (0 - (difference >> 63));
}

static inline uint64_t pack_unzigzag(uint64_t folded)
{
	return (folded >> 1) ^ (0 - (folded & 1));
}

#endif

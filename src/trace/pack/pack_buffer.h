/* Inside the packing of records: bytes on their way out, bytes on their way in. */
#ifndef DAGTAP_TRACE_PACK_BUFFER_H
#define DAGTAP_TRACE_PACK_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

/* Grows as it is written. Once memory has run out it takes nothing more and says so. */
struct pack_buffer {
	uint8_t *bytes;
	size_t size;
	size_t room;
	bool failed;
	struct ZSTD_CCtx_s *zstd; /* the caller's; only pack_put_blob needs it */
};

/* Room for SIZE more bytes, to be filled by the caller; NULL: no memory. */
uint8_t *pack_buffer_extend(struct pack_buffer *buffer, size_t size);
void pack_buffer_release(struct pack_buffer *buffer);

void pack_put_bytes(struct pack_buffer *buffer, const void *bytes, size_t size);
void pack_put_byte(struct pack_buffer *buffer, uint8_t byte);
void pack_put_varint(struct pack_buffer *buffer, uint64_t value);

/* SIZE bytes in whichever form is the shortest. The reader must know SIZE. */
void pack_put_blob(struct pack_buffer *buffer, const void *bytes, size_t size);

/* Reads from the caller's memory. Past the end, or when something cannot be, it fails: then every
 * later answer is 0 or NULL. */
struct pack_cursor {
	const uint8_t *at;
	const uint8_t *end;
	bool failed;
	struct ZSTD_DCtx_s *zstd; /* the caller's; only pack_take_blob needs it */
};

const uint8_t *pack_take_bytes(struct pack_cursor *cursor, size_t size);
uint8_t pack_take_byte(struct pack_cursor *cursor);
uint64_t pack_take_varint(struct pack_cursor *cursor);

/* A count or size; above MOST it fails. */
size_t pack_take_size(struct pack_cursor *cursor, size_t most);

/* What pack_put_blob wrote. Returns the SIZE bytes, in the cursor's memory or in SCRATCH (which has
 * room for them), NULL when they make no sense. */
const uint8_t *pack_take_blob(struct pack_cursor *cursor, size_t size, uint8_t *scratch);

/* Small numbers for small differences in either direction. */
static inline uint64_t pack_zigzag(uint64_t difference)
{
	return (difference << 1) ^ (0 - (difference >> 63));
}

static inline uint64_t pack_unzigzag(uint64_t folded)
{
	return (folded >> 1) ^ (0 - (folded & 1));
}

#endif

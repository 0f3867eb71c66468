/* Pieces of text or of encoded bytes that many rows of a file repeat. A piece is made once, and
 * writing a row copies a few pieces. Errors stick: after the first one no piece is made.
 *
 * Threading: one thread at a time. */
#ifndef DAGTAP_FORMAT_TIMELINE_PIECES_H
#define DAGTAP_FORMAT_TIMELINE_PIECES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Pieces are copied in blocks of this many bytes. A copy may read and write up to PIECE_STEP bytes
 * beyond the end of the piece. */
#define PIECE_STEP 32

/* A range of bytes of a struct pieces; stays valid while bytes are only appended. */
struct piece {
	uint32_t at;
	uint32_t bytes;
	bool made; /* false in a zeroed struct, and after an error */
};

/* Zero is empty. */
struct pieces {
	char *bytes; /* owned; PIECE_STEP bytes after USED are readable */
	size_t used;
	size_t room;
	int error; /* -ENOMEM, or -EFBIG beyond 4 GiB */
};

/* Frees the memory; PIECES is empty and usable again, without an error. */
void pieces_release(struct pieces *pieces);

/* Makes room for BYTES after `used`. The caller writes there and adds to `used`. False after an
 * error. */
bool pieces_reserve(struct pieces *pieces, size_t bytes);

/* The piece from byte BEGIN (a former value of `used`) to the end. */
struct piece pieces_since(const struct pieces *pieces, size_t begin);

/* Appends COUNT bytes as a piece. BYTES may be NULL if COUNT is 0. */
struct piece pieces_add(struct pieces *pieces, const void *bytes, size_t count);

/* Copies COUNT bytes in steps and returns the end of the copy. */
static inline void *pieces_copy_bytes(void *at, const char *bytes, size_t count)
{
	for (size_t i = 0; i < count; i += PIECE_STEP)
		memcpy((char *)at + i, bytes + i, PIECE_STEP);
	return (char *)at + count;
}

/* Copies a piece to AT and returns the end of the copy. */
static inline void *pieces_copy(void *at, const struct pieces *pieces, struct piece piece)
{
	/* If nothing was ever put into PIECES, its bytes are NULL and must not be added to. */
	return piece.bytes ? pieces_copy_bytes(at, pieces->bytes + piece.at, piece.bytes) : at;
}

#endif

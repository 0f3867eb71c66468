/* Encoded stats that many events of a plane repeat: made once by one thread, and copied by others
 * at the same time. In contrast to format/timeline/pieces.h a piece never moves, and copying it in
 * steps of PIECE_STEP touches no byte of another piece.
 *
 * Threading: one thread at a time adds pieces. Other threads may copy the pieces that were added
 * before they were started. */
#ifndef DAGTAP_FORMAT_XSPACE_PIECES_H
#define DAGTAP_FORMAT_XSPACE_PIECES_H

#include <stddef.h>
#include <stdint.h>

#include "format/timeline/pieces.h"
#include "wire/proto.h"

struct xspace_piece {
	uint32_t count;
	char bytes[]; /* followed by zeros up to the next step */
};

/* A piece without bytes, which needs no memory. */
extern const struct xspace_piece xspace_no_piece;

struct xspace_pieces_chunk;

/* Zero is empty. */
struct xspace_pieces {
	struct xspace_pieces_chunk *newest; /* owned; linked from the newest to the oldest */
	int error;			    /* negative errno; then no further piece is made */
};

/* Adds a piece of COUNT BYTES; BYTES may be NULL if COUNT is 0. Returns it, owned by PIECES; after
 * an error one without bytes. */
const struct xspace_piece *xspace_pieces_add(struct xspace_pieces *pieces, const void *bytes,
					     size_t count);

/* The same for encoded STATS, whose error becomes that of PIECES. */
const struct xspace_piece *xspace_pieces_keep(struct xspace_pieces *pieces,
					      const struct proto *stats);

/* Removes all pieces and keeps some memory for others. */
void xspace_pieces_reset(struct xspace_pieces *pieces);

/* Frees all pieces. Accepts a zeroed or released struct. */
void xspace_pieces_release(struct xspace_pieces *pieces);

/* Copies a piece to AT, in steps, and returns the end of the copy. */
static inline uint8_t *xspace_piece_copy(uint8_t *at, const struct xspace_piece *piece)
{
	return pieces_copy_bytes(at, piece->bytes, piece->count);
}

#endif

/* Storage for encoded stats, in chunks that never move. */
#include "format/xspace/xspace_pieces.h"

#include <errno.h>
#include <stdlib.h>

#define CHUNK_BYTES ((size_t)64 << 10)

const struct xspace_piece xspace_no_piece = {0};

struct xspace_pieces_chunk {
	struct xspace_pieces_chunk *next;
	size_t used, room;
	_Alignas(struct xspace_piece) char bytes[];
};

/* A piece of COUNT bytes with the rest of its last step. The steps keep pieces aligned. */
static size_t room_of(size_t count)
{
	return sizeof(struct xspace_piece) + (count + PIECE_STEP - 1) / PIECE_STEP * PIECE_STEP;
}

/* Makes sure that the newest chunk has room for COUNT bytes. */
static int reserve(struct xspace_pieces *pieces, size_t count)
{
	size_t room = count > CHUNK_BYTES ? count : CHUNK_BYTES;
	struct xspace_pieces_chunk *chunk = pieces->newest;

	if (chunk && chunk->room - chunk->used >= count)
		return 0;
	chunk = malloc(sizeof(*chunk) + room);
	if (!chunk)
		return -ENOMEM;
	*chunk = (struct xspace_pieces_chunk){.next = pieces->newest, .room = room};
	pieces->newest = chunk;
	return 0;
}

/* The bytes behind a piece, up to the end of its step, are copied with it and never used. They are
 * zeroed so that memory checkers need no exception. */
const struct xspace_piece *xspace_pieces_add(struct xspace_pieces *pieces, const void *bytes,
					     size_t count)
{
	size_t room = room_of(count);
	struct xspace_piece *piece;

	if (count == 0 || pieces->error)
		return &xspace_no_piece;
	pieces->error = count > UINT32_MAX ? -ENOMEM : reserve(pieces, room);
	if (pieces->error)
		return &xspace_no_piece;
	piece = (struct xspace_piece *)(pieces->newest->bytes + pieces->newest->used);
	pieces->newest->used += room;
	piece->count = (uint32_t)count;
	memcpy(piece->bytes, bytes, count);
	memset(piece->bytes + count, 0, room - sizeof(*piece) - count);
	return piece;
}

const struct xspace_piece *xspace_pieces_keep(struct xspace_pieces *pieces,
					      const struct proto *stats)
{
	if (stats->error && !pieces->error)
		pieces->error = stats->error;
	return xspace_pieces_add(pieces, stats->bytes, stats->used);
}

/* Frees all chunks from CHUNK on. */
static void free_chunks(struct xspace_pieces_chunk *chunk)
{
	while (chunk) {
		struct xspace_pieces_chunk *next = chunk->next;

		free(chunk);
		chunk = next;
	}
}

void xspace_pieces_reset(struct xspace_pieces *pieces)
{
	if (!pieces->newest)
		return;
	free_chunks(pieces->newest->next);
	pieces->newest->next = NULL;
	pieces->newest->used = 0;
}

void xspace_pieces_release(struct xspace_pieces *pieces)
{
	free_chunks(pieces->newest);
	*pieces = (struct xspace_pieces){0};
}

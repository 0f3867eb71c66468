/* Storage for pieces of text or bytes. */
#include "format/timeline/pieces.h"

#include <errno.h>
#include <stdlib.h>

#include "base/table.h"

void pieces_release(struct pieces *pieces)
{
	free(pieces->bytes);
	*pieces = (struct pieces){0};
}

bool pieces_reserve(struct pieces *pieces, size_t bytes)
{
	size_t needed = pieces->used + bytes + PIECE_STEP;
	size_t room = pieces->room;

	if (pieces->error || needed <= room)
		return !pieces->error;
	if (needed > UINT32_MAX)
		pieces->error = -EFBIG;
	else
		pieces->error = table_reserve((void **)&pieces->bytes, &pieces->room, needed, 1);
	/* Copies in steps read beyond a piece. The bytes are never used; zeroing them keeps memory
	 * checkers quiet without an exception. */
	if (!pieces->error)
		memset(pieces->bytes + room, 0, pieces->room - room);
	return !pieces->error;
}

struct piece pieces_since(const struct pieces *pieces, size_t begin)
{
	if (pieces->error)
		return (struct piece){0};
	return (struct piece){(uint32_t)begin, (uint32_t)(pieces->used - begin), true};
}

struct piece pieces_add(struct pieces *pieces, const void *bytes, size_t count)
{
	size_t begin = pieces->used;

	if (pieces_reserve(pieces, count) && count > 0) {
		memcpy(pieces->bytes + begin, bytes, count);
		pieces->used += count;
	}
	return pieces_since(pieces, begin);
}

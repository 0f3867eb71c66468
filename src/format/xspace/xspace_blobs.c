/* Storage for parts of events that are encoded once. */
#include "format/xspace/xspace_blobs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/row_table.h"

int xspace_blobs_add(struct xspace_blobs *blobs, const struct proto *fields,
		     struct xspace_blob *ret_blob)
{
	size_t needed = blobs->used + fields->used + XSPACE_BLOB_STEP;

	if (fields->error)
		return fields->error;
	if (needed > UINT32_MAX)
		return -EFBIG;
	if (needed > blobs->room) {
		size_t room = needed < 4096 ? 4096 : 2 * needed;
		uint8_t *bytes = realloc(blobs->bytes, room);

		if (!bytes)
			return -ENOMEM;
		table_ask_large_pages(bytes, room);
		blobs->bytes = bytes;
		blobs->room = room;
	}
	if (fields->used > 0)
		memcpy(blobs->bytes + blobs->used, fields->bytes, fields->used);
	/* Copies in steps read beyond a blob. The bytes are never used; zeroing them keeps memory
	 * checkers quiet without an exception. */
	memset(blobs->bytes + blobs->used + fields->used, 0, XSPACE_BLOB_STEP);
	*ret_blob = (struct xspace_blob){(uint32_t)blobs->used, (uint32_t)fields->used, true};
	blobs->used += fields->used;
	return 0;
}

void xspace_blobs_release(struct xspace_blobs *blobs)
{
	free(blobs->bytes);
	*blobs = (struct xspace_blobs){0};
}

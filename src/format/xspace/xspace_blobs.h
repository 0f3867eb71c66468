/* Pieces of events that are encoded once and copied often. */
#ifndef DAGTAP_FORMAT_XSPACE_BLOBS_H
#define DAGTAP_FORMAT_XSPACE_BLOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "wire/proto.h"

/* Copies go in steps of this: so many bytes behind a copy are written over, and so many behind a
 * blob are read. */
#define XSPACE_BLOB_STEP 16

struct xspace_blob {
	uint32_t at;
	uint32_t bytes;
	bool known;
};

struct xspace_blobs {
	uint8_t *bytes;
	size_t used;
	size_t room;
};

/* 0, -ENOMEM, or -EFBIG. */
int xspace_blobs_add(struct xspace_blobs *blobs, const struct proto *fields,
		     struct xspace_blob *ret_blob);
void xspace_blobs_release(struct xspace_blobs *blobs);

static inline uint8_t *xspace_blobs_copy(const struct xspace_blobs *blobs,
					 const struct xspace_blob *blob, uint8_t *to)
{
	const uint8_t *from = blobs->bytes + blob->at;

	for (uint32_t i = 0; i < blob->bytes; i += XSPACE_BLOB_STEP)
		memcpy(to + i, from + i, XSPACE_BLOB_STEP);
	return to + blob->bytes;
}

#endif

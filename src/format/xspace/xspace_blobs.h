/* Blobs: parts of events that are encoded once and copied into many events. Threading: one thread
 * at a time. */
#ifndef DAGTAP_FORMAT_XSPACE_BLOBS_H
#define DAGTAP_FORMAT_XSPACE_BLOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "wire/proto.h"

/* Blobs are copied in blocks of this many bytes. A copy may read and write up to this many bytes
 * beyond its end. */
#define XSPACE_BLOB_STEP 16

/* A range of xspace_blobs.bytes. known: the blob has been encoded. */
struct xspace_blob {
	uint32_t at;
	uint32_t bytes;
	bool known;
};

struct xspace_blobs {
	uint8_t *bytes; /* owned */
	size_t used;
	size_t room;
};

/* Appends the encoded FIELDS as a new blob. Returns 0; -ENOMEM; -EFBIG beyond 4 GiB; or the error
 * of FIELDS. RET_BLOB is then unchanged. */
int xspace_blobs_add(struct xspace_blobs *blobs, const struct proto *fields,
		     struct xspace_blob *ret_blob);

/* Frees the memory; BLOBS is empty and usable again. */
void xspace_blobs_release(struct xspace_blobs *blobs);

/* Copies a blob to TO and returns the end of the copy. TO needs room for XSPACE_BLOB_STEP more
 * bytes. */
static inline uint8_t *xspace_blobs_copy(const struct xspace_blobs *blobs,
					 const struct xspace_blob *blob, uint8_t *to)
{
	const uint8_t *from = blobs->bytes + blob->at;

	for (uint32_t i = 0; i < blob->bytes; i += XSPACE_BLOB_STEP)
		memcpy(to + i, from + i, XSPACE_BLOB_STEP);
	return to + blob->bytes;
}

#endif

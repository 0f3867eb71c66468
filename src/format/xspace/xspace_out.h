/* Where an XSpace goes: messages whose length is not known until they end are written through, and
 * their length is put in afterwards. So it is always spent in full, as a varint of five bytes,
 * which protobuf's rules allow.
 *
 * A file that cannot be gone back in (a pipe, one opened for appending) is made in a temporary file
 * first. Errors stick: after the first one nothing more is written, and xspace_out_finish gives
 * it. */
#ifndef DAGTAP_FORMAT_XSPACE_OUT_H
#define DAGTAP_FORMAT_XSPACE_OUT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "wire/proto.h"

/* What protobuf's own readers can take in one message. */
#define XSPACE_BYTES_MAX ((UINT64_C(1) << 31) - 1)

/* Written at once, and how much may be put between two looks at it. */
#define XSPACE_OUT_BLOCK ((size_t)1 << 20)
#define XSPACE_OUT_PIECE ((size_t)1 << 16)

struct xspace_out {
	uint64_t bytes_max;
	FILE *target; /* the caller's */
	FILE *file;   /* the same, or the temporary one */
	off_t start;  /* where in FILE the message begins */
	uint8_t *bytes;
	size_t used;
	uint64_t flushed; /* how much went to FILE before what is in BYTES */
	int error;
};

/* 0 or negative errno. TARGET may be NULL: then nothing is written, only counted. */
int xspace_out_init(struct xspace_out *out, FILE *target, uint64_t bytes_max);
void xspace_out_release(struct xspace_out *out);

/* Puts everything where it belongs. 0, or the first error as negative errno; -EFBIG: the message is
 * longer than BYTES_MAX. `flushed` is its length. */
int xspace_out_finish(struct xspace_out *out);

void xspace_out_flush(struct xspace_out *out);

/* Room for XSPACE_OUT_PIECE bytes; the caller then adds to `used` what it wrote. */
static inline uint8_t *xspace_out_room(struct xspace_out *out)
{
	if (out->used >= XSPACE_OUT_BLOCK)
		xspace_out_flush(out);
	return out->bytes + out->used;
}

void xspace_out_put(struct xspace_out *out, const void *bytes, size_t count);
void xspace_out_put_u64(struct xspace_out *out, uint32_t field, uint64_t value);

/* MESSAGE as a field; FIELDS as they are. */
void xspace_out_put_message(struct xspace_out *out, uint32_t field, const struct proto *message);
void xspace_out_put_fields(struct xspace_out *out, const struct proto *fields);

/* A message of any length: everything put between begin and end. */
uint64_t xspace_out_begin(struct xspace_out *out, uint32_t field);
void xspace_out_end(struct xspace_out *out, uint64_t mark);

#endif

/* The output of the XSpace writer. A message whose length is not known before its end is written
 * directly, and its length is patched in afterwards. For that the length always takes a varint of
 * five bytes, which protobuf allows.
 *
 * If the target cannot seek (a pipe, a file opened for appending), the message is built in a
 * temporary file first. Errors stick: after the first one nothing more is written, and
 * xspace_out_finish returns it. Threading: one thread at a time, except for struct xspace_turns. */
#ifndef DAGTAP_FORMAT_XSPACE_OUT_H
#define DAGTAP_FORMAT_XSPACE_OUT_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "format/write_behind.h"
#include "wire/proto.h"

/* The largest message that protobuf's own readers accept. */
#define XSPACE_BYTES_MAX ((UINT64_C(1) << 31) - 1)

/* The buffer is written in blocks of XSPACE_OUT_BLOCK; XSPACE_OUT_PIECE bytes may be added between
 * two checks of its room. */
#define XSPACE_OUT_BLOCK ((size_t)1 << 20)
#define XSPACE_OUT_PIECE ((size_t)1 << 16)

struct xspace_out {
	uint64_t bytes_max; /* a longer message fails with -EFBIG */
	FILE *target;	    /* borrowed; NULL = count only */
	FILE *file;	    /* TARGET, or the temporary file */
	off_t start;	    /* offset in FILE at which the message begins */
	/* owned buffers of XSPACE_OUT_BLOCK + XSPACE_OUT_PIECE bytes: one is filled, while BEHIND
	 * writes the other one */
	uint8_t *bytes, *spare;
	struct write_behind behind;
	size_t used;
	uint64_t flushed; /* bytes that went to FILE before those in BYTES */
	int error;
};

/* Prepares the output. TARGET may be NULL: then bytes are only counted. Returns 0 or negative
 * errno; then nothing is left to release. The caller calls xspace_out_release after finish or
 * instead of it. */
int xspace_out_init(struct xspace_out *out, FILE *target, uint64_t bytes_max);

/* Frees the buffer and closes a temporary file. TARGET stays open. Accepts a released struct. */
void xspace_out_release(struct xspace_out *out);

/* Writes the rest and copies a temporary file to TARGET. Returns 0, or the first error as negative
 * errno; -EFBIG: the message is longer than BYTES_MAX. Afterwards `flushed` is the message's
 * length. */
int xspace_out_finish(struct xspace_out *out);

/* Writes the whole blocks of the buffer. Used by xspace_out_room. */
void xspace_out_flush(struct xspace_out *out);

/* A place with room for XSPACE_OUT_PIECE bytes. The caller adds the bytes that it wrote to
 * `used`. */
static inline uint8_t *xspace_out_room(struct xspace_out *out)
{
	if (out->used >= XSPACE_OUT_BLOCK)
		xspace_out_flush(out);
	return out->bytes + out->used;
}

/* Appends COUNT bytes as they are. */
void xspace_out_put(struct xspace_out *out, const void *bytes, size_t count);

/* Appends a field of varint type. */
void xspace_out_put_u64(struct xspace_out *out, uint32_t field, uint64_t value);

/* Appends MESSAGE as a field with its length. An error of MESSAGE becomes OUT's. */
void xspace_out_put_message(struct xspace_out *out, uint32_t field, const struct proto *message);

/* Appends encoded FIELDS as they are. An error of FIELDS becomes OUT's. */
void xspace_out_put_fields(struct xspace_out *out, const struct proto *fields);

/* Begins a nested message of any length; everything put until xspace_out_end is its content.
 * Returns the mark for that call. Messages nest. */
uint64_t xspace_out_begin(struct xspace_out *out, uint32_t field);

/* Ends the message and patches its length in. MARK is what xspace_out_begin returned. May seek in
 * FILE. */
void xspace_out_end(struct xspace_out *out, uint64_t mark);

/* Lets several threads append to an output, in an order that is not that of time: each append has a
 * number, and its bytes stand behind those of the number before it.
 *
 * Life: xspace_turns_begin, xspace_turns_put by any threads for each number from 0 on, without
 * gaps, xspace_turns_end. In between the output is used for nothing else. */
struct xspace_turns {
	struct xspace_out *out;
	int fd;	       /* of the file that the bytes go to; -1: none, or a file without one */
	uint32_t next; /* the number whose turn it is; protected by the lock, as is OUT */
	pthread_mutex_t lock;
	pthread_cond_t changed;
};

/* Prepares appending to OUT. The struct must not be moved until xspace_turns_end. */
void xspace_turns_begin(struct xspace_turns *turns, struct xspace_out *out);

/* Waits for the numbers before NUMBER and appends COUNT bytes at BYTES, or makes ERROR that of the
 * output if it is not 0. Threads write at the same time; the next number need not wait for that.
 * The caller gives the numbers to threads in ascending order, so that each waits only for numbers
 * that other threads have. */
void xspace_turns_put(struct xspace_turns *turns, uint32_t number, const void *bytes, size_t count,
		      int error);

/* After the last xspace_turns_put. Leaves the output as if one thread had written to it. */
void xspace_turns_end(struct xspace_turns *turns);

#endif

/* Text buffers for the rows of the Kineto writer.
 *
 * Text that many rows repeat (a kernel's name and dimensions, a function's name) is quoted and
 * escaped once and kept as a piece (format/timeline/pieces.h). A row is a few such pieces and its
 * numbers, copied into the buffer of a struct kineto_out. Errors stick: after the first one
 * nothing more is written. Threading: one thread at a time. */
#ifndef DAGTAP_FORMAT_KINETO_TEXT_H
#define DAGTAP_FORMAT_KINETO_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "format/kineto/kineto_digits.h"
#include "format/timeline/pieces.h"
#include "format/write_behind.h"

/* ---- pieces ---- */

/* The functions below append to TEXT. On failure they set text->error and append nothing. */
void kineto_text_put(struct pieces *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Appends STRING as a JSON string, in quotes. */
void kineto_text_quote(struct pieces *text, const char *string);

/* Infinities and NaN, which JSON does not have, become null. */
void kineto_text_double(struct pieces *text, double value);

/* Appends VALUE in decimal. */
void kineto_text_u64(struct pieces *text, uint64_t value);

/* Appends KEY, the text before a number, and VALUE in decimal. */
void kineto_text_number(struct pieces *text, const char *key, uint64_t value);

/* Appends a copy of PIECE of FROM; FROM must not be TEXT. */
void kineto_text_repeat(struct pieces *text, const struct pieces *from, struct piece piece);

/* ---- output ---- */

struct kineto_out {
	FILE *file;
	/* one buffer is filled, while BEHIND writes the other one */
	char *bytes, *spare;
	struct write_behind behind;
	size_t used;
	size_t room, spare_room;
	int error;
	int64_t origin_ns; /* host time of the file's time 0; set by kineto_out_count_from */
	/* Consecutive rows mostly lie in the same second since origin_ns, from 1 on: the host time
	 * at which it begins, and its digits ready to copy. */
	uint64_t second_ns;
	size_t second_bytes;
	char second_digits[16];
};

/* Prepares two empty buffers of 256 KiB in front of FILE, which stays the caller's. Returns 0 or
 * -ENOMEM; then nothing is left to release. */
int kineto_out_init(struct kineto_out *out, FILE *file);

/* Sets the host time of the file's time 0; before, that is host time 0. */
void kineto_out_count_from(struct kineto_out *out, int64_t origin_ns);

/* Frees the buffers without writing what the first one has. OUT may have failed to init. */
void kineto_out_release(struct kineto_out *out);

/* Writes the buffer to the file, which the caller may use then. A write error is kept in
 * out->error. */
void kineto_out_flush(struct kineto_out *out);

/* Begins to write the buffer, and makes room for BYTES in the other one. Used by kineto_out_begin
 * only. */
void kineto_out_grow(struct kineto_out *out, size_t bytes);

/* Starts a row: returns a place where BYTES and PIECE_STEP more can be written, or NULL after an
 * error. kineto_out_end ends the row at AT. */
static inline char *kineto_out_begin(struct kineto_out *out, size_t bytes)
{
	if (out->room - out->used < bytes + PIECE_STEP)
		kineto_out_grow(out, bytes + PIECE_STEP);
	return out->error ? NULL : out->bytes + out->used;
}

static inline void kineto_out_end(struct kineto_out *out, const char *at)
{
	out->used = (size_t)(at - out->bytes);
}

/* ---- writing a row: each function writes at AT and returns the end of what it wrote ---- */

#define KINETO_NUMBER_BYTES 32 /* the most bytes of a number or a time, and what it overwrites */

#define KINETO_PUT(at, literal)                                                                    \
	((char *)memcpy((at), (literal), sizeof(literal) - 1) + sizeof(literal) - 1)

static inline char *kineto_put_z(char *at, const char *string)
{
	size_t bytes = strlen(string);

	return (char *)memcpy(at, string, bytes) + bytes;
}

/* The slow path of kineto_put_time: formats the second, or a time before or within the first
 * second. */
char *kineto_put_new_second(struct kineto_out *out, char *at, int64_t ns);

/* Writes a host time NS as microseconds since the file's time 0, with three decimals. */
static inline char *kineto_put_time(struct kineto_out *out, char *at, int64_t ns)
{
	uint64_t rest = (uint64_t)ns - out->second_ns;
	uint32_t us = (uint32_t)rest / 1000, ms = us / 1000;

	if (rest >= 1000000000)
		return kineto_put_new_second(out, at, ns);
	memcpy(at, out->second_digits, sizeof(out->second_digits));
	at = kineto_put_three(at + out->second_bytes, ms, 0);
	at = kineto_put_three(at, us - ms * 1000, 0);
	return kineto_put_thousandths(at, (uint32_t)rest - us * 1000);
}

/* ---- rare rows: written into a text of their own, which kineto_put_row empties ---- */

/* Appends a host time to ROW, as kineto_put_time writes it. */
void kineto_text_time(struct pieces *row, struct kineto_out *out, int64_t ns);

/* Copies ROW to OUT and empties it. An error of ROW becomes OUT's. */
void kineto_put_row(struct kineto_out *out, struct pieces *row);

#endif

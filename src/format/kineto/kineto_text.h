/* Text that Kineto's rows are put together from.
 *
 * What is said again and again (a kernel's name and dimensions, a function's name) is made ready once: a
 * piece of a struct kineto_text, quoted and escaped. A row is then a few pieces and its numbers, copied
 * into the buffer of a struct kineto_out. Errors stick: after the first one nothing more is written. */
#ifndef DAGTAP_FORMAT_KINETO_TEXT_H
#define DAGTAP_FORMAT_KINETO_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Pieces are copied in steps of so many bytes, which need not end where the piece does. */
#define KINETO_STEP 32

/* ---- pieces ---- */

struct kineto_piece {
	uint32_t at;
	uint32_t bytes; /* 0: not made yet */
};

struct kineto_text {
	char *bytes; /* KINETO_STEP more than USED are readable */
	size_t used;
	size_t room;
	int error;
};

void kineto_text_release(struct kineto_text *text);
void kineto_text_put(struct kineto_text *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* As a JSON string, in quotes. */
void kineto_text_quote(struct kineto_text *text, const char *string);
/* Numbers that JSON has not, as null. */
void kineto_text_double(struct kineto_text *text, double value);
void kineto_text_u64(struct kineto_text *text, uint64_t value);
void kineto_text_repeat(struct kineto_text *text, const struct kineto_text *from,
			struct kineto_piece piece);
/* All that was put since USED was BEGIN; no bytes after an error. */
struct kineto_piece kineto_text_piece(const struct kineto_text *text, size_t begin);

/* ---- output ---- */

struct kineto_out {
	FILE *file;
	char *bytes;
	size_t used;
	size_t room;
	int error;
	int64_t origin_ns; /* host ns of the file's time 0 */
	/* Rows of one second come together: its digits, with room to be copied whole. */
	uint64_t second;
	size_t second_bytes;
	char second_digits[24];
};

/* FILE stays the caller's. 0 or -ENOMEM. */
int kineto_out_init(struct kineto_out *out, FILE *file);
void kineto_out_release(struct kineto_out *out);
void kineto_out_flush(struct kineto_out *out);
void kineto_out_grow(struct kineto_out *out, size_t bytes);

/* Where BYTES and KINETO_STEP more can be written; NULL after an error. */
static inline char *kineto_out_begin(struct kineto_out *out, size_t bytes)
{
	if (out->room - out->used < bytes + KINETO_STEP)
		kineto_out_grow(out, bytes + KINETO_STEP);
	return out->error ? NULL : out->bytes + out->used;
}

static inline void kineto_out_end(struct kineto_out *out, const char *at)
{
	out->used = (size_t)(at - out->bytes);
}

/* ---- what a row is put together from: each returns where the next thing goes ---- */

#define KINETO_NUMBER_BYTES 24 /* of a number or a time, at most */

#define KINETO_PUT(at, literal)                                                                    \
	((char *)memcpy((at), (literal), sizeof(literal) - 1) + sizeof(literal) - 1)

static inline char *kineto_put_steps(char *at, const char *bytes, size_t count)
{
	for (size_t i = 0; i < count; i += KINETO_STEP)
		memcpy(at + i, bytes + i, KINETO_STEP);
	return at + count;
}

static inline char *kineto_put_z(char *at, const char *string)
{
	size_t bytes = strlen(string);

	return (char *)memcpy(at, string, bytes) + bytes;
}

static inline char *kineto_put_piece(char *at, const struct kineto_text *text,
				     struct kineto_piece piece)
{
	/* Nothing was ever put into TEXT, maybe: then there is no place to count from. */
	return piece.bytes ? kineto_put_steps(at, text->bytes + piece.at, piece.bytes) : at;
}

extern const char kineto_digit_pairs[200];

/* COUNT digits of VALUE, with zeros before it. */
static inline char *kineto_put_digits(char *at, uint64_t value, unsigned count)
{
	char *end = at + count;

	for (; count >= 2; count -= 2, value /= 100)
		memcpy(at + count - 2, kineto_digit_pairs + 2 * (value % 100), 2);
	if (count)
		*at = (char)('0' + value % 10);
	return end;
}

static inline unsigned kineto_count_digits(uint64_t value)
{
	static const uint64_t powers[] = {
		0,
		10,
		100,
		1000,
		10000,
		100000,
		1000000,
		10000000,
		100000000,
		1000000000,
		10000000000,
		100000000000,
		1000000000000,
		10000000000000,
		100000000000000,
		1000000000000000,
		10000000000000000,
		100000000000000000,
		1000000000000000000,
		10000000000000000000u,
	};
	/* 1233 / 4096 is the logarithm of 2 to base 10, closely enough for 64 bits. */
	unsigned guess = (64 - (unsigned)__builtin_clzll(value | 1)) * 1233 >> 12;

	return guess + (value >= powers[guess]);
}

static inline char *kineto_put_u64(char *at, uint64_t value)
{
	return kineto_put_digits(at, value, kineto_count_digits(value));
}

/* An address as C prints it, in quotes. */
static inline char *kineto_put_pointer(char *at, uint64_t address)
{
	int shift = 60;

	at = KINETO_PUT(at, "\"0x");
	while (shift > 0 && address >> shift == 0)
		shift -= 4;
	for (; shift >= 0; shift -= 4)
		*at++ = "0123456789abcdef"[address >> shift & 15];
	*at++ = '"';
	return at;
}

static inline char *kineto_put_i64(char *at, int64_t value)
{
	if (value < 0)
		*at++ = '-';
	return kineto_put_u64(at, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

/* Microseconds, to the nanosecond. */
static inline char *kineto_put_us(char *at, uint64_t ns)
{
	at = kineto_put_u64(at, ns / 1000);
	*at++ = '.';
	return kineto_put_digits(at, ns % 1000, 3);
}

/* Slow. */
char *kineto_put_new_second(struct kineto_out *out, char *at, int64_t ns);

/* A moment on the host's clock, in microseconds of the file's. */
static inline char *kineto_put_time(struct kineto_out *out, char *at, int64_t ns)
{
	uint64_t since = (uint64_t)ns - (uint64_t)out->origin_ns;
	uint64_t second = since / 1000000000;
	uint32_t rest = (uint32_t)(since - second * 1000000000);

	if (second != out->second)
		return kineto_put_new_second(out, at, ns);
	memcpy(at, out->second_digits, sizeof(out->second_digits));
	at = kineto_put_digits(at + out->second_bytes, rest / 1000, 6);
	*at++ = '.';
	return kineto_put_digits(at, rest % 1000, 3);
}

/* ---- rows that are rare: put together in a text of their own, which is empty again then ---- */

void kineto_text_time(struct kineto_text *row, struct kineto_out *out, int64_t ns);
void kineto_put_row(struct kineto_out *out, struct kineto_text *row);

#endif

/* The bytes of a Kineto file, inflated with zlib if it is gzipped. */
#include "format/kineto/kineto_input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PIECE_BYTES (128u << 10)

/* A trace's text is 11 to 32 times as large as its gzip (measured on five traces). A file that
 * inflates to more than 256 times its size, beyond the first 64 MiB, is no trace. */
#define INFLATED_MOST_TIMES 256
#define INFLATED_FREE_BYTES ((size_t)64 << 20)

/* The largest window; 16 asks zlib for a gzip header. */
#define WINDOW_BITS (15 + 16)

static bool is_gzip(const uint8_t *bytes, size_t size)
{
	return size >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

int kineto_input_open(struct kineto_input *input, const struct read_file *file)
{
	*input = (struct kineto_input){.file = file, .is_gzip = is_gzip(file->bytes, file->size)};
	if (!input->is_gzip)
		return 0;
	input->piece = malloc(PIECE_BYTES);
	if (!input->piece)
		return -ENOMEM;
	input->inflater.next_in = (Bytef *)file->bytes;
	if (inflateInit2(&input->inflater, WINDOW_BITS) == Z_OK)
		return 0;
	free(input->piece);
	return -ENOMEM;
}

void kineto_input_close(struct kineto_input *input)
{
	if (!input->is_gzip)
		return;
	inflateEnd(&input->inflater);
	free(input->piece);
}

size_t kineto_input_done(const struct kineto_input *input)
{
	if (!input->is_gzip)
		return input->used;
	return (size_t)(input->inflater.next_in - (const Bytef *)input->file->bytes);
}

/* Gives zlib more input, at most what its 32-bit count can hold. If a gzip member has ended and
 * another one follows, starts that one; other bytes after the last member are padding. Returns
 * false at the end of the data. */
static bool give_input(struct kineto_input *input)
{
	z_stream *inflater = &input->inflater;
	size_t left = input->file->size - kineto_input_done(input);

	if (input->is_ended && is_gzip(inflater->next_in, left)) {
		inflateReset(inflater);
		input->is_ended = false;
	}
	inflater->avail_in = left > UINT32_MAX ? UINT32_MAX : (uInt)left;
	return left > 0 && !input->is_ended;
}

static int64_t inflate_piece(struct kineto_input *input, struct dagtap_error *error)
{
	z_stream *inflater = &input->inflater;

	inflater->next_out = input->piece;
	inflater->avail_out = PIECE_BYTES;
	while (inflater->avail_out && give_input(input)) {
		int status = inflate(inflater, Z_NO_FLUSH);

		if (status == Z_MEM_ERROR)
			return -ENOMEM;
		if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
			return dagtap_error_at(error, -EBADMSG, input->file->name,
					       kineto_input_done(input), "broken gzip data (%s)",
					       inflater->msg ? inflater->msg : "no reason given");
		input->is_ended = status == Z_STREAM_END;
	}
	return PIECE_BYTES - inflater->avail_out;
}

/* True if the file inflates to so much more than its size that it cannot be a trace. */
static bool is_bomb(const struct kineto_input *input, size_t bytes)
{
	size_t inflated = input->used + bytes;

	return inflated > INFLATED_FREE_BYTES &&
	       inflated / INFLATED_MOST_TIMES > kineto_input_done(input);
}

int64_t kineto_input_next(struct kineto_input *input, const uint8_t **ret_piece,
			  struct dagtap_error *error)
{
	size_t left = input->file->size - input->used;
	int64_t bytes = left < PIECE_BYTES ? (int64_t)left : PIECE_BYTES;

	*ret_piece = (const uint8_t *)input->file->bytes + input->used;
	if (input->is_gzip) {
		*ret_piece = input->piece;
		bytes = inflate_piece(input, error);
		if (bytes > 0 && is_bomb(input, (size_t)bytes))
			return dagtap_error_at(error, -EFBIG, input->file->name,
					       kineto_input_done(input),
					       "the gzip inflates to more than %d times its size",
					       INFLATED_MOST_TIMES);
	}
	if (bytes > 0)
		input->used += (size_t)bytes;
	return bytes;
}

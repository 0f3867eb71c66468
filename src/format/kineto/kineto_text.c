/* Text buffers of the Kineto writer: pieces, the output buffer, rare rows. */
#include "format/kineto/kineto_text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/table.h"
#include "wire/json.h"

#define BUFFER_BYTES ((size_t)1 << 18)

/* ---- pieces ---- */

void kineto_text_put(struct pieces *text, const char *format, ...)
{
	va_list list;
	int bytes;

	va_start(list, format);
	bytes = vsnprintf(NULL, 0, format, list);
	va_end(list);
	if (!pieces_reserve(text, (size_t)bytes + 1))
		return;
	va_start(list, format);
	vsnprintf(text->bytes + text->used, (size_t)bytes + 1, format, list);
	va_end(list);
	text->used += (size_t)bytes;
}

void kineto_text_quote(struct pieces *text, const char *string)
{
	size_t bytes = strlen(string);

	if (pieces_reserve(text, JSON_QUOTED_BYTES(bytes)))
		text->used += json_quote(string, bytes, text->bytes + text->used);
}

void kineto_text_double(struct pieces *text, double value)
{
	if (pieces_reserve(text, JSON_DOUBLE_BYTES))
		text->used += json_print_double(value, text->bytes + text->used);
}

void kineto_text_u64(struct pieces *text, uint64_t value)
{
	if (pieces_reserve(text, KINETO_NUMBER_BYTES))
		text->used =
			(size_t)(kineto_put_u64(text->bytes + text->used, value) - text->bytes);
}

void kineto_text_number(struct pieces *text, const char *key, uint64_t value)
{
	pieces_add(text, key, strlen(key));
	kineto_text_u64(text, value);
}

void kineto_text_repeat(struct pieces *text, const struct pieces *from, struct piece piece)
{
	if (piece.bytes > 0)
		pieces_add(text, from->bytes + piece.at, piece.bytes);
}

/* ---- output ---- */

int kineto_out_init(struct kineto_out *out, FILE *file)
{
	*out = (struct kineto_out){
		.file = file,
		.bytes = malloc(BUFFER_BYTES),
		.spare = malloc(BUFFER_BYTES),
		.room = BUFFER_BYTES,
		.spare_room = BUFFER_BYTES,
	};
	kineto_out_count_from(out, 0);
	if (!out->bytes || !out->spare) {
		free(out->bytes);
		free(out->spare);
		out->bytes = NULL;
		return -ENOMEM;
	}
	write_behind_init(&out->behind, file);
	return 0;
}

static void begin_second(struct kineto_out *out, uint64_t second)
{
	out->second_ns = (uint64_t)out->origin_ns + second * 1000000000;
	out->second_bytes =
		(size_t)(kineto_put_u64(out->second_digits, second) - out->second_digits);
}

void kineto_out_count_from(struct kineto_out *out, int64_t origin_ns)
{
	out->origin_ns = origin_ns;
	begin_second(out, 1);
}

void kineto_out_release(struct kineto_out *out)
{
	if (!out->bytes)
		return;
	write_behind_release(&out->behind);
	free(out->bytes);
	free(out->spare);
}

void kineto_out_flush(struct kineto_out *out)
{
	if (!out->error)
		out->error = write_behind_now(&out->behind, out->bytes, out->used);
	out->used = 0;
}

void kineto_out_grow(struct kineto_out *out, size_t bytes)
{
	char *filled = out->bytes;
	size_t room = out->room;

	if (!out->error)
		out->error = write_behind_put(&out->behind, filled, out->used);
	out->used = 0;
	out->bytes = out->spare;
	out->room = out->spare_room;
	out->spare = filled;
	out->spare_room = room;
	if (!out->error)
		out->error = table_reserve((void **)&out->bytes, &out->room, bytes, 1);
}

/* A time before the file's time 0 or within its first second has no cached digits and is formatted
 * as a whole. */
char *kineto_put_new_second(struct kineto_out *out, char *at, int64_t ns)
{
	uint64_t since = (uint64_t)ns - (uint64_t)out->origin_ns;
	uint64_t second = since / 1000000000;

	if ((int64_t)since < 0) {
		*at++ = '-';
		return kineto_put_us(at, -since);
	}
	if (second == 0)
		return kineto_put_us(at, since);
	begin_second(out, second);
	return kineto_put_time(out, at, ns);
}

/* ---- rare rows ---- */

#define TIME_ROOM (sizeof(((struct kineto_out *)0)->second_digits) + KINETO_NUMBER_BYTES)

void kineto_text_time(struct pieces *row, struct kineto_out *out, int64_t ns)
{
	if (pieces_reserve(row, TIME_ROOM))
		row->used = (size_t)(kineto_put_time(out, row->bytes + row->used, ns) - row->bytes);
}

void kineto_put_row(struct kineto_out *out, struct pieces *row)
{
	struct piece piece = pieces_since(row, 0);
	char *at = kineto_out_begin(out, piece.bytes);

	if (row->error && !out->error)
		out->error = row->error;
	if (at)
		kineto_out_end(out, pieces_copy(at, row, piece));
	row->used = 0;
}

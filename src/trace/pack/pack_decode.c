/* Unpacks a block (pack_block.h). The input may be damaged: all sizes, offsets and numbers are
 * checked before use. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "trace/pack/pack_block.h"
#include "trace/pack/pack_table.h"

#define FIELDS_MOST 64

struct pack_decoder {
	struct pack_table table;
	uint8_t *records;
	uint8_t *texts; /* unpacked blobs of group 0 and of texts */
	size_t room;	/* bytes of records and of texts */
	uint64_t wanted;
	ZSTD_DCtx *zstd;
};

int pack_decoder_create(struct pack_decoder **ret_decoder)
{
	struct pack_decoder *decoder = calloc(1, sizeof(*decoder));

	if (decoder)
		decoder->zstd = ZSTD_createDCtx();
	if (!decoder || !decoder->zstd) {
		free(decoder);
		return -ENOMEM;
	}
	decoder->wanted = PACK_WANT_ALL;
	*ret_decoder = decoder;
	return 0;
}

void pack_decoder_want(struct pack_decoder *decoder, uint64_t types)
{
	decoder->wanted = types;
}

void pack_decoder_destroy(struct pack_decoder *decoder)
{
	if (!decoder)
		return;
	ZSTD_freeDCtx(decoder->zstd);
	pack_table_release(&decoder->table);
	free(decoder->records);
	free(decoder->texts);
	free(decoder);
}

static int reserve(struct pack_decoder *decoder, size_t size)
{
	if (size > decoder->room) {
		free(decoder->records);
		free(decoder->texts);
		decoder->records = malloc(size);
		decoder->texts = malloc(size);
		decoder->room = decoder->records && decoder->texts ? size : 0;
		if (!decoder->room)
			return -ENOMEM;
	}
	/* Bytes that no field covers must be zero, not the bytes of an earlier block. */
	memset(decoder->records, 0, size);
	return 0;
}

/* ---- from shapes to rows ---- */

static int take_shape_list(struct pack_table *table, struct pack_cursor *in)
{
	size_t count = pack_take_size(in, PACK_SHAPES_MOST);

	for (size_t i = 0; i < count; i++) {
		struct pack_shape shape = {
			.type = (uint16_t)pack_take_size(in, UINT16_MAX),
			.words = (uint16_t)pack_take_size(in, UINT16_MAX),
			.group = (uint32_t)pack_take_size(in, count),
		};

		if (in->failed || shape.words == 0)
			return -EINVAL;
		if (pack_table_add_shape(table, shape) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int take_shape_numbers(struct pack_table *table, struct pack_cursor *in)
{
	unsigned planes = table->shape_count > 256 ? 2 : 1;

	for (unsigned p = 0; p < planes; p++) {
		const uint8_t *plane =
			pack_take_blob(in, table->record_count, table->scratch.plane);

		if (!plane)
			return -EINVAL;
		for (uint32_t i = 0; i < table->record_count; i++)
			table->shape_of[i] =
				(uint16_t)((p ? table->shape_of[i] : 0) | plane[i] << (p * 8));
	}
	for (uint32_t i = 0; i < table->record_count; i++) {
		if (table->shape_of[i] >= table->shape_count)
			return -EINVAL;
		table->shapes[table->shape_of[i]].count++;
	}
	return 0;
}

static int take_table(struct pack_decoder *decoder, struct pack_cursor *in, size_t size)
{
	struct pack_table *table = &decoder->table;
	uint64_t bytes = 0;
	int err = pack_table_clear(table, (uint32_t)pack_take_size(in, size / 8));

	if (err == 0)
		err = take_shape_list(table, in);
	if (err == 0)
		err = take_shape_numbers(table, in);
	for (uint32_t i = 0; i < table->shape_count && err == 0; i++)
		bytes += (uint64_t)table->shapes[i].count * table->shapes[i].words * 8;
	if (err == 0 && bytes != size)
		err = -EINVAL;
	return err < 0 ? err : pack_table_sort(table);
}

/* Stores the type and size of each record. The fields follow later. */
static void store_shapes(struct pack_decoder *decoder)
{
	const struct pack_table *table = &decoder->table;
	uint8_t *record = decoder->records;

	for (uint32_t i = 0; i < table->record_count; i++) {
		const struct pack_shape *shape = &table->shapes[table->shape_of[i]];

		memcpy(record, &shape->type, sizeof(shape->type));
		memcpy(record + 2, &shape->words, sizeof(shape->words));
		record += shape->words * 8u;
	}
}

/* Unpacks group 0: whole records except type and size, in one blob. */
static int take_loose(struct pack_decoder *decoder, struct pack_cursor *in)
{
	const struct pack_table *table = &decoder->table;
	const struct pack_group *group = &table->groups[0];
	const uint8_t *from;
	size_t bytes = 0;

	for (uint32_t i = group->first_row; i < group->first_row + group->row_count; i++)
		bytes += table->row_words[i] * 8u - PACK_TAG_OFFSET;
	from = pack_take_blob(in, bytes, decoder->texts);
	if (!from)
		return -EINVAL;
	for (uint32_t i = group->first_row; i < group->first_row + group->row_count; i++) {
		size_t size = table->row_words[i] * 8u - PACK_TAG_OFFSET;

		memcpy(decoder->records + table->row_offsets[i] + PACK_TAG_OFFSET, from, size);
		from += size;
	}
	return 0;
}

/* ---- fields ---- */

/* Checks that the field NUMBER of a group does not overwrite type and size, lies within the fixed
 * bytes, and has an earlier field as its key. */
static bool is_sound(const struct pack_field *field, size_t fixed_bytes, size_t number)
{
	if (field->bytes != 1 && field->bytes != 2 && field->bytes != 4 && field->bytes != 8)
		return false;
	if (field->key != PACK_NO_KEY && field->key >= number)
		return false;
	if (field->end_offset &&
	    (field->bytes != 8 || field->end_offset < 8 || field->end_offset + 8u > fixed_bytes))
		return false;
	return field->offset >= PACK_TAG_OFFSET && field->offset + field->bytes <= fixed_bytes;
}

static void take_numbers(struct pack_decoder *decoder, struct pack_cursor *in,
			 const struct pack_series *series)
{
	if (!pack_series_read(in, series, &decoder->table.scratch))
		memset(series->values, 0, series->count * sizeof(*series->values));
}

/* Reads a field that is a begin with an end: first the lengths, then the begins. */
static void take_span(struct pack_decoder *decoder, struct pack_cursor *in,
		      const struct pack_group *group, const struct pack_field *field,
		      struct pack_series *series)
{
	struct pack_table *table = &decoder->table;
	const struct pack_field end = {.offset = field->end_offset, .bytes = field->bytes};

	series->values = table->lengths;
	take_numbers(decoder, in, series);
	series->values = table->values;
	series->lengths = table->lengths;
	if (!in->failed)
		take_numbers(decoder, in, series);
	if (in->failed)
		return;
	pack_table_store(table, group, decoder->records, field, table->values);
	for (uint32_t i = 0; i < group->row_count; i++)
		table->lengths[i] += table->values[i];
	pack_table_store(table, group, decoder->records, &end, table->lengths);
}

static int take_field(struct pack_decoder *decoder, struct pack_cursor *in,
		      const struct pack_group *group, const struct pack_field *fields,
		      const struct pack_field *field)
{
	struct pack_table *table = &decoder->table;
	const struct pack_field *key = field->key == PACK_NO_KEY ? NULL : &fields[field->key];
	struct pack_series series;
	int err = pack_table_series(table, group, decoder->records, key, &series);

	if (err < 0)
		return err;
	if (field->end_offset) {
		take_span(decoder, in, group, field, &series);
		return in->failed ? -EINVAL : 0;
	}
	if (pack_series_read(in, &series, &table->scratch) && !in->failed)
		pack_table_store(table, group, decoder->records, field, table->values);
	return in->failed ? -EINVAL : 0;
}

static int take_tail_words(struct pack_decoder *decoder, struct pack_cursor *in,
			   const struct pack_group *group, uint32_t offset,
			   const struct pack_series *series)
{
	if (group->words_most * 8u > offset + PACK_TAIL_WORDS_MOST * 8u)
		return -EINVAL;
	for (; offset < group->words_most * 8u; offset += 8) {
		if (pack_series_read(in, series, &decoder->table.scratch) && !in->failed)
			pack_table_store_word(&decoder->table, group, decoder->records, offset,
					      series->values);
		if (in->failed)
			return -EINVAL;
	}
	return 0;
}

static int take_tail_texts(struct pack_decoder *decoder, struct pack_cursor *in,
			   const struct pack_group *group, uint32_t offset,
			   const struct pack_series *series)
{
	struct pack_table *table = &decoder->table;
	const uint32_t *offsets = table->row_offsets + group->first_row;
	const uint16_t *words = table->row_words + group->first_row;
	uint64_t *rows = table->scratch.dictionary; /* by number of the text: its first row */
	const uint8_t *texts;
	size_t size, used = 0;
	uint32_t known = 0;

	take_numbers(decoder, in, series);
	size = pack_take_size(in, decoder->table.bytes);
	texts = pack_take_blob(in, size, decoder->texts);
	if (!texts)
		return -EINVAL;
	for (uint32_t i = 0; i < group->row_count; i++) {
		uint64_t number = series->values[i];
		size_t bytes = words[i] * 8u - offset;
		const uint8_t *text = texts + used;

		if (number > known || (number == known && bytes > size - used))
			return -EINVAL;
		if (number == known) {
			rows[known++] = i;
			used += bytes;
		} else {
			text = decoder->records + offsets[rows[number]] + offset;
			if (words[rows[number]] != words[i])
				return -EINVAL;
		}
		memcpy(decoder->records + offsets[i] + offset, text, bytes);
	}
	return used == size ? 0 : -EINVAL;
}

/* The fields of one group, as the block stores them. */
struct cut {
	struct pack_field fields[FIELDS_MOST];
	uint32_t field_count;
	uint32_t fixed_bytes;
	uint8_t place;
};

static int take_tail(struct pack_decoder *decoder, struct pack_cursor *in,
		     const struct pack_group *group, const struct cut *cut)
{
	uint8_t tail = pack_take_byte(in);
	uint8_t key = pack_take_byte(in);
	struct pack_series series;
	int err;

	if (in->failed || (key != PACK_NO_KEY && key >= cut->field_count))
		return -EINVAL;
	err = pack_table_series(&decoder->table, group, decoder->records,
				key == PACK_NO_KEY ? NULL : &cut->fields[key], &series);
	if (err < 0)
		return err;
	if (tail == PACK_TAIL_WORDS)
		return take_tail_words(decoder, in, group, cut->fixed_bytes, &series);
	if (tail == PACK_TAIL_TEXT)
		return take_tail_texts(decoder, in, group, cut->fixed_bytes, &series);
	return -EINVAL;
}

static int take_cut(const struct pack_table *table, struct pack_cursor *in,
		    const struct pack_group *group, struct cut *cut)
{
	const uint16_t *words = table->row_words + group->first_row;

	cut->fixed_bytes = (uint32_t)pack_take_size(in, UINT16_MAX);
	cut->field_count = (uint32_t)pack_take_size(in, FIELDS_MOST);
	cut->place = pack_take_byte(in);
	if (in->failed || cut->fixed_bytes < 8 || cut->fixed_bytes % 8)
		return -EINVAL;
	if (cut->place != PACK_NO_KEY && cut->place >= cut->field_count)
		return -EINVAL;
	for (uint32_t i = 0; i < group->row_count; i++) {
		if (words[i] * 8u < cut->fixed_bytes)
			return -EINVAL;
	}
	return 0;
}

static int take_fields(struct pack_decoder *decoder, struct pack_cursor *in,
		       const struct pack_group *group)
{
	struct cut cut;
	int err = take_cut(&decoder->table, in, group, &cut);

	if (err < 0)
		return err;
	pack_table_begin_group(&decoder->table,
			       cut.place == PACK_NO_KEY ? NULL : &cut.fields[cut.place]);
	for (uint32_t i = 0; i < cut.field_count && err == 0; i++) {
		struct pack_field *field = &cut.fields[i];

		field->offset = (uint16_t)pack_take_size(in, UINT16_MAX);
		field->end_offset = (uint16_t)pack_take_size(in, UINT16_MAX);
		field->bytes = pack_take_byte(in);
		field->key = pack_take_byte(in);
		if (in->failed || !is_sound(field, cut.fixed_bytes, i))
			return -EINVAL;
		/* The references of a key need the place, so the place field must come first. */
		if (field->key != PACK_NO_KEY && cut.place != PACK_NO_KEY && i <= cut.place)
			return -EINVAL;
		err = take_field(decoder, in, group, cut.fields, field);
	}
	return err < 0 ? err : take_tail(decoder, in, group, &cut);
}

static void mark_wanted(struct pack_decoder *decoder)
{
	struct pack_table *table = &decoder->table;

	for (uint32_t i = 0; i < table->shape_count; i++) {
		const struct pack_shape *shape = &table->shapes[i];

		if (decoder->wanted == PACK_WANT_ALL ||
		    (shape->type < 64 && decoder->wanted >> shape->type & 1))
			table->groups[shape->group].is_wanted = true;
	}
}

/* Unpacks one group, or skips it if none of its types is wanted. */
static int take_group(struct pack_decoder *decoder, struct pack_cursor *in, uint32_t number)
{
	const uint8_t *size_at = pack_take_bytes(in, sizeof(uint32_t));
	struct pack_cursor inside = {.zstd = in->zstd};
	uint32_t size;
	int err;

	if (!size_at)
		return -EINVAL;
	memcpy(&size, size_at, sizeof(size));
	inside.at = pack_take_bytes(in, size);
	if (!inside.at)
		return -EINVAL;
	if (!decoder->table.groups[number].is_wanted)
		return 0;
	inside.end = inside.at + size;
	err = take_fields(decoder, &inside, &decoder->table.groups[number]);
	return err == 0 && inside.at != inside.end ? -EINVAL : err;
}

int pack_decode(struct pack_decoder *decoder, const void *block, size_t block_size, size_t size,
		const void **ret_records)
{
	struct pack_cursor in = {
		.at = block,
		.end = (const uint8_t *)block + block_size,
		.zstd = decoder->zstd,
	};
	const struct pack_table *table = &decoder->table;
	int err;

	if (size == 0 || size > PACK_BLOCK_BYTES_MOST)
		return -EINVAL;
	err = reserve(decoder, size);
	if (err == 0)
		err = take_table(decoder, &in, size);
	if (err < 0)
		return err;
	store_shapes(decoder);
	mark_wanted(decoder);
	decoder->table.scratch.no_memory = false;
	err = take_loose(decoder, &in);
	for (uint32_t i = 1; i < table->group_count && err == 0; i++) {
		if (table->groups[i].row_count)
			err = take_group(decoder, &in, i);
	}
	if (err == 0 && in.at != in.end)
		err = -EINVAL;
	if (err == 0)
		*ret_records = decoder->records;
	return decoder->table.scratch.no_memory ? -ENOMEM : err;
}

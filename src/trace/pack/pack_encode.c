/* Packs records into a block (pack_block.h). pack_decode.c reverses it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

#include "record/record.h"
#include "trace/pack/pack_block.h"
#include "trace/pack/pack_table.h"

/* With fewer rows, storing the fields costs more than it saves. */
#define GROUP_ROWS_LEAST 8

struct pack_encoder {
	struct pack_table table;
	struct pack_map shapes;	  /* type << 16 | words to the number of the shape */
	struct pack_buffer out;	  /* the block */
	struct pack_buffer bytes; /* collects the bytes of a blob */
	ZSTD_CCtx *zstd;
};

int pack_encoder_create(struct pack_encoder **ret_encoder)
{
	struct pack_encoder *encoder = calloc(1, sizeof(*encoder));

	if (encoder)
		encoder->zstd = ZSTD_createCCtx();
	if (!encoder || !encoder->zstd) {
		free(encoder);
		return -ENOMEM;
	}
	encoder->out.zstd = encoder->zstd;
	*ret_encoder = encoder;
	return 0;
}

void pack_encoder_destroy(struct pack_encoder *encoder)
{
	if (!encoder)
		return;
	ZSTD_freeCCtx(encoder->zstd);
	pack_table_release(&encoder->table);
	pack_map_release(&encoder->shapes);
	pack_buffer_release(&encoder->out);
	pack_buffer_release(&encoder->bytes);
	free(encoder);
}

/* ---- from records to rows ---- */

/* Counts the records. -EINVAL: the last one does not end where the bytes end. */
static int64_t count_records(const uint8_t *records, size_t size)
{
	int64_t count = 0;

	while (size) {
		struct record_header header;

		if (size < sizeof(header))
			return -EINVAL;
		memcpy(&header, records, sizeof(header));
		if (header.words == 0 || header.words * 8u > size)
			return -EINVAL;
		records += header.words * 8u;
		size -= header.words * 8u;
		count++;
	}
	return count;
}

/* Returns the index of the record's shape, which it adds if it is new. -ENOMEM, or -EINVAL: too
 * many shapes. */
static int64_t find_shape(struct pack_encoder *encoder, const struct record_header *header)
{
	struct pack_table *table = &encoder->table;
	struct pack_map_entry *entry =
		pack_map_take(&encoder->shapes, (uint32_t)header->type << 16 | header->words);
	const struct pack_shape shape = {.type = header->type, .words = header->words};

	if (!entry)
		return -ENOMEM;
	if (entry->number > PACK_SHAPES_MOST)
		return -EINVAL;
	if (entry->number > table->shape_count && pack_table_add_shape(table, shape) < 0)
		return -ENOMEM;
	return entry->number - 1;
}

static int find_shapes(struct pack_encoder *encoder, const uint8_t *records, uint32_t count)
{
	struct pack_table *table = &encoder->table;

	pack_map_clear(&encoder->shapes);
	for (uint32_t i = 0; i < count; i++) {
		struct record_header header;
		int64_t shape;

		memcpy(&header, records, sizeof(header));
		shape = find_shape(encoder, &header);
		if (shape < 0)
			return (int)shape;
		table->shape_of[i] = (uint16_t)shape;
		table->shapes[shape].count++;
		records += header.words * 8u;
	}
	return 0;
}

static bool fits_layout(const struct pack_shape *shape, const struct pack_layout *layout)
{
	uint32_t fixed_words = layout->fixed_bytes / 8u;

	if (shape->words < fixed_words)
		return false;
	return layout->tail == PACK_TAIL_TEXT || shape->words - fixed_words <= PACK_TAIL_WORDS_MOST;
}

/* Gives each type with enough rows a group, numbered by first appearance. The others stay in group
 * 0. */
static void assign_groups(struct pack_table *table)
{
	uint32_t groups = 0;

	for (uint32_t i = 0; i < table->shape_count; i++) {
		const struct pack_layout *layout = pack_layout_of(table->shapes[i].type);
		uint32_t rows = 0;

		if (table->shapes[i].group || !fits_layout(&table->shapes[i], layout))
			continue;
		for (uint32_t j = i; j < table->shape_count; j++) {
			if (table->shapes[j].type == table->shapes[i].type &&
			    fits_layout(&table->shapes[j], layout))
				rows += table->shapes[j].count;
		}
		if (rows < GROUP_ROWS_LEAST)
			continue;
		groups++;
		for (uint32_t j = i; j < table->shape_count; j++) {
			if (table->shapes[j].type == table->shapes[i].type &&
			    fits_layout(&table->shapes[j], layout))
				table->shapes[j].group = groups;
		}
	}
}

/* ---- from rows to bytes ---- */

static void put_shapes(struct pack_encoder *encoder)
{
	const struct pack_table *table = &encoder->table;
	struct pack_buffer *out = &encoder->out;
	uint8_t *plane = table->scratch.plane;

	pack_put_varint(out, table->record_count);
	pack_put_varint(out, table->shape_count);
	for (uint32_t i = 0; i < table->shape_count; i++) {
		pack_put_varint(out, table->shapes[i].type);
		pack_put_varint(out, table->shapes[i].words);
		pack_put_varint(out, table->shapes[i].group);
	}
	for (uint32_t i = 0; i < table->record_count; i++)
		plane[i] = (uint8_t)table->shape_of[i];
	pack_put_blob(out, plane, table->record_count);
	if (table->shape_count <= 256)
		return;
	for (uint32_t i = 0; i < table->record_count; i++)
		plane[i] = (uint8_t)(table->shape_of[i] >> 8);
	pack_put_blob(out, plane, table->record_count);
}

/* Packs group 0: whole records except type and size, in one blob. */
static void put_loose(struct pack_encoder *encoder, const uint8_t *records)
{
	const struct pack_table *table = &encoder->table;
	const struct pack_group *group = &table->groups[0];

	encoder->bytes.size = 0;
	for (uint32_t i = group->first_row; i < group->first_row + group->row_count; i++)
		pack_put_bytes(&encoder->bytes, records + table->row_offsets[i] + PACK_TAG_OFFSET,
			       table->row_words[i] * 8u - PACK_TAG_OFFSET);
	pack_put_blob(&encoder->out, encoder->bytes.bytes, encoder->bytes.size);
}

/* Packs a field that is a begin with an end: first the lengths, then the begins. */
static void put_span(struct pack_encoder *encoder, const struct pack_group *group,
		     const uint8_t *records, const struct pack_field *field,
		     struct pack_series *series)
{
	struct pack_table *table = &encoder->table;
	const struct pack_field end = {.offset = field->end_offset, .bytes = field->bytes};

	pack_table_load(table, group, records, &end, table->lengths);
	for (uint32_t i = 0; i < group->row_count; i++)
		table->lengths[i] -= table->values[i];
	series->values = table->lengths;
	pack_series_write(&encoder->out, series, &table->scratch);
	series->values = table->values;
	series->lengths = table->lengths;
	pack_series_write(&encoder->out, series, &table->scratch);
}

static int put_field(struct pack_encoder *encoder, const struct pack_group *group,
		     const uint8_t *records, const struct pack_layout *layout, uint16_t number)
{
	struct pack_table *table = &encoder->table;
	const struct pack_field *field = &layout->fields[number];
	const struct pack_field *key =
		field->key == PACK_NO_KEY ? NULL : &layout->fields[field->key];
	struct pack_series series;
	int err = pack_table_series(table, group, records, key, &series);

	if (err < 0)
		return err;
	pack_put_varint(&encoder->out, field->offset);
	pack_put_varint(&encoder->out, field->end_offset);
	pack_put_byte(&encoder->out, field->bytes);
	pack_put_byte(&encoder->out, field->key);
	pack_table_load(table, group, records, field, table->values);
	if (field->end_offset)
		put_span(encoder, group, records, field, &series);
	else
		pack_series_write(&encoder->out, &series, &table->scratch);
	return 0;
}

static void put_tail_words(struct pack_encoder *encoder, const struct pack_group *group,
			   const uint8_t *records, uint32_t offset,
			   const struct pack_series *series)
{
	for (; offset < group->words_most * 8u; offset += 8) {
		pack_table_load_word(&encoder->table, group, records, offset, series->values);
		pack_series_write(&encoder->out, series, &encoder->table.scratch);
	}
}

/* Packs each different text once, and the number of its text for each row. */
static int put_tail_texts(struct pack_encoder *encoder, const struct pack_group *group,
			  const uint8_t *records, uint32_t offset, const struct pack_series *series)
{
	struct pack_table *table = &encoder->table;
	const uint32_t *offsets = table->row_offsets + group->first_row;
	const uint16_t *words = table->row_words + group->first_row;
	struct pack_map *texts = &table->scratch.numbers;

	encoder->bytes.size = 0;
	pack_map_clear(texts);
	for (uint32_t i = 0, known = 0; i < group->row_count; i++) {
		const uint8_t *text = records + offsets[i] + offset;
		size_t bytes = words[i] * 8u - offset;
		struct pack_map_entry *entry = pack_map_take(texts, XXH3_64bits(text, bytes));

		if (!entry)
			return -ENOMEM;
		if (entry->row != PACK_NO_ROW && words[entry->row] == words[i] &&
		    !memcmp(records + offsets[entry->row] + offset, text, bytes)) {
			series->values[i] = series->values[entry->row];
			continue;
		}
		entry->row = i;
		series->values[i] = known++;
		pack_put_bytes(&encoder->bytes, text, bytes);
	}
	pack_series_write(&encoder->out, series, &table->scratch);
	pack_put_varint(&encoder->out, encoder->bytes.size);
	pack_put_blob(&encoder->out, encoder->bytes.bytes, encoder->bytes.size);
	return 0;
}

static int put_group(struct pack_encoder *encoder, uint32_t number, uint16_t type,
		     const uint8_t *records)
{
	struct pack_table *table = &encoder->table;
	const struct pack_group *group = &table->groups[number];
	const struct pack_layout *layout = pack_layout_of(type);
	const struct pack_field *key =
		layout->tail_key == PACK_NO_KEY ? NULL : &layout->fields[layout->tail_key];
	struct pack_series series;
	int err = 0;

	pack_table_begin_group(
		table, layout->place == PACK_NO_KEY ? NULL : &layout->fields[layout->place]);
	pack_put_varint(&encoder->out, layout->fixed_bytes);
	pack_put_varint(&encoder->out, layout->field_count);
	pack_put_byte(&encoder->out, layout->place);
	for (uint16_t i = 0; i < layout->field_count && err == 0; i++)
		err = put_field(encoder, group, records, layout, i);
	if (err == 0)
		err = pack_table_series(table, group, records, key, &series);
	if (err < 0)
		return err;
	pack_put_byte(&encoder->out, layout->tail);
	pack_put_byte(&encoder->out, layout->tail_key);
	if (layout->tail == PACK_TAIL_TEXT)
		return put_tail_texts(encoder, group, records, layout->fixed_bytes, &series);
	put_tail_words(encoder, group, records, layout->fixed_bytes, &series);
	return 0;
}

/* The size of each group is stored before it, so that a decoder can skip the group. */
static int put_groups(struct pack_encoder *encoder, const uint8_t *records)
{
	const struct pack_table *table = &encoder->table;
	struct pack_buffer *out = &encoder->out;
	uint32_t done = 0;

	for (uint32_t i = 0; i < table->shape_count; i++) {
		size_t start = out->size + sizeof(uint32_t);
		uint32_t size = 0;
		int err;

		if (table->shapes[i].group <= done)
			continue;
		done = table->shapes[i].group;
		pack_put_bytes(out, &size, sizeof(size));
		err = put_group(encoder, done, table->shapes[i].type, records);
		if (err < 0)
			return err;
		if (out->failed)
			return -ENOMEM;
		size = (uint32_t)(out->size - start);
		memcpy(out->bytes + start - sizeof(size), &size, sizeof(size));
	}
	return 0;
}

int pack_encode(struct pack_encoder *encoder, const void *records, size_t size,
		const void **ret_block, size_t *ret_size)
{
	int64_t count = size > PACK_BLOCK_BYTES_MOST ? -EINVAL : count_records(records, size);
	int err = count < 0 ? (int)count : pack_table_clear(&encoder->table, (uint32_t)count);

	encoder->out.size = 0;
	if (err == 0)
		err = find_shapes(encoder, records, (uint32_t)count);
	if (err < 0)
		return err;
	assign_groups(&encoder->table);
	err = pack_table_sort(&encoder->table);
	if (err < 0)
		return err;
	put_shapes(encoder);
	if (count)
		put_loose(encoder, records);
	err = put_groups(encoder, records);
	if (err == 0 && (encoder->out.failed || encoder->bytes.failed))
		err = -ENOMEM;
	encoder->out.failed = false;
	encoder->bytes.failed = false;
	if (err < 0)
		return err;
	*ret_block = encoder->out.bytes;
	*ret_size = encoder->out.size;
	return 0;
}

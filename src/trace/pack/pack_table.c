/* The table of pack_table.h: grouping of records, access to fields, series. */
#include "trace/pack/pack_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"

void pack_table_release(struct pack_table *table)
{
	for (int i = 0; i < PACK_KEYS_MOST; i++)
		pack_refs_release(&table->refs[i]);
	pack_series_release(&table->scratch);
	free(table->shapes);
	free(table->shape_of);
	free(table->groups);
	free(table->row_offsets);
	free(table->row_words);
	free(table->values);
	free(table->lengths);
	*table = (struct pack_table){0};
}

static int reserve_records(struct pack_table *table, uint32_t count)
{
	if (count <= table->record_room)
		return 0;
	free(table->shape_of);
	free(table->row_offsets);
	free(table->row_words);
	free(table->values);
	free(table->lengths);
	table->record_room = 0;
	table->shape_of = calloc(count, sizeof(*table->shape_of));
	table->row_offsets = calloc(count, sizeof(*table->row_offsets));
	table->row_words = calloc(count, sizeof(*table->row_words));
	table->values = calloc(count, sizeof(*table->values));
	table->lengths = calloc(count, sizeof(*table->lengths));
	if (!table->shape_of || !table->row_offsets || !table->row_words || !table->values ||
	    !table->lengths)
		return -ENOMEM;
	table->record_room = count;
	return 0;
}

int pack_table_clear(struct pack_table *table, uint32_t record_count)
{
	table->shape_count = 0;
	table->group_count = 0;
	table->record_count = record_count;
	table->bytes = 0;
	if (reserve_records(table, record_count) < 0)
		return -ENOMEM;
	return pack_series_reserve(&table->scratch, record_count);
}

int pack_table_add_shape(struct pack_table *table, struct pack_shape shape)
{
	if (table_reserve((void **)&table->shapes, &table->shape_room, table->shape_count + 1ull,
			  sizeof(*table->shapes)) < 0)
		return -ENOMEM;
	table->shapes[table->shape_count++] = shape;
	return 0;
}

static int make_groups(struct pack_table *table)
{
	uint32_t row = 0;

	for (uint32_t i = 0; i < table->shape_count; i++) {
		if (table->shapes[i].group >= table->group_count)
			table->group_count = table->shapes[i].group + 1;
	}
	if (table->group_count > table->group_room) {
		free(table->groups);
		table->groups = calloc(table->group_count, sizeof(*table->groups));
		table->group_room = table->groups ? table->group_count : 0;
		if (!table->groups)
			return -ENOMEM;
	}
	for (uint32_t i = 0; i < table->group_count; i++)
		table->groups[i] = (struct pack_group){0};
	for (uint32_t i = 0; i < table->shape_count; i++) {
		struct pack_group *group = &table->groups[table->shapes[i].group];

		group->row_count += table->shapes[i].count;
		if (group->words_most < table->shapes[i].words)
			group->words_most = table->shapes[i].words;
	}
	for (uint32_t i = 0; i < table->group_count; i++) {
		table->groups[i].first_row = row;
		row += table->groups[i].row_count;
	}
	return 0;
}

int pack_table_sort(struct pack_table *table)
{
	size_t offset = 0;
	int err = make_groups(table);

	if (err < 0)
		return err;
	for (uint32_t i = 0; i < table->record_count; i++) {
		const struct pack_shape *shape = &table->shapes[table->shape_of[i]];
		uint32_t row = table->groups[shape->group].first_row++;

		table->row_offsets[row] = (uint32_t)offset;
		table->row_words[row] = shape->words;
		offset += shape->words * 8u;
	}
	for (uint32_t i = 0; i < table->group_count; i++)
		table->groups[i].first_row -= table->groups[i].row_count;
	table->bytes = offset;
	return 0;
}

/* ---- fields ---- */

static inline void load_bytes(const uint8_t *place, const uint32_t *offsets, uint32_t count,
			      size_t bytes, uint64_t *ret_values)
{
	for (uint32_t i = 0; i < count; i++) {
		uint64_t value = 0;

		memcpy(&value, place + offsets[i], bytes);
		ret_values[i] = value;
	}
}

static inline void store_bytes(uint8_t *place, const uint32_t *offsets, uint32_t count,
			       size_t bytes, const uint64_t *values)
{
	for (uint32_t i = 0; i < count; i++)
		memcpy(place + offsets[i], &values[i], bytes);
}

void pack_table_load(const struct pack_table *table, const struct pack_group *group,
		     const uint8_t *records, const struct pack_field *field, uint64_t *ret_values)
{
	const uint8_t *place = records + field->offset;
	const uint32_t *offsets = table->row_offsets + group->first_row;
	uint32_t count = group->row_count;

	/* With a constant size the compiler makes each load one instruction. */
	switch (field->bytes) {
	case 1:
		load_bytes(place, offsets, count, 1, ret_values);
		break;
	case 2:
		load_bytes(place, offsets, count, 2, ret_values);
		break;
	case 4:
		load_bytes(place, offsets, count, 4, ret_values);
		break;
	default:
		load_bytes(place, offsets, count, 8, ret_values);
	}
}

void pack_table_store(const struct pack_table *table, const struct pack_group *group,
		      uint8_t *records, const struct pack_field *field, const uint64_t *values)
{
	uint8_t *place = records + field->offset;
	const uint32_t *offsets = table->row_offsets + group->first_row;
	uint32_t count = group->row_count;

	switch (field->bytes) {
	case 1:
		store_bytes(place, offsets, count, 1, values);
		break;
	case 2:
		store_bytes(place, offsets, count, 2, values);
		break;
	case 4:
		store_bytes(place, offsets, count, 4, values);
		break;
	default:
		store_bytes(place, offsets, count, 8, values);
	}
}

void pack_table_load_word(const struct pack_table *table, const struct pack_group *group,
			  const uint8_t *records, uint32_t offset, uint64_t *ret_values)
{
	const uint32_t *offsets = table->row_offsets + group->first_row;
	const uint16_t *words = table->row_words + group->first_row;

	for (uint32_t i = 0; i < group->row_count; i++) {
		ret_values[i] = 0;
		if (words[i] * 8u > offset)
			memcpy(&ret_values[i], records + offsets[i] + offset, 8);
	}
}

void pack_table_store_word(const struct pack_table *table, const struct pack_group *group,
			   uint8_t *records, uint32_t offset, const uint64_t *values)
{
	const uint32_t *offsets = table->row_offsets + group->first_row;
	const uint16_t *words = table->row_words + group->first_row;

	for (uint32_t i = 0; i < group->row_count; i++) {
		if (words[i] * 8u > offset)
			memcpy(records + offsets[i] + offset, &values[i], 8);
	}
}

/* ---- series ---- */

void pack_table_begin_group(struct pack_table *table, const struct pack_field *place)
{
	table->ref_count = 0;
	table->place = place;
}

static int find_refs(struct pack_table *table, const struct pack_group *group,
		     const uint8_t *records, const struct pack_field *key,
		     struct pack_refs **ret_refs)
{
	uint32_t i = 0;
	int err;

	while (i < table->ref_count && table->ref_offsets[i] != key->offset)
		i++;
	if (i == PACK_KEYS_MOST)
		return -EINVAL;
	if (i == table->ref_count) {
		pack_table_load(table, group, records, key, table->values);
		if (table->place)
			pack_table_load(table, group, records, table->place, table->lengths);
		err = pack_refs_make(&table->refs[i], table->values,
				     table->place ? table->lengths : NULL, group->row_count);
		if (err < 0)
			return err;
		table->ref_offsets[i] = key->offset;
		table->ref_count++;
	}
	*ret_refs = &table->refs[i];
	return 0;
}

int pack_table_series(struct pack_table *table, const struct pack_group *group,
		      const uint8_t *records, const struct pack_field *key,
		      struct pack_series *ret_series)
{
	struct pack_refs *refs = NULL;
	int err = key ? find_refs(table, group, records, key, &refs) : 0;

	if (err < 0)
		return err;
	*ret_series = (struct pack_series){
		.values = table->values, .refs = refs, .count = group->row_count};
	return 0;
}

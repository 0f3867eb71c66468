/* Inside the packing of records: a block's records sorted into groups of rows.
 *
 * A record's *shape* is its type and size. Each shape belongs to a group, whose rows are cut into fields
 * together; group 0 is of those that are kept as they are. Writer and reader make the same table:
 * the one from the records, the other from the list of shapes. */
#ifndef DAGTAP_TRACE_PACK_TABLE_H
#define DAGTAP_TRACE_PACK_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/pack/pack_layout.h"
#include "trace/pack/pack_series.h"

#define PACK_SHAPES_MOST 65536

/* More words behind the fields than this, and the record stays as it is. */
#define PACK_TAIL_WORDS_MOST 32

/* Keys of one group. */
#define PACK_KEYS_MOST 4

struct pack_shape {
	uint16_t type;
	uint16_t words;
	uint32_t group;
	uint32_t count; /* records of it */
};

struct pack_group {
	uint32_t first_row; /* in row_offsets and row_words */
	uint32_t row_count;
	uint32_t words_most;
	bool is_wanted; /* for the decoder's use; false at first */
};

struct pack_table {
	struct pack_shape *shapes;
	uint32_t shape_count, shape_room;
	uint16_t *shape_of; /* by record */
	uint32_t record_count, record_room;
	size_t bytes; /* of all records */

	struct pack_group *groups;
	uint32_t group_count, group_room;
	uint32_t *row_offsets; /* group by group, in order: where the record begins */
	uint16_t *row_words;

	/* For the group that is being worked on. */
	uint64_t *values;
	uint64_t *lengths;
	struct pack_refs refs[PACK_KEYS_MOST];
	uint16_t ref_offsets[PACK_KEYS_MOST]; /* of the key's field */
	uint32_t ref_count;
	const struct pack_field *place; /* NULL: none */
	struct pack_series_scratch scratch;
};

void pack_table_release(struct pack_table *table);

/* Empties it and makes room for so many records. 0 or -ENOMEM. */
int pack_table_clear(struct pack_table *table, uint32_t record_count);
int pack_table_add_shape(struct pack_table *table, struct pack_shape shape);

/* From shapes (with their groups) and shape_of to groups and rows. 0 or -ENOMEM. */
int pack_table_sort(struct pack_table *table);

/* A field of all rows of a group, from and to RECORDS. */
void pack_table_load(const struct pack_table *table, const struct pack_group *group,
		     const uint8_t *records, const struct pack_field *field, uint64_t *ret_values);
void pack_table_store(const struct pack_table *table, const struct pack_group *group,
		      uint8_t *records, const struct pack_field *field, const uint64_t *values);

/* The same for the word at OFFSET, for rows that reach so far; in others it counts as 0. */
void pack_table_load_word(const struct pack_table *table, const struct pack_group *group,
			  const uint8_t *records, uint32_t offset, uint64_t *ret_values);
void pack_table_store_word(const struct pack_table *table, const struct pack_group *group,
			   uint8_t *records, uint32_t offset, const uint64_t *values);

/* The series of GROUP, whose rows are looked up by KEY (NULL: by none). KEY is in RECORDS already. 0 or
 * -ENOMEM; -EINVAL for too many keys. Call pack_table_begin_group before a group's first. */
int pack_table_series(struct pack_table *table, const struct pack_group *group,
		      const uint8_t *records, const struct pack_field *key,
		      struct pack_series *ret_series);

/* PLACE (NULL: none) must be in the records before the first series with a key is asked for. */
void pack_table_begin_group(struct pack_table *table, const struct pack_field *place);

#endif

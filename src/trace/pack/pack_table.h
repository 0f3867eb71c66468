/* Inside trace/pack/: sorts the records of a block into groups of rows.
 *
 * The *shape* of a record is its type and size. Each shape belongs to a group, and the rows of a
 * group are divided into the same fields. Group 0 holds the records that are stored without
 * division into fields. Encoder and decoder make the same table: the encoder from the records, the
 * decoder from the stored shapes. */
#ifndef DAGTAP_TRACE_PACK_TABLE_H
#define DAGTAP_TRACE_PACK_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/pack/pack_layout.h"
#include "trace/pack/pack_series.h"

#define PACK_SHAPES_MOST 65536

/* A record with more words than this after its fields goes to group 0. */
#define PACK_TAIL_WORDS_MOST 32

/* Limit of the different key fields of one group. */
#define PACK_KEYS_MOST 4

struct pack_shape {
	uint16_t type;
	uint16_t words; /* size of a record, in words of 8 bytes */
	uint32_t group; /* index into groups */
	uint32_t count; /* records of this shape in the block */
};

struct pack_group {
	uint32_t first_row; /* index into row_offsets and row_words */
	uint32_t row_count;
	uint32_t words_most; /* size of its largest record, in words */
	bool is_wanted;	     /* set and read by the decoder; false after pack_table_sort */
};

struct pack_table {
	struct pack_shape *shapes;
	uint32_t shape_count;
	size_t shape_room;
	uint16_t *shape_of; /* by record, in block order: index into shapes */
	uint32_t record_count, record_room;
	size_t bytes; /* size of all records */

	struct pack_group *groups;
	uint32_t group_count, group_room;
	/* By row, group after group: byte offset of its record in the block. */
	uint32_t *row_offsets;
	uint16_t *row_words; /* by row: size of its record, in words */

	/* For the group between two calls of pack_table_begin_group. */
	uint64_t *values;		       /* by row of the group */
	uint64_t *lengths;		       /* by row of the group */
	struct pack_refs refs[PACK_KEYS_MOST]; /* by key field; memory is kept between groups */
	uint16_t ref_offsets[PACK_KEYS_MOST];  /* offset of the key field */
	uint32_t ref_count;
	const struct pack_field *place; /* borrowed; NULL: the rows have no place */
	struct pack_series_scratch scratch;
};

/* Frees what the table owns; a zeroed struct is fine. */
void pack_table_release(struct pack_table *table);

/* Empties the table and makes room for RECORD_COUNT records; the caller then adds the shapes and
 * fills shape_of. 0 or -ENOMEM. */
int pack_table_clear(struct pack_table *table, uint32_t record_count);
int pack_table_add_shape(struct pack_table *table, struct pack_shape shape); /* 0 or -ENOMEM */

/* Makes groups and rows from shapes (with their groups and counts) and shape_of. 0 or -ENOMEM. */
int pack_table_sort(struct pack_table *table);

/* Copy FIELD of all rows of GROUP from RECORDS to ret_values, and from VALUES to RECORDS. RECORDS
 * is the whole block; the arrays have one number per row of the group. */
void pack_table_load(const struct pack_table *table, const struct pack_group *group,
		     const uint8_t *records, const struct pack_field *field, uint64_t *ret_values);
void pack_table_store(const struct pack_table *table, const struct pack_group *group,
		      uint8_t *records, const struct pack_field *field, const uint64_t *values);

/* The same for the word at byte OFFSET of each record. For a record that ends before it, load
 * returns 0 and store does nothing. */
void pack_table_load_word(const struct pack_table *table, const struct pack_group *group,
			  const uint8_t *records, uint32_t offset, uint64_t *ret_values);
void pack_table_store_word(const struct pack_table *table, const struct pack_group *group,
			   uint8_t *records, uint32_t offset, const uint64_t *values);

/* Makes a series for the rows of GROUP, with references by KEY (NULL: without). The key field must
 * be in RECORDS already. The series uses table->values; the call may overwrite values and lengths.
 * 0, -ENOMEM, or -EINVAL: the group has more than PACK_KEYS_MOST key fields. */
int pack_table_series(struct pack_table *table, const struct pack_group *group,
		      const uint8_t *records, const struct pack_field *key,
		      struct pack_series *ret_series);

/* Call before the first series of a group. PLACE (NULL: none) is the place field; it must be in the
 * records before the first series with a key is made, and stay valid while the group is
 * processed. */
void pack_table_begin_group(struct pack_table *table, const struct pack_field *place);

#endif

/* Batches: reads the cells of the next rows into the buffers of their columns. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "base/workers.h"
#include "format/arrow/arrow.h"

/* All columns of a thread are read for a block of rows before the next block, so that its rows stay
 * in the processor's cache. A multiple of 64, the bits of a word of the validity. */
#define BLOCK_ROWS 512

/* Of a smaller batch one thread fills all columns. */
#define SHARED_ROWS 4096

struct block {
	const struct table *table;
	const char *rows; /* the first row's struct; NULL if the table's rows are no array */
	uint64_t first;
	uint32_t at, count; /* place in the batch, number of rows */
};

/* Reads the cells of BLOCK one by one, for a table whose rows are no array. */
static void read_singly(struct arrow_worker *worker, const struct table_column *column,
			const struct block *block, uint64_t *ret_bits, uint64_t *ret_known)
{
	memset(ret_known, 0, (block->count + 63) / 64 * sizeof(*ret_known));
	for (uint32_t i = 0; i < block->count; i++) {
		const void *row = block->table->row(&worker->reader, block->first + i);
		struct table_cell cell = table_read_cell(&worker->reader, column, row);

		ret_bits[i] = cell.bits;
		ret_known[i / 64] |= (uint64_t)cell.is_known << i % 64;
	}
}

/* Reads the column's cells of BLOCK: their bits, and which of them are known into its validity. */
static void read_cells(struct arrow_worker *worker, struct arrow_column *column,
		       const struct block *block, uint64_t *ret_bits)
{
	const struct table_column *what = column->column;
	uint64_t *known = column->validity + block->at / 64;
	struct table_rows rows = {block->rows, block->table->row_bytes, block->count};

	if (block->rows)
		what->read(&worker->reader, &rows, what->field, ret_bits, known);
	else
		read_singly(worker, what, block, ret_bits, known);
}

static inline bool bit_at(const uint64_t *words, uint32_t at)
{
	return words[at / 64] >> at % 64 & 1;
}

static int fill_32(struct arrow_worker *worker, struct arrow_column *column,
		   const struct block *block)
{
	uint32_t *values = (uint32_t *)column->values + block->at;
	uint64_t bits[BLOCK_ROWS];

	read_cells(worker, column, block, bits);
	for (uint32_t i = 0; i < block->count; i++)
		values[i] = (uint32_t)bits[i];
	return 0;
}

static int fill_64(struct arrow_worker *worker, struct arrow_column *column,
		   const struct block *block)
{
	read_cells(worker, column, block, (uint64_t *)column->values + block->at);
	return 0;
}

static int fill_bool(struct arrow_worker *worker, struct arrow_column *column,
		     const struct block *block)
{
	uint64_t *words = (uint64_t *)column->values + block->at / 64;
	uint64_t bits[BLOCK_ROWS];

	read_cells(worker, column, block, bits);
	memset(words, 0, (block->count + 63) / 64 * sizeof(*words));
	for (uint32_t i = 0; i < block->count; i++)
		words[i / 64] |= (uint64_t)(bits[i] != 0) << i % 64;
	return 0;
}

/* Makes room for NUMBER in index_by_number, zeroed. */
static int reserve_number(struct arrow_column *column, uint32_t number)
{
	size_t before = column->index_room;

	if (table_reserve((void **)&column->index_by_number, &column->index_room,
			  (uint64_t)number + 1, sizeof(uint32_t)) < 0)
		return -ENOMEM;
	memset(column->index_by_number + before, 0,
	       (column->index_room - before) * sizeof(uint32_t));
	return 0;
}

/* The index of the text with NUMBER, as add_text_of says. */
static inline uint32_t find_name(struct arrow_worker *worker, struct arrow_column *column,
				 uint32_t number);

/* The index of the text with NUMBER in the names of the batch, to which it is added; ARROW_EMPTY:
 * an empty text; 0: out of memory. Several numbers may have one text. */
static uint32_t add_text_of(struct arrow_worker *worker, struct arrow_column *column,
			    uint32_t number)
{
	const char *text =
		table_utf8(column->column->text(&worker->reader, number), &worker->clean);
	uint32_t index;

	if (!text)
		return 0;
	if (!*text)
		return ARROW_EMPTY;
	index = strtab_intern_z(&column->names, text);
	return column->names.failed ? 0 : index;
}

/* Finds the index of NUMBER, which the batch has not had yet, and keeps it. */
static uint32_t add_name(struct arrow_worker *worker, struct arrow_column *column, uint32_t number)
{
	uint32_t index;

	if ((number >= column->index_room && reserve_number(column, number) < 0) ||
	    table_reserve((void **)&column->numbers, &column->numbers_room,
			  (uint64_t)column->numbers_count + 1, sizeof(uint32_t)) < 0)
		return 0;
	if (column->same && column->same[number] < number)
		index = find_name(worker, column, column->same[number]);
	else
		index = add_text_of(worker, column, number);
	if (!index)
		return 0;
	column->index_by_number[number] = index;
	column->numbers[column->numbers_count++] = number;
	return index;
}

static inline uint32_t find_name(struct arrow_worker *worker, struct arrow_column *column,
				 uint32_t number)
{
	uint32_t index = number < column->index_room ? column->index_by_number[number] : 0;

	return index ? index : add_name(worker, column, number);
}

/* Sets the COUNT (at most 64) values of names with BITS; clears the bits of KNOWN whose text is
 * empty. */
static int fill_word(struct arrow_worker *worker, struct arrow_column *column, const uint64_t *bits,
		     uint32_t count, uint64_t *known, int32_t *ret_values)
{
	uint64_t empty = 0, is_known = *known;

	for (uint32_t i = 0; i < count; i++, is_known >>= 1) {
		uint32_t index = ARROW_EMPTY;

		if (is_known & 1)
			index = find_name(worker, column, (uint32_t)bits[i]);
		if (!index)
			return -ENOMEM;
		empty |= (uint64_t)(index == ARROW_EMPTY) << i;
		ret_values[i] = index == ARROW_EMPTY ? 0 : (int32_t)(index - 1);
	}
	*known &= ~empty;
	return 0;
}

static int fill_names(struct arrow_worker *worker, struct arrow_column *column,
		      const struct block *block)
{
	int32_t *values = (int32_t *)column->values + block->at;
	uint64_t *known = column->validity + block->at / 64;
	uint64_t bits[BLOCK_ROWS];

	read_cells(worker, column, block, bits);
	for (uint32_t i = 0; i < block->count; i += 64) {
		uint32_t left = block->count - i;

		if (fill_word(worker, column, bits + i, left < 64 ? left : 64, known++,
			      values + i) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Adds TEXT, which is NULL if there was no memory for it, to the texts of the batch. */
static int add_text(struct arrow_column *column, const char *text)
{
	size_t bytes = text ? strlen(text) : 0;

	if (!text || column->text_bytes + bytes > INT32_MAX ||
	    table_reserve((void **)&column->text, &column->text_room, column->text_bytes + bytes,
			  1) < 0)
		return -ENOMEM;
	if (bytes) /* no room is made for the first text if it is empty */
		memcpy(column->text + column->text_bytes, text, bytes);
	column->text_bytes += bytes;
	return 0;
}

static int fill_texts(struct arrow_worker *worker, struct arrow_column *column,
		      const struct block *block)
{
	const struct table_column *what = column->column;
	int32_t *offsets = (int32_t *)column->values + block->at;
	uint64_t *known = column->validity + block->at / 64;
	uint64_t bits[BLOCK_ROWS];

	read_cells(worker, column, block, bits);
	for (uint32_t i = 0; i < block->count; i++) {
		if (bit_at(known, i) &&
		    add_text(column,
			     table_utf8(what->text(&worker->reader, bits[i]), &worker->clean)) < 0)
			return -ENOMEM;
		offsets[i + 1] = (int32_t)column->text_bytes;
		if (offsets[i + 1] == offsets[i])
			known[i / 64] &= ~((uint64_t)1 << i % 64);
	}
	return 0;
}

static const struct {
	int (*fill)(struct arrow_worker *worker, struct arrow_column *column,
		    const struct block *block);
	size_t value_bytes;
} fillers[] = {
	[TABLE_BOOL] = {fill_bool, 1},	[TABLE_INT32] = {fill_32, 4},
	[TABLE_INT64] = {fill_64, 8},	[TABLE_UINT32] = {fill_32, 4},
	[TABLE_UINT64] = {fill_64, 8},	[TABLE_DOUBLE] = {fill_64, 8},
	[TABLE_NAME] = {fill_names, 4}, [TABLE_TEXT] = {fill_texts, 4},
};

void arrow_column_release(struct arrow_column *column)
{
	free(column->validity);
	free(column->values);
	free(column->index_by_number);
	free(column->numbers);
	free(column->text);
	strtab_release(&column->names);
}

/* Gives the column buffers for ROWS rows, and one value more, which the offsets of texts have. */
static int begin_column(struct arrow_column *column, uint32_t rows)
{
	size_t bytes = ((size_t)rows + 1) * fillers[column->column->type].value_bytes;

	/* Of a batch before, or of one that failed. */
	for (uint32_t i = 0; i < column->numbers_count; i++)
		column->index_by_number[column->numbers[i]] = 0;
	column->numbers_count = 0;
	column->text_bytes = 0;
	free(column->validity);
	free(column->values);
	column->validity = malloc((rows + 63) / 64 * sizeof(uint64_t));
	column->values = malloc((bytes + 7) / 8 * 8);
	if (!column->validity || !column->values)
		return -ENOMEM;
	if (column->column->type == TABLE_TEXT)
		*(int32_t *)column->values = 0;
	if (column->column->type != TABLE_NAME)
		return 0;
	strtab_release(&column->names);
	return strtab_init(&column->names);
}

/* The rows of the batch that are null. */
static uint32_t count_nulls(const struct arrow_column *column, uint32_t rows)
{
	uint32_t nulls = rows;

	for (uint32_t i = 0; i < (rows + 63) / 64; i++)
		nulls -= (uint32_t)__builtin_popcountll(column->validity[i]);
	return nulls;
}

/* Moves the column's buffers into an array. */
static int end_column(struct arrow_column *column, uint32_t rows, struct ArrowArray *ret_array)
{
	void *buffers[3] = {column->validity, column->values, column->text};
	bool is_text = column->column->type == TABLE_TEXT;
	uint32_t nulls = count_nulls(column, rows);
	int err;

	if (!nulls) {
		free(buffers[0]);
		buffers[0] = NULL;
	}
	column->validity = NULL;
	column->values = NULL;
	if (is_text) {
		column->text = NULL;
		column->text_room = 0;
	}
	err = arrow_make_array(rows, nulls, buffers, is_text ? 3 : 2, ret_array);
	if (err < 0 || column->column->type != TABLE_NAME)
		return err;
	return arrow_make_dictionary(column, ret_array);
}

/* A batch that is filled by several threads: part P has the columns P, P + parts, ... */
struct filling {
	struct arrow_stream *stream;
	uint32_t rows, parts;
};

static int fill_block(struct arrow_worker *worker, const struct filling *filling, uint32_t part,
		      const struct block *block)
{
	const struct arrow_stream *stream = filling->stream;

	for (uint32_t i = part; i < stream->columns_count; i += filling->parts) {
		struct arrow_column *column = &stream->columns[i];

		if (fillers[column->column->type].fill(worker, column, block) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int fill_part(void *context, unsigned number, uint32_t part)
{
	const struct filling *filling = context;
	const struct arrow_stream *stream = filling->stream;
	struct arrow_worker *worker = &stream->workers[number];
	struct block block = {.table = stream->table};

	for (uint32_t i = part; i < stream->columns_count; i += filling->parts) {
		if (begin_column(&stream->columns[i], filling->rows) < 0)
			return -ENOMEM;
	}
	for (; block.at < filling->rows; block.at += block.count) {
		uint32_t left = filling->rows - block.at;

		block.first = stream->row + block.at;
		block.count = left < BLOCK_ROWS ? left : BLOCK_ROWS;
		if (block.table->row_bytes)
			block.rows = block.table->row(&worker->reader, block.first);
		if (fill_block(worker, filling, part, &block) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int fill_batch(struct arrow_stream *stream, uint32_t rows)
{
	struct filling filling = {.stream = stream, .rows = rows, .parts = stream->workers_count};

	if (rows < SHARED_ROWS)
		filling.parts = 1;
	return workers_run(stream->workers_count, filling.parts, fill_part, &filling);
}

/* The private data of a batch. */
struct batch_parts {
	const void *no_validity; /* the one buffer of a struct array: no row is null */
	struct ArrowArray **pointers;
	struct ArrowArray children[];
};

static void release_batch(struct ArrowArray *batch)
{
	struct batch_parts *parts = batch->private_data;

	for (int64_t i = 0; i < batch->n_children; i++) {
		if (batch->children[i]->release)
			batch->children[i]->release(batch->children[i]);
	}
	free(parts->pointers);
	free(parts);
	batch->release = NULL;
}

static int make_empty_batch(uint32_t rows, uint32_t columns_count, struct ArrowArray *batch)
{
	struct batch_parts *parts =
		calloc(1, sizeof(*parts) + columns_count * sizeof(struct ArrowArray));

	if (parts)
		parts->pointers = calloc(columns_count + 1, sizeof(struct ArrowArray *));
	if (!parts || !parts->pointers) {
		free(parts);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < columns_count; i++)
		parts->pointers[i] = &parts->children[i];
	*batch = (struct ArrowArray){
		.length = rows,
		.n_buffers = 1,
		.n_children = columns_count,
		.buffers = &parts->no_validity,
		.children = parts->pointers,
		.release = release_batch,
		.private_data = parts,
	};
	return 0;
}

int arrow_make_batch(struct arrow_stream *stream, struct ArrowArray *ret_batch)
{
	uint64_t left = stream->count - stream->row;
	uint32_t rows = left < DAGTAP_COLUMNS_BATCH ? (uint32_t)left : DAGTAP_COLUMNS_BATCH;
	struct ArrowArray batch;
	int err = fill_batch(stream, rows);

	if (err < 0 || make_empty_batch(rows, stream->columns_count, &batch) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < stream->columns_count && err == 0; i++)
		err = end_column(&stream->columns[i], rows, batch.children[i]);
	if (err < 0) {
		batch.release(&batch);
		return err;
	}
	stream->row += rows;
	*ret_batch = batch;
	return 0;
}

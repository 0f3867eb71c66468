/* A table as an ArrowArrayStream. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/workers.h"
#include "format/arrow/arrow.h"
#include "format/tables/scope_paths.h"

/* Keeps the cause for get_last_error, and returns the code that Arrow wants. */
static int answer(struct arrow_stream *stream, int err)
{
	stream->failure = err < 0 ? strerrordesc_np(-err) : "";
	return -err;
}

static int get_schema(struct ArrowArrayStream *outer, struct ArrowSchema *out)
{
	struct arrow_stream *stream = outer->private_data;

	return answer(stream, arrow_make_schema(stream, out));
}

/* The end of a stream is an array that is released. */
static int get_next(struct ArrowArrayStream *outer, struct ArrowArray *out)
{
	struct arrow_stream *stream = outer->private_data;

	if (stream->row == stream->count) {
		*out = (struct ArrowArray){0};
		return answer(stream, 0);
	}
	return answer(stream, arrow_make_batch(stream, out));
}

static const char *get_last_error(struct ArrowArrayStream *outer)
{
	return ((const struct arrow_stream *)outer->private_data)->failure;
}

static void destroy(struct arrow_stream *stream)
{
	for (uint32_t i = 0; i < stream->columns_count; i++)
		arrow_column_release(&stream->columns[i]);
	for (unsigned i = 0; i < stream->workers_count; i++)
		free(stream->workers[i].clean.text);
	free(stream->columns);
	free(stream->scopes_first);
	free(stream->workers);
	free(stream);
}

static void release(struct ArrowArrayStream *outer)
{
	destroy(outer->private_data);
	outer->release = NULL;
}

/* Counts the names of COLUMNS, and checks that TABLE has them. NULL: all columns of the table. */
static int count_columns(const struct table *table, const char *const *columns,
			 struct dagtap_error *error)
{
	int count = 0;

	if (!columns)
		return (int)table->columns_count;
	for (; columns[count]; count++) {
		if (!table_find_column(table, columns[count]))
			return dagtap_error_set(error, -EINVAL, "table %s has no column \"%s\"",
						table->name, columns[count]);
	}
	return count;
}

/* Sets what tells the columns which scopes have one path, if there are such columns. */
static int find_paths(struct arrow_stream *stream, const struct trace *trace)
{
	for (uint32_t i = 0; i < stream->columns_count; i++) {
		struct arrow_column *column = &stream->columns[i];

		if (!column->column->is_scope)
			continue;
		if (!stream->scopes_first && scope_paths_find(trace, &stream->scopes_first) < 0)
			return -ENOMEM;
		column->same = stream->scopes_first;
	}
	return 0;
}

static struct arrow_stream *create(const struct trace *trace, const struct table *table,
				   const char *const *columns, uint32_t count)
{
	struct arrow_stream *stream = calloc(1, sizeof(*stream));
	unsigned workers_most = workers_count(WORKERS_ALL);

	if (!stream)
		return NULL;
	stream->columns = calloc((size_t)count + 1, sizeof(*stream->columns));
	stream->workers = calloc(workers_most, sizeof(*stream->workers));
	if (!stream->columns || !stream->workers) {
		destroy(stream);
		return NULL;
	}
	stream->workers_count = workers_most;
	for (unsigned i = 0; i < workers_most; i++)
		table_reader_init(&stream->workers[i].reader, trace);
	stream->table = table;
	stream->count = table->count(trace);
	stream->failure = "";
	stream->columns_count = count;
	for (uint32_t i = 0; i < count; i++)
		stream->columns[i].column =
			columns ? table_find_column(table, columns[i]) : &table->columns[i];
	if (find_paths(stream, trace) < 0) {
		destroy(stream);
		return NULL;
	}
	return stream;
}

int arrow_open(const struct trace *trace, const char *table_name, const char *const *columns,
	       struct ArrowArrayStream *ret_stream, struct dagtap_error *error)
{
	const struct table *table = table_find(table_name);
	struct arrow_stream *stream;
	int count;

	if (!table)
		return dagtap_error_set(error, -EINVAL, "no table \"%s\"", table_name);
	count = count_columns(table, columns, error);
	if (count < 0)
		return count;
	stream = create(trace, table, columns, (uint32_t)count);
	if (!stream)
		return dagtap_error_set(error, -ENOMEM, "out of memory");
	*ret_stream = (struct ArrowArrayStream){
		.get_schema = get_schema,
		.get_next = get_next,
		.get_last_error = get_last_error,
		.release = release,
		.private_data = stream,
	};
	return 0;
}

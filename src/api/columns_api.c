/* Implements dagtap/columns.h, which has the contracts, on the tables (format/tables/tables.h) and
 * their Arrow streams (format/arrow/arrow.h). */
#include <dagtap/columns.h>

#include <errno.h>
#include <stdlib.h>

#include "api/trace_holders.h"
#include "base/error_text.h"
#include "format/arrow/arrow.h"

#define EXPORT __attribute__((visibility("default")))

_Static_assert(DAGTAP_COLUMNS_VERSION == TABLES_VERSION, "one version for all formats");

EXPORT int dagtap_columns_get_table(size_t index, struct dagtap_columns_table *ret_table)
{
	if (!table_at(index))
		return -ERANGE;
	*ret_table = (struct dagtap_columns_table){
		.name = table_names[index].name,
		.help = table_names[index].help,
	};
	return 0;
}

EXPORT int dagtap_columns_get_column(const char *table, size_t index,
				     struct dagtap_columns_column *ret_column)
{
	const struct table *found = table_find(table);
	const struct table_column *column;

	if (!found)
		return -EINVAL;
	if (index >= found->columns_count)
		return -ERANGE;
	column = &found->columns[index];
	*ret_column = (struct dagtap_columns_column){
		.name = column->name,
		.unit = column->unit ? column->unit : "",
		.format = arrow_format(column),
		.is_dictionary = column->type == TABLE_NAME,
	};
	return 0;
}

/* A stream of a trace that it keeps. */
struct held_stream {
	struct ArrowArrayStream inner;
	struct dagtap_trace *trace; /* a holder of it */
};

static struct ArrowArrayStream *inner_of(struct ArrowArrayStream *stream)
{
	struct held_stream *held = stream->private_data;

	return &held->inner;
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *ret_schema)
{
	return inner_of(stream)->get_schema(inner_of(stream), ret_schema);
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *ret_array)
{
	return inner_of(stream)->get_next(inner_of(stream), ret_array);
}

static const char *get_last_error(struct ArrowArrayStream *stream)
{
	return inner_of(stream)->get_last_error(inner_of(stream));
}

static void release(struct ArrowArrayStream *stream)
{
	struct held_stream *held = stream->private_data;

	held->inner.release(&held->inner);
	trace_drop(held->trace);
	free(held);
	stream->release = NULL;
}

EXPORT int dagtap_columns_open(const struct dagtap_trace *trace, const char *table,
			       const char *const *columns, struct ArrowArrayStream *ret_stream,
			       struct dagtap_error *error)
{
	struct held_stream *held = calloc(1, sizeof(*held));
	int err;

	if (!held)
		return dagtap_error_set(error, -ENOMEM, "out of memory");
	err = arrow_open(trace->model, table, columns, &held->inner, error);
	if (err < 0) {
		free(held);
		return err;
	}
	held->trace = trace_hold(trace);
	*ret_stream = (struct ArrowArrayStream){
		.get_schema = get_schema,
		.get_next = get_next,
		.get_last_error = get_last_error,
		.release = release,
		.private_data = held,
	};
	return 0;
}

/* Arrow streams of traces that are made by hand: batches, texts, and memory that runs out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <errno.h>

#include <cmocka.h>

#include "../failing_memory.h"
#include "format/arrow/arrow.h"
#include "sample.h"

static struct ArrowArrayStream open_stream(const struct trace *trace, const char *table)
{
	struct ArrowArrayStream stream;

	assert_int_equal(arrow_open(trace, table, NULL, &stream, NULL), 0);
	return stream;
}

/* The column NAME of TABLE in BATCH. */
static const struct ArrowArray *find(const struct ArrowArray *batch, const struct table *table,
				     const char *name)
{
	return batch->children[table_find_column(table, name) - table->columns];
}

/* The texts of a dictionary or a column of texts, joined by "|", in a static buffer. */
static const char *texts_of(const struct ArrowArray *array)
{
	static char joined[1024];
	const int32_t *offsets = array->buffers[1];
	size_t used = 0;

	joined[0] = '\0';
	for (int64_t i = 0; i < array->length; i++)
		used += (size_t)snprintf(joined + used, sizeof(joined) - used, "%s%.*s",
					 i ? "|" : "", offsets[i + 1] - offsets[i],
					 (const char *)array->buffers[2] + offsets[i]);
	return joined;
}

/* Two batches and one row, of two kernels in turns until the last row, which is a copy. */
static void batches_are_bounded(void **state)
{
	const uint32_t count = 2 * DAGTAP_COLUMNS_BATCH + 1;
	struct trace *trace = sample_trace();
	struct trace_activity *rows = calloc(count, sizeof(*rows));
	struct ArrowArrayStream stream;
	struct ArrowArray batch;

	for (uint32_t i = 0; i < count; i++)
		rows[i] = trace->activities[i == count - 1 ? 6 : i % 2];
	trace->activities = rows;
	trace->activities_count = count;
	trace->ticks = NULL;
	stream = open_stream(trace, "activities");
	for (uint32_t left = count; left > 0; left -= (uint32_t)batch.length) {
		const struct ArrowArray *name, *start;

		assert_int_equal(stream.get_next(&stream, &batch), 0);
		assert_int_equal(batch.length, left == 1 ? 1 : DAGTAP_COLUMNS_BATCH);
		name = find(&batch, &table_activities, "name");
		start = find(&batch, &table_activities, "start_ns");
		assert_string_equal(texts_of(name->dictionary),
				    left == 1 ? "" : "void a<int, 4>(int*)|b");
		assert_int_equal(name->null_count, left == 1);
		for (int64_t i = 0; i < batch.length; i++)
			assert_int_equal(((const int64_t *)start->buffers[1])[i],
					 rows[count - left + i].start_ns);
		batch.release(&batch);
	}
	assert_int_equal(stream.get_next(&stream, &batch), 0);
	assert_null(batch.release);
	stream.release(&stream);
	free(rows);
}

static void dictionaries_have_each_text_once(void **state)
{
	struct trace *trace = sample_trace();
	struct trace_thread thread = {.tid = 1};
	struct trace_scope scopes[] = {
		{.id = 1, .parent = TRACE_NONE, .text = 1},
		{.id = 2, .parent = TRACE_NONE, .text = 1},
		{.id = 3, .parent = TRACE_NONE, .text = 0},
		{.id = 4, .parent = TRACE_NONE, .text = 2},
	};
	const char *strings[] = {"", "one", "no \xff UTF-8 \xc3"};
	struct ArrowArrayStream stream;
	struct ArrowArray batch;
	const struct ArrowArray *path;

	trace->strings = strings;
	trace->threads = &thread;
	trace->scopes = scopes;
	trace->scopes_count = 4;
	stream = open_stream(trace, "scopes");
	assert_int_equal(stream.get_next(&stream, &batch), 0);
	path = find(&batch, &table_scopes, "scope");
	assert_string_equal(texts_of(path->dictionary), "one|no \xef\xbf\xbd UTF-8 \xef\xbf\xbd");
	assert_memory_equal(path->buffers[1], ((int32_t[]){0, 0, 0, 1}), 16);
	assert_int_equal(path->null_count, 1);
	assert_int_equal(*(const uint8_t *)path->buffers[0] & 0xf, 0xb);
	batch.release(&batch);
	stream.release(&stream);
}

/* Instances of one scope share a text; scopes that differ in one of their parents do not. A parent
 * may come after its child in a damaged file. */
static void instances_of_a_scope_share_its_path(void **state)
{
	struct trace *trace = sample_trace();
	struct trace_thread thread = {.tid = 1};
	struct trace_scope scopes[] = {
		{.id = 1, .parent = TRACE_NONE, .text = 1}, {.id = 2, .parent = 0, .text = 2},
		{.id = 3, .parent = TRACE_NONE, .text = 1}, {.id = 4, .parent = 2, .text = 2},
		{.id = 5, .parent = TRACE_NONE, .text = 2}, {.id = 6, .parent = 4, .text = 2},
		{.id = 7, .parent = 7, .text = 1},	    {.id = 8, .parent = 1, .text = 1},
	};
	const char *strings[] = {"", "step", "layer"};
	struct ArrowArrayStream stream;
	struct ArrowArray batch;
	const struct ArrowArray *path;

	trace->strings = strings;
	trace->threads = &thread;
	trace->scopes = scopes;
	trace->scopes_count = 8;
	stream = open_stream(trace, "scopes");
	assert_int_equal(stream.get_next(&stream, &batch), 0);
	path = find(&batch, &table_scopes, "scope");
	assert_string_equal(texts_of(path->dictionary),
			    "step|step/layer|layer|layer/layer|step/layer/step/step|"
			    "step/layer/step");
	assert_memory_equal(path->buffers[1], ((int32_t[]){0, 1, 0, 1, 2, 3, 4, 5}), 32);
	batch.release(&batch);
	stream.release(&stream);
}

static void texts_are_of_their_row(void **state)
{
	struct ArrowArrayStream stream = open_stream(sample_trace(), "calls");
	struct ArrowArray batch;

	assert_int_equal(stream.get_next(&stream, &batch), 0);
	assert_string_equal(texts_of(find(&batch, &table_calls, "args")),
			    "graphExec=0x5000 stream=0x1000|graphExec=0x5000 stream=0x1000|"
			    "sizeBytes=4096||sizeBytes=4096");
	batch.release(&batch);
	stream.release(&stream);
}

/* The next allocation fails each time, until a whole stream needs fewer allocations than that. What
 * was made before is released. */
static void each_allocation_may_fail(void **state)
{
	bool is_through = false;

	for (uint64_t which = 1; !is_through; which++) {
		struct ArrowArrayStream stream = {0};
		struct ArrowSchema schema = {0};
		struct ArrowArray batch = {0};
		uint64_t before = memory_allocations();
		int err;

		memory_fail(which);
		err = -arrow_open(sample_trace(), "calls", NULL, &stream, NULL);
		if (err == 0)
			err = stream.get_schema(&stream, &schema);
		if (err == 0)
			err = stream.get_next(&stream, &batch);
		is_through = memory_allocations() - before < which;
		memory_fail(0);
		assert_int_equal(err, is_through ? 0 : ENOMEM);
		if (err && stream.release)
			assert_string_equal(stream.get_last_error(&stream),
					    "Cannot allocate memory");
		if (batch.release)
			batch.release(&batch);
		if (schema.release)
			schema.release(&schema);
		if (stream.release)
			stream.release(&stream);
	}
}

/* The same for the writer of files. */
static void each_allocation_of_a_file_may_fail(void **state)
{
	const struct format_options options = {.table = "calls"};
	FILE *out = fopen("/dev/null", "w");
	bool is_through = false;

	assert_non_null(out);
	for (uint64_t which = 1; !is_through; which++) {
		struct dagtap_error error = {.message = ""};
		uint64_t before = memory_allocations();
		int err;

		memory_fail(which);
		err = format_arrow.write(sample_trace(), out, &options, &error);
		is_through = memory_allocations() - before < which;
		memory_fail(0);
		assert_int_equal(err, is_through ? 0 : -ENOMEM);
	}
	fclose(out);
}

static void full_disk_is_reported(void **state)
{
	struct dagtap_error error;
	FILE *out = fopen("/dev/full", "w");

	assert_non_null(out);
	setbuf(out, NULL);
	assert_int_equal(format_arrow.write(sample_trace(), out, NULL, &error), -ENOSPC);
	assert_non_null(strstr(error.message, "No space left"));
	fclose(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(batches_are_bounded),
		cmocka_unit_test(dictionaries_have_each_text_once),
		cmocka_unit_test(instances_of_a_scope_share_its_path),
		cmocka_unit_test(texts_are_of_their_row),
		cmocka_unit_test(each_allocation_may_fail),
		cmocka_unit_test(each_allocation_of_a_file_may_fail),
		cmocka_unit_test(full_disk_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

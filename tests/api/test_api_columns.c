/* The streams of dagtap/columns.h, as a program sees them: shapes, nulls, ownership. Other
 * projects' readers check them in tests/conformance. */
#include <dagtap/columns.h>
#include <dagtap/trace.h>

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "../launched.h"
#include "scene.h"

static char path[TEST_PATH_BYTES];

static void write_file(const void *bytes, size_t size)
{
	FILE *file = fopen(path, "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

/* ROUNDS times two kernels "one" and "two", each of its own call. */
static struct dagtap_trace *open_recording(uint32_t rounds)
{
	struct dagtap_error error = {0};
	struct dagtap_trace *trace;
	struct scene scene;

	scene_init(&scene, 42);
	for (uint32_t i = 0; i < rounds; i++) {
		for (uint32_t kernel = 1; kernel <= 2; kernel++) {
			uint64_t cid = scene_call(&scene, SCENE_LAUNCH_KERNEL, 1,
						  (uint64_t[]){0x101, 0}, 2);

			scene_run(&scene, cid, 0, kernel, 64 * kernel);
		}
	}
	scene_close(&scene);
	write_file(scene.image, scene_bytes(&scene));
	scene_release(&scene);
	if (dagtap_trace_open(path, &trace, &error) < 0)
		fail_msg("%s", error.message);
	return trace;
}

static struct ArrowArrayStream open_stream(const struct dagtap_trace *trace, const char *table,
					   const char *const *columns)
{
	struct ArrowArrayStream stream;
	struct dagtap_error error;

	if (dagtap_columns_open(trace, table, columns, &stream, &error) < 0)
		fail_msg("%s", error.message);
	return stream;
}

static bool is_valid(const struct ArrowArray *column, int64_t row)
{
	const uint8_t *validity = column->buffers[0];

	return !validity || validity[row / 8] >> row % 8 & 1;
}

/* The text of a row of a dictionary-encoded column, in a static buffer. */
static const char *name_of(const struct ArrowArray *column, int64_t row)
{
	static char text[64];
	int32_t index = ((const int32_t *)column->buffers[1])[row];
	const int32_t *offsets = column->dictionary->buffers[1];
	int bytes = offsets[index + 1] - offsets[index];

	assert_true(index < column->dictionary->length);
	snprintf(text, sizeof(text), "%.*s", bytes,
		 (const char *)column->dictionary->buffers[2] + offsets[index]);
	return text;
}

static void columns_have_values_and_nulls(void **state)
{
	const char *const columns[] = {"name", "duration_ns", "grid_x", "bytes", "blit", NULL};
	struct dagtap_trace *trace = open_recording(3);
	struct ArrowArrayStream stream = open_stream(trace, "activities", columns);
	struct ArrowArray batch, end;

	assert_int_equal(stream.get_next(&stream, &batch), 0);
	assert_int_equal(batch.length, 6);
	assert_int_equal(batch.n_children, 5);
	assert_int_equal(batch.null_count, 0);
	for (int64_t row = 0; row < 6; row++) {
		assert_string_equal(name_of(batch.children[0], row), row % 2 ? "two" : "one");
		assert_int_equal(((const int64_t *)batch.children[1]->buffers[1])[row], 1000);
		assert_int_equal(((const uint64_t *)batch.children[2]->buffers[1])[row],
				 row % 2 ? 128 : 64);
		assert_false(is_valid(batch.children[3], row));
		assert_true(is_valid(batch.children[4], row));
	}
	assert_int_equal(batch.children[0]->dictionary->length, 2);
	assert_int_equal(batch.children[3]->null_count, 6);
	assert_int_equal(stream.get_next(&stream, &end), 0);
	assert_null(end.release);
	batch.release(&batch);
	stream.release(&stream);
	dagtap_trace_close(trace);
}

static void schema_names_types_and_units(void **state)
{
	struct dagtap_trace *trace = open_recording(1);
	struct ArrowArrayStream stream = open_stream(trace, NULL, NULL);
	struct dagtap_columns_column column;
	struct ArrowSchema schema;

	assert_int_equal(stream.get_schema(&stream, &schema), 0);
	assert_string_equal(schema.format, "+s");
	for (int64_t i = 0; i < schema.n_children; i++) {
		const struct ArrowSchema *child = schema.children[i];

		assert_int_equal(dagtap_columns_get_column("activities", (size_t)i, &column), 0);
		assert_string_equal(child->name, column.name);
		assert_int_equal(child->metadata != NULL, *column.unit != 0);
		assert_int_equal(child->dictionary != NULL, column.is_dictionary);
		assert_string_equal(column.is_dictionary ? child->dictionary->format
							 : child->format,
				    column.format);
	}
	assert_int_equal(
		dagtap_columns_get_column("activities", (size_t)schema.n_children, &column),
		-ERANGE);
	schema.release(&schema);
	stream.release(&stream);
	dagtap_trace_close(trace);
}

/* A child that is moved out of its batch stays valid when all else is released. */
static void children_own_their_memory(void **state)
{
	struct dagtap_trace *trace = open_recording(1);
	struct ArrowArrayStream stream = open_stream(trace, "activities", NULL);
	struct ArrowArray batch, child;

	assert_int_equal(stream.get_next(&stream, &batch), 0);
	child = *batch.children[6];
	batch.children[6]->release = NULL;
	batch.release(&batch);
	stream.release(&stream);
	dagtap_trace_close(trace);
	assert_string_equal(name_of(&child, 1), "two");
	child.release(&child);
}

/* Under AddressSanitizer: without use after free, and without a leak. */
static void streams_keep_a_closed_trace(void **state)
{
	struct dagtap_trace *trace = open_recording(1);
	struct ArrowArrayStream streams[2] = {open_stream(trace, NULL, NULL),
					      open_stream(trace, "calls", NULL)};
	struct ArrowArray batch;

	dagtap_trace_close(trace);
	for (int i = 0; i < 2; i++) {
		struct ArrowSchema schema;

		assert_int_equal(streams[i].get_schema(&streams[i], &schema), 0);
		schema.release(&schema);
		assert_int_equal(streams[i].get_next(&streams[i], &batch), 0);
		assert_int_equal(batch.length, 2);
		assert_string_equal(streams[i].get_last_error(&streams[i]), "");
		streams[i].release(&streams[i]);
		assert_null(streams[i].release);
		batch.release(&batch);
	}
}

static void every_table_can_be_read(void **state)
{
	struct dagtap_trace *trace = open_recording(2);
	struct dagtap_columns_table table;
	size_t count = 0;

	for (; dagtap_columns_get_table(count, &table) == 0; count++) {
		struct ArrowArrayStream stream = open_stream(trace, table.name, NULL);
		struct ArrowArray batch;

		while (stream.get_next(&stream, &batch) == 0 && batch.release)
			batch.release(&batch);
		assert_string_equal(stream.get_last_error(&stream), "");
		stream.release(&stream);
	}
	assert_true(count > 0);
	dagtap_trace_close(trace);
}

static void what_is_not_there_is_refused(void **state)
{
	struct dagtap_trace *trace = open_recording(1);
	struct ArrowArrayStream stream = {0};
	struct dagtap_columns_column column = {0};
	struct dagtap_error error;

	assert_int_equal(dagtap_columns_open(trace, "kernels", NULL, &stream, &error), -EINVAL);
	assert_string_equal(error.message, "no table \"kernels\"");
	assert_int_equal(dagtap_columns_open(trace, "calls", (const char *const[]){"x", NULL},
					     &stream, &error),
			 -EINVAL);
	assert_string_equal(error.message, "table calls has no column \"x\"");
	assert_int_equal(dagtap_columns_open(trace, "kernels", NULL, &stream, NULL), -EINVAL);
	assert_null(stream.release);
	assert_int_equal(dagtap_columns_get_column("kernels", 0, &column), -EINVAL);
	assert_null(column.name);
	dagtap_trace_close(trace);
}

static int make_path(void **state)
{
	test_path(path, "columns");
	return close(mkstemp(path));
}

static int remove_path(void **state)
{
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_have_values_and_nulls),
		cmocka_unit_test(schema_names_types_and_units),
		cmocka_unit_test(children_own_their_memory),
		cmocka_unit_test(streams_keep_a_closed_trace),
		cmocka_unit_test(every_table_can_be_read),
		cmocka_unit_test(what_is_not_there_is_refused),
	};

	return cmocka_run_group_tests(tests, make_path, remove_path);
}

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/format.h"
#include "sample.h"

static char *write_table(const struct trace *trace, const char *table)
{
	const struct format_options options = {.table = table};

	return sample_write(trace, &format_csv, &options, NULL);
}

/* Fields of the line at TEXT, as RFC 4180 counts them; moves TEXT behind it. */
static unsigned count_fields(const char **text)
{
	bool quoted = false;
	unsigned fields = 1;

	for (; **text && (quoted || **text != '\n'); (*text)++) {
		if (**text == '"')
			quoted = !quoted;
		fields += **text == ',' && !quoted;
	}
	assert_int_equal(**text, '\n');
	(*text)++;
	return fields;
}

static unsigned count_rows(const char *text)
{
	unsigned columns = count_fields(&text);
	unsigned rows = 0;

	for (; *text; rows++)
		assert_int_equal(count_fields(&text), columns);
	return rows;
}

static void expect_line(const char *text, unsigned number, const char *line)
{
	for (; number > 0; number--)
		text = strchr(text, '\n') + 1;
	assert_int_equal(strncmp(text, line, strlen(line)), 0);
	assert_int_equal(text[strlen(line)], '\n');
}

static void every_row_has_the_columns_of_the_header(void **state)
{
	const struct {
		const char *table;
		unsigned rows;
	} expected[] = {
		{"activities", SAMPLE_ACTIVITIES},
		{"calls", SAMPLE_CALLS},
		{"scopes", SAMPLE_SCOPES},
		{"graph_nodes", 3},
	};

	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		char *text = write_table(sample_trace(), expected[i].table);

		assert_int_equal(count_rows(text), expected[i].rows);
		free(text);
	}
}

static void graph_kernel_says_where_it_comes_from(void **state)
{
	char *text = write_table(sample_trace(), NULL);

	expect_line(text, 5,
		    "100,0,1,1,100,kernel,b,1001800,1001900,100,1001050,180,190,1000,1,1,256,1,1,,,"
		    "0,2,hipGraphLaunch,1,\"step \"\"1\"\"/layer\",2,7,9,1,1,exact,");
	free(text);
}

static void what_is_not_known_is_empty(void **state)
{
	char *text = write_table(sample_trace(), "activities");

	expect_line(text, 9,
		    "100,0,2,,,kernel,orphan,,,,1005000,,,1,1,1,1,1,1,,,0,,,0,,,,,,,,"
		    "not finished when tracing ended");
	free(text);
}

static void copy_has_bytes_and_direction(void **state)
{
	char *text = write_table(sample_trace(), "activities");

	expect_line(text, 7,
		    "100,0,,0,100,copy,,1002700,1002800,100,1002550,,,,,,,,,4096,H2D,0,3,"
		    "hipMemcpyAsync,0,\"step \"\"1\"\"\",1,,,,,,");
	free(text);
}

static void call_has_parent_launch_and_arguments(void **state)
{
	char *text = write_table(sample_trace(), "calls");

	expect_line(
		text, 1,
		"100,100,1,hipGraphLaunch,,1001000,1001100,100,0,1,3,3,\"step \"\"1\"\"/layer\","
		"2,7,9,0,graphExec=0x5000 stream=0x1000");
	expect_line(text, 5,
		    "100,101,5,hipMemset,4,1002550,1002900,350,1,0,1,1,,,,,,sizeBytes=4096");
	free(text);
}

static void scope_has_path_and_kind(void **state)
{
	char *text = write_table(sample_trace(), "scopes");

	expect_line(text, 2,
		    "100,100,roctx,\"step \"\"1\"\"/layer\",2,1,layer,1000950,1002000,1050,0");
	expect_line(text, 4, "100,100,range,range 2,4,,range 2,1001500,1009000,7500,1");
	free(text);
}

static void text_with_line_breaks_is_quoted(void **state)
{
	struct trace *trace = sample_trace();
	struct trace_thread thread = {.tid = 1};
	struct trace_scope scope = {.parent = TRACE_NONE, .text = 1};
	const char *strings[] = {"", "a\r\nb"};
	char *text;

	trace->strings = strings;
	trace->threads = &thread;
	trace->scopes = &scope;
	trace->scopes_count = 1;
	text = write_table(trace, "scopes");
	assert_non_null(strstr(text, "\n100,1,,\"a\r\nb\",0,,\"a\r\nb\",0,0,0,0\n"));
	free(text);
}

static void empty_trace_is_a_header(void **state)
{
	struct trace trace = {.strings_count = 0};
	char *text = write_table(&trace, "activities");

	assert_int_equal(count_rows(text), 0);
	free(text);
}

static void same_trace_gives_same_bytes(void **state)
{
	char *first = write_table(sample_trace(), "calls");
	char *second = write_table(sample_trace(), "calls");

	assert_string_equal(first, second);
	free(first);
	free(second);
}

static void unknown_table_is_refused(void **state)
{
	const struct format_options options = {.table = "kernels"};
	struct dagtap_error error;
	FILE *out = fopen("/dev/null", "w");

	assert_int_equal(format_csv.write(sample_trace(), out, &options, &error), -EINVAL);
	assert_string_equal(error.message, "csv has no table \"kernels\"");
	fclose(out);
}

static void full_disk_is_reported(void **state)
{
	struct dagtap_error error;
	FILE *out = fopen("/dev/full", "w");

	setbuf(out, NULL);
	assert_int_equal(format_csv.write(sample_trace(), out, NULL, &error), -ENOSPC);
	assert_non_null(strstr(error.message, "No space left"));
	fclose(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_has_the_columns_of_the_header),
		cmocka_unit_test(graph_kernel_says_where_it_comes_from),
		cmocka_unit_test(what_is_not_known_is_empty),
		cmocka_unit_test(copy_has_bytes_and_direction),
		cmocka_unit_test(call_has_parent_launch_and_arguments),
		cmocka_unit_test(scope_has_path_and_kind),
		cmocka_unit_test(text_with_line_breaks_is_quoted),
		cmocka_unit_test(empty_trace_is_a_header),
		cmocka_unit_test(same_trace_gives_same_bytes),
		cmocka_unit_test(unknown_table_is_refused),
		cmocka_unit_test(full_disk_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The CSV writer: columns, quoting, references between tables. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/format.h"
#include "kept.h"
#include "sample.h"

static char *write_table(const struct trace *trace, const char *table)
{
	const struct format_options options = {.table = table};

	return sample_write(trace, &format_csv, &options, NULL);
}

/* Counts the fields of the line at TEXT by the rules of RFC 4180; moves TEXT behind it. */
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
	}
}

static void graph_kernel_says_where_it_comes_from(void **state)
{
	char *text = write_table(sample_trace(), NULL);

	expect_line(text, 5,
		    "100,0,1,1,100,kernel,b,1001800,1001900,100,1001050,180,190,1000,1,1,256,1,1,,,"
		    "0,2,hipGraphLaunch,1,\"step \"\"1\"\"/layer\",2,7,9,1,1,exact,,,,,4096,"
		    "work_items,\"step \"\"1\"\"/layer\",2,,,");
}

static void what_is_not_known_is_empty(void **state)
{
	char *text = write_table(sample_trace(), "activities");

	expect_line(text, 9,
		    "100,0,2,,,kernel,orphan,,,,1005000,,,1,1,1,1,1,1,,,0,,,0,,,,,,,,"
		    "not finished when tracing ended,,,,,work_items,,,,,");
}

static void copy_has_bytes_and_direction(void **state)
{
	char *text = write_table(sample_trace(), "activities");

	expect_line(text, 7,
		    "100,0,,0,100,copy,,1002700,1002800,100,1002550,,,,,,,,,4096,H2D,0,3,"
		    "hipMemcpyAsync,0,\"step \"\"1\"\"\",1,,,,,,,,,,0,,\"step \"\"1\"\"\",1,,,");
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
}

static void scope_has_path_and_kind(void **state)
{
	char *text = write_table(sample_trace(), "scopes");

	expect_line(text, 2,
		    "100,100,roctx,\"step \"\"1\"\"/layer\",2,1,layer,1000950,1002000,1050,0");
	expect_line(text, 4, "100,100,range,range 2,4,,range 2,1001500,1009000,7500,1");
}

static struct trace_event events[] = {{.handle = 3, .generation = 1},
				      {.handle = 4, .is_foreign = true}};

static struct trace_event_record records[] = {
	{.call = 0, .cid = 1, .stream = 1, .node = TRACE_NONE, .order = 1, .device_ns = 1001500},
	{.call = TRACE_NONE, .cid = 77, .stream = TRACE_NONE, .node = TRACE_NONE},
	{.call = 0, .cid = 1, .stream = 1, .node = 1},
};

static struct trace_wait waits[] = {
	{.call = 1,
	 .cid = 2,
	 .begin_ns = 10,
	 .end_ns = 15,
	 .type = TRACE_WAIT_STREAM_EVENT,
	 .known = TRACE_KNOWN_NUMBER,
	 .stream = 0,
	 .order = 1,
	 .producer = 0},
	{.call = 2,
	 .cid = 3,
	 .begin_ns = 20,
	 .end_ns = 22,
	 .type = TRACE_WAIT_STREAM,
	 .stream = 1,
	 .event = TRACE_NONE,
	 .producer = TRACE_NONE,
	 .result = 700},
	{.call = TRACE_NONE,
	 .cid = 78,
	 .begin_ns = 30,
	 .end_ns = 30,
	 .type = TRACE_WAIT_EVENT,
	 .stream = TRACE_NONE,
	 .event = 1,
	 .producer = TRACE_NONE},
	{.call = TRACE_NONE,
	 .cid = 79,
	 .begin_ns = 40,
	 .end_ns = 41,
	 .type = TRACE_WAIT_EVENT,
	 .known = TRACE_KNOWN_ORDER,
	 .stream = TRACE_NONE,
	 .producer = 2},
};

static struct trace_memory_operation operations[] = {
	{.call = 2,
	 .cid = 3,
	 .address = 4096,
	 .bytes = 512,
	 .ns = 1002600,
	 .agent = 0,
	 .stream = 0,
	 .scope = TRACE_NONE,
	 .kind = RECORD_MEMORY_KIND_DEVICE},
	{.call = TRACE_NONE,
	 .address = 4096,
	 .agent = TRACE_NONE,
	 .stream = TRACE_NONE,
	 .scope = TRACE_NONE,
	 .is_release = true},
	{.call = TRACE_NONE,
	 .bytes = 4096,
	 .agent = TRACE_NONE,
	 .stream = TRACE_NONE,
	 .scope = TRACE_NONE,
	 .kind = RECORD_MEMORY_KIND_HOST,
	 .result = 2},
};

/*
 * An event that is recorded twice on stream 1, and once more by a call that is not in the trace;
 * waits of stream 0, of the host for a stream, and for an event that another process records.
 */
static struct trace *trace_with_events(void)
{
	struct trace *trace = sample_trace();

	trace->events = events;
	trace->events_count = 2;
	trace->event_records = records;
	trace->event_records_count = 3;
	trace->waits = waits;
	trace->waits_count = 4;
	trace->memory_operations = operations;
	trace->memory_operations_count = 3;
	return trace;
}

static void event_says_on_which_stream_it_was_recorded(void **state)
{
	char *text = write_table(trace_with_events(), "events");

	assert_int_equal(count_rows(text), 3);
	expect_line(text, 1, "100,1,hipGraphLaunch,3,1,0,1,1,1001500,,,,");
	expect_line(text, 2, "100,77,,3,1,0,,,,,,,");
	/* A node of the graph that the call launched. */
	expect_line(text, 3, "100,1,hipGraphLaunch,3,1,0,1,,,7,9,0,1");
}

static void wait_names_who_recorded_its_event(void **state)
{
	char *text = write_table(trace_with_events(), "waits");

	assert_int_equal(count_rows(text), 4);
	expect_line(text, 1,
		    "100,2,hipGraphLaunch,stream_event,10,15,5,0,0,3,1,0,number,1,1,1,,,,");
	expect_line(text, 4, "100,79,,event,40,41,1,0,,3,1,0,order,,1,1,7,9,0,1");
}

static void wait_without_a_producer_still_names_its_event(void **state)
{
	char *text = write_table(trace_with_events(), "waits");

	expect_line(text, 2, "100,3,hipMemcpyAsync,stream,20,22,2,700,1,,,,,,,,,,,");
	expect_line(text, 3, "100,78,,event,30,30,0,0,,4,0,1,,,,,,,,");
}

static void memory_is_allocated_and_released(void **state)
{
	char *text = write_table(trace_with_events(), "memory");

	assert_int_equal(count_rows(text), 3);
	expect_line(text, 1, "100,3,hipMemcpyAsync,cpu,allocate,1002600,4096,512,device,0,,");
	expect_line(text, 2, "100,,,,release,,4096,,unknown,,,");
	expect_line(text, 3, "100,,,,fail,,,4096,host,,,");
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
}

/* Asserts that TEXT is written as CELL. */
static void expect_cell(const char *text, const char *cell)
{
	struct trace *trace = sample_trace();
	struct trace_thread thread = {.tid = 1};
	struct trace_scope scope = {.parent = TRACE_NONE, .text = 1};
	const char *strings[] = {"", text};
	char wanted[256], *table;

	trace->strings = strings;
	trace->threads = &thread;
	trace->scopes = &scope;
	trace->scopes_count = 1;
	table = write_table(trace, "scopes");
	snprintf(wanted, sizeof(wanted), "\n100,1,,%s,0,,%s,0,0,0,0\n", cell, cell);
	if (!strstr(table, wanted))
		fail_msg("\"%s\" is written so: %s", text, table);
}

/* A spreadsheet would evaluate text that begins like this. */
static void no_text_is_a_formula(void **state)
{
	expect_cell("=1+1", "'=1+1");
	expect_cell("+1", "'+1");
	expect_cell("-1", "'-1");
	expect_cell("@x,y", "\"'@x,y\"");
	expect_cell("\t=1", "\"'\t=1\"");
	expect_cell("\r=1", "\"'\r=1\"");
	expect_cell("a=1-1", "a=1-1");
	expect_cell("'a", "'a");
}

static void no_text_has_control_characters(void **state)
{
	expect_cell("red \x1b[31m", "red \xef\xbf\xbd[31m");
	expect_cell("bell \a, del \x7f", "\"bell \xef\xbf\xbd, del \xef\xbf\xbd\"");
	expect_cell("C1 \xc2\x9b", "C1 \xef\xbf\xbd");
	expect_cell("\x1b=1", "\xef\xbf\xbd=1");
	expect_cell("no \xff UTF-8 \xc3", "no \xef\xbf\xbd UTF-8 \xef\xbf\xbd");
	expect_cell("K\xc3\xa4rnel \xe4\xb8\x80", "K\xc3\xa4rnel \xe4\xb8\x80");
	expect_cell("a\tb", "\"a\tb\"");
}

static void empty_trace_is_a_header(void **state)
{
	struct trace trace = {.strings_count = 0};
	char *text = write_table(&trace, "activities");

	assert_int_equal(count_rows(text), 0);
}

static void same_trace_gives_same_bytes(void **state)
{
	char *first = write_table(sample_trace(), "calls");
	char *second = write_table(sample_trace(), "calls");

	assert_string_equal(first, second);
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
		KEPT_CASE(every_row_has_the_columns_of_the_header),
		KEPT_CASE(graph_kernel_says_where_it_comes_from),
		KEPT_CASE(what_is_not_known_is_empty),
		KEPT_CASE(copy_has_bytes_and_direction),
		KEPT_CASE(call_has_parent_launch_and_arguments),
		KEPT_CASE(scope_has_path_and_kind),
		KEPT_CASE(event_says_on_which_stream_it_was_recorded),
		KEPT_CASE(wait_names_who_recorded_its_event),
		KEPT_CASE(wait_without_a_producer_still_names_its_event),
		KEPT_CASE(memory_is_allocated_and_released),
		KEPT_CASE(text_with_line_breaks_is_quoted),
		KEPT_CASE(no_text_is_a_formula),
		KEPT_CASE(no_text_has_control_characters),
		KEPT_CASE(empty_trace_is_a_header),
		KEPT_CASE(same_trace_gives_same_bytes),
		KEPT_CASE(unknown_table_is_refused),
		KEPT_CASE(full_disk_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * The output of the Kineto writer, read with json-c. That readers accept it is tested in
 * tests/conformance.
 */
#include <errno.h>
#include <regex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kept.h"
#include "kineto_rows.h"
#include "sample.h"

/*
 * The sample's time 0 in us, counted from the begin of its twelfth of a year (Kineto's base time).
 */
#define US "1184084000"

static void head_says_what_readers_ask_for(void **state)
{
	struct kineto_file file = kineto_write(sample_trace(), NULL);
	struct json_object *devices = kineto_get(file.root, "deviceProperties");
	struct json_object *device, *account, *source;

	assert_int_equal(kineto_number(file.root, "schemaVersion"), 1);
	assert_string_equal(kineto_digits(file.root, "baseTimeNanoseconds"), "1698815916000000000");
	assert_int_equal(kineto_number(kineto_get(file.root, "distributedInfo"), "rank"), 5);
	assert_int_equal(kineto_length(devices), 1);
	device = kineto_at(devices, 0);
	assert_int_equal(kineto_number(device, "id"), 0);
	assert_string_equal(kineto_text(device, "name"), "Software GPU");
	assert_int_equal(kineto_number(device, "numSms"), 60);
	assert_int_equal(kineto_number(device, "computeMajor"), 9);
	assert_int_equal(kineto_number(device, "computeMinor"), 0);
	account = kineto_get(file.root, "dagtap");
	assert_int_equal(kineto_number(account, "activities"), SAMPLE_ACTIVITIES);
	assert_int_equal(kineto_number(account, "untimed"), 1);
	source = kineto_at(kineto_get(account, "sources"), 0);
	assert_int_equal(kineto_number(source, "expected"), 9);
	assert_int_equal(kineto_number(kineto_get(source, "dropped"), "no free chunk"), 1);
}

static void hta_rank_regex_matches(void **state)
{
	struct kineto_file file = kineto_write(sample_trace(), NULL);
	regmatch_t groups[2];
	regex_t rank;

	assert_int_equal(
		regcomp(&rank, "\"rank\":[[:space:]]+([0-9]+)", REG_EXTENDED | REG_NEWLINE), 0);
	assert_int_equal(regexec(&rank, file.text, 2, groups, 0), 0);
	assert_int_equal(strtol(file.text + groups[1].rm_so, NULL, 10), 5);
	regfree(&rank);
}

static void expect_dim(struct json_object *dim, long long x, long long y, long long z)
{
	const long long wanted[] = {x, y, z};

	assert_int_equal(kineto_length(dim), 3);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(json_object_get_int64(kineto_at(dim, i)), wanted[i]);
}

static void graph_kernel_has_every_key(void **state)
{
	struct kineto_file file = kineto_write(sample_trace(), NULL);
	struct json_object *row = kineto_find(&file, "kernel", "b", 0);
	struct json_object *args = kineto_get(row, "args");

	assert_string_equal(kineto_text(row, "ph"), "X");
	assert_int_equal(kineto_number(row, "pid"), 0);
	assert_int_equal(kineto_number(row, "tid"), 2);
	assert_string_equal(kineto_digits(row, "ts"), US "001.800");
	assert_string_equal(kineto_digits(row, "dur"), "0.100");
	assert_int_equal(kineto_number(args, "device"), 0);
	assert_int_equal(kineto_number(args, "stream"), 2);
	assert_int_equal(kineto_number(args, "correlation"), 2);
	/* The scope "layer" is the second row. */
	assert_int_equal(kineto_number(args, "External id"), 2);
	expect_dim(kineto_get(args, "grid"), 4, 1, 1);
	expect_dim(kineto_get(args, "block"), 256, 1, 1);
	assert_int_equal(kineto_number(args, "shared memory"), 0);
	assert_int_equal(kineto_number(args, "hsa_queue"), 1);
	assert_int_equal(kineto_number(args, "graph id"), 9);
	assert_int_equal(kineto_number(args, "replay"), 1);
	assert_int_equal(kineto_number(args, "node"), 1);
	assert_int_equal(kineto_number(args, "graph node id"), 7LL << 32 | 2);
	assert_int_equal(kineto_number(args, "graph node External id"), 2);
	assert_null(kineto_get(args, "registers per thread"));
}

static void copies_and_memsets_say_what_they_moved(void **state)
{
	struct kineto_file file = kineto_write(sample_trace(), NULL);
	struct json_object *copy = kineto_find(&file, "gpu_memcpy", NULL, 0);
	struct json_object *fill = kineto_find(&file, "gpu_memset", NULL, 0);

	assert_string_equal(kineto_text(copy, "name"), "Memcpy HtoD (Host -> Device)");
	assert_int_equal(kineto_number(kineto_get(copy, "args"), "bytes"), 4096);
	assert_string_equal(kineto_text(kineto_get(copy, "args"), "kind"), "HtoD");
	/* 4096 bytes in 100 ns */
	assert_string_equal(kineto_digits(kineto_get(copy, "args"), "memory bandwidth (GB/s)"),
			    "40.960000");
	assert_int_equal(kineto_number(copy, "tid"), 1);
	assert_string_equal(kineto_text(fill, "name"), "Memset (Device)");
	assert_string_equal(kineto_text(kineto_get(fill, "args"), "blit kernel"),
			    "__amd_rocclr_fillBufferAligned");
	assert_int_equal(kineto_number(kineto_get(fill, "args"), "bytes"), 4096);
}

static void calls_and_scopes_have_every_key(void **state)
{
	struct kineto_file file = kineto_write(sample_trace(), NULL);
	struct json_object *call = kineto_find(&file, "cuda_runtime", "hipMemset", 1);
	struct json_object *scope = kineto_find(&file, "user_annotation", "layer", 0);
	struct json_object *annotation_row =
		kineto_find(&file, "gpu_user_annotation", "step \"1\"", 1);
	struct json_object *mark = kineto_find(&file, "user_annotation", "mark", 0);

	assert_int_equal(kineto_number(call, "pid"), 100);
	assert_int_equal(kineto_number(call, "tid"), 101);
	assert_string_equal(kineto_digits(call, "ts"), US "002.550");
	assert_string_equal(kineto_digits(call, "dur"), "0.350");
	assert_int_equal(kineto_number(kineto_get(call, "args"), "cbid"), 3);
	assert_int_equal(kineto_number(kineto_get(call, "args"), "correlation"), 5);
	assert_int_equal(kineto_number(kineto_get(call, "args"), "result"), 1);
	assert_null(kineto_arg(call, "stream"));
	assert_int_equal(kineto_number(kineto_get(scope, "args"), "External id"), 2);
	assert_int_equal(kineto_number(kineto_get(scope, "args"), "scope id"), 2);
	assert_int_equal(kineto_number(kineto_get(scope, "args"), "parent External id"), 1);
	assert_int_equal(kineto_number(scope, "tid"), 100);
	/* The step encloses "layer", whose activities are the replays. */
	assert_string_equal(kineto_digits(annotation_row, "ts"), US "001.200");
	assert_string_equal(kineto_digits(annotation_row, "dur"), "0.700");
	assert_int_equal(kineto_number(kineto_get(annotation_row, "args"), "External id"), 1);
	assert_string_equal(kineto_text(mark, "ph"), "i");
	assert_int_equal(kineto_count(&file, "X", "user_annotation"), SAMPLE_SCOPES - SAMPLE_MARKS);
}

static void all_rows_are_there_once(void **state)
{
	struct kineto_file file = kineto_write(sample_trace(), NULL);
	struct json_object *untimed = kineto_find(&file, "untimed", "orphan", 0);

	assert_int_equal(kineto_count(&file, "X", "kernel"), SAMPLE_KERNELS - 1);
	assert_int_equal(kineto_count(&file, "X", "gpu_memcpy"), SAMPLE_COPIES);
	assert_int_equal(kineto_count(&file, "X", "gpu_memset"), SAMPLE_MEMSETS);
	assert_int_equal(kineto_count(&file, "X", "cuda_runtime"), SAMPLE_CALLS);
	/* Its time is unknown, and no duration is invented. */
	assert_int_equal(kineto_count(&file, "i", "untimed"), 1);
	assert_string_equal(kineto_digits(untimed, "ts"), US "005.000");
	assert_null(kineto_get(untimed, "dur"));
	for (size_t i = 0; i < file.count; i++) {
		struct json_object *row = kineto_at(file.rows, i);

		if (strcmp(kineto_text(row, "ph"), "X") == 0)
			assert_true(kineto_text(row, "cat")[0] != '\0');
		assert_true(kineto_number(row, "pid") >= 0);
	}
	assert_string_equal(kineto_text(kineto_at(file.rows, file.count - 1), "name"),
			    "Record Window End");
}

/* ---- tids ---- */

struct span {
	long long pid, tid, begin, end;
};

static int compare_spans(const void *left, const void *right)
{
	const struct span *a = left, *b = right;

	if (a->pid != b->pid || a->tid != b->tid)
		return a->pid != b->pid ? (a->pid > b->pid) - (a->pid < b->pid)
					: (a->tid > b->tid) - (a->tid < b->tid);
	if (a->begin != b->begin)
		return (a->begin > b->begin) - (a->begin < b->begin);
	return (b->end > a->end) - (b->end < a->end);
}

/* Reads "12.345" as thousandths. */
static long long thousandths(const char *digits)
{
	const char *point = strchr(digits, '.');

	assert_non_null(point);
	assert_int_equal(strlen(point), 4);
	return strtoll(digits, NULL, 10) * 1000 + strtoll(point + 1, NULL, 10);
}

/* Asserts that slices with one tid nest or follow each other: none overlaps another in part. */
static void expect_no_overlap(const struct kineto_file *file)
{
	struct span *spans = calloc(file->count, sizeof(*spans));
	long long ends[64] = {0};
	size_t count = 0, depth = 0;

	for (size_t i = 0; i < file->count; i++) {
		struct json_object *row = kineto_at(file->rows, i);

		if (strcmp(kineto_text(row, "ph"), "X") != 0)
			continue;
		spans[count].pid = kineto_number(row, "pid");
		spans[count].tid = kineto_number(row, "tid");
		assert_true(spans[count].tid > 0);
		spans[count].begin = thousandths(kineto_digits(row, "ts"));
		spans[count].end = spans[count].begin + thousandths(kineto_digits(row, "dur"));
		count++;
	}
	qsort(spans, count, sizeof(*spans), compare_spans);
	for (size_t i = 0; i < count; i++) {
		if (i == 0 || spans[i].pid != spans[i - 1].pid || spans[i].tid != spans[i - 1].tid)
			depth = 0;
		while (depth > 0 && ends[depth - 1] <= spans[i].begin)
			depth--;
		assert_true(depth == 0 || ends[depth - 1] >= spans[i].end);
		assert_true(depth < 64);
		ends[depth++] = spans[i].end;
	}
	free(spans);
}

/* Three kernels of the first replay overlap, and so do the two ranges. */
static void no_overlap_on_one_tid(void **state)
{
	struct kineto_file file = kineto_write(sample_trace(), NULL);
	struct json_object *first = kineto_find(&file, "kernel", NULL, 0);
	struct json_object *last;
	size_t tracks = 0;

	expect_no_overlap(&file);
	assert_string_equal(kineto_digits(first, "ts"), US "001.200");
	for (size_t i = 0; (last = kineto_find(&file, NULL, "thread_name", i)); i++)
		tracks += strstr(kineto_text(kineto_get(last, "args"), "name"), "(lane ") != NULL;
	/* two more for the stream, one for the ranges */
	assert_int_equal(tracks, 3);
	last = kineto_find(&file, "kernel", "b", 1);
	assert_int_equal(kineto_number(kineto_get(last, "args"), "stream"), 2);
	assert_true(kineto_number(last, "tid") > 1000000);
}

/* ---- flows ---- */

static size_t count_flows(const struct kineto_file *file, const char *ph, long long id)
{
	size_t count = 0;

	for (size_t i = 0; i < file->count; i++) {
		if (strcmp(kineto_text(kineto_at(file->rows, i), "ph"), ph) == 0 &&
		    kineto_number(kineto_at(file->rows, i), "id") == id)
			count++;
	}
	return count;
}

static void flow_ids_have_both_ends(void **state)
{
	struct kineto_file file = kineto_write(sample_trace(), NULL);

	for (size_t i = 0; i < file.count; i++) {
		const char *ph = kineto_text(kineto_at(file.rows, i), "ph");

		if (strcmp(ph, "s") == 0)
			assert_true(count_flows(&file, "f",
						kineto_number(kineto_at(file.rows, i), "id")) > 0);
		if (strcmp(ph, "f") == 0)
			assert_int_equal(count_flows(&file, "s",
						     kineto_number(kineto_at(file.rows, i), "id")),
					 1);
	}
	/* A graph's launch has one flow begin and three flow ends. */
	assert_int_equal(count_flows(&file, "f", 1), 3);
	assert_int_equal(kineto_count(&file, "f", "ac2g"), SAMPLE_ACTIVITIES - 1);
}

/* ---- texts ---- */

static void names_stay_what_they_are(void **state)
{
	struct trace *trace = sample_trace();
	const char *strings[64];
	struct kineto_file file;

	memcpy(strings, trace->strings, trace->strings_count * sizeof(*strings));
	for (uint32_t i = 0; i < trace->strings_count; i++)
		if (strcmp(strings[i], "b") == 0)
			strings[i] = "kernel \"q\" \\ \n\t\x01 \xc3\xa9\xe6\xbc\xa2 \xff\xc3";
	trace->strings = strings;
	file = kineto_write(trace, NULL);
	/* Bytes that are not UTF-8 are replaced; everything else is read back unchanged. */
	assert_non_null(kineto_find(&file, "kernel",
				    "kernel \"q\" \\ \n\t\x01 \xc3\xa9\xe6\xbc\xa2 "
				    "\xef\xbf\xbd\xef\xbf\xbd",
				    0));
}

static void name_may_be_longer_than_any_buffer(void **state)
{
	size_t bytes = (size_t)3 << 20;
	struct trace *trace = sample_trace();
	const char *strings[64];
	char *name = malloc(bytes + 1);
	struct kineto_file file;

	memset(name, 'x', bytes);
	name[bytes] = '\0';
	memcpy(strings, trace->strings, trace->strings_count * sizeof(*strings));
	for (uint32_t i = 0; i < trace->strings_count; i++)
		if (strcmp(strings[i], "b") == 0)
			strings[i] = name;
	trace->strings = strings;
	file = kineto_write(trace, NULL);
	assert_non_null(kineto_find(&file, "kernel", name, 1));
	free(name);
}

static void attributes_are_arguments(void **state)
{
	struct trace_scope_attribute attributes[] = {
		{.key = 1, .kind = RECORD_ATTRIBUTE_INT64, .value.int64 = -7},
		{.key = 2, .kind = RECORD_ATTRIBUTE_DOUBLE, .value.float64 = 0.1},
		{.key = 3, .kind = RECORD_ATTRIBUTE_TEXT, .value.text = 4},
		{.key = 5, .kind = RECORD_ATTRIBUTE_UINT64, .value.uint64 = UINT64_MAX},
		{.key = 1, .kind = RECORD_ATTRIBUTE_INT64, .value.int64 = 8},
	};
	struct trace *trace = sample_trace();
	struct trace_scope scopes[SAMPLE_SCOPES];
	const char *strings[64];
	struct kineto_file file;
	struct json_object *args;

	memcpy(scopes, trace->scopes, sizeof(scopes));
	memcpy(strings, trace->strings, trace->strings_count * sizeof(*strings));
	strings[5] = "stream";
	scopes[1].attribute_count = 5;
	trace->scopes = scopes;
	trace->strings = strings;
	trace->scope_attributes = attributes;
	trace->scope_attributes_count = 5;
	file = kineto_write(trace, NULL);
	args = kineto_get(kineto_find(&file, "user_annotation", "layer", 0), "args");
	assert_int_equal(kineto_number(args, strings[1]), -7);
	assert_string_equal(kineto_digits(args, strings[2]), "0.1");
	assert_string_equal(kineto_text(args, strings[3]), strings[4]);
	/* With a stream a reader would take the row for GPU work. */
	assert_null(kineto_get(args, "stream"));
}

static void same_trace_gives_same_bytes(void **state)
{
	struct kineto_file first = kineto_write(sample_trace(), NULL);
	struct kineto_file second = kineto_write(sample_trace(), NULL);

	assert_int_equal(first.bytes, second.bytes);
	assert_memory_equal(first.text, second.text, first.bytes);
}

static void empty_trace_can_be_written(void **state)
{
	const char *strings[] = {""};
	const struct trace trace = {.strings = strings, .strings_count = 1};
	struct kineto_file file = kineto_write(&trace, NULL);

	assert_int_equal(file.count, 1);
}

static void full_disk_is_reported(void **state)
{
	struct dagtap_error error;
	FILE *out = fopen("/dev/full", "w");

	setbuf(out, NULL);
	assert_int_equal(format_kineto.write(sample_trace(), out, NULL, &error), -ENOSPC);
	assert_non_null(strstr(error.message, "No space left"));
	fclose(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		KEPT_CASE(head_says_what_readers_ask_for),
		KEPT_CASE(hta_rank_regex_matches),
		KEPT_CASE(graph_kernel_has_every_key),
		KEPT_CASE(copies_and_memsets_say_what_they_moved),
		KEPT_CASE(calls_and_scopes_have_every_key),
		KEPT_CASE(all_rows_are_there_once),
		KEPT_CASE(no_overlap_on_one_tid),
		KEPT_CASE(flow_ids_have_both_ends),
		KEPT_CASE(names_stay_what_they_are),
		KEPT_CASE(name_may_be_longer_than_any_buffer),
		KEPT_CASE(attributes_are_arguments),
		KEPT_CASE(same_trace_gives_same_bytes),
		KEPT_CASE(empty_trace_can_be_written),
		KEPT_CASE(full_disk_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Files of Kineto's JSON as a whole: invalid, truncated, compressed and large ones. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "format/kineto/kineto_reader.h"
#include "kineto_opened.h"

static void nothing_to_read(void **state)
{
	struct trace *trace = kineto_open_text("{'traceEvents': []}");

	assert_non_null(trace);
	assert_int_equal(trace->processes_count, 1);
	assert_int_equal(trace->activities_count, 0);
	assert_true(read_has_message(trace, "no baseTimeNanoseconds", false));
	trace = kineto_open_text("[" CALL("cudaMalloc", "1", "5", "") "]");
	assert_non_null(trace);
	assert_int_equal(trace->calls_count, 1);
}

static void expect_refusal(const char *text, const char *part)
{
	struct trace *trace = kineto_open_text(text);

	assert_null(trace);
	if (!strstr(kineto_message, part) || !strstr(kineto_message, "made.json") ||
	    strchr(kineto_message, '\n'))
		fail_msg("\"%s\" has no \"%s\"", kineto_message, part);
}

static void bad_files(void **state)
{
	expect_refusal("{'summary': 1}", "no traceEvents");
	expect_refusal("{'schemaVersion': 1,", "before any traceEvents");
	expect_refusal("{'traceEvents': [{'a': 1} {'a': 2}]}", "offset 26");
	expect_refusal("{\n'traceEvents': [\n{'a' 1}]}", "line 3");
	expect_refusal("{'traceEvents': []} x", "no JSON");
	expect_refusal("{'traceEvents': [{'name': 'a\nb'}]}", "no JSON");
	expect_refusal("{'traceEvents': [{'ts': 1.}]}", "no JSON");
}

static void a_byte_of_zero(void **state)
{
	static const char text[] = "{\"traceEvents\": [\0]}";

	assert_null(kineto_open_bytes(text, sizeof(text) - 1));
	assert_non_null(strstr(kineto_message, "offset 17"));
}

static void deep_values(void **state)
{
	size_t depth = 1000000;
	char *text = malloc(depth * 2 + 256);
	size_t bytes = (size_t)sprintf(text, "{\"traceEvents\": [{\"args\": {\"a\": ");
	struct trace *trace;

	memset(text + bytes, '[', depth);
	assert_null(kineto_open_bytes(text, bytes + depth));
	assert_non_null(strstr(kineto_message, "nested"));
	memset(text + bytes, '[', 300);
	memset(text + bytes + 300, ']', 300);
	sprintf(text + bytes + 600, "}, \"ph\": \"X\", \"cat\": \"kernel\", \"ts\": 1}]}");
	trace = kineto_open_text(text);
	assert_non_null(trace);
	assert_int_equal(
		strlen(trace_text(
			trace,
			read_attribute(trace, trace->activity_attributes[0], "a")->value.text)),
		600);
	free(text);
}

/* A million threads with a call each, in no order: no lookup may be a linear search. */
static void many_threads(void **state)
{
	enum { COUNT = 1000000 };
	size_t room = (size_t)COUNT * 96 + 64, bytes;
	char *text = malloc(room);
	struct trace *trace;

	bytes = (size_t)sprintf(text, "{\"traceEvents\": [");
	for (int i = 0; i < COUNT; i++)
		bytes += (size_t)sprintf(text + bytes,
					 "%s{\"ph\":\"X\",\"cat\":\"Runtime\",\"pid\":1,\"tid\":%d,"
					 "\"ts\":%d,\"name\":\"%d\"}",
					 i ? "," : "", COUNT - i, i % 1000, i);
	bytes += (size_t)sprintf(text + bytes, "]}");
	trace = kineto_open_bytes(text, bytes);
	assert_non_null(trace);
	assert_int_equal(trace->threads_count, COUNT);
	assert_int_equal(trace->calls_count, COUNT);
	assert_int_equal(trace->threads[0].tid, 1);
	free(text);
}

/* ---- the file that PyTorch wrote ---- */

struct bytes {
	uint8_t *bytes;
	size_t size;
};

static struct bytes read_case(void)
{
	const char *source = getenv("SOURCE_DIR");
	struct bytes ret = {malloc(1 << 20), 0};
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/tests/data/torch-small.json", source ? source : ".");
	file = fopen(path, "rb");
	if (!file)
		fail_msg("%s: %s", path, strerror(errno));
	ret.size = fread(ret.bytes, 1, 1 << 20, file);
	fclose(file);
	return ret;
}

/* Two gzip members in one file without anything behind them, which gzip allows. */
static struct bytes pack(const struct bytes *text)
{
	struct bytes ret = {malloc(text->size + 4096), 0};
	size_t half = text->size / 2;

	for (int part = 0; part < 2; part++) {
		z_stream stream = {0};

		assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, 0), Z_OK);
		stream.next_in = text->bytes + (part ? half : 0);
		stream.avail_in = (uInt)(part ? text->size - half : half);
		stream.next_out = ret.bytes + ret.size;
		stream.avail_out = (uInt)(text->size + 4096 - ret.size);
		assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
		ret.size += stream.total_out;
		deflateEnd(&stream);
	}
	return ret;
}

static void a_trace_of_pytorch(void **state)
{
	struct bytes text = read_case(), packed = pack(&text);
	struct bytes *forms[] = {&text, &packed};

	for (int form = 0; form < 2; form++) {
		struct trace *trace = kineto_open_bytes(forms[form]->bytes, forms[form]->size);
		uint32_t unresolved = 0;

		assert_non_null(trace);
		assert_int_equal(trace->activities_count, 111);
		assert_int_equal(trace->calls_count, 62);
		assert_int_equal(trace->waits_count, 14);
		for (uint32_t i = 0; i < trace->waits_count; i++) {
			assert_int_not_equal(trace->waits[i].type, TRACE_WAIT_UNKNOWN);
			assert_int_not_equal(trace->waits[i].call, TRACE_NONE);
			unresolved += trace->waits[i].known == TRACE_KNOWN_NOT;
		}
		assert_int_equal(unresolved, 14);
		assert_int_equal(trace->event_records_count, 0);
		assert_int_equal(trace->overheads_count, 2);
		assert_int_equal(trace->overheads[0].kind, 7 << 16);
		assert_int_equal(trace->sources[0].joined, 111);
		assert_false(trace->truncated);
	}
	free(text.bytes);
	free(packed.bytes);
}

/* A truncated file is read up to its end, wherever that is. */
static void cut_off_anywhere(void **state)
{
	struct bytes text = read_case(), packed = pack(&text);
	uint32_t most = 0;

	for (size_t size = 1500; size < text.size; size += 997) {
		struct trace *trace = kineto_open_bytes(text.bytes, size);

		assert_non_null(trace);
		assert_true(trace->truncated);
		assert_int_equal(trace->processes[0].state, TRACE_TRUNCATED);
		assert_true(read_has_message(trace, "cut off at byte", true));
		assert_true(trace->activities_count >= most);
		most = trace->activities_count;
	}
	assert_true(most > 100);
	for (size_t size = packed.size / 2; size < packed.size; size += 997) {
		struct trace *trace = kineto_open_bytes(packed.bytes, size);

		assert_non_null(trace);
		assert_true(trace->truncated);
	}
	packed.bytes[packed.size / 3] ^= 0xff;
	assert_null(kineto_open_bytes(packed.bytes, packed.size));
	assert_non_null(strstr(kineto_message, "gzip"));
	free(text.bytes);
	free(packed.bytes);
}

static void likely(void **state)
{
	static const struct {
		const char *text;
		bool is_likely;
	} cases[] = {{"\n {\"a\"", true}, {"[", true},	       {"", false},
		     {"  ", false},	  {"\x1f\x8b", false}, {"DAGTAP", false}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct read_file file = {"f", cases[i].text, strlen(cases[i].text)};

		assert_int_equal(kineto_is_likely(&file), cases[i].is_likely);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		KEPT_CASE(nothing_to_read),  KEPT_CASE(bad_files),    KEPT_CASE(a_byte_of_zero),
		KEPT_CASE(deep_values),	     KEPT_CASE(many_threads), KEPT_CASE(a_trace_of_pytorch),
		KEPT_CASE(cut_off_anywhere), KEPT_CASE(likely),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

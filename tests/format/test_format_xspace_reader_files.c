/* XSpaces as files: warnings, fields of later versions, damage, and files that are no XSpace. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/xspace/xspace_reader.h"
#include "maker_case.h"
#include "trace/load.h"

static void dropped_events_are_damage(void **state)
{
	struct maker *maker = *state;
	struct trace *trace;

	maker_gpu(maker);
	maker_kernel(maker, "k", 0, 1);
	maker_warning(maker, "Detected GPU events dropped on HOST: Profiler has collected 7 ...");
	maker_warning(maker, "another remark");
	trace = maker_open(maker);
	assert_true(read_has_message(trace, "dropped on HOST", true));
	assert_true(read_has_message(trace, "another remark", false));
}

/* Fields of a later version are skipped, and a stat without a name is kept under its number. */
static void unknown_fields(void **state)
{
	struct maker *maker = *state;
	struct trace *trace;
	size_t mark, stat;

	maker_gpu(maker);
	mark = proto_begin(&maker->bytes, 4);
	proto_put_u64(&maker->bytes, 1, 77);
	proto_put_u64(&maker->bytes, 2, 5000);
	proto_put_double(&maker->bytes, 60, 1.5);
	stat = proto_begin(&maker->bytes, 4);
	proto_put_u64(&maker->bytes, 1, 4711);
	proto_put_u64(&maker->bytes, 3, 9);
	proto_put_text(&maker->bytes, 99, "of the future");
	proto_end(&maker->bytes, stat);
	proto_end(&maker->bytes, mark);
	maker_kernel(maker, "k", 0, 1);
	proto_put_text(&maker->bytes, 77, "of the future");
	trace = maker_open(maker);
	assert_int_equal(trace->activities_count, 1);
	assert_true(read_has_message(trace, "left out: 1 events of GPU lines", false));
}

static void make_everything(struct maker *maker)
{
	maker_plane(maker, "/host:__ScopeRangeCallStack__", 0);
	maker_pair(maker, 11, 10);
	maker_gpu(maker);
	maker_kernel(maker, "k", 0, 1);
	maker_event(maker, "MemcpyD2H", 9000, 10,
		    STATS(U64("correlation_id", 2), I64("scope_range_id", 11),
			  U64("cuda_graph_id", 3), U64("cuda_graph_node_id", 4),
			  REF("memcpy_details", "size:8")));
	maker_plane_stats(maker, STATS(I64("process_id", 650)));
	maker_host(maker);
	maker_event(maker, "step", 0, 900000, STATS(I64("_r", 1), F64("half", 0.5)));
	maker_call(maker, "call", 10, 1);
	maker_warning(maker, "a warning");
	maker_finish(maker);
}

/*
 * Copies the input to memory of exactly that size, so that AddressSanitizer detects a read behind
 * it.
 */
static int open_copy(const uint8_t *bytes, size_t size, struct dagtap_error *error)
{
	uint8_t *copy = malloc(size ? size : 1);
	const struct read_file file = {"damaged", copy, size};
	struct trace *trace;
	int result;

	memcpy(copy, bytes, size);
	result = xspace_open(&file, NULL, &trace, error);
	if (result == 0)
		trace_close(trace);
	free(copy);
	return result;
}

static void every_cut_and_every_flipped_byte(void **state)
{
	struct maker *maker = *state;
	unsigned refused = 0;

	make_everything(maker);
	for (size_t size = 0; size < maker->bytes.used; size++) {
		struct dagtap_error error = {.message = ""};

		if (open_copy(maker->bytes.bytes, size, &error) == 0)
			continue; /* between two planes */
		refused++;
		assert_int_equal(error.code, -EBADMSG);
		assert_true(error.offset <= size);
		assert_non_null(strstr(error.message, "damaged: offset "));
	}
	assert_true(refused + 8 > maker->bytes.used);
	for (size_t i = 0; i < maker->bytes.used; i++) {
		struct dagtap_error error;

		for (int bit = 0; bit < 8; bit++) {
			maker->bytes.bytes[i] ^= (uint8_t)(1 << bit);
			open_copy(maker->bytes.bytes, maker->bytes.used, &error);
			maker->bytes.bytes[i] ^= (uint8_t)(1 << bit);
		}
	}
}

static bool is_likely(const void *bytes, size_t size)
{
	return xspace_is_likely(&(struct read_file){"", bytes, size});
}

static void what_is_likely_to_be_one(void **state)
{
	struct maker *maker = *state;

	make_everything(maker);
	assert_true(is_likely(maker->bytes.bytes, maker->bytes.used));
	assert_false(is_likely(maker->bytes.bytes, maker->bytes.used - 1));
	assert_false(is_likely("", 0));
	assert_false(is_likely("DAGTAP\1\2", 8));
	assert_false(is_likely("{\"traceEvents\": []}", 19));
	/* Another message that holds only texts: its first field is not a plane. */
	assert_false(is_likely("\x0a\x04\xff\xff\xff\xff", 6));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		MAKER_CASE(dropped_events_are_damage),
		MAKER_CASE(unknown_fields),
		MAKER_CASE(every_cut_and_every_flipped_byte),
		MAKER_CASE(what_is_likely_to_be_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Finds activities in the order of their starts; compares with a linear search. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../launched.h"
#include "analyze/starts.h"

#define COUNT 70000u /* two ranges, several parts and many blocks */

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

static void init_trace(struct trace *trace)
{
	*trace = (struct trace){
		.activities = calloc(COUNT, sizeof(*trace->activities)),
		.activities_count = COUNT,
	};
	assert_non_null(trace->activities);
}

static void check_order(const struct starts *starts)
{
	const struct trace_activity *rows = starts->trace->activities;
	uint32_t timed = 0;
	char *seen = calloc(COUNT, 1);

	assert_non_null(seen);
	for (uint32_t i = 0; i < COUNT; i++)
		timed += rows[i].untimed == RECORD_UNTIMED_NO;
	assert_int_equal(starts->count, timed);
	for (uint32_t i = 0; i < starts->count; i++) {
		uint32_t at = starts->order[i];

		assert_int_equal(rows[at].untimed, RECORD_UNTIMED_NO);
		assert_int_equal(seen[at]++, 0);
		if (i && rows[starts->order[i - 1]].start_ns == rows[at].start_ns)
			assert_true(starts->order[i - 1] < at);
		else if (i)
			assert_true(rows[starts->order[i - 1]].start_ns < rows[at].start_ns);
	}
	free(seen);
}

/* Checks that all activities that overlap the interval are found, and that STOP is right. */
static void check_find(const struct starts *starts, int64_t begin_ns, int64_t end_ns)
{
	const struct trace_activity *rows = starts->trace->activities;
	uint32_t first, stop;

	starts_find(starts, begin_ns, end_ns, &first, &stop);
	assert_true(first <= stop && stop <= starts->count);
	for (uint32_t i = 0; i < first; i++)
		assert_true(rows[starts->order[i]].end_ns <= begin_ns);
	for (uint32_t i = first; i < stop; i++)
		assert_true(rows[starts->order[i]].start_ns < end_ns);
	for (uint32_t i = stop; i < starts->count; i++)
		assert_true(rows[starts->order[i]].start_ns >= end_ns ||
			    rows[starts->order[i]].end_ns <= begin_ns);
}

static void check(struct trace *trace)
{
	struct starts starts;

	assert_int_equal(starts_init(&starts, trace), 0);
	check_order(&starts);
	check_find(&starts, INT64_MIN, INT64_MAX);
	check_find(&starts, INT64_MAX, INT64_MAX);
	for (uint32_t i = 0; i < COUNT; i += COUNT / 16) {
		const struct trace_activity *row = &trace->activities[i];

		check_find(&starts, row->start_ns, row->end_ns);
		check_find(&starts, row->end_ns, row->end_ns + 1000);
	}
	starts_release(&starts);
}

/* Nearly sorted, as launches are; every seventh row has no times, and some start together. */
static void out_of_order_rows_are_sorted(void **state)
{
	struct trace trace;
	uint64_t random = test_seed();

	init_trace(&trace);
	for (uint32_t i = 0; i < COUNT; i++) {
		struct trace_activity *row = &trace.activities[i];

		row->start_ns = (int64_t)i * 10 + (int64_t)(next_random(&random) % 500) * 10;
		row->end_ns = row->start_ns + (int64_t)(next_random(&random) % 2000);
		row->untimed = i % 7 ? RECORD_UNTIMED_NO : RECORD_UNTIMED_ZERO_TICK;
	}
	check(&trace);
	free(trace.activities);
}

/* All but two start within a microsecond, and those two are as far apart as times can be. */
static void far_apart_starts_are_sorted(void **state)
{
	struct trace trace;
	uint64_t random = test_seed() + 1;

	init_trace(&trace);
	for (uint32_t i = 0; i < COUNT; i++) {
		trace.activities[i].start_ns = (int64_t)(next_random(&random) % 1000) - 500;
		trace.activities[i].end_ns = trace.activities[i].start_ns + 7;
	}
	trace.activities[3].start_ns = trace.activities[3].end_ns = INT64_MAX - 2000;
	trace.activities[9].start_ns = trace.activities[9].end_ns = INT64_MIN;
	check(&trace);
	free(trace.activities);
}

static void no_times_no_rows(void **state)
{
	struct trace trace;
	struct starts starts;
	uint32_t first, stop;

	init_trace(&trace);
	for (uint32_t i = 0; i < COUNT; i++)
		trace.activities[i].untimed = RECORD_UNTIMED_ZERO_TICK;
	assert_int_equal(starts_init(&starts, &trace), 0);
	assert_int_equal(starts.count, 0);
	starts_find(&starts, INT64_MIN, INT64_MAX, &first, &stop);
	assert_int_equal(first, 0);
	assert_int_equal(stop, 0);
	starts_release(&starts);
	free(trace.activities);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(out_of_order_rows_are_sorted),
		cmocka_unit_test(far_apart_starts_are_sorted),
		cmocka_unit_test(no_times_no_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

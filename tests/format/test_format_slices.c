/* How the rows of a list are written on tracks: slices of a track nest, and never overlap in
 * part. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../launched.h"
#include "format/timeline/slices.h"
#include "format/timeline/timeline.h"

#define TRACKS_MAX 16
#define DEPTH_MAX  64

struct recorder {
	char text[4096]; /* "B<lane>@<ns> " and "E<lane>@<ns> " */
	unsigned depth[TRACKS_MAX];
	int64_t last[TRACKS_MAX];
	unsigned tracks, begins, ends;
};

static void note(struct recorder *recorder, char what, uint32_t subtrack, int64_t ns)
{
	size_t used = strlen(recorder->text);

	assert_true(subtrack < TRACKS_MAX);
	/*
	 * Readers take equal times in the order of the file, so the order must never go back in
	 * time.
	 */
	assert_true(ns >= recorder->last[subtrack]);
	recorder->last[subtrack] = ns;
	if (used < sizeof(recorder->text) - 32)
		snprintf(recorder->text + used, 32, "%c%u@%d ", what, subtrack, (int)ns);
}

/* A track begins before its first slice, and the tracks in the order of their numbers. */
static void begin_track(void *context, const struct slice *first)
{
	struct recorder *recorder = context;

	assert_int_equal(first->subtrack, recorder->tracks);
	recorder->tracks++;
}

static void begin_slice(void *context, const struct slice *slice)
{
	struct recorder *recorder = context;

	assert_true(slice->subtrack < recorder->tracks);
	note(recorder, 'B', slice->subtrack, slice->time.begin_ns);
	recorder->depth[slice->subtrack]++;
	recorder->begins++;
}

static void end_slice(void *context, uint32_t list, uint32_t subtrack, int64_t ns)
{
	struct recorder *recorder = context;

	assert_int_equal(list, 0);
	note(recorder, 'E', subtrack, ns);
	assert_true(recorder->depth[subtrack] > 0);
	recorder->depth[subtrack]--;
	recorder->ends++;
}

static struct rows_time time_of(const void *table, uint32_t row)
{
	return ((const struct rows_time *)table)[row];
}

/* Writes one list with all TIMES, which arrive in this order. */
static struct recorder put(const struct rows_time *times, uint32_t count, bool flat)
{
	struct recorder recorder = {.begins = 0};
	const struct slices_output output = {flat, begin_track, begin_slice, end_slice, &recorder};
	struct rows rows = {.table = times, .row_bytes = sizeof(*times), .time_of = time_of};

	assert_int_equal(rows_init(&rows, count, 1), 0);
	for (uint32_t i = 0; i < count; i++)
		rows_list_deal(&rows, rows.lists, i, times[i]);
	assert_int_equal(slices_put(&rows, 0, &output), 0);
	rows_release(&rows);
	assert_int_equal(recorder.begins, count);
	assert_int_equal(recorder.ends, count);
	return recorder;
}

static void expect(const struct rows_time *times, uint32_t count, const char *text)
{
	struct recorder recorder = put(times, count, false);

	assert_string_equal(recorder.text, text);
}

static void nested_slices_share_a_track(void **state)
{
	const struct rows_time slices[] = {{10, 20}, {0, 100}, {30, 40}, {32, 38}};

	expect(slices, 4, "B0@0 B0@10 E0@20 B0@30 B0@32 E0@38 E0@40 E0@100 ");
}

static void overlapping_slices_get_a_track_of_their_own(void **state)
{
	const struct rows_time slices[] = {{0, 10}, {5, 15}, {8, 12}, {20, 30}};

	expect(slices, 4, "B0@0 B1@5 B1@8 E0@10 B0@20 E0@30 E1@12 E1@15 ");
}

static void one_may_begin_where_another_ends(void **state)
{
	const struct rows_time slices[] = {{0, 10}, {10, 20}};

	expect(slices, 2, "B0@0 E0@10 B0@10 E0@20 ");
}

static void slices_without_length_nest_too(void **state)
{
	const struct rows_time slices[] = {{5, 5}, {5, 8}, {8, 8}, {5, 5}};

	expect(slices, 4, "B0@5 B0@5 E0@5 B0@5 E0@5 E0@8 B0@8 E0@8 ");
}

static void end_before_begin_counts_as_no_length(void **state)
{
	const struct rows_time slices[] = {timeline_time(5, 2)};

	expect(slices, 1, "B0@5 E0@5 ");
}

static void flat_slices_never_nest(void **state)
{
	const struct rows_time slices[] = {{0, 100}, {10, 20}, {20, 30}, {100, 110}};
	struct recorder recorder = put(slices, 4, true);

	assert_string_equal(recorder.text, "B0@0 B1@10 E1@20 B1@20 E0@100 B0@100 E0@110 E1@30 ");
}

static void nothing_is_nothing(void **state)
{
	expect(NULL, 0, "");
}

/* Any slices: each begins and ends once, and no track goes back in time (note). */
static void random_slices_all_come_out_nested(void **state)
{
	struct rows_time slices[200];

	srand((unsigned)test_seed());
	for (int round = 0; round < 200; round++) {
		for (uint32_t i = 0; i < 200; i++) {
			int64_t ns = rand() % 2000;

			slices[i] = (struct rows_time){ns, ns + rand() % 20};
		}
		put(slices, 200, round % 2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nested_slices_share_a_track),
		cmocka_unit_test(overlapping_slices_get_a_track_of_their_own),
		cmocka_unit_test(one_may_begin_where_another_ends),
		cmocka_unit_test(slices_without_length_nest_too),
		cmocka_unit_test(end_before_begin_counts_as_no_length),
		cmocka_unit_test(flat_slices_never_nest),
		cmocka_unit_test(nothing_is_nothing),
		cmocka_unit_test(random_slices_all_come_out_nested),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

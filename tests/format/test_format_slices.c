/* How slices are dealt to tracks: slices of one track nest and never overlap in part. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../launched.h"
#include "format/timeline/slices.h"

#define TRACKS_MAX 16
#define DEPTH_MAX  64

struct recorder {
	char text[4096]; /* "B<lane>@<ns> " and "E<lane>@<ns> " */
	unsigned depth[TRACKS_MAX];
	int64_t last[TRACKS_MAX];
	unsigned begins, ends;
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

static void begin(void *context, const struct slice *slice, uint32_t subtrack)
{
	struct recorder *recorder = context;

	note(recorder, 'B', subtrack, slice->begin_ns);
	recorder->depth[subtrack]++;
	recorder->begins++;
}

static void end(void *context, uint32_t group, uint32_t subtrack, int64_t ns)
{
	struct recorder *recorder = context;

	note(recorder, 'E', subtrack, ns);
	assert_true(recorder->depth[subtrack] > 0);
	recorder->depth[subtrack]--;
	recorder->ends++;
}

static void expect(struct slice *slices, size_t count, const char *text)
{
	struct recorder recorder = {.begins = 0};
	const struct slices_output output = {false, begin, end, &recorder};

	assert_int_equal(slices_put(slices, count, &output), 0);
	assert_int_equal(recorder.begins, count);
	assert_int_equal(recorder.ends, count);
	assert_string_equal(recorder.text, text);
}

static void nested_slices_share_a_track(void **state)
{
	struct slice slices[] = {{0, 1, 10, 20}, {0, 0, 0, 100}, {0, 2, 30, 40}, {0, 3, 32, 38}};

	expect(slices, 4, "B0@0 B0@10 E0@20 B0@30 B0@32 E0@38 E0@40 E0@100 ");
}

static void overlapping_slices_get_a_track_of_their_own(void **state)
{
	struct slice slices[] = {{0, 0, 0, 10}, {0, 1, 5, 15}, {0, 2, 8, 12}, {0, 3, 20, 30}};

	expect(slices, 4, "B0@0 B1@5 B1@8 E0@10 B0@20 E0@30 E1@12 E1@15 ");
}

static void one_may_begin_where_another_ends(void **state)
{
	struct slice slices[] = {{0, 0, 0, 10}, {0, 1, 10, 20}};

	expect(slices, 2, "B0@0 E0@10 B0@10 E0@20 ");
}

static void slices_without_length_nest_too(void **state)
{
	struct slice slices[] = {{0, 0, 5, 5}, {0, 1, 5, 8}, {0, 2, 8, 8}, {0, 3, 5, 5}};

	expect(slices, 4, "B0@5 B0@5 E0@5 B0@5 E0@5 E0@8 B0@8 E0@8 ");
}

static void end_before_begin_counts_as_no_length(void **state)
{
	struct slice slices[] = {{0, 0, 5, 2}};

	expect(slices, 1, "B0@5 E0@5 ");
}

static void flat_slices_never_nest(void **state)
{
	struct slice slices[] = {{0, 0, 0, 100}, {0, 1, 10, 20}, {0, 2, 20, 30}, {0, 3, 100, 110}};
	struct recorder recorder = {.begins = 0};
	const struct slices_output output = {true, begin, end, &recorder};

	assert_int_equal(slices_put(slices, 4, &output), 0);
	assert_string_equal(recorder.text, "B0@0 B1@10 E1@20 B1@20 E0@100 B0@100 E0@110 E1@30 ");
}

static void nothing_is_nothing(void **state)
{
	expect(NULL, 0, "");
}

/* Any slices: each begins and ends once, and no track goes back in time (note). */
static void random_slices_all_come_out_nested(void **state)
{
	struct slice slices[200];

	srand((unsigned)test_seed());
	for (int round = 0; round < 200; round++) {
		struct recorder recorder = {.begins = 0};
		const struct slices_output output = {false, begin, end, &recorder};

		for (uint32_t i = 0; i < 200; i++) {
			int64_t ns = rand() % 2000;

			slices[i] = (struct slice){0, i, ns, ns + rand() % 20};
		}
		assert_int_equal(slices_put(slices, 200, &output), 0);
		assert_int_equal(recorder.begins, 200);
		assert_int_equal(recorder.ends, 200);
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

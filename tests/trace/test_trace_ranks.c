/* A merged recording: its RANKS section, and the times of its processes on one clock. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "bundle_folder.h"
#include "scene.h"
#include "trace/ledger/ledger.h"
#include "trace/load.h"
#include "trace/pack/bundle.h"

#define OFFSET_NS 5000000000

/* Two clocks: the reference, and one that is OFFSET_NS behind it and gains a part in 1,000. */
static void make_ranks(struct ranks *ranks)
{
	static struct rank_clock clocks[2] = {
		{.source = RANK_CLOCK_REFERENCE, .last_ns = 100},
		{.source = RANK_CLOCK_COLLECTIVES,
		 .offset_ns = OFFSET_NS,
		 .drift = RANK_CLOCK_PARTS / 1000,
		 .last_ns = 800,
		 .matched = 17,
		 .uncertainty_ns = {90, 80, 70, 60, 50, 60, 70, 80, 95}},
	};

	*ranks = (struct ranks){.clock_count = 2, .wall_ns = 1000000};
	ranks->clocks = malloc(sizeof(clocks));
	assert_non_null(ranks->clocks);
	memcpy(ranks->clocks, clocks, sizeof(clocks));
	assert_int_equal(ranks_add_file(ranks, "a \\ b\n.dagtap", 0, 1), 0);
	assert_int_equal(ranks_add_file(ranks, "c.dagtap", 1, 1), 0);
	assert_int_equal(ranks_add_note(ranks, "rank 2 of 3 is missing"), 0);
}

/* Writes two processes with the same records: one of each clock. */
static void write_merged(void)
{
	const struct bundle_meta meta = {"1", "both", 1, 0, NULL};
	struct bundle_writer *writer;
	struct dagtap_error error;
	struct ranks ranks;

	make_ranks(&ranks);
	assert_int_equal(bundle_create(bundle_path, true, &writer, &error), 0);
	assert_int_equal(bundle_put_meta(writer, &meta, &error), 0);
	assert_int_equal(bundle_put_ranks(writer, &ranks, &error), 0);
	for (uint32_t pid = 1; pid <= 2; pid++) {
		struct scene scene;

		scene_init(&scene, pid);
		scene_run_calls(&scene, 3);
		scene_close(&scene);
		assert_int_equal(
			bundle_put_spool(writer, pid, scene.image, scene_bytes(&scene), &error), 0);
		scene_release(&scene);
	}
	assert_int_equal(bundle_finish(writer, &error), 0);
	ranks_release(&ranks);
}

static struct trace *load(void)
{
	struct trace *trace;
	struct dagtap_error error;

	assert_int_equal(trace_open(bundle_path, NULL, &trace, &error), 0);
	return trace;
}

/* What the second clock shows, on the first one. */
static int64_t moved(int64_t ns)
{
	return ns + OFFSET_NS + (ns + 500) / 1000;
}

static void times_are_on_the_clock_of_the_reference(void **state)
{
	struct trace *trace;

	write_merged();
	trace = load();
	assert_int_equal(trace->processes_count, 2);
	assert_int_equal(trace->calls_count, 6);
	assert_int_equal(trace->activities_count, 6);
	for (uint32_t i = 0; i < 3; i++) {
		const struct trace_call *call = &trace->calls[i], *later = &trace->calls[i + 3];
		const struct trace_activity *row = &trace->activities[i];
		const struct trace_activity *late = &trace->activities[i + 3];

		assert_int_equal(later->begin_ns, moved(call->begin_ns));
		assert_int_equal(later->end_ns, moved(call->end_ns));
		assert_int_equal(late->submit_ns, moved(row->submit_ns));
		assert_int_equal(late->start_ns, moved(row->start_ns));
		assert_int_equal(late->end_ns, moved(row->end_ns));
	}
	assert_int_equal(trace->processes[1].start_ns, moved(1002));
	assert_int_equal(trace->processes[1].start_realtime_ns,
			 trace->processes[1].start_ns + 1000000);
	trace_close(trace);
}

static void the_model_has_the_clocks(void **state)
{
	struct trace *trace;

	write_merged();
	trace = load();
	assert_int_equal(trace->clocks_count, 2);
	assert_string_equal(trace_text(trace, trace->clocks[0].name), "a \\ b\n.dagtap");
	assert_int_equal(trace->clocks[1].fit.source, RANK_CLOCK_COLLECTIVES);
	assert_int_equal(trace->clocks[1].fit.matched, 17);
	assert_int_equal(rank_clock_worst(&trace->clocks[1].fit), 95);
	assert_int_equal(rank_clock_uncertainty(&trace->clocks[1].fit, 750), 88);
	assert_int_equal(trace->processes[0].clock, 0);
	assert_int_equal(trace->processes[1].clock, 1);
	trace_close(trace);
}

static void what_is_said_of_ranks_is_no_damage(void **state)
{
	bool is_missing_told = false, is_clock_told = false;
	struct trace *trace;

	write_merged();
	trace = load();
	for (uint32_t i = 0; i < trace->messages_count; i++) {
		const char *text = trace_text(trace, trace->messages[i].text);

		assert_false(trace->messages[i].damage);
		is_missing_told |= !strcmp(text, "rank 2 of 3 is missing");
		is_clock_told |= strstr(text, "right to 0.095 us") != NULL;
	}
	assert_true(is_missing_told);
	assert_true(is_clock_told);
	assert_true(ledger_is_closed(trace));
	trace_close(trace);
}

#define CLOCK	  "clock 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
#define FILE_LINE "file 0 1 name\n"

static void impossible_sections_are_refused(void **state)
{
	static const char *const texts[] = {
		"",
		"clock\n",
		"file 0 1 name\n",
		"clock 9 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\nfile 0 1 name\n",
		"clock 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\nfile 0 1 name\n",
		"clock 1 0 9223372036854775807 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\nfile 0 1 name\n",
		"clock 1 0 0 0 5 4 0 0 0 0 0 0 0 0 0 0 0 0\nfile 0 1 name\n",
		"clock 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\nfile 1 1 name\n",
		"clock 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\nfile 0 1\n",
		CLOCK "joints 1 0 0 0 9 0 0\n" FILE_LINE,
		CLOCK "joints 0 0 0 0\n" FILE_LINE,
		CLOCK "joints 0 0 0 0 9 0\n" FILE_LINE,
		CLOCK "joints 0 9 0 0 9 0 0\n" FILE_LINE,
		CLOCK "joints 0 0 0 0 100 12 0\n" FILE_LINE,
		CLOCK "joints 0 0 0 0 9 0 9223372036854775808\n" FILE_LINE,
		"joints 0 0 0 0 9 0 0\n" CLOCK FILE_LINE,
		"wall 2305843009213693953\nclock 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
		"file 0 1 name\n",
	};
	static const char good[] =
		"later 7\nwall 5\nclock 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\nfile 0 1 name";
	struct ranks ranks;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_int_equal(ranks_read(texts[i], strlen(texts[i]), &ranks), -EINVAL);
	assert_int_equal(ranks_read(good, strlen(good), &ranks), 0);
	assert_int_equal(ranks.file_count, 1);
	assert_int_equal(ranks.wall_ns, 5);
	ranks_release(&ranks);
}

/* Between two joints, and before and behind them. Versions that know no joints use the line. */
static void a_clock_has_pieces(void **state)
{
	static const char text[] =
		"wall 0\nclock 1 0 7 0 0 3000 500000000000000 0 9 5 5 5 5 5 5 5 5 5\n"
		"joints 0 1000 100 10 2000 200 30 4000 0 30\n" FILE_LINE;
	const struct rank_clock *clock;
	struct ranks ranks;
	size_t bytes;
	char *again;

	assert_int_equal(ranks_read(text, strlen(text), &ranks), 0);
	clock = &ranks.clocks[0];
	assert_int_equal(clock->joint_count, 3);
	assert_int_equal(rank_clock_map(clock, 1500), 1650);
	assert_int_equal(rank_clock_map(clock, 2000), 2200);
	assert_int_equal(rank_clock_map(clock, 3000), 3100);
	assert_int_equal(rank_clock_map(clock, 500), 550);
	assert_int_equal(rank_clock_map(clock, 5000), 4900);
	assert_int_equal(rank_clock_unmap(clock, 1650), 1500);
	assert_int_equal(rank_clock_unmap(clock, 4900), 5000);
	assert_int_equal(rank_clock_uncertainty(clock, 1000), 10);
	assert_int_equal(rank_clock_uncertainty(clock, 2000), 30);
	assert_int_equal(rank_clock_uncertainty(clock, 1500), 21);
	assert_int_equal(rank_clock_uncertainty(clock, 0), 511);
	assert_int_equal(rank_clock_uncertainty(clock, 4100), 81);
	assert_int_equal(rank_clock_worst(clock), 511);
	assert_false(rank_clock_is_assumed(clock));
	assert_int_equal(ranks_write(&ranks, &again, &bytes), 0);
	assert_int_equal(bytes, strlen(text));
	assert_memory_equal(again, text, bytes);
	free(again);
	ranks_release(&ranks);
}

#define CASE(name)                                                                                 \
	cmocka_unit_test_setup_teardown(name, bundle_folder_setup, bundle_folder_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(times_are_on_the_clock_of_the_reference),
		CASE(the_model_has_the_clocks),
		CASE(what_is_said_of_ranks_is_no_damage),
		cmocka_unit_test(impossible_sections_are_refused),
		cmocka_unit_test(a_clock_has_pieces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

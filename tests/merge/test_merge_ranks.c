/* Finding the collectives of a rank, and what is said of ranks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "merge/rank_collectives.h"
#include "merge/rank_notes.h"
#include "rank_scene.h"
#include "trace/load.h"

static struct rank_scene scene;

static int setup(void **state)
{
	rank_scene_init(&scene, 1, 3, "host", 0);
	return 0;
}

static struct rank_collectives find(void)
{
	struct rank_collectives found;
	struct trace *trace;

	rank_scene_close(&scene, 10000000);
	trace = scene_load(&scene.scene);
	scene_release(&scene.scene);
	assert_int_equal(rank_collectives_find(trace, &found), 0);
	trace_close(trace);
	return found;
}

static void an_operation_lasts_as_its_kernels(void **state)
{
	struct rank_collectives found;
	uint64_t cid;

	rank_scene_reduce(&scene, 1, 20000, 30000);
	cid = rank_scene_call(&scene, RANK_ALL_REDUCE, 2);
	rank_scene_kernel(&scene, cid, 40000, 50000);
	rank_scene_kernel(&scene, cid, 55000, 60000);
	found = find();
	assert_int_equal(found.count, 2);
	assert_int_equal(found.rows[0].communicator, 0xc0ffee);
	assert_int_equal(found.rows[0].number, 1);
	assert_int_equal(found.rows[0].begin_ns, 20000);
	assert_int_equal(found.rows[0].end_ns, 30000);
	assert_int_equal(found.rows[1].number, 2);
	assert_int_equal(found.rows[1].begin_ns, 40000);
	assert_int_equal(found.rows[1].end_ns, 60000);
	assert_int_equal(found.member_count, 1);
	assert_int_equal(found.members[0].rank, 1);
	assert_int_equal(found.members[0].ranks, 3);
	rank_collectives_release(&found);
}

/* NCCL on CUDA's null stream: its calls have no stream, its kernels have one. */
static void an_operation_of_unknown_stream_lasts_as_its_kernels(void **state)
{
	struct rank_collectives found;
	struct trace *trace;

	rank_scene_reduce(&scene, 1, 20000, 30000);
	rank_scene_close(&scene, 10000000);
	trace = scene_load(&scene.scene);
	scene_release(&scene.scene);
	for (uint32_t i = 0; i < trace->calls_count; i++)
		trace->calls[i].stream = TRACE_NONE;
	assert_int_not_equal(trace->activities[0].stream, TRACE_NONE);
	assert_int_equal(rank_collectives_find(trace, &found), 0);
	assert_int_equal(found.count, 1);
	assert_int_equal(found.rows[0].begin_ns, 20000);
	assert_int_equal(found.rows[0].end_ns, 30000);
	rank_collectives_release(&found);
	for (uint32_t i = 0; i < trace->works_count; i++)
		trace->works[i].kind = TRACE_COPY;
	assert_int_equal(rank_collectives_find(trace, &found), 0);
	assert_int_equal(found.count, 0);
	rank_collectives_release(&found);
	trace_close(trace);
}

/* A broadcast's root may end before others begin, and a captured operation has no kernel. */
static void what_bounds_nothing_is_left_out(void **state)
{
	struct rank_collectives found;

	rank_scene_kernel(&scene, rank_scene_call(&scene, RANK_BROADCAST, 1), 20000, 30000);
	rank_scene_call(&scene, RANK_ALL_REDUCE, 2);
	scene.communicator = 0;
	rank_scene_reduce(&scene, 3, 40000, 50000);
	found = find();
	assert_int_equal(found.count, 0);
	rank_collectives_release(&found);
}

/* The kernels of a group are launched at its end, in whatever number. */
static void operations_of_a_group_last_as_the_group(void **state)
{
	struct rank_collectives found;
	uint64_t end;

	rank_scene_call(&scene, RANK_GROUP_START, 0);
	rank_scene_call(&scene, RANK_GROUP_START, 0);
	rank_scene_call(&scene, RANK_ALL_REDUCE, 1);
	rank_scene_call(&scene, RANK_GROUP_END, 0);
	rank_scene_call(&scene, RANK_ALL_REDUCE, 2);
	end = rank_scene_call(&scene, RANK_GROUP_END, 0);
	rank_scene_kernel(&scene, end, 20000, 30000);
	rank_scene_kernel(&scene, end, 31000, 40000);
	rank_scene_reduce(&scene, 3, 50000, 60000);
	found = find();
	assert_int_equal(found.count, 3);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(found.rows[i].number, i + 1);
		assert_int_equal(found.rows[i].begin_ns, 20000);
		assert_int_equal(found.rows[i].end_ns, 40000);
	}
	assert_int_equal(found.rows[2].begin_ns, 50000);
	rank_collectives_release(&found);
}

enum { MANY = 3 * RANK_COLLECTIVES_MOST, WORDS = 4 };

/* A trace of MANY all-reduces, each with a kernel. */
struct many {
	struct trace trace;
	const char *texts[6];
	struct trace_api api;
	struct trace_api_arg args[WORDS];
	struct trace_thread thread;
	struct trace_work work;
	struct trace_call calls[MANY];
	struct trace_activity activities[MANY];
	uint64_t words[MANY * WORDS];
};

static void make_many(struct many *many)
{
	static const char *const texts[] = {"", "ncclAllReduce", "rank", "seq", "nranks", "commId"};

	memcpy(many->texts, texts, sizeof(texts));
	many->api = (struct trace_api){
		.name = 1, .domain = RECORD_DOMAIN_RCCL, .arg_count = WORDS, .arg_words = WORDS};
	for (uint32_t i = 0; i < WORDS; i++)
		many->args[i] = (struct trace_api_arg){.name = i + 2, .word = (uint8_t)i};
	for (uint32_t i = 0; i < MANY; i++) {
		const uint64_t words[WORDS] = {0, i + 1, 2, 7};

		memcpy(&many->words[i * WORDS], words, sizeof(words));
		many->calls[i] = (struct trace_call){.parent = TRACE_NONE, .arg_first = i * WORDS};
		many->activities[i] = (struct trace_activity){.call = i,
							      .agent = TRACE_NONE,
							      .start_ns = i * 100,
							      .end_ns = i * 100 + 50};
	}
	many->trace = (struct trace){
		.strings = many->texts,
		.apis = &many->api,
		.apis_count = 1,
		.api_args = many->args,
		.threads = &many->thread,
		.threads_count = 1,
		.calls = many->calls,
		.calls_count = MANY,
		.works = &many->work,
		.works_count = 1,
		.activities = many->activities,
		.activities_count = MANY,
		.words = many->words,
	};
}

/* Every rank leaves out the same numbers, so what is left has partners. */
static void of_too_many_multiples_of_a_power_of_two_are_kept(void **state)
{
	struct rank_collectives found;
	struct many *many = calloc(1, sizeof(*many));

	assert_non_null(many);
	make_many(many);
	assert_int_equal(rank_collectives_find(&many->trace, &found), 0);
	assert_int_equal(found.found, MANY);
	assert_int_equal(found.count, MANY / 4);
	for (uint32_t i = 0; i < found.count; i++) {
		assert_int_equal(found.rows[i].number, 4 * (i + 1));
		assert_int_equal(found.rows[i].begin_ns, (found.rows[i].number - 1) * 100);
	}
	rank_collectives_release(&found);
	free(many);
}

/* As a damaged file may have it. */
static void each_of_many_communicators_has_its_member(void **state)
{
	struct rank_collectives found;
	struct many *many = calloc(1, sizeof(*many));

	assert_non_null(many);
	make_many(many);
	for (uint32_t i = 0; i < MANY; i++)
		many->words[i * WORDS + 3] = i / 2 + 1;
	assert_int_equal(rank_collectives_find(&many->trace, &found), 0);
	assert_int_equal(found.member_count, MANY / 2);
	assert_int_equal(found.members[MANY / 2 - 1].communicator, MANY / 2);
	rank_collectives_release(&found);
	free(many);
}

static void operations_at_impossible_times_are_left_out(void **state)
{
	struct rank_collectives found;
	struct many *many = calloc(1, sizeof(*many));

	assert_non_null(many);
	make_many(many);
	many->trace.calls_count = many->trace.activities_count = 4;
	many->activities[0].start_ns = -1;
	many->activities[1].end_ns = RANK_CLOCK_TIME_MOST + 1;
	many->activities[2].end_ns = many->activities[2].start_ns - 1;
	assert_int_equal(rank_collectives_find(&many->trace, &found), 0);
	assert_int_equal(found.count, 1);
	assert_int_equal(found.rows[0].number, 4);
	rank_collectives_release(&found);
	free(many);
}

/* In a damaged file all may have the same number, so no step leaves any of them out. */
static void of_too_many_with_one_number_the_first_are_kept(void **state)
{
	struct rank_collectives found;
	struct many *many = calloc(1, sizeof(*many));

	assert_non_null(many);
	make_many(many);
	for (uint32_t i = 0; i < MANY; i++)
		many->words[i * WORDS + 1] = UINT64_C(1) << 63;
	assert_int_equal(rank_collectives_find(&many->trace, &found), 0);
	assert_int_equal(found.found, MANY);
	assert_int_equal(found.count, RANK_COLLECTIVES_MOST);
	assert_int_equal(found.rows[found.count - 1].begin_ns, (found.count - 1) * 100);
	rank_collectives_release(&found);
	free(many);
}

/* A damaged file may have calls that are inside each other. */
static void calls_in_a_cycle_end_the_search(void **state)
{
	struct rank_collectives found;
	struct many *many = calloc(1, sizeof(*many));

	assert_non_null(many);
	make_many(many);
	many->trace.calls_count = many->trace.activities_count = 3;
	many->calls[0].parent = 1;
	many->calls[1].parent = 0;
	assert_int_equal(rank_collectives_find(&many->trace, &found), 0);
	assert_true(found.count >= 1);
	assert_int_equal(found.rows[found.count - 1].number, 3);
	rank_collectives_release(&found);
	free(many);
}

static struct rank_process processes[3];

/* Adds notes of COUNT members and processes of three files; returns them. */
static struct ranks make_notes(struct rank_member *members, uint32_t count)
{
	struct ranks ranks = {0};

	assert_int_equal(ranks_add_file(&ranks, "a", 0, 1), 0);
	assert_int_equal(ranks_add_file(&ranks, "b", 0, 1), 0);
	assert_int_equal(ranks_add_file(&ranks, "c", 0, 1), 0);
	assert_int_equal(rank_notes_add(processes, 3, members, count, &ranks), 0);
	return ranks;
}

static void reset_processes(void)
{
	for (uint32_t i = 0; i < 3; i++)
		processes[i] = (struct rank_process){i, 10 + i, 0, false, 0, 100};
}

static void missing_ranks_are_told_once(void **state)
{
	struct rank_member members[] = {
		{7, 5, 0, 0}, {7, 5, 3, 1}, {9, 5, 0, 0}, {9, 5, 3, 1}, {3, 2, 0, 0}};
	struct ranks ranks;

	reset_processes();
	ranks = make_notes(members, 5);
	assert_int_equal(ranks.note_count, 1);
	assert_string_equal(ranks.notes[0], "of 5 ranks 3 are missing: 1, 2, 4");
	ranks_release(&ranks);
}

static void cut_and_stopped_processes_are_told(void **state)
{
	struct rank_member members[] = {{7, 2, 0, 0}, {7, 2, 1, 1}};
	struct ranks ranks;

	reset_processes();
	processes[0].is_cut = true;
	processes[1].session = 1;
	ranks = make_notes(members, 2);
	assert_int_equal(ranks.note_count, 2);
	assert_string_equal(ranks.notes[0], "a: process 10 was cut off");
	assert_non_null(strstr(ranks.notes[1], "b: process 11 stopped its recording"));
	ranks_release(&ranks);
}

static void a_restarted_rank_is_told(void **state)
{
	struct rank_member members[] = {{7, 2, 0, 0}, {7, 2, 1, 1}, {8, 2, 0, 0}, {8, 2, 1, 2}};
	struct ranks ranks;

	reset_processes();
	processes[1].end_ns = 40;
	processes[2].start_ns = 50;
	ranks = make_notes(members, 4);
	assert_int_equal(ranks.note_count, 1);
	assert_string_equal(ranks.notes[0],
			    "rank 1 was restarted: process 11 of b, then process 12 of c");
	ranks_release(&ranks);
}

/* A damaged file may say that there are 2^31 ranks. */
static void ranks_beyond_those_that_are_listed_are_counted(void **state)
{
	struct rank_member members[] = {
		{7, INT32_MAX, 1, 0}, {7, INT32_MAX, 1, 1}, {7, INT32_MAX, INT32_MAX - 1, 2}};
	struct ranks ranks;

	reset_processes();
	ranks = make_notes(members, 3);
	assert_int_equal(ranks.note_count, 1);
	assert_string_equal(
		ranks.notes[0],
		"of 2147483647 ranks 2147483645 are missing: 0, 2, 3, 4, 5, 6, 7, 8, 9, "
		"10, 11, 12, 13, 14, 15, 16 ...");
	ranks_release(&ranks);
}

enum { MANY_MEMBERS = 200000 };

/* Each of another communicator, which misses all other ranks. Lists name the first 16. */
static void many_members_are_compared_by_rank(void **state)
{
	struct rank_member *members = calloc(MANY_MEMBERS, sizeof(*members));
	struct ranks ranks;

	assert_non_null(members);
	reset_processes();
	for (uint32_t i = 0; i < MANY_MEMBERS; i++)
		members[i] = (struct rank_member){i + 1, MANY_MEMBERS, i, i % 3};
	ranks = make_notes(members, MANY_MEMBERS);
	assert_int_equal(ranks.note_count, 17);
	ranks_release(&ranks);
	free(members);
}

/* Each note once, although each process has two recordings. */
static void many_cut_processes_are_told_once(void **state)
{
	struct rank_process *rows = calloc(MANY_MEMBERS, sizeof(*rows));
	struct ranks ranks = {0};

	assert_non_null(rows);
	assert_int_equal(ranks_add_file(&ranks, "a", 0, 1), 0);
	for (uint32_t i = 0; i < MANY_MEMBERS; i++)
		rows[i] = (struct rank_process){.pid = i / 2 + 1, .is_cut = true};
	assert_int_equal(rank_notes_add(rows, MANY_MEMBERS, NULL, 0, &ranks), 0);
	assert_int_equal(ranks.note_count, MANY_MEMBERS / 2);
	assert_string_equal(ranks.notes[1], "a: process 2 was cut off");
	ranks_release(&ranks);
	free(rows);
}

/* 127 communicators of 20 ranks, each with other ones of the first seven. */
static void of_many_lists_the_first_are_told(void **state)
{
	struct rank_member members[127 * 7];
	struct ranks ranks;
	uint32_t count = 0;

	reset_processes();
	for (uint32_t communicator = 1; communicator <= 127; communicator++) {
		for (uint32_t rank = 0; rank < 7; rank++) {
			if (communicator >> rank & 1)
				members[count++] = (struct rank_member){communicator, 20, rank, 0};
		}
	}
	ranks = make_notes(members, count);
	assert_int_equal(ranks.note_count, 65);
	assert_string_equal(ranks.notes[64], "ranks of further communicators may be missing");
	ranks_release(&ranks);
}

/* A process is compared with the last one of its rank that ended before it, whatever runs. */
static void each_restart_is_told_once(void **state)
{
	struct rank_member members[] = {{1, 2, 0, 0}, {2, 2, 0, 1}, {3, 2, 0, 2}, {4, 2, 0, 2},
					{1, 2, 1, 0}, {2, 2, 1, 0}, {3, 2, 1, 0}, {4, 2, 1, 0}};
	struct ranks ranks;

	reset_processes();
	processes[0].end_ns = 10;
	processes[1].start_ns = 10;
	processes[1].end_ns = 20;
	processes[2].start_ns = 30;
	ranks = make_notes(members, 8);
	assert_int_equal(ranks.note_count, 2);
	assert_string_equal(ranks.notes[0],
			    "rank 0 was restarted: process 10 of a, then process 11 of b");
	assert_string_equal(ranks.notes[1],
			    "rank 0 was restarted: process 11 of b, then process 12 of c");
	ranks_release(&ranks);
}

#define CASE(name) cmocka_unit_test_setup(name, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(an_operation_lasts_as_its_kernels),
		CASE(an_operation_of_unknown_stream_lasts_as_its_kernels),
		CASE(what_bounds_nothing_is_left_out),
		CASE(operations_of_a_group_last_as_the_group),
		cmocka_unit_test(of_too_many_multiples_of_a_power_of_two_are_kept),
		cmocka_unit_test(of_too_many_with_one_number_the_first_are_kept),
		cmocka_unit_test(each_of_many_communicators_has_its_member),
		cmocka_unit_test(operations_at_impossible_times_are_left_out),
		cmocka_unit_test(calls_in_a_cycle_end_the_search),
		cmocka_unit_test(missing_ranks_are_told_once),
		cmocka_unit_test(cut_and_stopped_processes_are_told),
		cmocka_unit_test(a_restarted_rank_is_told),
		cmocka_unit_test(ranks_beyond_those_that_are_listed_are_counted),
		cmocka_unit_test(many_members_are_compared_by_rank),
		cmocka_unit_test(many_cut_processes_are_told_once),
		cmocka_unit_test(of_many_lists_the_first_are_told),
		cmocka_unit_test(each_restart_is_told_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

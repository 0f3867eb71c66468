/*
 * Collectives of two ranks in two processes, made by hand: what they are, how long they took, who
 * was late and why. The numbers in the assertions are worked out from the times in play().
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/collectives.h"
#include "collective_scene.h"
#include "trace/create.h"
#include "trace/row_table.h"

static struct dependencies deps;
static struct collectives found;

/* ---- a recording ---- */

/* Two reduce-scatters that run together, and then a send with a receive. */
static void operate_groups(int64_t ns, int64_t start_ns, int64_t end_ns)
{
	uint32_t end;

	scene_call(GROUP_START, TRACE_NONE, ns, ns + 1);
	scene_call(GROUP_START, TRACE_NONE, ns + 2, ns + 3);
	scene_operation(REDUCE_SCATTER, 500, FLOAT32, 3, ns + 4, ID);
	scene_call(GROUP_END, TRACE_NONE, ns + 25, ns + 26);
	scene_operation(REDUCE_SCATTER, 500, FLOAT32, 4, ns + 27, ID);
	end = scene_call(GROUP_END, TRACE_NONE, ns + 50, ns + 90);
	scene_run("memory_clear", end, ns + 60, start_ns - 50, start_ns - 40);
	scene_run("ncclDevKernel_Operation(ncclDevKernelArgs)", end, ns + 70, start_ns, end_ns);

	scene_call(GROUP_START, TRACE_NONE, ns + 100, ns + 101);
	scene_operation(SEND, 100, INT8, 1, ns + 102, ID);
	scene_operation(RECV, 300, INT8, 2, ns + 125, ID);
	end = scene_call(GROUP_END, TRACE_NONE, ns + 150, ns + 190);
	scene_run("ncclDevKernel_SendRecv(ncclDevKernelArgs)", end, ns + 160, 8000, 8050);
}

static void play(const char *second_host)
{
	scene_create();
	scene_process("one");
	scene_run("gemm", TRACE_NONE, 100, 500, 1000);
	scene_operate(ALL_REDUCE, 1000, FLOAT32, 1, 120, 1000, 3000);
	scene_operate(ALL_GATHER, 1000, FLOAT16, 2, 160, 4000, 5000);
	operate_groups(5200, 6300, 7000);
	scene_process(second_host);
	scene_run("gemm", TRACE_NONE, 100, 500, 2000);
	scene_operate(ALL_REDUCE, 1000, FLOAT32, 1, 120, 2000, 3000);
	scene_operate(ALL_GATHER, 1000, FLOAT16, 2, 160, 4100, 5000);
	operate_groups(5200, 6000, 7000);
}

static void look(void)
{
	assert_int_equal(trace_seal(scene_trace), 0);
	assert_int_equal(dependencies_make(scene_trace, &deps), 0);
	assert_int_equal(collectives_make(&deps, NULL, &found), 0);
}

static int leave(void **state)
{
	collectives_release(&found);
	dependencies_release(&deps);
	trace_close(scene_trace);
	scene_trace = NULL;
	return 0;
}

/* ---- cases ---- */

static const struct collective_row *stats_of(enum collective_kind kind)
{
	for (uint32_t i = 0; i < found.stats_count; i++)
		if (found.stats[i].kind == kind)
			return &found.stats[i];
	fail_msg("no %s", collective_kind_key(kind));
	return NULL;
}

static void assert_near(double a, double b)
{
	assert_true(a - b < 1e-6 * b && b - a < 1e-6 * b);
}

static void operations_have_times_and_rates(void **state)
{
	const struct collective_row *row;

	play("one");
	look();
	assert_int_equal(found.communicators_count, 1);
	assert_int_equal(found.communicators[0].id, ID);
	assert_int_equal(found.communicators[0].ranks, 2);
	assert_int_equal(found.stats_count, 4);

	/* 2000 and 1000 ns for 4000 bytes; together from 2000 to 3000. */
	row = stats_of(COLLECTIVE_ALL_REDUCE);
	assert_int_equal(row->count, 2);
	assert_int_equal(row->bytes, 4000);
	assert_near(row->duration.mean, 1500);
	assert_near(row->duration.p50, 1500);
	assert_near(row->duration.p99, 1990);
	assert_near(collective_algorithm_rate(row->bytes, row->duration.mean), 4000 / 1500e-9);
	assert_near(collective_bus_rate(row->kind, 2, row->bytes, row->duration.mean),
		    4000 / 1500e-9);
	assert_int_equal(row->whole_count, 1);
	assert_int_equal(row->whole_ns, 1000);

	/* 1000 of 2 bytes from each of 2 ranks, in 1000 and 900 ns. */
	row = stats_of(COLLECTIVE_ALL_GATHER);
	assert_int_equal(row->bytes, 4000);
	assert_near(row->duration.mean, 950);
	assert_near(collective_bus_rate(row->kind, 2, row->bytes, row->duration.mean),
		    4000 / 950e-9 / 2);
	assert_int_equal(row->whole_ns, 900);
}

static void factors_are_those_of_nccl_tests(void **state)
{
	assert_near(collective_bus_rate(COLLECTIVE_ALL_REDUCE, 8, 800, 100), 8e9 * 2 * 7 / 8);
	assert_near(collective_bus_rate(COLLECTIVE_ALL_GATHER, 8, 800, 100), 8e9 * 7 / 8);
	assert_near(collective_bus_rate(COLLECTIVE_REDUCE_SCATTER, 8, 800, 100), 8e9 * 7 / 8);
	assert_near(collective_bus_rate(COLLECTIVE_ALL_TO_ALL, 8, 800, 100), 8e9 * 7 / 8);
	assert_near(collective_bus_rate(COLLECTIVE_GATHER, 8, 800, 100), 8e9 * 7 / 8);
	assert_near(collective_bus_rate(COLLECTIVE_BROADCAST, 8, 800, 100), 8e9);
	assert_near(collective_bus_rate(COLLECTIVE_REDUCE, 8, 800, 100), 8e9);
	assert_near(collective_bus_rate(COLLECTIVE_SEND_RECV, 8, 800, 100), 8e9);
	assert_true(collective_bus_rate(COLLECTIVE_ALL_REDUCE, 0, 800, 100) == 0);
	assert_true(collective_bus_rate(COLLECTIVE_ALL_REDUCE, 8, 800, 0) == 0);
}

static void a_group_is_one_operation(void **state)
{
	const struct collective_row *row;

	play("one");
	look();
	/* Twice 500 of 4 bytes for each of 2 ranks; the memset before it is not part of it. */
	row = stats_of(COLLECTIVE_REDUCE_SCATTER);
	assert_int_equal(row->count, 2);
	assert_int_equal(row->bytes, 8000);
	assert_int_equal(row->duration.min, 700);
	assert_int_equal(row->duration.max, 1000);
	/* The larger direction. */
	row = stats_of(COLLECTIVE_SEND_RECV);
	assert_int_equal(row->bytes, 300);
	assert_int_equal(row->duration.max, 50);
	assert_int_equal(row->whole_count, 0);
}

static void the_late_rank_is_found(void **state)
{
	const struct collective_instance *first;

	play("one");
	look();
	assert_int_equal(found.instances_count, 3);
	first = &found.instances[0];
	assert_int_equal(found.rows[first->late].kind, COLLECTIVE_ALL_REDUCE);
	assert_int_equal(found.rows[first->late].rank, 1);
	assert_int_equal(found.rows[first->early].rank, 0);
	assert_int_equal(first->spread_ns, 1000);
	assert_int_equal(first->alone_ns, 1000);
	assert_int_equal(found.instances[1].spread_ns, 300);
	assert_int_equal(found.rows[found.instances[1].late].rank, 0);
	assert_int_equal(found.instances[2].spread_ns, 100);
}

/* The gemm of rank 1 takes 1000 ns more than that of rank 0. */
static void the_cause_is_on_its_own_path(void **state)
{
	const struct collective_cause *cause;

	play("one");
	look();
	cause = &found.instances[0].cause;
	assert_int_equal(cause->kind, PATH_KERNEL);
	assert_string_equal(trace_text(scene_trace, cause->name), "gemm");
	assert_int_equal(cause->ns, 1000);
	/* Before the second one, nothing but the launch was different. */
	assert_int_not_equal(found.instances[2].cause.kind, PATH_KERNEL);
	assert_int_equal(found.instances[2].cause.ns, 100);
}

static void ranks_have_sums(void **state)
{
	const struct collective_rank *rank;

	play("one");
	look();
	assert_int_equal(found.ranks_count, 2);
	rank = &found.ranks[0];
	assert_int_equal(rank->rank, 0);
	assert_int_equal(rank->count, 3);
	assert_int_equal(rank->last, 1);
	assert_int_equal(rank->late_ns, 300);
	assert_int_equal(rank->most_ns, 300);
	rank = &found.ranks[1];
	assert_int_equal(rank->last, 2);
	assert_int_equal(rank->late_ns, 1100);
	assert_int_equal(rank->most_ns, 1000);
	assert_int_equal(rank->alone_ns, 1100);
	assert_int_equal(scene_trace->agents[rank->agent].gpu_ordinal, 1);
	assert_true(rank->cause_count > 0);
	assert_int_equal(found.causes[rank->cause_first].kind, PATH_KERNEL);
	assert_int_equal(found.causes[rank->cause_first].ns, 1000);
}

static void hosts_are_not_compared(void **state)
{
	play("another");
	look();
	assert_int_equal(found.instances_count, 0);
	assert_int_equal(found.foreign, 3);
	assert_int_equal(found.ranks_count, 0);
	assert_int_equal(found.stats_count, 4);
}

/* 1 for the rounding of each conversion. */
static void hosts_that_were_merged_are_compared(void **state)
{
	const struct collective_instance *row;

	play("another");
	scene_merge(200);
	look();
	assert_int_equal(found.foreign, 0);
	assert_int_equal(found.instances_count, 3);
	row = &found.instances[0];
	assert_int_equal(row->spread_ns, 1000);
	assert_in_range(row->spread_error_ns, 200, 202);
	assert_in_range(row->alone_error_ns, 200, 202);
	assert_true(row->is_sure);
	assert_int_equal(row->cause.ns, 1000);
	row = &found.instances[2];
	assert_int_equal(row->spread_ns, 100);
	assert_false(row->is_sure);
	assert_int_equal(found.ranks[1].last, 2);
	assert_int_equal(found.ranks[1].surely_last, 1);
	assert_in_range(found.ranks[1].late_error_ns, 2 * 200, 2 * 202);
	assert_in_range(stats_of(COLLECTIVE_ALL_REDUCE)->whole_error_ns, 0, 202);
}

static void ranks_of_one_clock_have_no_error(void **state)
{
	play("one");
	look();
	assert_int_equal(found.instances[0].spread_error_ns, 0);
	assert_true(found.instances[0].is_sure && found.instances[2].is_sure);
	assert_int_equal(found.ranks[1].surely_last, 2);
	assert_int_equal(found.ranks[1].late_error_ns, 0);
}

static void unknown_clocks_are_not_compared(void **state)
{
	play("another");
	scene_merge(INT64_MAX);
	look();
	assert_int_equal(found.instances_count, 0);
	assert_int_equal(found.foreign, 3);
}

static void ranks_that_disagree_are_told(void **state)
{
	play("one");
	scene_operate(ALL_REDUCE, 7, FLOAT32, 5, 9000, 9100, 9200);
	scene_process("one");
	scene_operate(ALL_REDUCE, 8, FLOAT32, 5, 9000, 9100, 9200);
	look();
	assert_int_equal(found.mismatched, 1);
	assert_int_equal(found.instances_count, 3);
}

/* A recording that does not tell the id: the handle is one process's, until it is destroyed. */
static void without_an_id_the_handle_tells(void **state)
{
	uint32_t call;

	play("one");
	for (int i = 0; i < 2; i++) {
		scene_run("ncclDevKernel",
			  scene_operation(ALL_REDUCE, 10, INT8, 1, 9000 + i * 100, 0),
			  9005 + i * 100, 9010 + i * 100, 9020 + i * 100);
		call = scene_call(DESTROY, TRACE_NONE, 9050 + i * 100, 9060 + i * 100);
		scene_trace->calls[call].arg_first = scene_trace->words_count;
		*trace_add(scene_trace, words) = HANDLE;
	}
	look();
	assert_int_equal(found.communicators_count, 3);
	assert_int_equal(found.instances_count, 3);
	assert_int_equal(found.stats_count, 6);
}

/* In a stream capture an operation launches nothing. */
static void without_kernels_there_is_no_time(void **state)
{
	const struct collective_row *row;

	play("one");
	scene_operation(ALL_REDUCE, 4, INT8, 5, 9000, ID);
	look();
	row = &found.stats[0];
	assert_int_equal(row->bytes, 4);
	assert_int_equal(row->count, 1);
	assert_int_equal(row->untimed, 1);
	assert_int_equal(row->duration.count, 0);
}

static void the_selection_counts(void **state)
{
	struct selection selection = {0};
	struct filter filter = FILTER_ALL;

	play("one");
	look();
	collectives_release(&found);
	filter.device = 1;
	assert_int_equal(filter_select(scene_trace, &filter, &selection), 0);
	assert_int_equal(collectives_make(&deps, &selection, &found), 0);
	selection_release(&selection);
	assert_int_equal(found.instances_count, 0);
	assert_int_equal(stats_of(COLLECTIVE_ALL_REDUCE)->count, 1);
	assert_int_equal(stats_of(COLLECTIVE_ALL_REDUCE)->duration.max, 1000);
}

#define CASE(name) cmocka_unit_test_teardown(name, leave)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(factors_are_those_of_nccl_tests),
		CASE(operations_have_times_and_rates),
		CASE(a_group_is_one_operation),
		CASE(the_late_rank_is_found),
		CASE(the_cause_is_on_its_own_path),
		CASE(ranks_have_sums),
		CASE(hosts_are_not_compared),
		CASE(hosts_that_were_merged_are_compared),
		CASE(ranks_of_one_clock_have_no_error),
		CASE(unknown_clocks_are_not_compared),
		CASE(ranks_that_disagree_are_told),
		CASE(without_an_id_the_handle_tells),
		CASE(without_kernels_there_is_no_time),
		CASE(the_selection_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

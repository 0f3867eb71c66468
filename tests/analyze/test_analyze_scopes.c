/*
 * The instances of a scope: what they took on the host and on the GPUs, which are outliers, and
 * what differs in them. Each case shows its schedule as path_schedule.h builds it: "[10 a 20)" is
 * kernel a on the GPU, "a!4" the host's submission of it. All times are ns after the program's
 * first call.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/scope_compare.h"
#include "analyze/scope_groups.h"
#include "analyze/scope_match.h"
#include "analyze/scope_stats.h"
#include "path_schedule.h"
#include "trace/load.h"

#define SPAN(begin, end) ((struct span){begin, end})

/* The statistics of a pattern, with the trace that they refer to. */
struct asked {
	struct trace *trace;
	struct dependencies deps;
	struct scope_stats stats;
};

static void ask(struct schedule *schedule, const char *pattern, struct asked *ret_asked)
{
	ret_asked->trace = schedule_load(schedule);
	assert_int_equal(dependencies_make(ret_asked->trace, &ret_asked->deps), 0);
	assert_int_equal(scope_stats_make(&ret_asked->deps, pattern, &ret_asked->stats), 0);
}

static void asked_release(struct asked *asked)
{
	scope_stats_release(&asked->stats);
	dependencies_release(&asked->deps);
	trace_close(asked->trace);
}

/* Asserts the text, the host's time and the projection of instance AT, ns after BASE_NS. */
static void expect_instance(const struct asked *asked, uint32_t at, const char *text,
			    int64_t host_ns, struct span projection)
{
	const struct scope_instance *row = &asked->stats.rows[at];
	const struct trace_scope *scope = &asked->trace->scopes[row->scope];

	assert_string_equal(trace_text(asked->trace, scope->text), text);
	assert_int_equal(scope_figure(asked->trace, row, SCOPE_HOST), host_ns);
	assert_int_equal(row->work.begin_ns, BASE_NS + projection.begin);
	assert_int_equal(row->work.end_ns, BASE_NS + projection.end);
}

static void expect_idle(const struct asked *asked, uint32_t at, int64_t busy_ns,
			enum idle_cause cause, int64_t ns)
{
	const struct scope_instance *row = &asked->stats.rows[at];

	assert_int_equal(row->gpus, 1);
	assert_int_equal(row->busy_ns, busy_ns);
	assert_int_equal(row->cause_ns[cause], ns);
	assert_int_equal(scope_figure(asked->trace, row, SCOPE_IDLE), ns);
	assert_int_equal(busy_ns + ns, scope_figure(asked->trace, row, SCOPE_PROJECTION));
}

static bool is_near(double found, double want)
{
	return found > want - 1e-9 && found < want + 1e-9;
}

/* Reckoned with pandas 2.2: Series.describe, quantile(0.9), quantile(0.99), std. */
static void distribution_of_ten(void **state)
{
	int64_t values[] = {10, 3, 7, 1, 9, 2, 8, 4, 6, 5};
	struct distribution found;

	distribution_make(values, 10, &found);
	assert_int_equal(found.count, 10);
	assert_int_equal(found.total, 55);
	assert_int_equal(found.min, 1);
	assert_int_equal(found.max, 10);
	assert_true(is_near(found.mean, 5.5));
	assert_true(is_near(found.stddev, 3.0276503540974917));
	assert_true(is_near(found.p50, 5.5));
	assert_true(is_near(found.p90, 9.1));
	assert_true(is_near(found.p99, 9.91));
	assert_true(is_near(found.mad, 2.5));
	assert_int_equal(values[0], 1);
}

/* The median's distances: 0 0 1 1 93 of an odd count; none of none; 0 of one. */
static void distribution_of_few(void **state)
{
	int64_t values[] = {100, 7, 6, 7, 8};
	int64_t one[] = {42};
	struct distribution found;

	distribution_make(values, 5, &found);
	assert_true(is_near(found.p50, 7));
	assert_true(is_near(found.mad, 1));
	assert_true(distribution_is_outlier(&found, 100));
	assert_true(distribution_is_outlier(&found, 1));
	assert_false(distribution_is_outlier(&found, 12));
	distribution_make(one, 1, &found);
	assert_true(is_near(found.p99, 42) && is_near(found.stddev, 0) && is_near(found.mad, 0));
	assert_false(distribution_is_outlier(&found, 1000));
	distribution_make(one, 0, &found);
	assert_int_equal(found.count, 0);
	assert_true(is_near(found.mean, 0));
}

static void names_of_groups(void **state)
{
	static const char *const strings[] = {"", "step 12", "ProfilerStep#007x8", "a[1]"};
	struct trace trace = {.strings = (const char **)strings, .strings_count = 4};
	struct trace_scope scopes[] = {
		{.text = 1, .name = 1}, {.text = 2, .name = 2}, {.text = 3, .name = 3}};
	char name[SCOPE_GROUP_CHARS];

	assert_string_equal(scope_group_name(&trace, &scopes[0], name), "step *");
	assert_string_equal(scope_group_name(&trace, &scopes[1], name), "ProfilerStep#*x*");
	assert_true(scope_matches(&trace, &scopes[0], "step *"));
	assert_true(scope_matches(&trace, &scopes[0], "step 12"));
	assert_false(scope_matches(&trace, &scopes[0], "step"));
	/* As it is written, though the pattern "[1]" means one character. */
	assert_true(scope_matches(&trace, &scopes[2], "a[1]"));
}

/*
 * host  [0 "token 0" 10)  [10 "token 1" 20)  [20 "other" 30)
 *         a!2 b!4           c!12 d!14          e!22
 * s1    [10 a 20)[20 b 30)[40 c 50)[58 d 70)[70 e 80)
 *
 * Each token's work ran after its scope had ended. Before d nothing ran for 8 ns.
 */
static void work_runs_after_its_scope(void **state)
{
	struct schedule schedule;
	struct asked asked;

	schedule_init(&schedule, false);
	schedule_stream(&schedule, STREAM_1, 1);
	schedule_scope(&schedule, 1, "token 0", SPAN(0, 10));
	schedule_scope(&schedule, 2, "token 1", SPAN(10, 20));
	schedule_scope(&schedule, 3, "other", SPAN(20, 30));
	schedule.scope = 1;
	schedule_kernel(&schedule, STREAM_1, "a", SPAN(1, 3), 2, SPAN(10, 20));
	schedule_kernel(&schedule, STREAM_1, "b", SPAN(3, 5), 4, SPAN(20, 30));
	schedule.scope = 2;
	schedule_kernel(&schedule, STREAM_1, "c", SPAN(11, 13), 12, SPAN(40, 50));
	schedule_kernel(&schedule, STREAM_1, "d", SPAN(13, 15), 14, SPAN(58, 70));
	schedule.scope = 3;
	schedule_kernel(&schedule, STREAM_1, "e", SPAN(21, 23), 22, SPAN(70, 80));
	ask(&schedule, "token *", &asked);
	assert_int_equal(asked.stats.instances.count, 2);
	expect_instance(&asked, 0, "token 0", 10, SPAN(10, 30));
	expect_instance(&asked, 1, "token 1", 10, SPAN(40, 70));
	expect_idle(&asked, 0, 20, IDLE_LAUNCH, 0);
	expect_idle(&asked, 1, 22, IDLE_LAUNCH, 8);
	assert_int_equal(asked.stats.figures[SCOPE_PROJECTION].total, 50);
	assert_int_equal(asked.stats.cause_ns[IDLE_LAUNCH], 8);
	asked_release(&asked);
}

/*
 * host  [0 "step" 30)
 *          [2 "step" 10)  [12 "layer" 20)
 *            a!4             b!14
 * s1    [10 a 20)[40 b 60)
 *
 * The scope inside it that has the same text is no instance, and its work is the outer one's.
 */
static void the_outermost_scope_counts(void **state)
{
	struct schedule schedule;
	struct asked asked;

	schedule_init(&schedule, false);
	schedule_stream(&schedule, STREAM_1, 1);
	schedule_scope(&schedule, 1, "step", SPAN(0, 30));
	schedule.scope = 1;
	schedule_scope(&schedule, 2, "step", SPAN(2, 10));
	schedule_scope(&schedule, 3, "layer", SPAN(12, 20));
	schedule.scope = 2;
	schedule_kernel(&schedule, STREAM_1, "a", SPAN(3, 5), 4, SPAN(10, 20));
	schedule.scope = 3;
	schedule_kernel(&schedule, STREAM_1, "b", SPAN(13, 15), 14, SPAN(40, 60));
	ask(&schedule, "step", &asked);
	assert_int_equal(asked.stats.instances.count, 1);
	expect_instance(&asked, 0, "step", 30, SPAN(10, 60));
	assert_int_equal(asked.stats.rows[0].work.timed, 2);
	asked_release(&asked);
}

/* Seven tokens with a kernel each of 10 ns; token 4 has "slow" of 90 ns besides, and token 6 has no
 * work. */
static void schedule_tokens(struct schedule *schedule)
{
	schedule_init(schedule, false);
	schedule_stream(schedule, STREAM_1, 1);
	for (int64_t i = 0; i < 7; i++) {
		int64_t begin = i * 200;
		char text[16];

		snprintf(text, sizeof(text), "token %d", (int)i);
		schedule->scope = 0;
		schedule_scope(schedule, (uint64_t)i + 1, text, SPAN(begin, begin + 50));
		schedule->scope = (uint64_t)i + 1;
		if (i == 6)
			break;
		schedule_kernel(schedule, STREAM_1, "each", SPAN(begin + 1, begin + 3), begin + 2,
				SPAN(begin + 10, begin + 20));
		if (i == 4)
			schedule_kernel(schedule, STREAM_1, "slow", SPAN(begin + 3, begin + 5),
					begin + 4, SPAN(begin + 25, begin + 115));
	}
}

static void an_outlier_and_what_differs(void **state)
{
	struct schedule schedule;
	struct scope_parts parts;
	struct asked asked;

	schedule_tokens(&schedule);
	ask(&schedule, "token *", &asked);
	assert_int_equal(asked.stats.instances.count, 7);
	assert_int_equal(asked.stats.figures[SCOPE_HOST].count, 7);
	assert_int_equal(asked.stats.figures[SCOPE_PROJECTION].count, 6);
	assert_int_equal(asked.stats.median, 0);
	for (uint32_t i = 0; i < 7; i++)
		assert_int_equal(asked.stats.rows[i].is_outlier, i == 4);
	assert_int_equal(scope_compare(asked.trace, &asked.stats, 0, 4, SCOPE_BY_WORK, &parts), 0);
	assert_int_equal(parts.count, 2);
	assert_int_equal(parts.rows[0].kind, SCOPE_PART_ACTIVITY);
	assert_int_equal(parts.rows[0].count[0], 0);
	assert_int_equal(parts.rows[0].count[1], 1);
	assert_int_equal(scope_part_difference(&parts.rows[0]), 90);
	assert_int_equal(parts.rows[1].kind, SCOPE_PART_IDLE);
	assert_int_equal(parts.rows[1].cause, IDLE_LAUNCH);
	assert_int_equal(scope_part_difference(&parts.rows[1]), 5);
	free(parts.rows);
	assert_int_equal(scope_compare(asked.trace, &asked.stats, 0, 1, SCOPE_BY_WORK, &parts), 0);
	assert_int_equal(parts.count, 0);
	free(parts.rows);
	asked_release(&asked);
}

static void scopes_in_groups(void **state)
{
	struct schedule schedule;
	struct scope_groups groups;
	struct trace *trace;

	schedule_tokens(&schedule);
	schedule.scope = 0;
	schedule_scope(&schedule, 20, "load", SPAN(1400, 1500));
	trace = schedule_load(&schedule);
	assert_int_equal(scope_groups_make(trace, &groups), 0);
	assert_int_equal(groups.count, 2);
	assert_string_equal(groups.rows[0].name, "token *");
	assert_int_equal(groups.rows[0].scopes, 7);
	assert_int_equal(groups.rows[0].activities, 7);
	assert_int_equal(groups.rows[0].projection.count, 6);
	assert_int_equal(groups.rows[0].projection.total, 5 * 10 + 105);
	assert_int_equal(groups.rows[0].host.total, 7 * 50);
	assert_string_equal(groups.rows[1].name, "load");
	assert_int_equal(groups.rows[1].projection.count, 0);
	scope_groups_release(&groups);
	trace_close(trace);
}

/* The nodes of two replays of the same graph, in a scope each: "n" took longer in the second. */
static void nodes_that_differ(void **state)
{
	static const char *const names[] = {"m", "n", NULL};
	static const uint32_t edges[][2] = {{0, 1}};
	struct schedule schedule;
	struct scope_parts parts;
	struct asked asked;

	schedule_init(&schedule, false);
	schedule_stream(&schedule, STREAM_1, 1);
	schedule_graph(&schedule, names, edges, 1);
	schedule_scope(&schedule, 1, "step 0", SPAN(0, 50));
	schedule_scope(&schedule, 2, "step 1", SPAN(50, 99));
	schedule.scope = 1;
	schedule_launch(&schedule, STREAM_1, 2, SPAN(0, 10));
	schedule_node(&schedule, "m", 1, SPAN(10, 20));
	schedule_node(&schedule, "n", 2, SPAN(20, 30));
	schedule.scope = 2;
	schedule_launch(&schedule, STREAM_1, 2, SPAN(50, 60));
	schedule_node(&schedule, "m", 51, SPAN(60, 70));
	schedule_node(&schedule, "n", 52, SPAN(70, 97));
	ask(&schedule, "step *", &asked);
	assert_int_equal(scope_compare(asked.trace, &asked.stats, 0, 1, SCOPE_BY_NODE, &parts), 0);
	assert_int_equal(parts.count, 1);
	assert_int_equal(
		asked.trace->nodes[asked.trace->activities[parts.rows[0].activity].node].index, 1);
	assert_int_equal(scope_part_difference(&parts.rows[0]), 17);
	free(parts.rows);
	asked_release(&asked);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(distribution_of_ten),
		cmocka_unit_test(distribution_of_few),
		cmocka_unit_test(names_of_groups),
		cmocka_unit_test(work_runs_after_its_scope),
		cmocka_unit_test(the_outermost_scope_counts),
		cmocka_unit_test(an_outlier_and_what_differs),
		cmocka_unit_test(scopes_in_groups),
		cmocka_unit_test(nodes_that_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

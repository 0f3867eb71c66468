/* The clocks of ranks on one, case by case. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "merge/rank_clocks.h"

#define SECOND 1000000000ll

enum { ROOM = 64 };

/* Clocks that are behind that of clock 0, and collectives on them. */
struct plan {
	struct collective rows[ROOM];
	size_t count;
	struct clock_facts facts[4];
	int64_t behind_ns[4];
	uint32_t clock_count;
	struct rank_clock clocks[4];
};

static void add_clock(struct plan *plan, int64_t behind_ns)
{
	struct clock_facts *facts = &plan->facts[plan->clock_count];

	plan->behind_ns[plan->clock_count++] = behind_ns;
	*facts = (struct clock_facts){.first_ns = -behind_ns, .last_ns = 100 * SECOND - behind_ns};
}

/* CLOCK takes part in an operation from BEGIN_NS to END_NS of clock 0. */
static void add(struct plan *plan, uint32_t clock, uint64_t communicator, uint64_t number,
		int64_t begin_ns, int64_t end_ns)
{
	assert_true(plan->count < ROOM);
	plan->rows[plan->count++] = (struct collective){
		.communicator = communicator,
		.number = number,
		.begin_ns = begin_ns - plan->behind_ns[clock],
		.end_ns = end_ns - plan->behind_ns[clock],
		.clock = clock,
	};
}

/* FIRST and SECOND take part in COUNT operations, and each is last in turn. */
static void add_turns(struct plan *plan, uint64_t communicator, uint32_t first, uint32_t second,
		      int count)
{
	for (int i = 0; i < count; i++) {
		int64_t ns = i * 10 * SECOND;
		uint32_t late = i % 4 < 2 ? first : second;

		add(plan, first + second - late, communicator, (uint64_t)i + 1, ns, ns + 9000);
		add(plan, late, communicator, (uint64_t)i + 1, ns + 8000, ns + 9000);
	}
}

static void fit(struct plan *plan, uint64_t wall_error_ns)
{
	assert_int_equal(rank_clocks_fit(plan->rows, plan->count, plan->facts, plan->clock_count,
					 wall_error_ns, plan->clocks),
			 0);
}

/* CLOCK is converted to the clock of REFERENCE within its uncertainty, which is MOST or less in the
 * middle. */
static void expect(const struct plan *plan, uint32_t clock, uint32_t reference, uint64_t most)
{
	int64_t ns = 40 * SECOND, own_ns = ns - plan->behind_ns[clock];
	const struct rank_clock *row = &plan->clocks[clock];
	int64_t off = rank_clock_map(row, own_ns) - (ns - plan->behind_ns[reference]);
	uint64_t uncertainty = rank_clock_uncertainty(row, own_ns);

	assert_true((uint64_t)(off < 0 ? -off : off) <= uncertainty);
	assert_true(uncertainty <= most);
}

static void two_clocks_are_compared_by_their_collectives(void **state)
{
	struct plan plan = {0};

	add_clock(&plan, 0);
	add_clock(&plan, 123456789012);
	add_turns(&plan, 5, 0, 1, 9);
	fit(&plan, SECOND);
	assert_int_equal(plan.clocks[0].source, RANK_CLOCK_REFERENCE);
	assert_int_equal(plan.clocks[1].source, RANK_CLOCK_COLLECTIVES);
	assert_int_equal(plan.clocks[1].matched, 9);
	assert_int_equal(plan.clocks[1].uneven_ns, 0);
	expect(&plan, 1, 0, 2000);
}

static void a_clock_is_reached_through_another(void **state)
{
	struct plan plan = {0};

	add_clock(&plan, 0);
	add_clock(&plan, -5 * SECOND);
	add_clock(&plan, 7 * SECOND);
	add_turns(&plan, 5, 0, 1, 9);
	add_turns(&plan, 6, 1, 2, 9);
	fit(&plan, SECOND);
	assert_int_equal(plan.clocks[0].source, RANK_CLOCK_REFERENCE);
	expect(&plan, 1, 0, 2000);
	expect(&plan, 2, 0, 4100);
}

/* The pair holds times of clock 1 by clock 0, which are needed the other way round. */
static void a_pair_is_used_in_both_directions(void **state)
{
	struct plan plan = {0};

	add_clock(&plan, 0);
	add_clock(&plan, 3 * SECOND);
	add_clock(&plan, -3 * SECOND);
	add_clock(&plan, 9 * SECOND);
	/* Clock 2 is the hub of a communicator of three, clock 0 that of one of two. */
	for (int i = 0; i < 9; i++) {
		int64_t ns = i * 10 * SECOND;
		uint32_t late = i % 3 == 0 ? 1 : i % 3 == 1 ? 3 : 2;

		for (uint32_t k = 1; k < 4; k++)
			add(&plan, k, 5, (uint64_t)i + 1,
			    k == late ? ns + 8000 + 100 * (late == 2) : ns, ns + 9000);
	}
	add_turns(&plan, 6, 0, 2, 9);
	fit(&plan, SECOND);
	assert_int_equal(plan.clocks[2].source, RANK_CLOCK_REFERENCE);
	expect(&plan, 0, 2, 2000);
	expect(&plan, 1, 2, 3000);
	expect(&plan, 3, 2, 3000);
}

static void ranks_of_one_machine_say_more_together(void **state)
{
	struct plan plan = {0};

	add_clock(&plan, 0);
	add_clock(&plan, 4 * SECOND);
	for (int i = 0; i < 6; i++) {
		int64_t ns = i * 10 * SECOND;

		/* The second rank on clock 1 is the last to begin, the first one waits. */
		add(&plan, 0, 5, (uint64_t)i + 1, i % 2 ? ns : ns + 8000, ns + 9000);
		add(&plan, 1, 5, (uint64_t)i + 1, ns, ns + 9000);
		add(&plan, 1, 5, (uint64_t)i + 1, i % 2 ? ns + 8000 : ns, ns + 9500);
	}
	fit(&plan, SECOND);
	expect(&plan, 1, 0, 2500);
}

static void without_collectives_wall_clocks_join(void **state)
{
	struct plan plan = {0};

	add_clock(&plan, 0);
	add_clock(&plan, 5 * SECOND);
	for (uint32_t i = 0; i < 2; i++) {
		plan.facts[i].has_wall = true;
		plan.facts[i].wall_ns = 1000 * SECOND + plan.behind_ns[i];
	}
	plan.facts[1].wall_ns += 3000;
	fit(&plan, 2000);
	assert_int_equal(plan.clocks[1].source, RANK_CLOCK_WALL);
	assert_int_equal(rank_clock_worst(&plan.clocks[1]), 4000);
	expect(&plan, 1, 0, 4000);
}

static void what_a_wall_clock_joins_brings_its_pairs(void **state)
{
	struct plan plan = {0};

	add_clock(&plan, 0);
	add_clock(&plan, 5 * SECOND);
	add_clock(&plan, 6 * SECOND);
	add_clock(&plan, 7 * SECOND);
	for (uint32_t i = 0; i < 4; i++) {
		plan.facts[i].has_wall = true;
		plan.facts[i].wall_ns = 1000 * SECOND + plan.behind_ns[i];
	}
	plan.facts[3].has_wall = false;
	add_turns(&plan, 5, 0, 1, 9);
	add_turns(&plan, 6, 2, 3, 9);
	fit(&plan, 2000);
	assert_int_equal(plan.clocks[1].source, RANK_CLOCK_COLLECTIVES);
	assert_int_equal(plan.clocks[2].source, RANK_CLOCK_WALL);
	assert_int_equal(plan.clocks[3].source, RANK_CLOCK_WALL);
	expect(&plan, 3, 0, 6100);
}

static void a_clock_without_anything_is_unknown(void **state)
{
	struct plan plan = {0};

	add_clock(&plan, 0);
	add_clock(&plan, 5 * SECOND);
	fit(&plan, 2000);
	assert_int_equal(plan.clocks[1].source, RANK_CLOCK_WALL);
	assert_true(rank_clock_worst(&plan.clocks[1]) == INT64_MAX);
}

/* Two clocks with ten collectives in 90 s. Clock 1 is set forward by JUMP_NS in the middle. */
static void fit_jump(struct plan *plan, int64_t jump_ns)
{
	add_clock(plan, 0);
	add_clock(plan, 5 * SECOND);
	add_turns(plan, 5, 0, 1, 10);
	for (size_t i = 0; i < plan->count; i++) {
		struct collective *row = &plan->rows[i];

		if (row->clock == 1 && row->number > 5) {
			row->begin_ns += jump_ns;
			row->end_ns += jump_ns;
		}
	}
	fit(plan, SECOND);
	assert_true(plan->clocks[1].uneven_ns > 0);
}

/* 20 ms within 10 s is more than a clock can be slewed. */
static void a_clock_that_jumps_is_told(void **state)
{
	struct plan plan = {0};

	fit_jump(&plan, 20000000);
	assert_true(rank_clock_is_assumed(&plan.clocks[1]));
	assert_true(rank_clock_worst(&plan.clocks[1]) >= plan.clocks[1].uneven_ns);
	expect(&plan, 1, 0, 50000000);
}

/* 1 ms within 10 s may have been slewed by 100 ppm, or by 1000 ppm at any moment between. */
static void a_clock_that_is_slewed_runs_in_pieces(void **state)
{
	const struct rank_clock *clock;
	struct plan plan = {0};

	fit_jump(&plan, 1000000);
	clock = &plan.clocks[1];
	assert_false(rank_clock_is_assumed(clock));
	assert_true(clock->joint_count >= 2);
	assert_true(clock->joints[0].host_ns <= clock->first_ns);
	assert_true(clock->joints[clock->joint_count - 1].host_ns >= clock->last_ns);
	expect(&plan, 1, 0, 6000000);
	/* From the last collective, 10 s on at 1000 ppm. */
	assert_true(rank_clock_uncertainty(clock, 95 * SECOND) < 12000000);
	assert_true(rank_clock_worst(clock) >= rank_clock_uncertainty(clock, 95 * SECOND));
	for (int64_t s = -10; s < 110; s++) {
		int64_t mapped = rank_clock_map(clock, s * SECOND);

		assert_in_range(rank_clock_unmap(clock, mapped) - s * SECOND + 1, 0, 2);
	}
}

static void one_collective_bounds_by_the_drift(void **state)
{
	struct plan plan = {0};

	add_clock(&plan, 0);
	add_clock(&plan, 5 * SECOND);
	add(&plan, 0, 5, 1, 3000, 5000);
	add(&plan, 1, 5, 1, 0, 5000);
	fit(&plan, SECOND);
	/* 1000 ppm in 40 s, from a moment that is known to 4 us. */
	expect(&plan, 1, 0, 40050000);
	assert_true(rank_clock_uncertainty(&plan.clocks[1], -5 * SECOND) < 10000);
}

/* Times of damaged records, as far apart as can be, in both directions. */
static void clocks_that_contradict_each_other_stay_possible(void **state)
{
	struct plan plan = {0};

	for (int i = 0; i < 3; i++) {
		int64_t ns = i == 1 ? RANK_CLOCK_TIME_MOST : 0, other = RANK_CLOCK_TIME_MOST - ns;

		add_clock(&plan, 0);
		plan.facts[i] = (struct clock_facts){
			.last_ns = RANK_CLOCK_TIME_MOST, .wall_ns = ns - other, .has_wall = true};
		add(&plan, (uint32_t)i, 5, 1, ns, ns);
		add(&plan, (uint32_t)i, 5, 2, other, other);
	}
	fit(&plan, UINT64_MAX);
	for (int i = 0; i < 3; i++)
		assert_true(rank_clock_is_possible(&plan.clocks[i]));
	plan.count = 0;
	fit(&plan, UINT64_MAX);
	for (int i = 0; i < 3; i++)
		assert_true(rank_clock_is_possible(&plan.clocks[i]));
	assert_true(rank_clock_worst(&plan.clocks[1]) == INT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_clocks_are_compared_by_their_collectives),
		cmocka_unit_test(a_clock_is_reached_through_another),
		cmocka_unit_test(a_pair_is_used_in_both_directions),
		cmocka_unit_test(ranks_of_one_machine_say_more_together),
		cmocka_unit_test(without_collectives_wall_clocks_join),
		cmocka_unit_test(what_a_wall_clock_joins_brings_its_pairs),
		cmocka_unit_test(a_clock_without_anything_is_unknown),
		cmocka_unit_test(a_clock_that_jumps_is_told),
		cmocka_unit_test(a_clock_that_is_slewed_runs_in_pieces),
		cmocka_unit_test(one_collective_bounds_by_the_drift),
		cmocka_unit_test(clocks_that_contradict_each_other_stay_possible),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

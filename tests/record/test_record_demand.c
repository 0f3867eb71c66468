/* How many chunks are kept ready, as time passes and chunks are used. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "record/demand.h"

#define MS    1000000u
#define LEAST 100
#define MOST  5000

static void without_use_it_is_the_least(void **state)
{
	struct demand demand;

	demand_init(&demand, LEAST, MOST, 0);
	for (uint64_t ms = 0; ms < 5000; ms += 16)
		assert_int_equal(demand_chunks(&demand, 0, LEAST, ms * MS), LEAST);
}

static void steady_use_is_covered_for_half_a_second(void **state)
{
	struct demand demand;
	uint64_t chunks = 0;

	demand_init(&demand, LEAST, MOST, 0);
	for (uint64_t ms = 0; ms <= 200; ms++)
		chunks = demand_chunks(&demand, 2 * ms, LEAST, ms * MS);
	assert_int_equal(chunks, 1000);
	/* Also when a second ends, at which the use is measured again. */
	for (uint64_t ms = 201; ms <= 3000; ms++)
		assert_in_range(demand_chunks(&demand, 2 * ms, 1000, ms * MS), 1000, 1020);
}

static void it_falls_back_when_the_burst_is_over(void **state)
{
	struct demand demand;

	demand_init(&demand, LEAST, MOST, 0);
	demand_chunks(&demand, 100, LEAST, 50 * MS);
	assert_int_equal(demand_chunks(&demand, 200, 1000, 100 * MS), 1000);
	demand_chunks(&demand, 200, 1000, 1100 * MS);
	assert_int_equal(demand_chunks(&demand, 200, 1000, 2200 * MS), LEAST);
}

static void half_empty_doubles_it_at_once(void **state)
{
	struct demand demand;

	demand_init(&demand, LEAST, MOST, 0);
	assert_int_equal(demand_chunks(&demand, 40, LEAST - 40, 1 * MS), LEAST);
	assert_int_equal(demand_chunks(&demand, 100, LEAST - 60, 2 * MS), 2 * LEAST);
	assert_int_equal(demand_chunks(&demand, 250, 2 * LEAST - 150, 3 * MS), 4 * LEAST);
}

static void it_never_passes_its_bounds(void **state)
{
	struct demand demand;
	struct demand small;

	demand_init(&demand, LEAST, MOST, 0);
	assert_int_equal(demand_chunks(&demand, 1000000, 0, 100 * MS), MOST);
	demand_init(&small, LEAST, LEAST / 2, 0);
	assert_int_equal(demand_chunks(&small, 0, 0, 1 * MS), LEAST / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_use_it_is_the_least),
		cmocka_unit_test(steady_use_is_covered_for_half_a_second),
		cmocka_unit_test(it_falls_back_when_the_burst_is_over),
		cmocka_unit_test(half_empty_doubles_it_at_once),
		cmocka_unit_test(it_never_passes_its_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

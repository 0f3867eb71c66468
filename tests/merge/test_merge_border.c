/* The lower side of a convex hull, compared with all points. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "merge/border.h"

enum { POINTS = 200, ROUNDS = 300, SLOPES = 41 };

static uint32_t next_random(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(*seed >> 33);
}

/* The highest line of SLOPE below all points, at 0. */
static double below_all(const struct border_point *points, int count, double slope)
{
	double least = INFINITY;

	for (int i = 0; i < count; i++)
		least = fmin(least, (double)points[i].y - slope * (double)points[i].x);
	return least;
}

static void lines_are_below_all_points_in_any_order(void **state)
{
	uint64_t seed = 1;

	for (int round = 0; round < ROUNDS; round++) {
		struct border_point points[POINTS];
		struct border border = {0};
		int count = 1 + (int)(next_random(&seed) % POINTS);

		for (int i = 0; i < count; i++) {
			points[i].x = round % 2 ? next_random(&seed) % 100 : (uint32_t)i * 7;
			points[i].y = next_random(&seed) % 1000;
			assert_int_equal(border_add(&border, points[i].x, points[i].y), 0);
		}
		for (int k = 0; k < SLOPES; k++) {
			double slope = (k - SLOPES / 2) * 2.37;

			assert_float_equal(border_below(&border, slope, 0),
					   below_all(points, count, slope), 1e-6);
		}
		border_release(&border);
	}
}

static void reach_is_the_best_of_all_slopes(void **state)
{
	uint64_t seed = 2;

	for (int round = 0; round < ROUNDS; round++) {
		struct border border = {0};

		for (int i = 0; i < POINTS; i++)
			assert_int_equal(border_add(&border, i, next_random(&seed) % 100), 0);
		for (int x = -50; x < POINTS + 50; x += 25) {
			double reach = border_reach(&border, -3, 2, 0, x), best = -INFINITY;

			for (double slope = -3; slope <= 2; slope += 1.0 / 256)
				best = fmax(best, border_below(&border, slope, 0) + slope * x);
			/* The slopes that are tried lie beside the best one. */
			assert_true(reach >= best - 1e-6);
			assert_true(reach <= best + 2.0 * POINTS / 256);
		}
		border_release(&border);
	}
}

static void a_line_of_points_keeps_its_ends(void **state)
{
	struct border border = {0};

	for (int i = 0; i < POINTS; i++)
		assert_int_equal(border_add(&border, i, 3 * i), 0);
	assert_int_equal(border.count, 2);
	border_release(&border);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_below_all_points_in_any_order),
		cmocka_unit_test(reach_is_the_best_of_all_slopes),
		cmocka_unit_test(a_line_of_points_keeps_its_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

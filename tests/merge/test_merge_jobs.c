/* Generated jobs: the error of each rank's clock is never above its stated uncertainty, and the
 * uncertainty is not much above the error. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "merge_job.h"

enum { JOBS = 10000, MOMENTS = 4, SAMPLES_MOST = JOBS * JOB_CLOCKS_MOST * MOMENTS };

static double *errors, *uncertainties;
static size_t sample_count;

static int compare_doubles(const void *left, const void *right)
{
	const double *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

static double median(double *values)
{
	qsort(values, sample_count, sizeof(*values), compare_doubles);
	return values[sample_count / 2];
}

static uint32_t reference_of(const struct rank_clock *clocks, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (clocks[i].source == RANK_CLOCK_REFERENCE)
			return i;
	}
	fail_msg("no reference");
	return 0;
}

/* Compares the clock I with the truth at random moments. */
static void take_samples(const struct job *job, uint64_t number, uint64_t *seed, uint32_t i,
			 uint32_t reference, const struct rank_clock *clock)
{
	const struct clock_facts *facts = &job->facts[i];

	for (int k = 0; k < MOMENTS; k++) {
		int64_t ns =
			facts->first_ns +
			(int64_t)(job_random(seed) * (double)(facts->last_ns - facts->first_ns));
		double error = fabs((double)rank_clock_map(clock, ns) -
				    job_convert(job, i, reference, (double)ns));
		double uncertainty = (double)rank_clock_uncertainty(clock, ns);

		if (error > uncertainty)
			fail_msg("job %llu, clock %u: off by %f ns, uncertainty %f ns",
				 (unsigned long long)number, i, error, uncertainty);
		errors[sample_count] = error;
		uncertainties[sample_count++] = uncertainty;
	}
}

static void begin_samples(void)
{
	sample_count = 0;
	errors = malloc(SAMPLES_MOST * sizeof(*errors));
	uncertainties = malloc(SAMPLES_MOST * sizeof(*uncertainties));
	assert_true(errors && uncertainties);
}

static void end_samples(void)
{
	print_message("%zu samples: median error %.0f ns, median uncertainty %.0f ns\n",
		      sample_count, median(errors), median(uncertainties));
	free(errors);
	free(uncertainties);
}

static void errors_are_within_the_uncertainty(void **state)
{
	static struct job job;
	struct rank_clock clocks[JOB_CLOCKS_MOST];

	begin_samples();
	for (uint64_t number = 0; number < JOBS; number++) {
		uint64_t seed = ~number;
		uint32_t reference;

		job_make(&job, number);
		assert_int_equal(rank_clocks_fit(job.rows, job.row_count, job.facts,
						 job.clock_count, 0, clocks),
				 0);
		reference = reference_of(clocks, job.clock_count);
		for (uint32_t i = 0; i < job.clock_count; i++) {
			assert_int_equal(clocks[i].uneven_ns, 0);
			if (i == reference)
				continue;
			assert_int_equal(clocks[i].source, RANK_CLOCK_COLLECTIVES);
			take_samples(&job, number, &seed, i, reference, &clocks[i]);
		}
	}
	assert_true(median(uncertainties) <= 3 * median(errors));
	end_samples();
}

/* Compares jobs whose clocks are slewed while they are compared, with steady clocks beside them or
 * without. */
static void take_uneven(bool has_steady)
{
	static struct job job;
	struct rank_clock clocks[JOB_CLOCKS_MOST];
	size_t joints = 0, uneven = 0, count = 0;

	begin_samples();
	for (uint64_t number = 0; number < JOBS; number++) {
		uint64_t seed = ~number;
		uint32_t reference;

		job_make_uneven(&job, number);
		if (has_steady)
			job_add_steady(&job, number);
		assert_int_equal(rank_clocks_fit(job.rows, job.row_count, job.facts,
						 job.clock_count, 0, clocks),
				 0);
		reference = reference_of(clocks, job.clock_count);
		for (uint32_t i = 0; i < job.clock_count; i++) {
			assert_false(rank_clock_is_assumed(&clocks[i]));
			if (i == reference)
				continue;
			count++;
			uneven += clocks[i].joint_count != 0;
			joints += clocks[i].joint_count;
			take_samples(&job, number, &seed, i, reference, &clocks[i]);
		}
	}
	print_message("%zu clocks, %zu in pieces, %.1f joints each\n", count, uneven,
		      (double)joints / (double)uneven);
	assert_true(uneven > 0);
}

/* Also if the clocks are slewed while they are compared. */
static void errors_of_uneven_clocks_are_within_the_uncertainty(void **state)
{
	take_uneven(false);
	/* The bound allows for a slew at any moment: 44.4 times the error in these jobs, which are
	 * the same in each run. */
	assert_true(median(uncertainties) <= 50 * median(errors));
	end_samples();
}

static void steady_clocks_make_uneven_ones_as_sharp_as_even_ones(void **state)
{
	take_uneven(true);
	assert_true(median(uncertainties) <= 3.5 * median(errors));
	end_samples();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(errors_of_uneven_clocks_are_within_the_uncertainty),
		cmocka_unit_test(steady_clocks_make_uneven_ones_as_sharp_as_even_ones),
		cmocka_unit_test(errors_are_within_the_uncertainty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

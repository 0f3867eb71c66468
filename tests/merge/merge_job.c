/* Generated jobs (merge_job.h). */
#include "merge_job.h"

#include <math.h>
#include <string.h>

double job_random(uint64_t *seed)
{
	uint64_t z = *seed += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return (double)((z ^ z >> 31) >> 11) / 9007199254740992.0;
}

static double between(uint64_t *seed, double least, double most)
{
	return least + (most - least) * job_random(seed);
}

static double exponential(uint64_t *seed, double mean)
{
	return -mean * log(1 - job_random(seed));
}

static double shown(const struct job_clock *clock, double true_ns)
{
	double slewed_ns = fmin(true_ns, clock->slew_end_ns) - clock->slew_begin_ns;

	return (true_ns - clock->offset_ns) / (1 + clock->drift) +
	       (clock->slew ? clock->slew * fmax(slewed_ns, 0) : 0);
}

/* Each round leaves a thousandth of the error. */
static double true_time(const struct job_clock *clock, double ns)
{
	/* The shown times of a clock differ little from true ones, so differences keep digits. */
	double true_ns = ns + ns * clock->drift + clock->offset_ns;

	for (int i = 0; clock->slew && i < 8; i++)
		true_ns += ns - shown(clock, true_ns);
	return true_ns;
}

double job_convert(const struct job *job, uint32_t a, uint32_t b, double ns)
{
	return shown(&job->clocks[b], true_time(&job->clocks[a], ns));
}

/* How the ranks of a job scatter. */
struct scatter {
	double begin_ns, end_ns; /* means of the time that a rank begins and ends late */
	double error_ns;	 /* most by which a clock is read wrong */
};

/* Adds the collective NUMBER of ranks FIRST to LAST at the true time AT_NS. */
static void add_collective(struct job *job, uint64_t *seed, const struct scatter *scatter,
			   const uint64_t id[2], uint32_t first, uint32_t last, double at_ns)
{
	double begins[JOB_CLOCKS_MOST], all_begun = 0;

	for (uint32_t i = first; i <= last; i++) {
		begins[i] = at_ns + exponential(seed, scatter->begin_ns);
		all_begun = fmax(all_begun, begins[i]);
	}
	for (uint32_t i = first; i <= last; i++) {
		const struct job_clock *clock = &job->clocks[i];
		double end = all_begun + clock->end_delay_ns + exponential(seed, scatter->end_ns);
		double error = scatter->error_ns;

		job->rows[job->row_count++] = (struct collective){
			.communicator = id[0],
			.number = id[1],
			.begin_ns = (int64_t)llround(shown(clock, begins[i]) +
						     between(seed, -error, error)),
			.end_ns =
				(int64_t)llround(shown(clock, end) + between(seed, -error, error)),
			.clock = i,
			/* 1: rounding. */
			.error_ns = (uint32_t)ceil(error) + 1,
		};
	}
}

/* Slews some of the clocks of JOB, which lasts SPAN_NS. One way, so that no two of them differ by
 * more than 1000 ppm. */
static void slew_clocks(struct job *job, uint64_t *seed, double span_ns)
{
	double sign = job_random(seed) < 0.5 ? -1 : 1;

	for (uint32_t i = 0; i < job->clock_count; i++) {
		struct job_clock *clock = &job->clocks[i];

		clock->slew_begin_ns = between(seed, 0.1, 0.5) * span_ns;
		clock->slew_end_ns = clock->slew_begin_ns + between(seed, 0.1, 0.4) * span_ns;
		clock->slew = sign * between(seed, 2e-4, 5e-4);
		if (i && job_random(seed) < 0.5)
			clock->slew = 0;
	}
}

static void make(struct job *job, uint64_t seed, uint32_t operations_least, double span_least_ns,
		 bool is_uneven)
{
	uint32_t operations =
		operations_least +
		(uint32_t)(job_random(&seed) * (JOB_OPERATIONS_MOST / 2 - operations_least));
	double span_ns = exp(between(&seed, log(span_least_ns), log(6e11)));
	const struct scatter scatter = {
		.begin_ns = between(&seed, 1e4, 3e5),
		.end_ns = between(&seed, 1e3, 5e4),
		.error_ns = between(&seed, 0, 200),
	};
	uint32_t shared;

	*job = (struct job){.clock_count = 2 + (uint32_t)(job_random(&seed) * 5)};
	for (uint32_t i = 0; i < job->clock_count; i++) {
		job->clocks[i] = (struct job_clock){
			.offset_ns = between(&seed, -1e12, 1e12),
			.drift = between(&seed, -5e-5, 5e-5),
			.end_delay_ns = exponential(&seed, 3e4),
		};
	}
	if (is_uneven)
		slew_clocks(job, &seed, span_ns);
	for (uint32_t i = 0; i < job->clock_count; i++) {
		job->facts[i] = (struct clock_facts){
			.first_ns = (int64_t)shown(&job->clocks[i], -0.05 * span_ns),
			.last_ns = (int64_t)shown(&job->clocks[i], 1.05 * span_ns),
		};
	}
	shared = (uint32_t)(job_random(&seed) * job->clock_count);
	for (uint32_t i = 0; i < operations; i++) {
		double at_ns = span_ns * (i + job_random(&seed) / 2) / operations;

		add_collective(job, &seed, &scatter, (const uint64_t[]){7, i + 1}, 0,
			       shared ? shared : job->clock_count - 1, at_ns);
		if (shared)
			add_collective(job, &seed, &scatter, (const uint64_t[]){9, i + 1}, shared,
				       job->clock_count - 1, at_ns + span_ns / operations / 2);
	}
}

void job_make(struct job *job, uint64_t seed)
{
	make(job, seed, 10, 1e9, false);
}

void job_make_uneven(struct job *job, uint64_t seed)
{
	make(job, seed, 100, 6e10, true);
}

void job_add_steady(struct job *job, uint64_t seed)
{
	double error_ns = between(&seed, 20, 200);

	for (uint32_t i = 0; i < job->clock_count; i++) {
		struct job_clock steady = job->clocks[i];
		struct clock_facts *facts = &job->facts[i];
		double true_ns = true_time(&job->clocks[i], (double)facts->first_ns);
		struct steady_moment *rows = job->moments[i];
		size_t count = 0;

		steady.slew = 0;
		steady.offset_ns += between(&seed, -1e9, 1e9);
		steady.drift += between(&seed, -1e-5, 1e-5);
		do {
			rows[count++] = (struct steady_moment){
				.host_ns = (int64_t)llround(shown(&job->clocks[i], true_ns) +
							    between(&seed, -error_ns, error_ns)),
				.steady_ns = (int64_t)llround(shown(&steady, true_ns)),
				.error_ns = (uint64_t)ceil(error_ns) + 1,
			};
			true_ns += 2.5e8 + between(&seed, 0, 5e6);
		} while (count < JOB_MOMENTS_MOST && rows[count - 1].host_ns < facts->last_ns);
		facts->steady = (struct steady_clock){rows, count};
	}
}

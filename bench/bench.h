/*
 * The benchmarks of dagtap-bench. Each measures its value and a floor (the least possible cost) in
 * the same run, so that a slow or busy machine shows in both.
 */
#ifndef DAGTAP_BENCH_H
#define DAGTAP_BENCH_H

#include <stdbool.h>
#include <stddef.h>

#define BENCH_LINES_MOST 1200

/* One measured value, in ns unless UNIT says otherwise. */
struct bench_line {
	const char *name; /* as in --json: lower case with underscores */
	const char *unit;
	const char *help;
	double value;
};

struct bench_result {
	struct bench_line lines[BENCH_LINES_MOST];
	size_t count;
};

struct bench {
	const char *name;
	const char *help;
	int (*run)(struct bench_result *ret_result); /* measures; returns 0 or a negative errno */
	/* the benchmark's own options, for the help; NULL: none */
	const char *options;
	/* parses those options before run; returns 0 or -EINVAL */
	int (*take)(int argc, char **argv);
	/* prints the result in place of one line for each value; may be NULL */
	void (*print)(const struct bench_result *result);
};

extern const struct bench bench_ring;
extern const struct bench bench_hip_call;
extern const struct bench bench_intercept;
extern const struct bench bench_scope;
extern const struct bench bench_reference;
extern const struct bench bench_pack;
extern const struct bench bench_path;
extern const struct bench bench_patch;
extern const struct bench bench_kineto;
extern const struct bench bench_kineto_read;
extern const struct bench bench_otf2;
extern const struct bench bench_rocpd;

/*
 * Adds a value to the result; further values than BENCH_LINES_MOST are ignored. The texts are not
 * copied.
 */
void bench_add(struct bench_result *result, const char *name, const char *unit, double value,
	       const char *help);

/*
 * Returns ERR and keeps a message, which is printed in place of ERR's text if the running benchmark
 * fails.
 */
int bench_fail(int err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Shows "DONE of TOTAL" on one line of the terminal, which is rewritten until the benchmark ends.
 */
void bench_progress(unsigned done, unsigned total);

/* Returns the median; sorts VALUES. */
double bench_median(double *values, size_t count);

#endif

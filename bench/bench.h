/* Benchmarks: each prints a figure and a floor measured in the same run, so that a number from a
 * busy or slow machine explains itself. */
#ifndef DAGTAP_BENCH_H
#define DAGTAP_BENCH_H

#include <stdbool.h>
#include <stddef.h>

#define BENCH_LINES_MOST 1200

/* One measured value, in ns unless the unit says otherwise. */
struct bench_line {
	const char *name; /* as in --json: lower case, underscores */
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
	int (*run)(struct bench_result *ret_result); /* 0 or a negative errno */
	const char *options;			     /* of its own, for the help; NULL = none */
	int (*take)(int argc, char **argv);	     /* those, before run; 0 or -EINVAL */
	void (*print)(const struct bench_result *result); /* instead of a line a figure; or NULL */
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

void bench_add(struct bench_result *result, const char *name, const char *unit, double value,
	       const char *help);

/* Returns ERR. What is told of the benchmark that runs, in place of ERR's text, if it fails. */
int bench_fail(int err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* On a line of the terminal, rewritten until the benchmark ends: DONE of TOTAL programs have
 * run. */
void bench_progress(unsigned done, unsigned total);

/* Sorts VALUES. */
double bench_median(double *values, size_t count);

#endif

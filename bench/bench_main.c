/* The benchmark program: dagtap-bench NAME|all [--json] [OPTIONS of NAME] */
#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

static const struct bench *const benches[] = {
	&bench_ring,	  &bench_hip_call,    &bench_intercept, &bench_scope,
	&bench_reference, &bench_pack,	      &bench_path,	&bench_patch,
	&bench_kineto,	  &bench_kineto_read, &bench_otf2,	&bench_rocpd,
};

#define BENCH_COUNT (sizeof(benches) / sizeof(*benches))

static char failure[4096]; /* message of the running benchmark; empty: only its errno is known */

int bench_fail(int err, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(failure, sizeof(failure), format, arguments);
	va_end(arguments);
	return err;
}

void bench_add(struct bench_result *result, const char *name, const char *unit, double value,
	       const char *help)
{
	if (result->count < BENCH_LINES_MOST)
		result->lines[result->count++] = (struct bench_line){name, unit, help, value};
}

void bench_progress(unsigned done, unsigned total)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r\33[Kdagtap-bench: %u of %u programs have run", done, total);
}

static void clear_progress(void)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r\33[K");
}

static int compare_values(const void *a, const void *b)
{
	double left = *(const double *)a;
	double right = *(const double *)b;

	return left < right ? -1 : left > right;
}

double bench_median(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), compare_values);
	return values[count / 2];
}

static void print_text(const struct bench *bench, const struct bench_result *result)
{
	printf("%s: %s\n", bench->name, bench->help);
	for (size_t i = 0; i < result->count; i++) {
		const struct bench_line *line = &result->lines[i];

		printf("  %-22s %10.2f %-4s %s\n", line->name, line->value, line->unit, line->help);
	}
}

static void print_json(const struct bench *bench, const struct bench_result *result, bool first)
{
	printf("%s{\"bench\":\"%s\"", first ? "" : ",", bench->name);
	for (size_t i = 0; i < result->count; i++)
		printf(",\"%s_%s\":%.3f", result->lines[i].name, result->lines[i].unit,
		       result->lines[i].value);
	printf("}");
}

static int run_bench(const struct bench *bench, bool json, bool first)
{
	static struct bench_result result;
	int err;

	result.count = 0;
	failure[0] = '\0';
	err = bench->run(&result);
	clear_progress();
	if (err) {
		fprintf(stderr, "dagtap-bench: %s: %s\n", bench->name,
			failure[0] ? failure : strerror(-err));
		return 1;
	}
	if (json)
		print_json(bench, &result, first);
	else if (bench->print)
		bench->print(&result);
	else
		print_text(bench, &result);
	return 0;
}

static int run_named(const char *name, bool json)
{
	bool all = !strcmp(name, "all");
	bool found = false;
	int failed = 0;

	if (json)
		printf("[");
	for (size_t i = 0; i < BENCH_COUNT; i++) {
		if (!all && strcmp(name, benches[i]->name) != 0)
			continue;
		failed |= run_bench(benches[i], json, !found);
		found = true;
	}
	if (json)
		printf("]\n");
	if (!found)
		fprintf(stderr, "dagtap-bench: no benchmark is called %s\n", name);
	return found ? failed : 2;
}

static int print_usage(void)
{
	fprintf(stderr, "usage: dagtap-bench NAME|all [--json]\n");
	for (size_t i = 0; i < BENCH_COUNT; i++) {
		fprintf(stderr, "  %-10s %s\n", benches[i]->name, benches[i]->help);
		if (benches[i]->options)
			fprintf(stderr, "  %-10s %s\n", "", benches[i]->options);
	}
	return 2;
}

static const struct bench *find(const char *name)
{
	for (size_t i = 0; i < BENCH_COUNT; i++) {
		if (!strcmp(name, benches[i]->name))
			return benches[i];
	}
	return NULL;
}

/* Removes --json from the arguments; the rest belongs to the benchmark. */
static bool take_json(int *argc, char **argv)
{
	int kept = 0;

	for (int i = 0; i < *argc; i++) {
		if (strcmp(argv[i], "--json") != 0)
			argv[kept++] = argv[i];
	}
	if (kept == *argc)
		return false;
	*argc = kept;
	return true;
}

int main(int argc, char **argv)
{
	bool json = take_json(&argc, argv);
	const struct bench *bench;

	/*
	 * Fixes the threshold: malloc raises a dynamic one when the first large array is freed, and
	 * then keeps all later arrays.
	 */
	mallopt(M_MMAP_THRESHOLD, 1 << 20);
	if (argc < 2 || argv[1][0] == '-')
		return print_usage();
	bench = find(argv[1]);
	if (argc > 2 && (!bench || !bench->take || bench->take(argc - 2, argv + 2)))
		return print_usage();
	return run_named(argv[1], json);
}

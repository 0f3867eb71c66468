/*
 * CPU time, measurements in processes of their own, and the least that the work on the reference
 * run can cost.
 */
#ifndef DAGTAP_BENCH_REFERENCE_FLOORS_H
#define DAGTAP_BENCH_REFERENCE_FLOORS_H

#include <stddef.h>
#include <stdint.h>

struct cpu_seconds {
	double user;
	double system;
};

/* The CPU time of this process so far, and since BEGIN. */
struct cpu_seconds cpu_now(void);
struct cpu_seconds cpu_since(struct cpu_seconds begin);
static inline double cpu_sum(const struct cpu_seconds *seconds)
{
	return seconds->user + seconds->system;
}

/* Returns the run with the median sum of user and system time, of COUNT runs STRIDE bytes apart. */
struct cpu_seconds cpu_median(const struct cpu_seconds *first, size_t count, size_t stride);

/*
 * Calls WORK in a forked child that is pinned to one core, and copies its RESULT back. RESULT
 * begins with an int, 0 or WORK's negative errno, which is also returned. NAME is the child's name
 * in messages.
 */
int run_alone(const char *name, void (*work)(const void *context, void *ret_result),
	      const void *context, void *ret_result, size_t result_bytes);

/* Calls run_alone COUNT times; RESULTS is an array. Stops at the first failure. */
int run_alone_times(const char *name, void (*work)(const void *context, void *ret_result),
		    const void *context, void *ret_results, size_t result_bytes, size_t count);

/*
 * Floors, each measured in a child: copying every byte of the file at PATH; storing to BYTES of
 * fresh memory, one byte a page; writing BYTES to a new file at PATH; encoding COUNT events as
 * XLA's XSpace does, with three stats each.
 */
int floor_copy(const char *path, struct cpu_seconds *ret_seconds);
int floor_touch(uint64_t bytes, struct cpu_seconds *ret_seconds);
int floor_write(const char *path, uint64_t bytes, struct cpu_seconds *ret_seconds);
int floor_encode(uint64_t count, struct cpu_seconds *ret_seconds);

#endif

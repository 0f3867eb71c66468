/* CPU time, processes that measure alone, and what the work on the reference run costs at the least. */
#ifndef DAGTAP_BENCH_REFERENCE_FLOORS_H
#define DAGTAP_BENCH_REFERENCE_FLOORS_H

#include <stddef.h>
#include <stdint.h>

struct cpu_seconds {
	double user;
	double system;
};

struct cpu_seconds cpu_now(void);
struct cpu_seconds cpu_since(struct cpu_seconds begin);
static inline double cpu_sum(const struct cpu_seconds *seconds)
{
	return seconds->user + seconds->system;
}

/* The run in the middle by its sum, of COUNT that lie STRIDE bytes apart. */
struct cpu_seconds cpu_median(const struct cpu_seconds *first, size_t count, size_t stride);

/* Calls WORK in a forked child on one core; what it left in RESULT comes back. RESULT begins with an int, 0
 * or the negative errno of WORK, which is what this gives too. NAME is what a child that fails is called. */
int run_alone(const char *name, void (*work)(const void *context, void *ret_result),
	      const void *context, void *ret_result, size_t result_bytes);

/* COUNT times, RESULTS one behind the other, up to the first failure. */
int run_alone_times(const char *name, void (*work)(const void *context, void *ret_result),
		    const void *context, void *ret_results, size_t result_bytes, size_t count);

/* Each in a child: every byte of the file at PATH copied; BYTES of fresh memory stored to, a byte a page;
 * BYTES written to a new file at PATH; COUNT events encoded as XLA's XSpace has them, with three
 * statistics. */
int floor_copy(const char *path, struct cpu_seconds *ret_seconds);
int floor_touch(uint64_t bytes, struct cpu_seconds *ret_seconds);
int floor_write(const char *path, uint64_t bytes, struct cpu_seconds *ret_seconds);
int floor_encode(uint64_t count, struct cpu_seconds *ret_seconds);

#endif

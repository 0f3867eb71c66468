/* The reference run as a spool: MaxText llama2_7b, 8 GPUs, 100 steps, as XLA's collector saw it once it
 * exported all of it: 3,776,488 device events, 4,744,882 host events, 146 kernel names; 1,270,346 of the
 * calls submitted work, so the rest is what graphs brought. All else is made up, in the shape of a recorded
 * run: eight threads that launch, others that only call, scopes, graphs, and completions that a monitor
 * records late. The same seed and size give the same bytes. */
#ifndef DAGTAP_BENCH_REFERENCE_SPOOL_H
#define DAGTAP_BENCH_REFERENCE_SPOOL_H

#include <stdint.h>

#define REFERENCE_STEPS		   100
#define REFERENCE_DEVICE_EVENTS	   3776488 /* kernels, copies, fills */
#define REFERENCE_HOST_EVENTS	   4744882 /* calls */
#define REFERENCE_SUBMITTING_CALLS 1270346

#define REFERENCE_STEPS_MOST 1000

struct reference_counts {
	uint64_t device_events;
	uint64_t host_events;
	uint64_t submitting_calls; /* that brought kernels, copies or fills */
	uint64_t graph_launches;
	uint64_t scopes;
};

/* What a run of so many steps holds; the reference run has REFERENCE_STEPS, others their share. */
struct reference_counts reference_spool_counts(uint32_t steps);

/* Writes PATH, which must not exist; what was begun is removed when that fails. 0 or negative errno. */
int reference_spool_write(const char *path, uint64_t seed, uint32_t steps);

#endif

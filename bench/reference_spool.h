/*
 * Generates the reference run as a spool: MaxText llama2_7b, 8 GPUs, 100 steps, as XLA's collector
 * reported it when it exported everything: 3,776,488 device events, 4,744,882 host events, 146
 * kernel names. 1,270,346 of the calls submitted work; the rest of the device events came from
 * graphs. Everything else is invented in the shape of a recorded run: eight threads that launch,
 * other threads that only make calls, scopes, graphs, and completions that the monitor records
 * late. The same seed and size give the same bytes.
 */
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
	uint64_t submitting_calls; /* calls that submitted kernels, copies or fills */
	uint64_t graph_launches;
	uint64_t scopes;
};

/*
 * Returns the counts of a run of STEPS steps: those of the reference run for REFERENCE_STEPS, the
 * proportionate part for other sizes.
 */
struct reference_counts reference_spool_counts(uint32_t steps);

/*
 * Writes PATH, which must not exist; removes it when writing fails. Returns 0 or a negative errno.
 */
int reference_spool_write(const char *path, uint64_t seed, uint32_t steps);

#endif

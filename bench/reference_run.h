/*
 * The state of the reference run while it is generated. One thread plays all threads of the
 * program: the one with the earliest clock acts next.
 */
#ifndef DAGTAP_BENCH_REFERENCE_RUN_H
#define DAGTAP_BENCH_REFERENCE_RUN_H

#include <stdbool.h>

#include "reference_calls.h"
#include "reference_graphs.h"
#include "reference_spool.h"

/* threads that submit nothing; the first of them is the main thread */
#define REFERENCE_OTHERS       5
#define REFERENCE_WORKERS      (REFERENCE_GPUS + REFERENCE_OTHERS)
#define REFERENCE_SCOPES_DEPTH 4

/* The calls of one thread in one step. */
struct reference_share {
	uint32_t calls;
	uint32_t preamble; /* the first calls of the thread, made once: modules, streams, graphs */
	uint32_t submits;  /* the other calls that submit work */
	uint32_t doubles;  /* submitting calls that are no graph launches: fills in two pieces */
};

struct reference_worker {
	struct spool_stream *stream;
	uint32_t index; /* threads that submit come first */
	struct reference_random random;
	struct reference_share share;
	uint32_t call; /* index of the next call of the share */
	uint64_t scope_counter;
	uint64_t scopes[REFERENCE_SCOPES_DEPTH];
	uint32_t depth;
	uint32_t module; /* the module whose scope is open */
};

struct reference_run {
	struct reference_kernel kernels[REFERENCE_KERNELS_LOADED];
	struct reference_call calls[REFERENCE_CALL_COUNT];
	struct reference_graph graphs[REFERENCE_GRAPHS];
	struct reference_machine *machine;
	struct spool_file *file;
	struct spool_stream *house;
	struct spool_stream *monitor;
	struct reference_worker workers[REFERENCE_WORKERS];
	/*
	 * Time of the next action of each: workers, monitor, housekeeper. UINT64_MAX: waits for
	 * others.
	 */
	uint64_t next_ns[REFERENCE_WORKERS + 2];
	uint64_t tick_ns; /* the housekeeper's period */
	uint64_t last_cid;
	uint64_t latest_ns;
	uint64_t replays[REFERENCE_GPUS][REFERENCE_GRAPHS];
	uint32_t steps, step;
	uint32_t arrived;
};

/* A call in progress and the work that it submits. */
struct reference_frame {
	struct reference_worker *worker;
	enum reference_call_id id;
	uint64_t begin_ns;
	struct reference_submitter by;
	uint64_t args[REFERENCE_CALL_WORDS];
};

/* Begins a call of the worker at its present time, with a new cid and in its innermost scope. */
struct reference_frame reference_call_begin(struct reference_run *run,
					    struct reference_worker *worker,
					    enum reference_call_id id);
/* Ends the call after COST_NS, or later when the work that it submitted took longer. */
void reference_call_end(struct reference_run *run, struct reference_frame *frame, uint32_t cost_ns);

/* Sets an argument. WORD is one of the call's argument indices; -1 does nothing. */
static inline void reference_call_set(struct reference_frame *frame, int8_t word, uint64_t value)
{
	if (word >= 0)
		frame->args[word] = value;
}

/* The worker's present time; the runtime's handle of a GPU's stream. */
uint64_t reference_now_ns(const struct reference_run *run, const struct reference_worker *worker);
uint64_t reference_stream_handle(uint32_t gpu, uint32_t queue);

/* Record a scope's begin and end at the worker's present time. */
void reference_scope_push(struct reference_run *run, struct reference_worker *worker,
			  const char *text);
void reference_scope_pop(struct reference_run *run, struct reference_worker *worker);

/* The calls that a submitting thread makes first: their count, and the N-th of them. */
uint32_t reference_preamble_calls(const struct reference_run *run);
void reference_preamble_call(struct reference_run *run, struct reference_worker *worker,
			     uint32_t n);

/* Plays the N-th call after the preamble, of a thread that submits and of one that does not. */
void reference_step_call(struct reference_run *run, struct reference_worker *worker, uint32_t n);
void reference_other_call(struct reference_run *run, struct reference_worker *worker, uint32_t n);

/* Of PART places spread evenly over WHOLE, returns how many are before place N. */
static inline uint32_t reference_spread_before(uint64_t n, uint64_t part, uint64_t whole)
{
	return (uint32_t)((n * part + whole - part) / whole);
}

static inline bool reference_spread_falls(uint64_t n, uint64_t part, uint64_t whole)
{
	return n * part % whole < part;
}

#endif

/* Inside the ledger: its lines come from ledger.c, ledger_cuda.c, ledger_graphs.c, ledger_queues.c
 * and ledger_softgpu.c. */
#ifndef DAGTAP_TRACE_LEDGER_STATE_H
#define DAGTAP_TRACE_LEDGER_STATE_H

#include "trace/process.h"

#define PACKETS_WITHOUT_CALL "came without a call: submitted by a thread of HIP's own"
#define PACKETS_UNSUBMITTED  "not submitted at the end"
#define PACKETS_CUT	     "on their way, not written yet when tracing ended"
#define PACKETS_UNRECORDED   "passed unrecorded: the gate could not look at them in time"

/* Totals that several lines use. */
struct totals {
	uint64_t dispatches, dispatches_joined, dispatches_untimed, dispatches_lost_call;
	uint64_t copies, copies_joined, copies_untimed, copies_lost_call;
	uint64_t without_call; /* dispatches and copies that came with no call at all */
	uint64_t gate_dispatches, gate_barriers, gate_others, write_indices;
	uint32_t gate_count; /* queues with counts */
};

struct ledger {
	struct process_load *load;
	struct totals totals;
	uint32_t *barriers_of_call; /* by call, from first.calls */
	int64_t *stream_tails;	    /* by stream, from first.streams: ledger_find_tails */
	/* What graph launches and kernel launches may lack, each packet for one of them. */
	uint64_t without_call_left, cut_left, unrecorded_left;
	bool truncated;
	bool ended_early;	 /* what a vendor's library still had was not asked for */
	bool witnesses_are_late; /* some were written before the last rows */
	uint64_t open_calls;	 /* entered, not returned when tracing ended */
	bool failed;
};

static inline uint64_t difference(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* Records of a class that are not in the recording, whatever the cause; those of them that a ring let go, as it
 * was asked to; and the others. */
uint64_t ledger_drops(const struct ledger *ledger, enum record_class class);
uint64_t ledger_let_go(const struct ledger *ledger, enum record_class class);
uint64_t ledger_losses(const struct ledger *ledger, enum record_class class);
uint64_t ledger_activities_let_go(const struct ledger *ledger);
bool ledger_has_activity_losses(const struct ledger *ledger);
/* Packets that were reserved, and not recorded, when tracing ended; and those that the gates had to
 * let pass without a record. Their calls have no rows for them. */
uint64_t ledger_packets_cut(const struct ledger *ledger);
uint64_t ledger_packets_unrecorded(const struct ledger *ledger);

bool ledger_find_witness(const struct ledger *ledger, const char *source, const char *key,
			 uint64_t *ret_value);
uint64_t ledger_witness_or_0(const struct ledger *ledger, const char *source, const char *key);

/* A line of its own; NULL, and the ledger has failed, when out of memory. */
struct trace_source *ledger_add_source(struct ledger *ledger, const char *name);
void ledger_set_expected(struct ledger *ledger, struct trace_source *source, const char *witness,
			 uint64_t expected);

/* Drops of one source follow each other: they are added right after the source. */
void ledger_add_drop(struct ledger *ledger, struct trace_source *source, enum trace_drop_kind kind,
		     const char *cause, uint64_t count);
/* What is said of writers' causes, and of nothing else. */
void ledger_add_writers_drop(struct ledger *ledger, struct trace_source *source,
			     enum record_drop cause, uint64_t count);
void ledger_add_class_drops(struct ledger *ledger, struct trace_source *source,
			    enum record_class class);

/* Those of several classes: a cause is said once. */
void ledger_add_drops(struct ledger *ledger, struct trace_source *source,
		      const enum record_class *classes, size_t class_count);

/* Adds to what the line says in words. */
void ledger_say(struct ledger *ledger, struct trace_source *source, trace_string text);

/* The line NAME of the calls of INTERFACE ("hip" or "cuda"), and RCCL's; none if nobody counted any. */
void ledger_add_calls(struct ledger *ledger, const char *name, const char *interface);

/* Takes up to WANTED out of the pool; returns how many. */
uint64_t ledger_take(uint64_t *pool, uint64_t wanted);

/* Fills stream_tails. 0 or -ENOMEM. */
int ledger_find_tails(struct ledger *ledger);

/* Whether what the call lacks had its places in a queue when the process was killed, and was not
 * rung in yet: its wrapper counted more packets than there are rows, and no later call brought any
 * into the same stream. CALL is an index into trace.calls. */
bool ledger_is_unsubmitted(const struct ledger *ledger, uint32_t call);

/* LOST activities name a call that has no row: it was dropped, or had not returned. */
void ledger_judge_lost_calls(struct ledger *ledger, struct trace_source *source, uint64_t lost);

void ledger_add_cuda(struct ledger *ledger);
void ledger_add_cuda_losses(struct ledger *ledger); /* beside HIP's lines, which have the rest */
void ledger_add_graphs(struct ledger *ledger);
void ledger_add_launches(struct ledger *ledger); /* after the graphs */
void ledger_add_softgpu(struct ledger *ledger);
void ledger_add_unknown_queues(struct ledger *ledger);

#endif

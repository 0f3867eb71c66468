/* Inside the ledger: the state of making the lines of one process, and the functions that its files
 * share. ledger_state.c has the parts of a line and is used by all; ledger_totals.c counts what
 * several lines use; ledger_calls.c, ledger_cuda.c, ledger_graphs.c, ledger_hsa.c,
 * ledger_launches.c, ledger_queues.c and ledger_softgpu.c add the lines of their subjects; ledger.c
 * calls them. A line is a row of trace.sources. A failure for lack of memory is kept in
 * ledger.failed, which ledger_load returns. */
#ifndef DAGTAP_TRACE_LEDGER_STATE_H
#define DAGTAP_TRACE_LEDGER_STATE_H

#include "record/witnesses.h"
#include "trace/process_load.h"

/* Causes of drops that several lines name. */
#define PACKETS_WITHOUT_CALL "came without a call: submitted by a thread of HIP's own"
#define PACKETS_UNSUBMITTED  "not submitted at the end"
#define PACKETS_CUT	     "on their way, not written yet when tracing ended"
#define PACKETS_UNRECORDED   "passed unrecorded: the gate could not look at them in time"

/* Totals of the process that several lines use. `joined`: with the row of a call; `lost_call`: with
 * a correlation id that has no row; `untimed`: without times. */
struct totals {
	uint64_t dispatches, dispatches_joined, dispatches_untimed, dispatches_lost_call;
	uint64_t copies, copies_joined, copies_untimed, copies_lost_call;
	uint64_t without_call; /* dispatches and copies with correlation id 0 */
	uint64_t gate_dispatches, gate_barriers, gate_others, write_indices;
	uint32_t gate_count; /* number of queues with counts */
};

/* ledger_load owns it. */
struct ledger {
	struct process_load *load;
	struct totals totals;
	uint32_t *barriers_of_call; /* by call, from first.calls: number of barrier packets */
	/* By stream, from first.streams: when the last call that submitted work to it began, ns;
	 * filled by ledger_count if ended_early. */
	int64_t *stream_tails;
	/* Packets that can still explain what graph launches and kernel launches lack. Each packet
	 * explains one missing activity; ledger_take takes them out. */
	uint64_t without_call_left, cut_left, unrecorded_left;
	bool truncated;		 /* the spool has no end */
	bool ended_early;	 /* what a vendor's library still held was not collected */
	bool witnesses_are_late; /* some witnesses were written before the last rows */
	uint64_t open_calls;	 /* calls that had not returned when tracing ended */
	bool failed;		 /* out of memory */
};

/* Absolute difference. */
static inline uint64_t difference(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* Records of CLASS that are not in the recording: all, whatever the cause; those whose chunk a ring
 * recording reused, as it was asked to; and the others. */
uint64_t ledger_drops(const struct ledger *ledger, enum record_class class);
uint64_t ledger_ring_dropped(const struct ledger *ledger, enum record_class class);
uint64_t ledger_losses(const struct ledger *ledger, enum record_class class);

/* ledger_ring_dropped summed over dispatches, copies and barrier packets. */
uint64_t ledger_ring_dropped_activities(const struct ledger *ledger);

/* True if activities may be missing from the rows: records were lost, CUPTI dropped some, or a gate
 * passed packets of other kinds. */
bool ledger_has_activity_losses(const struct ledger *ledger);
/* Packets that were reserved, but not yet written, when tracing ended; and packets that the gates
 * had to pass without a record. Their calls have no rows for them. */
uint64_t ledger_packets_cut(const struct ledger *ledger);
uint64_t ledger_packets_unrecorded(const struct ledger *ledger);

/* The last value of WITNESS, as the traced process wrote it. False, with *RET_VALUE untouched, if
 * there is none; ledger_witness_or_0 then returns 0. Cost: a walk through all witnesses. */
bool ledger_find_witness(const struct ledger *ledger, enum witness witness, uint64_t *ret_value);
uint64_t ledger_witness_or_0(const struct ledger *ledger, enum witness witness);
/* ledger_find_witness for the counter NAME of the software GPU. */
bool ledger_find_device_count(const struct ledger *ledger, const char *name, uint64_t *ret_value);

/* Adds a line for this process in state "on". NULL, and the ledger has failed, when out of memory.
 * The pointer is valid until the next line is added. */
struct trace_source *ledger_add_source(struct ledger *ledger, const char *name);

/* Sets what WITNESS counted for the line. */
void ledger_set_expected(struct ledger *ledger, struct trace_source *source, const char *witness,
			 uint64_t expected);

/* Adds COUNT drops to the line; does nothing for 0. The drops of a line must follow each other, so
 * add them before the next line is added. */
void ledger_add_drop(struct ledger *ledger, struct trace_source *source, enum trace_drop_kind kind,
		     const char *cause, uint64_t count);
/* ledger_add_drop for a cause of the writers, with its kind and text. */
void ledger_add_writers_drop(struct ledger *ledger, struct trace_source *source,
			     enum record_drop cause, uint64_t count);

/* Adds all drops of the records of CLASS to the line. */
void ledger_add_class_drops(struct ledger *ledger, struct trace_source *source,
			    enum record_class class);

/* Adds all drops of several classes to the line, one drop per cause. */
void ledger_add_drops(struct ledger *ledger, struct trace_source *source,
		      const enum record_class *classes, size_t class_count);

/* Appends a remark to the line's text. */
void ledger_say(struct ledger *ledger, struct trace_source *source, trace_string text);

/* Adds the line of the records of CLASS, with EXPECTED by WITNESS. If witnesses are late, or
 * WITNESS is NULL, the writers' counts are the witness. Records that the writers' counts miss are
 * unexplained in both cases. NULL when out of memory. */
struct trace_source *ledger_add_class_line(struct ledger *ledger, const char *name,
					   enum record_class class, const char *witness,
					   uint64_t expected);

/* Excuses up to DROPPED of COUNT halves, whose other half is in a chunk that the ring reused, and
 * says so in the line. Returns how many are left. */
uint64_t ledger_excuse_edge(struct ledger *ledger, struct trace_source *source, uint64_t count,
			    uint64_t dropped, const char *what);

/* Takes up to WANTED out of *POOL and returns how many. */
uint64_t ledger_take(uint64_t *pool, uint64_t wanted);

/* ledger_totals.c: fills totals, barriers_of_call and stream_tails. Call before any line is added,
 * with ended_early set.
 * Returns 0 or -ENOMEM; ledger_load frees the arrays in both cases. */
int ledger_count(struct ledger *ledger);

/* Calls, from FIRST to below END: indices into trace.calls. */
struct ledger_range {
	uint32_t first, end;
};

/* ledger_totals.c: the number of parts in which threads share the calls, and the calls of part
 * NUMBER. */
uint32_t ledger_call_parts(const struct process_load *load);
struct ledger_range ledger_calls_of(const struct process_load *load, uint32_t number);

/* ledger_totals.c: true if the activities that the call lacks had places in a queue when the
 * recording ended early, but their doorbell had not been rung: the call's wrapper counted more
 * packets than there are rows, and no later call submitted work to the same stream. CALL is an
 * index into trace.calls. */
bool ledger_is_unsubmitted(const struct ledger *ledger, uint32_t call);

/* Adds the line NAME for the calls of INTERFACE (HIP or CUDA), and the line "rccl" if there is
 * a count of RCCL's calls. Adds nothing if no calls were counted. */
void ledger_add_calls(struct ledger *ledger, const char *name, enum record_domain interface);

/* Says in SOURCE that nothing counted the calls that were not asked for, if the witness IS_SELECTED
 * says that some were not. */
void ledger_say_not_subscribed(struct ledger *ledger, struct trace_source *source,
			       enum witness is_selected);

/* Judges LOST activities of a line, already counted as orphans, whose correlation id has no call
 * row: the ring may have reused the call's chunk, the call was dropped, it had not returned, or
 * CUPTI was not asked for it. The rest is unexplained. */
void ledger_judge_lost_calls(struct ledger *ledger, struct trace_source *source, uint64_t lost);

/* Each adds the lines of its subject. ledger_add_cuda: calls and activities of a process with CUDA
 * alone. ledger_add_cuda_losses: a line beside HIP's lines, which have the rest.
 * ledger_add_launches takes what ledger_add_graphs left in the pools, so it comes after it. */
void ledger_add_cuda(struct ledger *ledger);
void ledger_add_cuda_losses(struct ledger *ledger); /* beside HIP's lines */
void ledger_add_graphs(struct ledger *ledger);
void ledger_add_hsa(struct ledger *ledger);
void ledger_add_launches(struct ledger *ledger); /* after the graphs */
void ledger_add_softgpu(struct ledger *ledger);
void ledger_add_unknown_queues(struct ledger *ledger);

#endif

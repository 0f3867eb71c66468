/* Inside trace/: one process's records on their way into the model.
 *
 * ingest.c goes through the records once, to sort out the records that are not frequent and to learn
 * the ids of the frequent ones (calls, submissions), then runs the stages below in this order; each
 * appends its rows to the arrays of the trace and may read what earlier stages made. Calls, submissions
 * and completions go through the records again, in the order of the file, straight into rows. Processes
 * are loaded one after the other, by (start, pid), so the arrays come out sorted by process. Record
 * pointers end with the stages.
 */
#ifndef DAGTAP_TRACE_PROCESS_H
#define DAGTAP_TRACE_PROCESS_H

#include "record/record.h"
#include "trace/cuda/cuda.h"
#include "trace/hip_events.h"
#include "trace/idset.h"
#include "trace/model.h"
#include "trace/ops.h"
#include "trace/origin.h"
#include "trace/strtab.h"
#include "trace/switches.h"
#include "trace/updates.h"

struct clock_fit;
struct expect_graph;
struct stream_api;

struct raw {
	const void *record; /* in the list's memory */
	uint32_t tid;	    /* of the thread that wrote it */
	uint32_t order;	    /* ascends by writer and time of writing */
};

struct raw_block;

struct raw_list {
	struct raw *rows;
	uint32_t count;
	struct raw_block *blocks;
};

/* Rows [first, count) of each array belong to the process being loaded. */
struct process_first {
	uint32_t threads, agents, queues, streams, scopes, apis, calls, ops, activities;
	uint32_t graphs, nodes, edges, execs, launches, barriers;
};

/* What the dispatches of a kernel have in common. */
struct load_kernel {
	uint32_t id;
	trace_string name, symbol;
	enum trace_activity_kind kind;
	bool blit;
	uint32_t registers;
};

/* Submissions of one kind by id, so that a completion finds its row. */
struct submissions {
	struct idset ids;
	uint32_t *rows; /* by rank of the id: index into activities */
};

struct process_load {
	struct trace *trace;
	struct strtab *strings;
	struct origin *origin;
	bool is_brief;	    /* arguments and ticks are not wanted */
	bool without_waits; /* nor are events and waits */
	uint32_t process;
	struct raw_list lists[RECORD_TYPE_COUNT]; /* of the types that are not frequent */
	uint64_t type_counts[RECORD_TYPE_COUNT];
	struct process_first first;
	struct spool_ledger counts; /* what the spool says about itself */
	uint64_t damage;	    /* defects found in it */
	uint64_t last_ns;	    /* latest moment that a record knows */

	struct clock_fit *clocks; /* by agent, from first.agents */
	uint32_t clock_count;
	struct load_kernel *kernels; /* by kernel id */
	uint32_t kernel_count;
	struct raw_list functions;  /* FUNCTION records by (handle, ns) */
	struct idset cids;	    /* of calls: the rank is the row, from first.calls */
	struct idset scope_ids;	    /* the rank is the row, from first.scopes */
	struct idset barrier_ids;   /* by packet_key(): the rank is the row, from first.barriers */
	struct submissions packets; /* dispatches by packet_key() */
	struct submissions copies;  /* by copy id */
	uint32_t *activity_counts;  /* by call, from first.calls; until join_load */
	struct op_table ops;	    /* until naming_load */
	uint8_t *owed;		    /* by call, from first.calls: dispatches (owed.h) */
	uint64_t *stream_handles;   /* by call, from first.calls; until join_load */
	uint64_t *programmatic;	    /* a bit by call: its launch is; until join_load; NULL: none */
	struct stream_api *stream_apis;	   /* by API, from first.apis; until join_load */
	uint64_t *launch_cids;		   /* by launch, from first.launches */
	uint64_t awaited;		   /* submissions whose completion is to be recorded */
	struct expect_graph *expects;	   /* by graph, from first.graphs */
	uint64_t duplicates;		   /* rows with the key of another row */
	uint64_t unmatched_done;	   /* completions of nothing that was submitted */
	struct hip_event_notes hip_events; /* until hip_events_load */
	struct update_notes updates;
	struct switches switches;
	struct cuda_load cuda;
};

/* Every stage: 0, -ENOMEM, -E2BIG, or -ESTALE when a later walk does not find what the first found;
 * defects of the data become messages. */
int catalog_load(struct process_load *load);	 /* threads, agents, queues, apis, kernels */
int scopes_load(struct process_load *load);	 /* scopes */
int clocks_load(struct process_load *load);	 /* clock fits */
int streams_load(struct process_load *load);	 /* streams that are there from the beginning */
int calls_load(struct process_load *load);	 /* calls, words */
int submissions_load(struct process_load *load); /* activities, barriers */
int completions_load(struct process_load *load); /* their times, ticks */
int faults_load(struct process_load *load);	 /* what was on the device at the end; faults */
int join_load(struct process_load *load);	 /* other streams; calls -> activities */
int graphs_load(struct process_load *load);	 /* graphs, nodes, edges, execs, launches */
int naming_load(struct process_load *load);	 /* which node an activity is */
int ledger_load(struct process_load *load);	 /* sources, drops */
void process_load_release(struct process_load *load);

/* Copies the record: what is read once, in order, is not mapped for long. 0 or -ENOMEM. */
int raw_add(struct raw_list *list, const struct record_header *record,
	    const struct origin_walk *walk);
void raw_release(struct raw_list *list);

/* Replaces LIST's order by ascending key; stable. */
int raw_sort(struct raw_list *list, uint64_t (*key)(const struct raw *row));
uint64_t raw_order(const struct raw *row);

/* Last row whose key is at most KEY in a list sorted by it, or -1. */
int64_t raw_find(const struct raw_list *list, uint64_t key,
		 uint64_t (*key_of)(const struct raw *row));

/* Index into the trace's array, TRACE_NONE if there is none; 0 and unknown ids give TRACE_NONE. */
uint32_t load_find_thread(const struct process_load *load, uint32_t tid);
uint32_t load_find_agent(const struct process_load *load, uint64_t handle);
uint32_t load_find_queue(const struct process_load *load, uint32_t id);
uint32_t load_find_scope(const struct process_load *load, uint64_t id);
uint32_t load_find_call(const struct process_load *load, uint64_t cid);
uint32_t load_find_graph(const struct process_load *load, uint64_t id);
uint32_t load_find_exec(const struct process_load *load, uint64_t id);

/* The key of a packet among all queues of a process. */
static inline uint64_t packet_key(uint32_t queue_id, uint64_t packet_index)
{
	return ((uint64_t)queue_id << 40) + packet_index;
}

/* The kernel with this id, or one without a name. */
struct load_kernel load_find_kernel(const struct process_load *load, uint32_t id);

/* Name of the function behind a HIP handle at that time. 0 = unknown. */
trace_string load_function_name(const struct process_load *load, uint64_t handle, uint64_t ns);

/* Whether records of that class are known to be missing. */
bool load_has_losses(const struct process_load *load, enum record_class class);

int load_message(struct process_load *load, bool damage, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif

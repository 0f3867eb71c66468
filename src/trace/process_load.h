/* Inside trace/: the state of loading one process, and the stages that fill the model.
 *
 * records_load reads all records once. It copies the records of infrequent types into lists, and
 * learns the ids of the frequent ones (calls, submissions). Then ingest.c runs the stages below, in
 * the order of its table. Each stage appends its rows to the arrays of the trace, and may read what
 * earlier stages made. One stage, rows_load, reads the file again and writes calls and activities
 * straight into their rows. Processes are loaded one after the other, by (start, pid), so that the
 * arrays become ordered by process. Pointers to records are valid only while the process is loaded.
 *
 * Threading: one thread loads a trace. The stages that read the file share its parts among threads
 * (base/workers.h), inside of their call. The functions below have no locks. */
#ifndef DAGTAP_TRACE_PROCESS_LOAD_H
#define DAGTAP_TRACE_PROCESS_LOAD_H

#include "base/idset.h"
#include "base/strtab.h"
#include "base/workers.h"
#include "record/record.h"
#include "trace/graph/call_events.h"
#include "trace/graph/graph_input.h"
#include "trace/graph/switches.h"
#include "trace/graph/updates.h"
#include "trace/load/cuda_load.h"
#include "trace/load/registers.h"
#include "trace/pack/origin.h"
#include "trace/raw_list.h"
#include "trace/record_facts.h"
#include "trace/trace_model.h"
#include "trace/works.h"

struct clock_fit;
struct expect_graph;
struct stream_api;

/* Number of rows that each array had before this process: rows [first, count) of each array belong
 * to the process that is being loaded. */
struct process_first {
	uint32_t threads, agents, queues, streams, scopes, apis, calls, works, activities;
	uint32_t graphs, nodes, edges, execs, launches, barriers;
};

/* A kernel: the facts that all its dispatches share. */
struct load_kernel {
	uint32_t id;
	trace_string name, symbol;
	enum trace_activity_kind kind;
	bool blit;
	uint32_t registers, scalar_registers;
	struct wave_mode mode;
};

/* Start and end as a completion has them: ticks of a dispatch, host ns of a copy. */
struct completion_times {
	uint64_t start, end;
};

/* A completion, packed (join/completions.c). */
struct completion {
	uint32_t state, low, length;
};

/* Completions with times that do not fit in a struct completion. */
struct long_completions {
	struct completion_times *rows;
	uint32_t count;
};

/* Submissions of one kind by id, and their completions until the rows have their places
 * (join/completions.h). */
struct submissions {
	struct idset ids;
	struct completion *completions; /* by rank of the id; zero: none */
};

/* Activities whose records follow each other and name the same call; of CUDA that may be a call
 * inside another. */
struct activity_run {
	uint32_t count;
	union {
		uint32_t cid[2]; /* lower and upper half; 0 = no call */
		/* From rows_load on: rank of the call, or their number if there is none; and the
		 * number of the first among the activities of the call. */
		struct {
			uint32_t call, first;
		};
	};
};

/* Before rows_load. */
static inline uint64_t activity_run_cid(const struct activity_run *run)
{
	return (uint64_t)run->cid[1] << 32 | run->cid[0];
}

/* All activities as runs, where the threads of the first walk have put them. */
struct activity_runs {
	struct activity_run *of_worker[WORKERS_MOST]; /* owned */
	/* by part of the file: its runs, in their order; owned */
	struct activity_runs_part {
		struct activity_run *first, *end;
	} * parts;
};

/* What the first walk through the records leaves: copies of the infrequent records, and the ids of
 * the frequent ones. A list is freed once its stage has read it. */
struct raw_records {
	struct origin *origin;
	struct raw_list lists[RECORD_TYPE_COUNT]; /* by type, for types that are not frequent */
	struct raw_list functions;		  /* FUNCTION by (handle, ns); catalog_load */
	uint64_t type_counts[RECORD_TYPE_COUNT];  /* records of each type */
	struct spool_ledger counts;		  /* the spool's counts by record class */
	uint64_t damage;			  /* number of defects in the spool */
	uint64_t last_ns;	   /* latest time in a record, ns; 0 if the spool has an end */
	struct activity_runs runs; /* until rows_load */
	struct idset cids;	   /* correlation ids of calls; rank = row, from first.calls */
	uint32_t idle_calls;	   /* number of calls that are left out, and not in `cids` */
	struct idset scope_ids;	   /* rank = row, from first.scopes */
	struct idset barrier_ids;  /* by packet_key(); rank = row, from first.barriers */
};

/* What rows_load and streams_load note of calls and APIs for the stages up to join_load, which
 * frees it. */
struct call_notes {
	/* by call, from first.calls: its first activity; then the first without a call; then the
	 * end */
	uint32_t *activity_firsts;
	uint64_t *programmatic;		/* a bit per call: its launch is; NULL: no call's is */
	struct stream_api *stream_apis; /* by API, from first.apis */
};

/* What stages count for the ledger while they read records. */
struct load_tally {
	uint64_t awaited;	 /* submissions whose completion must have been recorded */
	uint64_t duplicates;	 /* records with the key of another record */
	uint64_t unmatched_done; /* completions without a submission, or a second one */
	bool has_untimed;	 /* some activities were not seen to end (faults.c) */
	/* by call, from first.calls: dispatches that it must cause (expect_call.h); NULL without
	 * the ledger */
	uint8_t *expected;
};

/* The state of loading one process: the model that is built, the records, and what a stage leaves
 * for later ones. ingest_process owns it. */
struct process_load {
	struct trace *trace;
	struct strtab *strings;
	uint32_t process; /* index into processes */
	struct process_first first;
	bool is_brief;		 /* trace_options: leave out arguments and ticks */
	bool without_waits;	 /* trace_options: leave out events and waits */
	bool without_ledger;	 /* trace_options: leave out sources, drops and barriers */
	bool without_scopes;	 /* trace_options: leave out scopes */
	bool without_idle_calls; /* trace_options: leave out idle calls */
	bool without_nodes;	 /* trace_options: leave out the nodes of activities */
	struct work_table works; /* hash table of trace.works; until naming_load */
	struct work_numbering work_numbering; /* from rows_load to join_load */

	struct raw_records raw;
	struct call_notes call_notes;
	struct load_tally tally;

	struct clock_fit *clocks; /* by agent, from first.agents; from clocks_load on */
	uint32_t clock_count;
	struct load_kernel *kernels; /* ordered by kernel id; from catalog_load on */
	uint32_t kernel_count;
	struct submissions packets; /* by packet_key(); from records_load to rows_load */
	struct submissions copies;  /* by copy id; the same */
	struct long_completions long_completions;
	struct graph_input graph_input;	     /* from graph_records_load on */
	struct expect_graph *expects;	     /* by graph, from first.graphs; from graphs_load on */
	struct call_event_notes call_events; /* from rows_load to call_events_load */
	struct update_notes updates;	     /* from rows_load to naming_load */
	struct switches switches;	     /* from naming_load on */
	struct cuda_load cuda;
};

/* The stages. Each returns 0, -ENOMEM, -E2BIG (too many rows), or -ESTALE if the file changed: a
 * later walk does not find the records of the first. Defects of the data become messages. */
int records_load(struct process_load *load); /* the first walk: raw, and the sets of ids */
int catalog_load(struct process_load *load); /* threads, agents, queues, apis, kernels */
int scopes_load(struct process_load *load);  /* scopes */
int clocks_load(struct process_load *load);  /* clock fits */
int streams_load(struct process_load *load); /* streams that exist from the beginning */
int rows_load(struct process_load *load);    /* calls, words, activities, barriers, ticks */
int join_load(struct process_load *load);    /* the other streams; joins calls and activities */
int faults_load(struct process_load *load);  /* work on the device at the end; faults */
int graph_records_load(struct process_load *load); /* the input of graphs, from records */
int graphs_load(struct process_load *load);	   /* graphs, nodes, edges, execs, launches */
int naming_load(struct process_load *load);	   /* the graph node of each activity */
int memory_load(struct process_load *load);	   /* memory operations */
int ledger_load(struct process_load *load);	   /* sources, drops */
int align_load(struct process_load *load);	   /* the times of a merged recording */

/* Number of activities of the call RANK. */
static inline uint32_t call_activities(const struct call_notes *notes, uint32_t rank)
{
	return notes->activity_firsts[rank + 1] - notes->activity_firsts[rank];
}

/* Frees the runs and makes them empty. */
void activity_runs_release(struct activity_runs *runs);

/* Frees the notes and makes them empty. */
void call_notes_release(struct call_notes *notes);

/* Frees everything that LOAD owns. LOAD may be incomplete, after a stage that failed. */
void process_load_release(struct process_load *load);

/* load_find.c. Index of the row into the trace's array, or TRACE_NONE if this process has no such
 * row. An id of 0 means "none" for agents, scopes, calls and graphs. Each may be called once the
 * array is filled; for scopes and calls, once the first walk is done. Cost: agents are searched one
 * by one, scopes and calls by hash, the others by bisection. */
uint32_t load_find_thread(const struct process_load *load, uint32_t tid);
uint32_t load_find_agent(const struct process_load *load, uint64_t handle);
uint32_t load_find_queue(const struct process_load *load, uint32_t id);
uint32_t load_find_scope(const struct process_load *load, uint64_t id);
uint32_t load_find_call(const struct process_load *load, uint64_t cid);
uint32_t load_find_graph(const struct process_load *load, uint64_t id);
uint32_t load_find_exec(const struct process_load *load, uint64_t id);

/* The kernel with this id, or one without a name and of kind TRACE_KERNEL. */
struct load_kernel load_find_kernel(const struct process_load *load, uint32_t id);

/* Name of the kernel that a HIP function HANDLE named at NS. Handles are reused; if none was known
 * at NS, the first later one. 0 = unknown. */
trace_string load_function_name(const struct process_load *load, uint64_t handle, uint64_t ns);

/* True if records of CLASS are missing: dropped, or in damaged parts of the spool. */
bool load_has_losses(const struct process_load *load, enum record_class class);

/* Adds a message about this process to the trace; the text is cut after 599 bytes. DAMAGE: data is
 * missing or was altered, so that `dagtap check` fails. Returns 0 or -ENOMEM. */
int load_message(struct process_load *load, bool damage, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif

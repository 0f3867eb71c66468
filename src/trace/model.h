/* The model of a finished trace: what every analysis and every exporter reads.
 *
 * trace_open (trace/load.h) fills it; afterwards nothing changes it, so any number of threads may
 * read it. Everything is an array in one struct; rows refer to each other by index, and an index
 * is only ever used with the array that its type names. TRACE_NONE means "none" or "unknown".
 *
 * Order, which makes output independent of the order of arrival: processes by (start, pid); rows
 * within a process by the keys that each array's comment names.
 *
 * Times: host ns (CLOCK_MONOTONIC of the recording machine), signed, exactly as the clock fit
 * gives them; nothing is clamped or moved. An activity that is not timed has start = end = 0.
 */
#ifndef DAGTAP_TRACE_MODEL_H
#define DAGTAP_TRACE_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/record.h"

#define TRACE_NONE UINT32_MAX

typedef uint32_t trace_string; /* index into trace.strings; 0 is "" */

enum trace_process_state { TRACE_COMPLETE, TRACE_TRUNCATED };

struct trace_process {
	uint32_t pid;
	uint32_t parent_pid;
	uint32_t session; /* recordings that the process had made before: each is a row */
	int64_t start_ns;
	int64_t end_ns;
	uint64_t start_realtime_ns;
	trace_string host; /* name of the machine */
	trace_string exe;
	trace_string command;
	enum trace_process_state state;
};

struct trace_thread { /* by (process, tid, first seen) */
	uint32_t process;
	uint32_t tid;
	trace_string name;
};

struct trace_agent { /* by (process, index) */
	uint32_t process;
	uint32_t index;
	uint64_t handle;
	bool is_gpu;
	uint32_t gpu_ordinal;
	trace_string name;
	trace_string product;
	trace_string uuid;
	bool has_location;
	uint32_t pci_domain;
	uint32_t pci_location; /* bus, device, function; bits 28 to 31: the card's partition */
	uint32_t driver_id;    /* the kernel driver's number of it, 0 = unknown */
	uint64_t memory_bytes;
	uint32_t compute_units;
	uint32_t wave_size;
	double fit_error_ns; /* largest residual of the clock fit at its anchors */
	uint32_t anchor_count;
	uint32_t attributes; /* index into attribute_sets, of another tool's; else 0 */
};

struct trace_queue { /* by (process, queue id) */
	uint32_t process;
	uint32_t id;
	uint32_t agent; /* index into agents */
	uint64_t handle;
	uint64_t size;
	enum record_queue_mode mode;
};

/* How a stream goes with its device's legacy default stream. */
enum trace_stream_kind {
	TRACE_STREAM_UNKNOWN, /* made before the recording began */
	TRACE_STREAM_NULL,    /* that one itself: it and the next two wait for each other */
	TRACE_STREAM_PER_THREAD,
	TRACE_STREAM_BLOCKING,
	TRACE_STREAM_NONBLOCKING
};

/* By (process, ordinal). HIP: ordinals by first use, 0 is the null stream. CUDA: by CUPTI's numbers of
 * context and stream; the handle is the stream's number. */
struct trace_stream {
	uint32_t process;
	uint32_t ordinal;
	uint64_t
		handle; /* handles are re-used: a destroyed and re-made stream is a row of its own */
	uint32_t agent;	  /* TRACE_NONE until an activity shows it */
	uint32_t context; /* CUPTI's number, 0 = none or not known */
	enum trace_stream_kind kind;
};

struct trace_scope { /* by (process, id) */
	uint32_t process;
	uint64_t id;
	uint32_t parent; /* index into scopes or TRACE_NONE */
	enum record_scope_kind kind;
	trace_string text; /* as the program gave it */
	trace_string name; /* the text without the attributes written in it: "name#key=value#" */
	uint32_t thread;
	int64_t begin_ns;
	int64_t end_ns; /* of a mark: begin_ns; of a scope still open at the end: the process's end */
	bool open;	/* had no end */
	bool untimed;	/* another tool's, known by its id alone: no times, maybe no thread */
	uint32_t attribute_first, attribute_count; /* into trace.scope_attributes */
};

/* Those that were given as such, then those written in the text, each in the program's order. Scopes
 * of the same text may share theirs. */
struct trace_scope_attribute {
	trace_string key;
	enum record_attribute_kind kind;
	union {
		int64_t int64;
		uint64_t uint64;
		double float64;
		trace_string text;
	} value;
};

/* What a file of another tool says of a row, as it says it. Equal sets are one row; row 0 is
 * empty. */
struct trace_attribute_set {
	uint32_t first, count; /* into trace.scope_attributes */
};

struct trace_api { /* what an op number means */
	uint32_t process;
	uint32_t op;
	trace_string name;
	enum record_domain domain;
	uint32_t arg_first; /* into trace.api_args */
	uint32_t arg_count;
	uint32_t arg_words; /* that a call's arguments take */
};

struct trace_api_arg {
	trace_string name;
	char kind;    /* record_api_name */
	uint8_t word; /* offset of its first word in the call's args */
};

struct trace_call { /* by (process, cid) */
	uint64_t cid;
	int64_t begin_ns;
	int64_t end_ns;
	uint32_t process;
	uint32_t thread;
	uint32_t parent; /* index into calls or TRACE_NONE */
	uint32_t scope;
	uint32_t stream; /* the stream argument, TRACE_NONE if it has none */
	uint32_t launch; /* index into launches if it is a graph launch */
	uint32_t
		activities_expected; /* HIP: as the wrapper counted at submission; CUDA: of launches,
					 as far as it is known; TRACE_NONE: it is not */
	uint32_t activity_first;     /* its activities are contiguous, by ordinal */
	uint32_t activity_count;
	uint32_t api;	    /* index into apis */
	uint32_t arg_first; /* into trace.words, as many as its API says; TRACE_NONE: not kept */
	int32_t result;
};

enum trace_activity_kind { TRACE_KERNEL, TRACE_COPY, TRACE_MEMSET };

enum trace_copy_direction {
	TRACE_COPY_UNKNOWN,
	TRACE_H2H,
	TRACE_H2D,
	TRACE_D2H,
	TRACE_D2D,
	TRACE_P2P
};

/* How sure it is which graph node an activity is. */
enum trace_confidence {
	TRACE_CONFIDENCE_NONE,	    /* not part of a graph launch */
	TRACE_CONFIDENCE_UNKNOWN,   /* of a launch, node unknown */
	TRACE_CONFIDENCE_TIME,	    /* of a conditional node's body: by its time of this replay */
	TRACE_CONFIDENCE_ORDER,	    /* by place in the launch alone */
	TRACE_CONFIDENCE_SIGNATURE, /* the only node with this kernel and these dimensions */
	TRACE_CONFIDENCE_EXACT,	    /* place and signature agree, and the whole launch agrees */
};

/* What an activity does: equal work is one row, however often it ran. By process, in
 * the order of the activities; some are what an activity was before more was known of it. */
struct trace_op {
	enum trace_activity_kind kind;
	bool blit;	     /* a copy or memset that a ROCclr kernel carried */
	trace_string name;   /* kernel name; "" if the symbol is unknown */
	trace_string symbol; /* the name as the compiler has it: of C++, mangled */
	enum trace_copy_direction direction;
	uint32_t workgroup[3];
	uint32_t private_bytes;
	uint32_t group_bytes;
	uint32_t registers; /* vector registers of a work-item, 0 if unknown */
	uint32_t dst_agent, src_agent;
	uint64_t grid[3]; /* work-items; those of a large CUDA kernel need more than 32 bits */
	uint64_t bytes;	  /* copies and memsets, 0 if unknown */
	uint64_t dst, src;
};

/* By process; then those with a call by (cid, ordinal, source, id), then the others by the same:
 * never by time or arrival. Those of conditional nodes' bodies are the last of their launch's, by
 * start. */
struct trace_activity {
	int64_t submit_ns;
	int64_t start_ns;
	int64_t end_ns;
	uint64_t cid;  /* of its call, also if that has no row; 0 = none */
	uint64_t id;   /* packet index in its queue, copy id, or CUPTI's id of the exec's node */
	uint32_t op;   /* index into ops */
	uint32_t call; /* TRACE_NONE: an orphan */
	uint32_t ordinal;
	uint32_t process;
	uint32_t agent; /* where it ran */
	uint32_t queue; /* TRACE_NONE for copy engines */
	uint32_t stream;
	uint32_t thread; /* who submitted it, TRACE_NONE if unknown */
	uint32_t scope;
	uint32_t launch; /* index into launches or TRACE_NONE */
	uint32_t node;	 /* index into nodes or TRACE_NONE */
	uint16_t packet_header;
	uint8_t untimed;	  /* enum record_untimed */
	uint8_t confidence : 4;	  /* enum trace_confidence */
	bool is_programmatic : 1; /* its launch may begin before the kernel ahead of it has ended */
};

/* Of a dispatch, as the device gave them; 0 if there are none. */
struct trace_ticks {
	uint64_t start, end;
};

struct trace_graph { /* by (process, graph id) */
	uint32_t process;
	uint64_t id;
	uint32_t node_first, node_count; /* into trace.nodes */
	uint32_t edge_first, edge_count; /* into trace.edges */
	uint32_t parent;		 /* graph of the node that holds this one, or TRACE_NONE */
	uint32_t parent_node;
	uint32_t next_held; /* index + 1 of the conditional node's next body, 0 = none */
};

struct trace_node { /* by (graph, index) */
	uint32_t graph;
	uint32_t index;
	enum record_node_type type;
	trace_string name; /* kernel name of a kernel node, else the type's text */
	uint64_t handle;
	uint64_t grid[3]; /* work-items, as activities have them */
	uint32_t workgroup[3];
	uint64_t bytes;
	enum trace_copy_direction direction; /* of a copy node, as far as the program said */
	uint32_t scope;			     /* active when the node was recorded */
	uint32_t child;	 /* child graph, or first body of a conditional node, or TRACE_NONE */
	uint64_t event;	 /* handle, of an event node when the exec was made; 0 = not known */
	uint32_t pieces; /* activities that HIP 5.2.3 makes of it: a fill may have ends apart */
	uint32_t update_count; /* in all execs of its graph, as far as the recording tells */
};

struct trace_edge { /* node indices into trace.nodes; by (graph, from, to) */
	uint32_t from, to;
	enum record_edge_type type;
};

struct trace_exec { /* by (process, exec id); every launch has one, known or not */
	uint32_t process;
	uint64_t id;
	uint32_t graph; /* TRACE_NONE: not recorded */
	uint32_t launch_count;
	uint32_t update_count;	     /* of nodes, whichever */
	uint32_t unplaced_count;     /* of those, of one that is not among the graph's nodes */
	uint32_t whole_update_count; /* calls that gave it all of another graph's parameters */
	uint32_t update_calls;	     /* that did any of these */
	uint64_t update_ns;	     /* that they took */
};

struct trace_launch { /* by (process, exec id, replay) */
	uint32_t process;
	uint32_t exec;
	uint64_t replay;
	uint32_t call;
	uint32_t stream;
	uint32_t activities_expected; /* from the template; TRACE_NONE if it cannot be told */
	uint32_t activity_count;
	uint32_t body_count; /* of them, from bodies of conditional nodes */
	bool exact;	     /* every activity was matched with TRACE_CONFIDENCE_EXACT */
};

struct trace_barrier { /* by (process, queue id, packet index) */
	uint32_t process;
	uint32_t queue;
	uint32_t call;
	uint64_t packet_index;
	int64_t submit_ns;
	uint64_t dep_signal[5];
	uint64_t completion_signal;
	uint16_t packet_header;
};

/* An event object. By (process, first use); a handle that was destroyed and made again is a row of its
 * own. */
struct trace_event {
	uint32_t process;
	uint64_t handle;     /* HIP: the pointer; CUDA: CUPTI's number */
	uint32_t generation; /* objects that had the handle before */
	bool is_foreign;     /* opened from another process: who records it is not in the trace */
};

struct trace_event_record { /* an event was recorded on a stream; by (process, cid) */
	uint32_t process;
	uint32_t call;
	uint64_t cid;
	uint32_t stream;   /* 0 is a stream too: TRACE_NONE = unknown */
	uint32_t event;	   /* index into events */
	uint32_t node;	   /* of the graph that CALL launched, which did it; TRACE_NONE: the call */
	uint32_t context;  /* CUPTI's number, 0 = none or not known */
	uint64_t order;	   /* ascends by record of the event, 0 = not known */
	int64_t device_ns; /* when the stream came to it; 0 = not known */
};

enum trace_wait_type {
	TRACE_WAIT_UNKNOWN,
	TRACE_WAIT_EVENT,	 /* the host, for an event */
	TRACE_WAIT_STREAM_EVENT, /* a stream, for an event */
	TRACE_WAIT_STREAM,	 /* the host, for all that a stream was given */
	TRACE_WAIT_DEVICE	 /* the host, for all streams of a device or context */
};

/* How it is known what a wait waited for, or that one thing came after another. */
enum trace_known {
	TRACE_KNOWN_NOT,
	TRACE_KNOWN_NUMBER, /* the vendor gave both sides the same number */
	TRACE_KNOWN_ORDER, /* the last record of the event before the wait, in the order of calls */
	TRACE_KNOWN_LIKELY, /* the same, but calls that overlapped or were lost leave a doubt */
	TRACE_KNOWN_FILE    /* another tool's file says so */
};

/* The host or a stream waited; by (process, cid). */
struct trace_wait {
	uint32_t process;
	uint32_t call;
	uint64_t cid;
	int64_t begin_ns, end_ns; /* of the host's part */
	enum trace_wait_type type;
	enum trace_known known; /* how PRODUCER is; if that is none: how it is that there is none */
	uint32_t stream;	/* that waits, or is waited for; TRACE_NONE = none or unknown */
	uint32_t event;		/* index into events, TRACE_NONE = it is for no event */
	uint32_t producer;	/* index into event_records; TRACE_NONE: none, or recorded before */
	uint32_t context;	/* CUPTI's number, 0 = none or not known */
	uint64_t order;		/* of the event's record, 0 = not known */
	int32_t result;
};

struct trace_memory_operation { /* of CUDA; by (process, cid) */
	uint32_t process;
	uint32_t call;
	uint64_t cid;
	uint64_t address;
	uint64_t bytes;
	int64_t ns;
	uint32_t agent;
	bool is_release;
};

struct trace_overhead { /* what CUPTI and the driver cost themselves */
	uint32_t process;
	uint32_t thread;
	uint32_t kind; /* CUPTI's */
	int64_t begin_ns, end_ns;
};

enum trace_drop_kind {
	TRACE_DROP_EDGE,   /* not whole when the recording began or ended */
	TRACE_DROP_LOST,   /* there was no room, no buffer or no writer for it */
	TRACE_DROP_LET_GO, /* by the ring, as it was asked to */
};

struct trace_drop {
	enum trace_drop_kind kind;
	trace_string cause;
	uint64_t count;
};

/* One line of the ledger. For every source: expected (by a witness that is not the rows' writer) =
 * received + dropped, and received = joined + orphans. */
struct trace_source {
	uint32_t process;
	trace_string
		name; /* "hip", "hsa.dispatch", "hsa.copy", "hsa.done", "softgpu", "graph", "scope" ... */
	trace_string witness; /* who says EXPECTED */
	bool has_expected;    /* no witness: EXPECTED means nothing */
	uint64_t expected;
	uint64_t received;
	uint64_t joined;
	uint64_t orphan_calls;
	uint64_t orphan_activities;
	uint64_t untimed;
	uint32_t drop_first, drop_count; /* into trace.drops */
	uint64_t unexplained;		 /* what makes `check` fail */
	trace_string state;		 /* "on", "partial", "absent" */
	trace_string text;		 /* why partial or absent; what the figure means */
};

struct trace_message { /* damage found in the file, notes of the tool: kept for `info` and `check` */
	uint32_t process; /* TRACE_NONE: of a spool that could not be read at all */
	bool damage;	  /* data is missing or was altered: `check` is not ok */
	trace_string text;
};

#define TRACE_ARRAY(type, name)                                                                    \
	struct type *name;                                                                         \
	uint32_t name##_count

struct trace {
	const char **strings;
	uint32_t strings_count;
	TRACE_ARRAY(trace_process, processes);
	TRACE_ARRAY(trace_thread, threads);
	TRACE_ARRAY(trace_agent, agents);
	TRACE_ARRAY(trace_queue, queues);
	TRACE_ARRAY(trace_stream, streams);
	TRACE_ARRAY(trace_scope, scopes);
	TRACE_ARRAY(trace_scope_attribute, scope_attributes);
	TRACE_ARRAY(trace_attribute_set, attribute_sets);
	TRACE_ARRAY(trace_api, apis);
	TRACE_ARRAY(trace_api_arg, api_args);
	TRACE_ARRAY(trace_call, calls);
	TRACE_ARRAY(trace_op, ops);
	TRACE_ARRAY(trace_activity, activities);
	TRACE_ARRAY(trace_graph, graphs);
	TRACE_ARRAY(trace_node, nodes);
	TRACE_ARRAY(trace_edge, edges);
	TRACE_ARRAY(trace_exec, execs);
	TRACE_ARRAY(trace_launch, launches);
	TRACE_ARRAY(trace_barrier, barriers);
	TRACE_ARRAY(trace_event, events);
	TRACE_ARRAY(trace_event_record, event_records);
	TRACE_ARRAY(trace_wait, waits);
	TRACE_ARRAY(trace_memory_operation, memory_operations);
	TRACE_ARRAY(trace_overhead, overheads);
	TRACE_ARRAY(trace_source, sources);
	TRACE_ARRAY(trace_drop, drops);
	TRACE_ARRAY(trace_message, messages);
	struct trace_ticks *ticks; /* by activity; NULL if they were not asked for */
	/* By activity and by call, into attribute_sets: all that another tool's file says of the row
	 * but its times, correlation id and scope. NULL if no row has any, as in recordings. */
	uint32_t *activity_attributes;
	uint32_t *call_attributes;
	bool has_xspace_stats; /* the sets are all that an XSpace says of its rows, as it says it */
	uint64_t *words;       /* arguments of calls */
	uint32_t words_count;
	bool truncated;	      /* any process's recording was cut off */
	trace_string command; /* of `dagtap record` */
	int32_t exit_status;  /* of the recorded program as record saw it; -1 unknown */
	void *arena;	      /* owner of everything above */
};

static inline const struct trace_op *trace_op_of(const struct trace *trace,
						 const struct trace_activity *activity)
{
	return &trace->ops[activity->op];
}

static inline enum record_domain trace_domain_of(const struct trace *trace,
						 const struct trace_call *call)
{
	return trace->apis[call->api].domain;
}

static inline const char *trace_text(const struct trace *trace, trace_string string)
{
	return trace->strings[string];
}

#endif

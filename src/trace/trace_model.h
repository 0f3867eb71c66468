/* The model of a loaded trace: what every analysis and every exporter reads.
 *
 * trace_open (trace/load.h) and the readers of other tools' files (format/) fill it. After loading
 * nothing changes it, so any number of threads may read it at the same time. trace_close frees it
 * with everything that it contains.
 *
 * Everything is an array in struct trace. Rows refer to each other by index; the comment of an
 * index field names the array, unless the field's name does. TRACE_NONE means "none" or "unknown".
 *
 * The order of rows makes output independent of the order in which records arrived: processes are
 * ordered by (start, pid), and the rows of a process by the keys that the comment of each array
 * names.
 *
 * Times: host ns (CLOCK_MONOTONIC of the recording machine), signed, exactly as the clock fit gives
 * them. No time is clamped or moved. Of a merged recording, all times are on the clock of the
 * reference, as the clocks of the ranks give them (trace_clock). An untimed activity has start =
 * end = 0. */
#ifndef DAGTAP_TRACE_TRACE_MODEL_H
#define DAGTAP_TRACE_TRACE_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "record/record.h"
#include "trace/model_waits.h"
#include "trace/rank_clock.h"

#define TRACE_NONE UINT32_MAX

/* So many parents of a call or a graph are followed at most: damaged files may have cycles. */
#define TRACE_PARENTS_MOST 64

typedef uint32_t trace_string; /* Index into trace.strings; 0 is "". */

/* TRACE_TRUNCATED: the spool has no end, because the process was killed or was still running. */
enum trace_process_state { TRACE_COMPLETE, TRACE_TRUNCATED };

/* Of a merged recording: a file of a rank, in the order in which they were merged. Other recordings
 * have none. */
struct trace_clock {
	trace_string name; /* of the file */
	uint32_t machine;  /* files with the same number have the same clock */
	struct rank_clock fit;
};

/* One recording of one process. */
struct trace_process {
	uint32_t pid;
	uint32_t parent_pid;
	/* recordings that the process made before; each has its own row */
	uint32_t session;
	int64_t start_ns;
	int64_t end_ns;
	uint64_t start_realtime_ns; /* CLOCK_REALTIME at start_ns */
	trace_string host;	    /* name of the machine */
	trace_string exe;
	trace_string command;
	enum trace_process_state state;
	uint32_t clock; /* index into clocks; without meaning if there are none */
};

struct trace_thread { /* Ordered by (process, tid). */
	uint32_t process;
	uint32_t tid;
	trace_string name;
};

struct trace_agent { /* An agent of the runtime, CPUs included. Ordered by (process, index). */
	uint32_t process;
	uint32_t index; /* in the order in which the runtime lists agents */
	uint64_t handle;
	bool is_gpu;
	uint32_t gpu_ordinal;
	trace_string name;
	trace_string product;
	trace_string uuid;
	bool has_location;
	uint32_t pci_domain;
	uint32_t pci_location; /* bus, device, function; bits 28 to 31: the partition of the card */
	uint32_t driver_id;    /* the kernel driver's number of the GPU or partition, 0 = unknown */
	uint64_t memory_bytes;
	uint32_t compute_units;
	uint32_t wave_size;
	uint64_t memory_bytes_per_s; /* what the memory can transfer at most, 0 = unknown */
	uint32_t clock_khz;	     /* the highest of the compute units, 0 = unknown */
	double fit_error_ns;	     /* largest residual of the clock fit at its anchors */
	uint32_t anchor_count;
	/* index into attribute_sets, from another tool's file; else 0 */
	uint32_t attributes;
};

struct trace_queue { /* An HSA queue. Ordered by (process, queue id). */
	uint32_t process;
	uint32_t id;
	uint32_t agent; /* index into agents */
	uint64_t handle;
	uint64_t size;
	enum record_queue_mode mode;
};

/* How a stream synchronizes with the legacy default stream of its device. */
enum trace_stream_kind {
	TRACE_STREAM_UNKNOWN, /* created before the recording began */
	/* the legacy default stream; it and the next two kinds wait for each other */
	TRACE_STREAM_NULL,
	TRACE_STREAM_PER_THREAD,
	TRACE_STREAM_BLOCKING,
	TRACE_STREAM_NONBLOCKING
};

/* Ordered by (process, ordinal). HIP: the ordinal counts streams by first use, and 0 is the null
 * stream. CUDA: the ordinal follows CUPTI's numbers of context and stream; the handle is the
 * stream's number. */
struct trace_stream {
	uint32_t process;
	uint32_t ordinal;
	/* Handles are reused: a stream that is created with the handle of a destroyed one is a row
	 * of its own. */
	uint64_t handle;
	/* TRACE_NONE if no activity of the stream tells. */
	uint32_t agent;
	uint32_t context; /* CUPTI's number, 0 = none or not known */
	enum trace_stream_kind kind;
};

struct trace_scope { /* Ordered by (process, id). */
	uint32_t process;
	uint64_t id;
	uint32_t parent; /* index into scopes, or TRACE_NONE */
	enum record_scope_kind kind;
	trace_string text; /* as the program gave it, attributes included */
	/* The text without the attributes that are written in it (trace/load/scope_text.h). */
	trace_string name;
	uint32_t thread;
	int64_t begin_ns;
	/* Of a mark: begin_ns. Of a scope that is still open at the end: the end of the process. */
	int64_t end_ns;
	bool open; /* the recording holds no end of it */
	/* Read from another tool's file, which gives only the id: no times, maybe no thread. */
	bool untimed;
	uint32_t attribute_first, attribute_count; /* into trace.scope_attributes */
};

/* Attributes of scopes. Of each scope, first those that the program passed as attributes, then
 * those that are written in the text; each in the program's order. Scopes with the same text may
 * share rows. */
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

/* A set of attributes that another tool's file gives for a row, as the file gives them. Equal sets
 * are one row; row 0 is empty. */
struct trace_attribute_set {
	uint32_t first, count; /* into trace.scope_attributes */
};

/* The function behind the number in API records. Ordered by (process, function); the rows of calls
 * without a name ("(unknown call)") follow. */
struct trace_api {
	uint32_t process;
	uint32_t function;
	trace_string name;
	enum record_domain domain;
	uint32_t arg_first; /* into trace.api_args */
	uint32_t arg_count;
	uint32_t arg_words; /* number of words that the arguments of a call take in trace.words */
};

struct trace_api_arg {
	trace_string name;
	char kind;    /* encoding of the value, see struct record_api_name */
	uint8_t word; /* offset of its first word in the call's arguments */
};

struct trace_call { /* Ordered by (process, cid). */
	uint64_t cid;
	int64_t begin_ns;
	int64_t end_ns;
	uint32_t process;
	uint32_t thread;
	uint32_t parent; /* index into calls, or TRACE_NONE */
	uint32_t scope;
	/* HIP: its stream argument. CUDA: that of its first activity. TRACE_NONE: none. */
	uint32_t stream;
	uint32_t launch; /* index into launches if the call launched a graph, else TRACE_NONE */
	/* Activities that the call must have caused. HIP: as the wrapper counted them at
	 * submission, barrier packets included. CUDA: of launches only. TRACE_NONE: not known. */
	uint32_t activities_expected;
	uint32_t activity_first; /* its activities are contiguous, ordered by ordinal */
	uint32_t activity_count;
	uint32_t api; /* index into apis */
	/* Index into trace.words, trace_api.arg_words words; TRACE_NONE: not kept. */
	uint32_t arg_first;
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

/* How certain it is which graph node an activity was, from least to most certain. */
enum trace_confidence {
	TRACE_CONFIDENCE_NONE,	    /* not part of a graph launch */
	TRACE_CONFIDENCE_UNKNOWN,   /* part of a graph launch, node unknown */
	TRACE_CONFIDENCE_TIME,	    /* in a conditional node's body; the replay is found by time */
	TRACE_CONFIDENCE_ORDER,	    /* by the position in the launch alone */
	TRACE_CONFIDENCE_SIGNATURE, /* the only node with this kernel and these dimensions */
	/* Position and signature agree, and so does every other activity of the launch. */
	TRACE_CONFIDENCE_EXACT,
};

/* A work kind: what an activity does. Equal work is one row, however often it ran. Ordered by
 * process, then by the activities that use them. A row may be without users: an activity's work
 * kind is replaced when more becomes known about the activity. */
struct trace_work {
	enum trace_activity_kind kind;
	bool blit;	     /* a copy or memset that was carried out by a kernel of ROCclr */
	bool is_wgp_mode;    /* gfx10 and later: a workgroup may spread over two compute units */
	uint8_t wave_size;   /* gfx10 and later: 32 or 64, as compiled; 0: unknown, or another */
	trace_string name;   /* kernel name; "" if the symbol is unknown */
	trace_string symbol; /* the symbol as the compiler made it: mangled if it is C++ */
	enum trace_copy_direction direction;
	uint32_t workgroup[3];
	uint32_t private_bytes;
	uint32_t group_bytes;
	uint32_t registers; /* vector registers of a work-item, 0 if unknown */
	/* scalar registers of a wave, 0 if unknown or if the architecture does not count them */
	uint32_t scalar_registers;
	uint32_t dst_agent, src_agent;
	uint64_t grid[3]; /* work-items; a large CUDA kernel needs more than 32 bits */
	uint64_t bytes;	  /* copies and memsets, 0 if unknown */
	uint64_t dst, src;
};

/* Ordered by process; then activities with a call by (cid, ordinal, source, id), then the others by
 * the same keys: never by time or arrival. Exception: the activities of conditional nodes' bodies
 * are the last of their launch, ordered by start. */
struct trace_activity {
	int64_t submit_ns;
	int64_t start_ns;
	int64_t end_ns;
	uint64_t cid; /* of its call, also if that call has no row; 0 = none */
	/* Packet index in its queue, copy id, or CUPTI's id of the node of the executable graph. */
	uint64_t id;
	uint32_t work;	  /* index into works */
	uint32_t call;	  /* TRACE_NONE: it has no call, or its call has no row */
	uint32_t ordinal; /* position among the activities of its call, from 0 */
	uint32_t process;
	uint32_t agent; /* the device on which it ran */
	uint32_t queue; /* TRACE_NONE for copy engines */
	uint32_t stream;
	uint32_t thread; /* the thread that submitted it, TRACE_NONE if unknown */
	uint32_t scope;	 /* of its call; trace_scope_of says what it is part of */
	uint32_t launch; /* index into launches or TRACE_NONE */
	uint32_t node;	 /* index into nodes or TRACE_NONE */
	uint16_t packet_header;
	uint8_t untimed;	/* enum record_untimed */
	uint8_t confidence : 4; /* enum trace_confidence */
	/* CUDA's programmatic launch: the kernel may begin before the previous one of its stream
	 * has ended. */
	bool is_programmatic : 1;
	uint8_t zero : 3; /* equal activities have equal bytes */
};

/* Unconverted device ticks of a dispatch; 0 if there are none. */
struct trace_ticks {
	uint64_t start, end;
};

/* A graph as it was when an executable graph was made of it. Ordered by (process, graph id). */
struct trace_graph {
	uint32_t process;
	uint64_t id;
	uint32_t node_first, node_count; /* into trace.nodes */
	uint32_t edge_first, edge_count; /* into trace.edges */
	/* graph that contains this graph as a node, or TRACE_NONE */
	uint32_t parent;
	uint32_t parent_node; /* position of that node in its graph */
	/* Index + 1 of the next graph of the same conditional node, 0 = none. */
	uint32_t next_held;
	bool is_body; /* of a conditional node, or inside one */
};

struct trace_node { /* Ordered by (graph, index). */
	uint32_t graph;
	uint32_t index;
	enum record_node_type type;
	trace_string name; /* the kernel's name of a kernel node, else the text of the type */
	uint64_t handle;
	uint64_t grid[3]; /* work-items, as activities have them */
	uint32_t workgroup[3];
	uint64_t bytes;
	enum trace_copy_direction direction; /* of a copy node, as far as the program gave it */
	/* open when the node was added to the graph */
	uint32_t scope;
	/* Child graph, or first body of a conditional node, or TRACE_NONE. */
	uint32_t child;
	/* Handle of an event node's event when the executable graph was made; 0 = not known. */
	uint64_t event;
	/* Of nodes that allocate or free memory, of HIP alone: its address, 0 = not known, and the
	 * device of what is allocated, or TRACE_NONE. */
	uint64_t address;
	uint32_t agent;
	/* Activities that HIP 5.2.3 makes of it: unaligned ends of a fill have their own. */
	uint32_t pieces;
	/* Updates of the node in all executable graphs, as far as they were recorded. */
	uint32_t update_count;
};

/* A dependency. The fields are indices into trace.nodes. Ordered by (graph, from, to). */
struct trace_edge {
	uint32_t from, to;
	enum record_edge_type type;
};

/* An executable graph. Ordered by (process, exec id). Every launch has one, also if its making was
 * not recorded. */
struct trace_exec {
	uint32_t process;
	uint64_t id;
	uint32_t graph; /* the graph that it was made of; TRACE_NONE: not recorded */
	uint32_t launch_count;
	uint32_t update_count; /* updates of single nodes */
	/* of these, updates of a node that was not found */
	uint32_t unplaced_count;
	/* calls that replaced the parameters of all nodes */
	uint32_t whole_update_count;
	uint32_t update_calls; /* number of calls that did any of these updates */
	uint64_t update_ns;    /* time that these calls took */
	/* A launch begins with the release of what earlier ones allocated and did not free. */
	bool frees_on_launch;
};

/* One replay of an executable graph. Ordered by (process, exec id, replay). */
struct trace_launch {
	uint32_t process;
	uint32_t exec;
	uint64_t replay;
	uint32_t call;
	uint32_t stream;
	uint32_t activities_expected; /* from the graph's nodes; TRACE_NONE if they do not tell */
	uint32_t activity_count;
	uint32_t body_count; /* of these, activities in bodies of conditional nodes */
	bool exact;	     /* every activity has TRACE_CONFIDENCE_EXACT */
};

struct trace_barrier { /* A barrier packet. Ordered by (process, queue id, packet index). */
	uint32_t process;
	uint32_t queue;
	uint32_t call;
	uint64_t packet_index;
	int64_t submit_ns;
	uint64_t dep_signal[5];
	uint64_t completion_signal;
	uint16_t packet_header;
};

/* An allocation of memory, a release, or an allocation that failed. Ordered by (process, cid).
 * Those of CUDA are what CUPTI reports, which are none that failed. */
struct trace_memory_operation {
	uint32_t process;
	uint32_t call;
	uint64_t cid;
	uint64_t address; /* 0 if it failed */
	uint64_t bytes;	  /* of a release 0 if unknown */
	int64_t ns;	  /* of a release the begin of the call */
	uint32_t agent;	  /* whose memory it is, or TRACE_NONE */
	uint32_t stream;  /* in whose order it is, or TRACE_NONE */
	uint32_t scope;
	int32_t result; /* as the vendor's library gave it; not 0: an allocation that failed */
	enum record_memory_kind kind;
	bool is_release;
};

struct trace_overhead { /* Time that CUPTI and the driver used for themselves. */
	uint32_t process;
	uint32_t thread;
	uint32_t kind; /* CUPTI's kind of overhead */
	int64_t begin_ns, end_ns;
};

enum trace_drop_kind {
	TRACE_DROP_EDGE,   /* the work was not complete when the recording began or ended */
	TRACE_DROP_LOST,   /* there was no room, no buffer or no writer for the record */
	TRACE_DROP_RINGED, /* the ring recording reused the chunk */
};

/* Dropped records of one source with one cause. */
struct trace_drop {
	enum trace_drop_kind kind;
	trace_string cause;
	uint64_t count;
};

/* One line of the ledger. For every source, expected equals received plus dropped, and received
 * equals joined plus orphans, where expected is counted by a witness other than the writer of the
 * rows. */
struct trace_source {
	uint32_t process;
	/* "hip", "hsa.dispatch", "hsa.copy", "hsa.done", "softgpu", "graph", "scope" ... */
	trace_string name;
	trace_string witness; /* what counted `expected` */
	bool has_expected;    /* false: there is no witness, `expected` has no meaning */
	uint64_t expected;
	uint64_t received;
	uint64_t joined;
	uint64_t orphan_calls;
	uint64_t orphan_activities;
	uint64_t untimed;
	uint32_t drop_first, drop_count; /* into trace.drops */
	/* not explained; if not 0, `dagtap check` fails */
	uint64_t unexplained;
	trace_string state; /* "on", "partial", "absent" */
	trace_string text;  /* reason of the state, and remarks about the counts */
};

/* Damage that was found in the file, and notes of the tool, for `dagtap info` and `dagtap
 * check`. */
struct trace_message {
	uint32_t process; /* TRACE_NONE: about a spool that could not be read at all */
	bool damage;	  /* data is missing or was altered: `dagtap check` fails */
	trace_string text;
};

#define TRACE_ARRAY(type, name)                                                                    \
	struct type *name;                                                                         \
	uint32_t name##_count

/* The model. All memory is owned by the trace; trace_close frees it. */
struct trace {
	const char **strings;
	uint32_t strings_count;
	TRACE_ARRAY(trace_clock, clocks);
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
	TRACE_ARRAY(trace_work, works);
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
	/* by activity; NULL if they were not loaded (trace_options.is_brief) */
	struct trace_ticks *ticks;
	/* By activity and by call, index into attribute_sets: everything that another tool's file
	 * gives for the row except its times, correlation id and scope. NULL if no row has any, as
	 * in dagtap's own recordings. */
	uint32_t *activity_attributes;
	uint32_t *call_attributes;
	/* The attribute sets hold all stats of the rows of an XSpace file, as the file gives
	 * them. */
	bool has_xspace_stats;
	/* Planes of an XSpace file whose contents the model does not hold, such as HLO protos: as
	 * the file has them, one field after the other. NULL if there are none. */
	uint8_t *xspace_planes;
	size_t xspace_planes_bytes;
	/* Number of calls that were left out (trace_options.without_idle_calls). */
	uint64_t idle_calls;
	uint64_t *words; /* arguments of calls; see trace_call.arg_first */
	uint32_t words_count;
	bool truncated;	      /* the recording of at least one process was cut off */
	trace_string command; /* command line that `dagtap record` ran, "" if unknown */
	/* Exit status of the recorded program as `dagtap record` saw it; -1 = unknown. */
	int32_t exit_status;
	/* The struct strtab that owns `strings` (trace/create.h). */
	void *arena;
};

static inline const struct trace_work *trace_work_of(const struct trace *trace,
						     const struct trace_activity *activity)
{
	return &trace->works[activity->work];
}

/* Whether CHILD, which may be TRACE_NONE, names node INDEX of GRAPH as its holder. A graph that is
 * followed only from there is followed once, also in a damaged file. */
static inline bool trace_is_child_of(const struct trace *trace, uint32_t child, uint32_t graph,
				     uint32_t index)
{
	return child != TRACE_NONE && trace->graphs[child].parent == graph &&
	       trace->graphs[child].parent_node == index;
}

/* Whether ROW is of a conditional node's body: only the device knows how often it runs. */
static inline bool trace_is_in_body(const struct trace *trace, const struct trace_activity *row)
{
	return row->node != TRACE_NONE && trace->graphs[trace->nodes[row->node].graph].is_body;
}

/* The scope that says what ROW is: that in which its graph node was recorded, if that is known;
 * else the scope of its call, which is row->scope. TRACE_NONE: neither. */
static inline uint32_t trace_scope_of(const struct trace *trace, const struct trace_activity *row)
{
	uint32_t scope = row->node == TRACE_NONE ? TRACE_NONE : trace->nodes[row->node].scope;

	return scope == TRACE_NONE ? row->scope : scope;
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

/* What an analysis calls a scope, an index into trace.scopes: its text; the name alone if PyTorch
 * wrote numbers and shapes behind it, which are another in each call. XLA's attributes stay: they
 * tell one "Thunk:" from another. */
static inline trace_string trace_scope_label(const struct trace *trace, uint32_t scope)
{
	const struct trace_scope *row = &trace->scopes[scope];
	const char *text = trace_text(trace, row->text);
	size_t bytes = strlen(trace_text(trace, row->name));

	return bytes && strncmp(text + strnlen(text, bytes), ", ", 2) == 0 ? row->name : row->text;
}

#endif

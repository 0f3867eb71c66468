/* Reading traces: what a GPU did, which call launched it, in which scope, on which stream, and
 * which node of which graph it was. A trace is one of dagtap's recordings or a file of another
 * tool.
 *
 * struct dagtap_trace *trace;
 * struct dagtap_error error;
 *
 * if (dagtap_trace_open("run.dagtap", &trace, &error) < 0)
 * 	...error.message...
 * for (uint32_t i = 0; i < dagtap_trace_count(trace, DAGTAP_TRACE_ACTIVITY); i++) {
 * 	struct dagtap_trace_activity activity;
 *
 * 	dagtap_trace_get_activity(trace, i, &activity);
 * 	printf("%s %lld ns\n", activity.name, (long long)(activity.end_ns - activity.start_ns));
 * }
 * dagtap_trace_close(trace);
 *
 * Link with libdagtap-trace (-ldagtap-trace; pkg-config dagtap-trace; find_package(dagtap),
 * dagtap::dagtap-trace).
 *
 * A trace consists of arrays of rows. A field that is named after an array (`process`, `call`,
 * `graph`) is the index of a row of that array; DAGTAP_TRACE_NONE means "none" or "unknown".
 * Loading the same recording again gives the same rows in the same order. An activity is a kernel,
 * a copy or a memset that a GPU ran.
 *
 * Texts are UTF-8 as the program gave them. A text field is never NULL; the text belongs to the
 * trace and is valid until dagtap_trace_close.
 *
 * Times are signed ns of CLOCK_MONOTONIC of the recording machine, exactly as the clock fit gives
 * them. No time is clamped, moved or invented.
 *
 * Threading: an open trace does not change, so any number of threads may read it at the same time.
 * dagtap_trace_close must not run while another thread reads the trace. Cost: opening reads the
 * whole file and takes about 100 bytes of memory per activity; reading a row takes about 10 ns.
 * Errors: 0 or more is success; a negative value is a negative errno.
 *
 * Compatibility: each dagtap_trace_get_X passes the size of the row that the caller was compiled
 * with. New fields are only added at the end of a row. */
#ifndef DAGTAP_TRACE_H
#define DAGTAP_TRACE_H

#include <stddef.h>
#include <stdint.h>

#include <dagtap/error.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DAGTAP_TRACE_NONE UINT32_MAX

/* An open trace. Opaque. */
struct dagtap_trace;

/* Opens a .dagtap, a spool, a folder of spools, an .xplane.pb, or a trace of PyTorch's profiler
 * (.json, .json.gz), and reads it completely; the file is not needed afterwards. The caller closes
 * the trace with dagtap_trace_close. A defect inside a recording is not an error: it becomes a
 * message (DAGTAP_TRACE_MESSAGE) and shows in the ledger. On failure returns a negative errno,
 * describes the failure in ERROR (which may be NULL) and leaves *RET_TRACE untouched. */
int dagtap_trace_open(const char *path, struct dagtap_trace **ret_trace,
		      struct dagtap_error *error);
/* Frees the trace and all its texts. TRACE may be NULL. */
void dagtap_trace_close(struct dagtap_trace *trace);

/* Returns 1 if in every source of the ledger the witness agrees with the rows and no message
 * reports damage. Returns 0 otherwise; `dagtap check` then prints the reasons. */
int dagtap_trace_is_accounted_for(const struct dagtap_trace *trace);

/* The arrays of a trace, for dagtap_trace_count. */
enum dagtap_trace_array {
	DAGTAP_TRACE_PROCESS,
	DAGTAP_TRACE_THREAD,
	DAGTAP_TRACE_DEVICE,
	DAGTAP_TRACE_STREAM,
	DAGTAP_TRACE_SCOPE,
	DAGTAP_TRACE_ATTRIBUTE,
	DAGTAP_TRACE_CALL,
	DAGTAP_TRACE_ACTIVITY,
	DAGTAP_TRACE_GRAPH,
	DAGTAP_TRACE_NODE,
	DAGTAP_TRACE_EDGE,
	DAGTAP_TRACE_LAUNCH,
	DAGTAP_TRACE_SOURCE,
	DAGTAP_TRACE_MESSAGE
};

/* Returns the number of rows of an array; 0 for a number that is not an enum value above. */
uint32_t dagtap_trace_count(const struct dagtap_trace *trace, enum dagtap_trace_array array);

/* One recording of one process. A process that was recorded several times has several rows. */
struct dagtap_trace_process {
	uint32_t pid;
	uint32_t parent_pid;
	int64_t start_ns;
	int64_t end_ns;
	uint64_t start_realtime_ns; /* CLOCK_REALTIME at start_ns */
	const char *exe;
	const char *command;
	/* 0: cut off, the recording has no end, for example because the process was killed */
	int is_complete;
};

/* A thread of a process that wrote at least one record. */
struct dagtap_trace_thread {
	uint32_t process;
	uint32_t tid;
	const char *name;
};

/* An agent of the runtime. CPUs that the runtime lists as agents have rows too; see is_gpu. */
struct dagtap_trace_device {
	uint32_t process;
	uint32_t index; /* position in the order in which the runtime lists its agents */
	int is_gpu;
	uint32_t gpu_ordinal; /* the number by which HIP and CUDA name this GPU */
	const char *name;     /* the architecture, for example "gfx942" */
	const char *product;
	const char *uuid;
	uint64_t memory_bytes;
	uint32_t compute_units;
	uint32_t wave_size;
	double clock_error_ns; /* largest residual of the fit of this device's clock, in ns */
};

/* A stream of HIP or CUDA. A stream that is created with the handle of a destroyed one has its own
 * row. */
struct dagtap_trace_stream {
	uint32_t process;
	uint32_t ordinal; /* in HIP programs, 0 is the null stream */
	uint64_t handle;
	uint32_t device;
};

/* By which interface a scope was opened. */
enum dagtap_trace_scope_kind {
	DAGTAP_TRACE_SCOPE_DAGTAP = 1, /* dagtap_scope_*; nested, on its thread */
	DAGTAP_TRACE_SCOPE_ROCTX,      /* roctxRangePush; nested, on its thread */
	DAGTAP_TRACE_SCOPE_RANGE,      /* roctxRangeStart; not nested */
	DAGTAP_TRACE_SCOPE_MARK,       /* an instant: begin and end are equal */
	DAGTAP_TRACE_SCOPE_STEP,       /* nested; the number of the step is an attribute */
	/* NVTX; nested; domain, category and payload are attributes */
	DAGTAP_TRACE_SCOPE_NVTX
};

/* A named interval that the program opened on a thread. */
struct dagtap_trace_scope {
	uint32_t process;
	uint32_t thread;
	uint64_t id; /* unique in its process */
	uint32_t parent;
	int kind;	  /* enum dagtap_trace_scope_kind */
	const char *text; /* the complete text as the program gave it */
	/* the text without the attributes that are written in it as "name#key=value#" */
	const char *name;
	int64_t begin_ns;
	int64_t end_ns;
	int is_open; /* 1: the recording holds no end of it; end_ns is the end of the process */
	uint32_t attribute_first;
	uint32_t attribute_count;
};

/* Which value field of a struct dagtap_trace_attribute is valid. */
enum dagtap_trace_attribute_kind {
	DAGTAP_TRACE_INT64 = 1,
	DAGTAP_TRACE_UINT64,
	DAGTAP_TRACE_DOUBLE,
	DAGTAP_TRACE_TEXT
};

/* An attribute of a scope: a key with a value. The attributes of a scope are the rows
 * [attribute_first, attribute_first + attribute_count); scopes with the same text may share these
 * rows. */
struct dagtap_trace_attribute {
	const char *key;
	int kind; /* enum dagtap_trace_attribute_kind: which of the following fields is valid */
	int64_t int64;
	uint64_t uint64;
	double float64;
	const char *text;
};

/* A call of a vendor's interface by the program. A call owns the activities [activity_first,
 * activity_first + activity_count), in the order in which it submitted them. */
struct dagtap_trace_call {
	uint64_t cid; /* correlation id, unique in its process */
	uint32_t process;
	uint32_t thread;
	const char *name;
	int64_t begin_ns;
	int64_t end_ns;
	int32_t result;
	uint32_t parent; /* the enclosing call */
	uint32_t scope;
	uint32_t stream;
	uint32_t launch;	 /* the launch, if the call launched a graph */
	uint32_t activity_first; /* index of its first activity */
	uint32_t activity_count;
	/* Activities that the call must have caused. HIP: as counted at submission, barrier packets
	 * included. CUDA: known for launches only. DAGTAP_TRACE_NONE: not known. */
	uint32_t activities_expected;
};

/* Kinds of activities. */
enum dagtap_trace_activity_kind { DAGTAP_TRACE_KERNEL, DAGTAP_TRACE_COPY, DAGTAP_TRACE_MEMSET };

/* Direction of a copy: H is host memory, D device memory, P2P from one GPU to another. */
enum dagtap_trace_direction {
	DAGTAP_TRACE_UNKNOWN,
	DAGTAP_TRACE_H2H,
	DAGTAP_TRACE_H2D,
	DAGTAP_TRACE_D2H,
	DAGTAP_TRACE_D2D,
	DAGTAP_TRACE_P2P
};

/* How certain it is which graph node an activity was, from least to most certain. */
enum dagtap_trace_confidence {
	DAGTAP_TRACE_NO_GRAPH,	   /* not part of a graph launch */
	DAGTAP_TRACE_NODE_UNKNOWN, /* part of a graph launch; the node is not known */
	/* in a conditional node's body; the replay is found by time */
	DAGTAP_TRACE_NODE_BY_TIME,
	DAGTAP_TRACE_NODE_BY_ORDER,	/* by the position in the launch alone */
	DAGTAP_TRACE_NODE_BY_SIGNATURE, /* the only node with this kernel and these dimensions */
	DAGTAP_TRACE_NODE_EXACT		/* the whole launch agrees with the graph */
};

/* An activity of a GPU: a kernel, a copy or a memset, including those of graph launches. */
struct dagtap_trace_activity {
	int kind; /* enum dagtap_trace_activity_kind */
	/* Of a kernel its demangled symbol; of a copy or memset the kernel that did it, or "". */
	const char *name;
	uint32_t process;
	uint32_t device;
	uint32_t stream;
	uint32_t thread;
	uint32_t call;	  /* the call that caused it; DAGTAP_TRACE_NONE: not known */
	uint64_t cid;	  /* correlation id of that call, also if the call has no row; 0 = none */
	uint32_t ordinal; /* position among the activities of its call, from 0 */
	uint32_t scope;
	uint32_t launch;
	uint32_t node;
	int confidence; /* enum dagtap_trace_confidence */
	int is_timed;	/* 0: start_ns and end_ns are 0, and `untimed` gives the cause */
	const char *untimed;
	int64_t submit_ns;
	int64_t start_ns;
	int64_t end_ns;
	uint64_t start_tick; /* unconverted device tick; 0 if the source gives none */
	uint64_t end_tick;
	uint64_t grid[3]; /* work-items */
	uint32_t workgroup[3];
	uint32_t private_bytes; /* per work-item */
	uint32_t group_bytes;	/* per workgroup */
	int direction;		/* enum dagtap_trace_direction; valid for a copy */
	uint64_t bytes;		/* size of a copy or memset; 0 = unknown */
	uint64_t dst;
	uint64_t src;
};

/* A graph as it was when an executable graph was made of it. It owns the nodes [node_first,
 * node_first + node_count) and the edges [edge_first, edge_first + edge_count). */
struct dagtap_trace_graph {
	uint32_t process;
	uint64_t id;
	uint32_t node_first;
	uint32_t node_count;
	uint32_t edge_first;
	uint32_t edge_count;
	uint32_t parent; /* the graph of the node that contains this graph */
};

/* A node of a graph. */
struct dagtap_trace_node {
	uint32_t graph;
	/* position in its graph, in the order in which the runtime lists the nodes */
	uint32_t index;
	const char *type; /* "kernel", "memcpy", "memset", "host", "child" ... */
	const char *name; /* of a kernel node the name of its kernel, else the type */
	uint64_t grid[3]; /* work-items */
	uint32_t workgroup[3];
	uint64_t bytes;
	uint32_t scope; /* the scope that was open when the node was added to the graph */
	uint32_t child; /* of a child graph node, its graph */
};

/* A dependency between two nodes of a graph: indices of rows of DAGTAP_TRACE_NODE. */
struct dagtap_trace_edge {
	uint32_t from;
	uint32_t to;
};

/* One replay of an executable graph. */
struct dagtap_trace_launch {
	uint32_t process;
	uint64_t exec_id;
	uint32_t graph;	 /* the graph that the executable graph was made of */
	uint64_t replay; /* number of the replay among those of this executable graph, from 0 */
	uint32_t call;
	uint32_t stream;
	uint32_t activities_expected; /* DAGTAP_TRACE_NONE: does not follow from the graph */
	uint32_t activity_count;
	int is_exact; /* 1: every activity of the launch is DAGTAP_TRACE_NODE_EXACT */
};

/* A line of the ledger: for one source of rows, the count of an independent witness against the
 * rows. */
struct dagtap_trace_source {
	uint32_t process;
	const char *name;
	const char *witness; /* what counted `expected` */
	int has_expected;    /* 0: there is no witness, and `expected` has no meaning */
	uint64_t expected;
	uint64_t received;
	uint64_t dropped;
	/* received rows whose counterpart (a call, a node, a submission) is known */
	uint64_t joined;
	uint64_t orphan_calls;	    /* calls whose activities are missing */
	uint64_t orphan_activities; /* activities whose call or node was not found */
	uint64_t untimed;
	/* Differences without an explanation. If it is not 0, dagtap_trace_is_accounted_for returns
	 * 0. */
	uint64_t unexplained;
	const char *state; /* "on", "partial", "absent" */
	const char *text;  /* reason of the state, and remarks about the counts */
};

/* A message about the recording, as `dagtap info` and `dagtap check` print it. */
struct dagtap_trace_message {
	uint32_t process;
	int is_damage; /* 1: data is missing from the file or was altered */
	const char *text;
};

/* dagtap_trace_get_X(TRACE, INDEX, ROW) copies row INDEX of the array X to *ROW. Texts in the row
 * belong to the trace. Returns 0, or -ERANGE if there is no such row; *ROW is then untouched. */
#define dagtap_trace_get_process(trace, index, row)                                                \
	dagtap_trace_get_process_sized(trace, index, row, sizeof(struct dagtap_trace_process))
#define dagtap_trace_get_thread(trace, index, row)                                                 \
	dagtap_trace_get_thread_sized(trace, index, row, sizeof(struct dagtap_trace_thread))
#define dagtap_trace_get_device(trace, index, row)                                                 \
	dagtap_trace_get_device_sized(trace, index, row, sizeof(struct dagtap_trace_device))
#define dagtap_trace_get_stream(trace, index, row)                                                 \
	dagtap_trace_get_stream_sized(trace, index, row, sizeof(struct dagtap_trace_stream))
#define dagtap_trace_get_scope(trace, index, row)                                                  \
	dagtap_trace_get_scope_sized(trace, index, row, sizeof(struct dagtap_trace_scope))
#define dagtap_trace_get_attribute(trace, index, row)                                              \
	dagtap_trace_get_attribute_sized(trace, index, row, sizeof(struct dagtap_trace_attribute))
#define dagtap_trace_get_call(trace, index, row)                                                   \
	dagtap_trace_get_call_sized(trace, index, row, sizeof(struct dagtap_trace_call))
#define dagtap_trace_get_activity(trace, index, row)                                               \
	dagtap_trace_get_activity_sized(trace, index, row, sizeof(struct dagtap_trace_activity))
#define dagtap_trace_get_graph(trace, index, row)                                                  \
	dagtap_trace_get_graph_sized(trace, index, row, sizeof(struct dagtap_trace_graph))
#define dagtap_trace_get_node(trace, index, row)                                                   \
	dagtap_trace_get_node_sized(trace, index, row, sizeof(struct dagtap_trace_node))
#define dagtap_trace_get_edge(trace, index, row)                                                   \
	dagtap_trace_get_edge_sized(trace, index, row, sizeof(struct dagtap_trace_edge))
#define dagtap_trace_get_launch(trace, index, row)                                                 \
	dagtap_trace_get_launch_sized(trace, index, row, sizeof(struct dagtap_trace_launch))
#define dagtap_trace_get_source(trace, index, row)                                                 \
	dagtap_trace_get_source_sized(trace, index, row, sizeof(struct dagtap_trace_source))
#define dagtap_trace_get_message(trace, index, row)                                                \
	dagtap_trace_get_message_sized(trace, index, row, sizeof(struct dagtap_trace_message))

/* What the macros above call. SIZE is the size of *ROW in the caller's version of this header: a
 * shorter row receives its first SIZE bytes only, and fields that this library does not have become
 * 0. */
int dagtap_trace_get_process_sized(const struct dagtap_trace *trace, uint32_t index,
				   struct dagtap_trace_process *row, size_t size);
int dagtap_trace_get_thread_sized(const struct dagtap_trace *trace, uint32_t index,
				  struct dagtap_trace_thread *row, size_t size);
int dagtap_trace_get_device_sized(const struct dagtap_trace *trace, uint32_t index,
				  struct dagtap_trace_device *row, size_t size);
int dagtap_trace_get_stream_sized(const struct dagtap_trace *trace, uint32_t index,
				  struct dagtap_trace_stream *row, size_t size);
int dagtap_trace_get_scope_sized(const struct dagtap_trace *trace, uint32_t index,
				 struct dagtap_trace_scope *row, size_t size);
int dagtap_trace_get_attribute_sized(const struct dagtap_trace *trace, uint32_t index,
				     struct dagtap_trace_attribute *row, size_t size);
int dagtap_trace_get_call_sized(const struct dagtap_trace *trace, uint32_t index,
				struct dagtap_trace_call *row, size_t size);
int dagtap_trace_get_activity_sized(const struct dagtap_trace *trace, uint32_t index,
				    struct dagtap_trace_activity *row, size_t size);
int dagtap_trace_get_graph_sized(const struct dagtap_trace *trace, uint32_t index,
				 struct dagtap_trace_graph *row, size_t size);
int dagtap_trace_get_node_sized(const struct dagtap_trace *trace, uint32_t index,
				struct dagtap_trace_node *row, size_t size);
int dagtap_trace_get_edge_sized(const struct dagtap_trace *trace, uint32_t index,
				struct dagtap_trace_edge *row, size_t size);
int dagtap_trace_get_launch_sized(const struct dagtap_trace *trace, uint32_t index,
				  struct dagtap_trace_launch *row, size_t size);
int dagtap_trace_get_source_sized(const struct dagtap_trace *trace, uint32_t index,
				  struct dagtap_trace_source *row, size_t size);
int dagtap_trace_get_message_sized(const struct dagtap_trace *trace, uint32_t index,
				   struct dagtap_trace_message *row, size_t size);

#ifdef __cplusplus
}
#endif

#endif

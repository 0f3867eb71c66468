/* Reading traces: what a GPU did, who launched it, under which scope, on which stream, and which node
 * of which graph it was; from dagtap's own recordings and from other tools' files alike.
 *
 *	struct dagtap_trace *trace;
 *	struct dagtap_error error;
 *
 *	if (dagtap_trace_open("run.dagtap", &trace, &error) < 0)
 *		...error.message...
 *	for (uint32_t i = 0; i < dagtap_trace_count(trace, DAGTAP_TRACE_EVENT); i++) {
 *		struct dagtap_trace_event event;
 *
 *		dagtap_trace_get_event(trace, i, &event);
 *		printf("%s %lld ns\n", event.name, (long long)(event.end_ns - event.start_ns));
 *	}
 *	dagtap_trace_close(trace);
 *
 * Link with libdagtap-trace (-ldagtap-trace; pkg-config dagtap-trace; find_package(dagtap),
 * dagtap::dagtap-trace).
 *
 * A trace is arrays of rows, which refer to each other by index; DAGTAP_TRACE_NONE means "none" or
 * "unknown". The same recording gives the same rows in the same order. Texts are UTF-8 as the program
 * gave them, never NULL, and stay until dagtap_trace_close.
 *
 * Times are ns of CLOCK_MONOTONIC of the recording machine, exactly as the clock fit gives them: signed,
 * nothing is moved or made up.
 *
 * Threading: an open trace does not change: any number of threads may read it.
 * Cost: opening reads the file and takes about 100 bytes of memory an event; a row about 10 ns.
 * Errors: 0 or more is success, a negative errno failure.
 *
 * Compatibility: each dagtap_trace_get_X passes the size of the row that the caller was compiled with;
 * fields are only ever added at a row's end. */
#ifndef DAGTAP_TRACE_H
#define DAGTAP_TRACE_H

#include <stddef.h>
#include <stdint.h>

#include <dagtap/error.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DAGTAP_TRACE_NONE UINT32_MAX

struct dagtap_trace;

/* Opens a .dagtap, a spool, a folder of spools, an .xplane.pb, or a trace of PyTorch's profiler (.json,
 * .json.gz). Defects inside a recording are no error: they become messages and show in the ledger. ERROR
 * may be NULL. */
int dagtap_trace_open(const char *path, struct dagtap_trace **ret_trace,
		      struct dagtap_error *error);
void dagtap_trace_close(struct dagtap_trace *trace); /* NULL is fine */

/* 1: every source's witness agrees with the rows and nothing is damaged; 0: `dagtap check` says what is
 * not. */
int dagtap_trace_is_accounted_for(const struct dagtap_trace *trace);

enum dagtap_trace_array {
	DAGTAP_TRACE_PROCESS,
	DAGTAP_TRACE_THREAD,
	DAGTAP_TRACE_DEVICE,
	DAGTAP_TRACE_STREAM,
	DAGTAP_TRACE_SCOPE,
	DAGTAP_TRACE_ATTRIBUTE,
	DAGTAP_TRACE_CALL,
	DAGTAP_TRACE_EVENT,
	DAGTAP_TRACE_GRAPH,
	DAGTAP_TRACE_NODE,
	DAGTAP_TRACE_EDGE,
	DAGTAP_TRACE_LAUNCH,
	DAGTAP_TRACE_SOURCE,
	DAGTAP_TRACE_MESSAGE
};

/* Rows of an array; 0 for a number that is none of the above. */
uint32_t dagtap_trace_count(const struct dagtap_trace *trace, enum dagtap_trace_array array);

struct dagtap_trace_process {
	uint32_t pid;
	uint32_t parent_pid;
	int64_t start_ns;
	int64_t end_ns;
	uint64_t start_realtime_ns; /* CLOCK_REALTIME at start_ns */
	const char *exe;
	const char *command;
	int is_complete; /* 0: cut off, the process was killed */
};

struct dagtap_trace_thread {
	uint32_t process;
	uint32_t tid;
	const char *name;
};

/* CPUs that the runtime lists as agents are rows as well. */
struct dagtap_trace_device {
	uint32_t process;
	uint32_t index; /* in the runtime's order */
	int is_gpu;
	uint32_t gpu_ordinal; /* as HIP and CUDA number GPUs */
	const char *name;     /* "gfx942" */
	const char *product;
	const char *uuid;
	uint64_t memory_bytes;
	uint32_t compute_units;
	uint32_t wave_size;
	double clock_error_ns; /* largest residual of its clock's fit */
};

struct dagtap_trace_stream {
	uint32_t process;
	uint32_t ordinal; /* 0: the null stream */
	uint64_t handle;
	uint32_t device;
};

enum dagtap_trace_scope_kind {
	DAGTAP_TRACE_SCOPE_DAGTAP = 1, /* nested, on its thread */
	DAGTAP_TRACE_SCOPE_ROCTX,      /* the same */
	DAGTAP_TRACE_SCOPE_RANGE,      /* not nested */
	DAGTAP_TRACE_SCOPE_MARK,       /* an instant */
	DAGTAP_TRACE_SCOPE_STEP,       /* nested; the step's number is an attribute */
	DAGTAP_TRACE_SCOPE_NVTX	       /* nested; domain, category and payload are attributes */
};

struct dagtap_trace_scope {
	uint32_t process;
	uint32_t thread;
	uint64_t id;
	uint32_t parent;
	int kind;	  /* enum dagtap_trace_scope_kind */
	const char *text; /* as the program gave it */
	const char *name; /* without attributes written in it: "name#key=value#" */
	int64_t begin_ns;
	int64_t end_ns;
	int is_open; /* had no end */
	uint32_t attribute_first;
	uint32_t attribute_count;
};

enum dagtap_trace_attribute_kind {
	DAGTAP_TRACE_INT64 = 1,
	DAGTAP_TRACE_UINT64,
	DAGTAP_TRACE_DOUBLE,
	DAGTAP_TRACE_TEXT
};

struct dagtap_trace_attribute {
	const char *key;
	int kind; /* enum dagtap_trace_attribute_kind: which of the following counts */
	int64_t int64;
	uint64_t uint64;
	double float64;
	const char *text;
};

/* An API call of the program. */
struct dagtap_trace_call {
	uint64_t cid; /* correlation id, unique in its process */
	uint32_t process;
	uint32_t thread;
	const char *name;
	int64_t begin_ns;
	int64_t end_ns;
	int32_t result;
	uint32_t parent; /* enclosing call */
	uint32_t scope;
	uint32_t stream;
	uint32_t launch;      /* if it launched a graph */
	uint32_t event_first; /* its events follow each other, as it submitted them */
	uint32_t event_count;
	uint32_t events_expected; /* HIP: as counted at submission, barriers included; CUDA: of
				     launches; DAGTAP_TRACE_NONE: it is not known */
};

enum dagtap_trace_event_kind { DAGTAP_TRACE_KERNEL, DAGTAP_TRACE_COPY, DAGTAP_TRACE_MEMSET };

enum dagtap_trace_direction {
	DAGTAP_TRACE_UNKNOWN,
	DAGTAP_TRACE_H2H,
	DAGTAP_TRACE_H2D,
	DAGTAP_TRACE_D2H,
	DAGTAP_TRACE_D2D,
	DAGTAP_TRACE_P2P
};

/* How sure it is which graph node an event was. */
enum dagtap_trace_confidence {
	DAGTAP_TRACE_NO_GRAPH,
	DAGTAP_TRACE_NODE_UNKNOWN,
	DAGTAP_TRACE_NODE_BY_TIME, /* in a conditional node's body: the replay is told by time */
	DAGTAP_TRACE_NODE_BY_ORDER,
	DAGTAP_TRACE_NODE_BY_SIGNATURE,
	DAGTAP_TRACE_NODE_EXACT
};

/* Work of a GPU: a kernel, a copy or a memset, those inside graph launches included. */
struct dagtap_trace_event {
	int kind; /* enum dagtap_trace_event_kind */
	const char
		*name; /* kernel: its symbol; copies and memsets: the kernel that did it, or "" */
	uint32_t process;
	uint32_t device;
	uint32_t stream;
	uint32_t thread;
	uint32_t call;	  /* DAGTAP_TRACE_NONE: nobody is known to have launched it */
	uint64_t cid;	  /* of the call, also if that has no row; 0 = none */
	uint32_t ordinal; /* n-th work of its call */
	uint32_t scope;
	uint32_t launch;
	uint32_t node;
	int confidence; /* enum dagtap_trace_confidence */
	int is_timed;	/* 0: start and end are 0; UNTIMED says why */
	const char *untimed;
	int64_t submit_ns;
	int64_t start_ns;
	int64_t end_ns;
	uint64_t start_tick; /* raw, 0 if the source gives none */
	uint64_t end_tick;
	uint64_t grid[3]; /* work-items */
	uint32_t workgroup[3];
	uint32_t private_bytes; /* per work-item */
	uint32_t group_bytes;	/* per workgroup */
	int direction;		/* enum dagtap_trace_direction, of a copy */
	uint64_t bytes;		/* copies and memsets; 0 = unknown */
	uint64_t dst;
	uint64_t src;
};

struct dagtap_trace_graph {
	uint32_t process;
	uint64_t id;
	uint32_t node_first;
	uint32_t node_count;
	uint32_t edge_first;
	uint32_t edge_count;
	uint32_t parent; /* graph that it is a child of */
};

struct dagtap_trace_node {
	uint32_t graph;
	uint32_t index;	  /* in the runtime's order */
	const char *type; /* "kernel", "memcpy", "memset", "host", "child" ... */
	const char *name; /* of a kernel node its kernel, else the type */
	uint64_t grid[3]; /* work-items */
	uint32_t workgroup[3];
	uint64_t bytes;
	uint32_t scope; /* active when the node was recorded */
	uint32_t child; /* graph */
};

struct dagtap_trace_edge { /* indices of nodes */
	uint32_t from;
	uint32_t to;
};

/* One replay of an instantiated graph. */
struct dagtap_trace_launch {
	uint32_t process;
	uint64_t exec_id;
	uint32_t graph; /* its template */
	uint64_t replay;
	uint32_t call;
	uint32_t stream;
	uint32_t events_expected; /* DAGTAP_TRACE_NONE: it cannot be told */
	uint32_t event_count;
	int is_exact; /* every event is DAGTAP_TRACE_NODE_EXACT */
};

/* A line of the ledger: what somebody else than the writer of the rows counted, against the rows. */
struct dagtap_trace_source {
	uint32_t process;
	const char *name;
	const char *witness;
	int has_expected;
	uint64_t expected;
	uint64_t received;
	uint64_t dropped;
	uint64_t joined;
	uint64_t orphan_calls;
	uint64_t orphan_events;
	uint64_t untimed;
	uint64_t unexplained;
	const char *state; /* "on", "partial", "absent" */
	const char *text;  /* why it is not on */
};

struct dagtap_trace_message {
	uint32_t process;
	int is_damage;
	const char *text;
};

/* Row INDEX of its array. 0; -ERANGE: there is none, and *ROW is untouched. */
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
#define dagtap_trace_get_event(trace, index, row)                                                  \
	dagtap_trace_get_event_sized(trace, index, row, sizeof(struct dagtap_trace_event))
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
int dagtap_trace_get_event_sized(const struct dagtap_trace *trace, uint32_t index,
				 struct dagtap_trace_event *row, size_t size);
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

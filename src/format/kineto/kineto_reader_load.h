/* Inside the Kineto reader: a file on its way into the model.
 *
 * kineto_reader.c takes the tokens apart as far as one row of the file (struct kread_event);
 * kineto_reader_rows.c makes of it a call, a scope, a piece of GPU work, a wait. A row does not say all
 * that the model wants to know of it: whose process the work on a GPU is tells the call with its
 * correlation id, maybe later in the file. So work and waits are kept as the file has them (struct
 * kread_work, struct kread_sync) until all rows are read; then kineto_reader_nest.c puts scopes and
 * calls into each other, kineto_reader_join.c gives work its process, GPU, stream and graph, and
 * kineto_reader_waits.c makes events, their records and waits.
 *
 * Functions that return int: 0 (or what they say), or negative errno. -EBADMSG comes with the line in
 * the caller's error; what else fails is said at the end, once.
 */
#ifndef DAGTAP_FORMAT_KINETO_READER_LOAD_H
#define DAGTAP_FORMAT_KINETO_READER_LOAD_H

#include "base/error.h"
#include "format/numbers.h"
#include "format/order.h"
#include "trace/load.h"
#include "trace/model.h"
#include "trace/ops.h"
#include "trace/strtab.h"

/* Words that mean something to the reader. They are the first to be interned: their numbers as texts
 * are those of the enum. */
#define KREAD_WORDS(X)                                                                             \
	/* of the file */                                                                          \
	X(TRACE_EVENTS, "traceEvents")                                                             \
	X(DEVICE_PROPERTIES, "deviceProperties")                                                   \
	X(BASE_TIME, "baseTimeNanoseconds")                                                        \
	X(HOST_NAME, "host_name")                                                                  \
	/* of a row */                                                                             \
	X(PH, "ph")                                                                                \
	X(CAT, "cat")                                                                              \
	X(PID, "pid")                                                                              \
	X(TID, "tid")                                                                              \
	X(TS, "ts")                                                                                \
	X(DUR, "dur")                                                                              \
	X(ARGS, "args")                                                                            \
	/* of a row's args, or of a device */                                                      \
	X(NAME, "name")                                                                            \
	X(ID, "id")                                                                                \
	X(TOTAL_MEMORY, "totalGlobalMem")                                                          \
	X(SM_COUNT, "numSms")                                                                      \
	X(WARP_SIZE, "warpSize")                                                                   \
	X(CORRELATION, "correlation")                                                              \
	X(EXTERNAL_ID, "External id")                                                              \
	X(OLD_EXTERNAL_ID, "external id")                                                          \
	X(DEVICE, "device")                                                                        \
	X(CONTEXT, "context")                                                                      \
	X(STREAM, "stream")                                                                        \
	X(GRID, "grid")                                                                            \
	X(BLOCK, "block")                                                                          \
	X(REGISTERS, "registers per thread")                                                       \
	X(SHARED_MEMORY, "shared memory")                                                          \
	X(BYTES, "bytes")                                                                          \
	X(FROM_DEVICE, "fromDevice")                                                               \
	X(TO_DEVICE, "toDevice")                                                                   \
	X(GRAPH_ID, "graph id")                                                                    \
	X(GRAPH_NODE_ID, "graph node id")                                                          \
	X(SYNC_KIND, "cuda_sync_kind")                                                             \
	X(WAIT_ON_STREAM, "wait_on_stream")                                                        \
	X(WAIT_ON_RECORD, "wait_on_cuda_event_record_corr_id")                                     \
	X(WAIT_ON_EVENT, "wait_on_cuda_event_id")                                                  \
	X(EVENT_ID, "event_id")                                                                    \
	X(HIP_EVENT, "hip_event")                                                                  \
	X(HIP_STREAM, "hip_stream")                                                                \
	X(SYNC_TYPE, "sync_type")                                                                  \
	X(KNOWN_BY, "known by")                                                                    \
	X(UNTIMED, "untimed")                                                                      \
	X(WAIT_ON_HIP_RECORD, "wait_on_hip_event_record_corr_id")                                  \
	X(WAIT_ON_HIP_EVENT, "wait_on_hip_event_id")                                               \
	/* categories; those with capitals are PyTorch's before 1.13 */                            \
	X(KERNEL, "kernel")                                                                        \
	X(MEMCPY, "gpu_memcpy")                                                                    \
	X(MEMSET, "gpu_memset")                                                                    \
	X(OLD_KERNEL, "Kernel")                                                                    \
	X(OLD_MEMCPY, "Memcpy")                                                                    \
	X(OLD_MEMSET, "Memset")                                                                    \
	X(CUDA_RUNTIME, "cuda_runtime")                                                            \
	X(CUDA_DRIVER, "cuda_driver")                                                              \
	X(OLD_RUNTIME, "Runtime")                                                                  \
	X(CPU_OP, "cpu_op")                                                                        \
	X(OLD_OPERATOR, "Operator")                                                                \
	X(USER_ANNOTATION, "user_annotation")                                                      \
	X(PYTHON_FUNCTION, "python_function")                                                      \
	X(CUDA_SYNC, "cuda_sync")                                                                  \
	X(CUDA_EVENT, "cuda_event")                                                                \
	X(OVERHEAD, "overhead")                                                                    \
	X(GPU_USER_ANNOTATION, "gpu_user_annotation")                                              \
	X(AC2G, "ac2g")                                                                            \
	/* names of rows that say what a process or thread is called */                            \
	X(PROCESS_NAME, "process_name")                                                            \
	X(THREAD_NAME, "thread_name")

enum kread_word {
	KREAD_EMPTY,
#define X(name, text) KREAD_##name,
	KREAD_WORDS(X)
#undef X
		KREAD_WORD_COUNT
};

#define KREAD_ARG_FIRST KREAD_NAME
#define KREAD_ARG_LAST	KREAD_WAIT_ON_HIP_EVENT
#define KREAD_ARG_COUNT (KREAD_ARG_LAST - KREAD_ARG_FIRST + 1)

/* A set of args, by word. */
#define KREAD_ARG(word) (UINT64_C(1) << ((word)-KREAD_ARG_FIRST))

_Static_assert(KREAD_ARG_COUNT <= 64, "a bit for each");

/* "pid" and "tid" are numbers or texts. */
struct kread_id {
	uint64_t value; /* negative numbers wrap; of a text the trace_string */
	bool is_text;
};

/* A row of the file, or a device, as far as it has been read. */
struct kread_event {
	char phase;
	bool has_time, is_absurd; /* absurd: no clock's time */
	trace_string category, name;
	struct kread_id pid, tid;
	int64_t begin_ns, duration_ns;
	uint32_t grid[3], block[3];	  /* if the args are there, which are no attributes then */
	uint64_t args;			  /* those of the words that are there */
	uint32_t arg_at[KREAD_ARG_COUNT]; /* their places among the attributes */
	struct trace_scope_attribute *attributes; /* all args, in the file's order */
	uint32_t attribute_count, attributes_room;
};

#define KREAD_NO_STREAM (-1)
#define KREAD_NO_DEVICE UINT32_MAX

/* What is not known of an activity until everything is read; the activity's id is its place. */
struct kread_work {
	int64_t stream; /* the file's number, or KREAD_NO_STREAM */
	uint64_t external_id;
	uint64_t graph, node;
	uint32_t device;
	uint32_t op; /* its agents are device numbers */
};

/* A row that says something of waits and events: a wait, or the record of an event. */
struct kread_sync {
	uint64_t cid;
	uint64_t record_cid; /* of the record that a wait waits for, 0 = not said */
	uint64_t event;
	int64_t begin_ns, end_ns;
	int64_t stream;	       /* that waits, or is waited for; of a record, its own */
	int64_t record_stream; /* of the record that a wait waits for */
	uint32_t process;      /* TRACE_NONE until the call is known */
	uint32_t device;
	uint32_t context;	/* as the row says it, 0 = it does not */
	uint32_t event_context; /* whose numbers EVENT is one of; HIP's are no context's */
	enum trace_wait_type type;
	enum trace_known known; /* how the producer is, if it is */
	bool is_record;
	bool is_call; /* said by a row of the call itself */
	bool has_event;
	bool is_untimed; /* of a record: the row has the host's time */
};

/* "thread 410 (python3)" */
struct kread_label {
	struct kread_id pid, tid;
	bool is_thread;
	trace_string text;
};

/* What a scope or a call can be found by, beside each; 0 = nothing. */
struct kread_externals {
	uint64_t *rows;
	uint32_t count;
};

/* Rows that the model has no place for, by why. */
#define KREAD_LEFT_OUT(X)                                                                          \
	X(CATEGORY, "rows of other categories")                                                    \
	X(PHASE, "counters, instants and rows of other phases")                                    \
	X(DERIVED, "gpu_user_annotation rows, which are made from the kernels under them")         \
	X(FLOW, "arrows between rows other than from a call to its work")                          \
	X(TIME, "rows without a time, or with one that no clock shows")                            \
	X(RECORD, "records of events without a correlation id")                                    \
	X(EXTERNAL, "External ids that name no operator in the file")

enum kread_left_out {
#define X(name, text) KREAD_LEFT_OUT_##name,
	KREAD_LEFT_OUT(X)
#undef X
		KREAD_LEFT_OUT_COUNT
};

/* Texts that were met lately, each at a place that follows from a few of its bytes. */
#define KREAD_KNOWN 4096u

struct kread_known {
	uint64_t first, last; /* its first and last bytes: all of them, if there are up to 16 */
	const char *text;
	uint32_t bytes;
	trace_string string;
};

struct kread_load {
	struct trace *trace;
	struct strtab *strings;
	const char *name;
	struct dagtap_error *error;
	const struct trace_options *options;
	struct kineto_input *input;
	int result; /* why reading was given up in the middle */

	/* Where in the file (kineto_reader.c). */
	int place, outer_place;
	uint64_t depth, inner_depth;
	trace_string key;
	char *nested; /* text of a value with values inside */
	size_t nested_bytes, nested_room;
	struct kread_event event;

	bool has_events, has_base, is_gzip, is_cut_off;
	uint64_t bytes; /* of JSON, when all is read */
	int64_t base_ns;
	trace_string host;
	uint64_t left_out[KREAD_LEFT_OUT_COUNT];
	uint64_t backwards; /* rows that end before they begin */

	struct op_table ops;
	struct numbers processes;  /* by pid */
	struct numbers threads;	   /* (process, tid) */
	struct numbers apis;	   /* (process, name) */
	struct numbers properties; /* by device: agents of deviceProperties */
	struct numbers devices;	   /* (process, device): agents */
	struct numbers streams;	   /* (process and device, stream) */
	struct numbers set_hashes;
	struct numbers externals;  /* (process, External id), made when one is looked for */
	uint32_t *external_scopes; /* by number */
	struct kread_id last_pid, last_tid;
	uint32_t last_process, last_thread;

	struct kread_work *works;
	uint32_t works_count;
	struct kread_sync *syncs;
	uint32_t syncs_count;
	struct kread_label *labels;
	uint32_t labels_count;
	struct trace_agent *agents; /* as deviceProperties has them; process is to be set */
	uint32_t agents_count;
	struct kread_externals call_externals, scope_externals;
	struct order_sets activity_sets, call_sets;
	struct kread_known known[KREAD_KNOWN];
};

static inline const char *kread_string(const struct kread_load *load, trace_string string)
{
	return load->strings->strings[string];
}

static inline bool kread_has(const struct kread_event *event, enum kread_word word)
{
	return (event->args & KREAD_ARG(word)) != 0;
}

static inline const struct trace_scope_attribute *kread_arg(const struct kread_event *event,
							    enum kread_word word)
{
	return &event->attributes[event->arg_at[word - KREAD_ARG_FIRST]];
}

/* As strtab_intern; mostly without a search, since rows are alike. */
trace_string kread_intern(struct kread_load *load, const char *text, size_t bytes);

/* An integer arg; also one that is written with a point, or as text in decimal or hexadecimal. */
bool kread_int(const struct kread_load *load, const struct kread_event *event, enum kread_word word,
	       int64_t *ret_value);

/* The same, where there is none: FALLBACK. */
int64_t kread_int_or(const struct kread_load *load, const struct kread_event *event,
		     enum kread_word word, int64_t fallback);

/* Decimal text (JSON's numbers) times 10^SCALE, rounded down; false if it is more than 2^61, either
 * way. */
bool kread_decimal(const char *text, size_t bytes, int scale, int64_t *ret_value);

/* An attribute's value: an integer if it is written as one and fits, else a double; kept as it is
 * written if it is longer than any program writes a number. */
void kread_number(struct kread_load *load, const char *text, size_t bytes,
		  struct trace_scope_attribute *value);

/* A whole row, or a whole device, has been read. */
int kread_take_event(struct kread_load *load);
int kread_take_device(struct kread_load *load);

/* One more attribute of the event, without a value yet. NULL: out of memory, load->result says so. */
struct trace_scope_attribute *kread_add_attribute(struct kread_load *load, trace_string key);

/* The attribute set of the event's args but those in TAKEN, or -ENOMEM. */
int64_t kread_attribute_set(struct kread_load *load, uint64_t taken);

/* A wait, or the record of an event, that the row tells of. */
int kread_take_sync(struct kread_load *load);
int kread_take_event_record(struct kread_load *load);
int kread_take_hip_call(struct kread_load *load, uint32_t process);

/* Rows by what the file calls them, made when they are new: places, or -ENOMEM. */
int64_t kread_process(struct kread_load *load, struct kread_id pid);
int64_t kread_thread(struct kread_load *load, uint32_t process, struct kread_id tid);
int64_t kread_agent(struct kread_load *load, uint32_t process, uint32_t device);
/* TRACE_NONE for KREAD_NO_STREAM. */
int64_t kread_stream(struct kread_load *load, uint32_t process, uint32_t device, int64_t stream);

/* The scope with this External id, TRACE_NONE if there is none (which is counted); or -ENOMEM. Scopes
 * are in order. */
int64_t kread_find_scope(struct kread_load *load, uint32_t process, uint64_t external_id);

/* When all rows are read, in this order. */
int kread_nest(struct kread_load *load);
int kread_join(struct kread_load *load);
int kread_join_waits(struct kread_load *load);
int kread_conclude(struct kread_load *load);

#endif

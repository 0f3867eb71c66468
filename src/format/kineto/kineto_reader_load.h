/* Internals of the Kineto reader: the state while a file becomes a trace.
 *
 * kineto_reader_tokens.c splits the JSON tokens into rows of the file (struct kread_event).
 * kineto_reader_rows.c makes a call, a scope, a GPU activity or a wait of each, with the values of
 * its args (kineto_reader_args.c, kineto_reader_syncs.c). A row does not say all that the model
 * needs: the process of a GPU activity is known only from the call with its correlation id, which
 * may come later in the file. So activities and waits are kept as the file states them (struct
 * kread_activity, struct kread_sync) until all rows are read. Then kineto_reader_nest.c nests
 * scopes and calls, kineto_reader_join.c gives each activity its process, GPU, stream and graph,
 * and kineto_reader_waits.c makes events, their records and waits.
 *
 * Functions that return int return 0 (or what their comment says), or negative errno. For -EBADMSG
 * the failing function has put its line into the caller's error; for other errors kineto_open
 * writes one line at the end. A load belongs to one thread. */
#ifndef DAGTAP_FORMAT_KINETO_READER_LOAD_H
#define DAGTAP_FORMAT_KINETO_READER_LOAD_H

#include "base/error_text.h"
#include "format/import/import.h"
#include "trace/load.h"

struct json_stop;

/* The words that the reader understands. begin_load interns them first, in this order, so that a
 * word's trace_string equals its enum value and can be used in a switch. */
#define KREAD_WORDS(X)                                                                             \
	/* keys of the file */                                                                     \
	X(TRACE_EVENTS, "traceEvents")                                                             \
	X(DEVICE_PROPERTIES, "deviceProperties")                                                   \
	X(BASE_TIME, "baseTimeNanoseconds")                                                        \
	X(HOST_NAME, "host_name")                                                                  \
	/* keys of a row */                                                                        \
	X(PH, "ph")                                                                                \
	X(CAT, "cat")                                                                              \
	X(PID, "pid")                                                                              \
	X(TID, "tid")                                                                              \
	X(TS, "ts")                                                                                \
	X(DUR, "dur")                                                                              \
	X(ARGS, "args")                                                                            \
	/* keys of a row's args or of a device */                                                  \
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
	/* categories; those with capitals are of PyTorch before 1.13 */                           \
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
	/* names of rows that name a process or thread */                                          \
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

/* The bit of an arg in a set of args. */
#define KREAD_ARG(word) (UINT64_C(1) << ((word)-KREAD_ARG_FIRST))

/* The args that are decoded into event->grid and event->block. */
#define KREAD_DIMENSION_ARGS (KREAD_ARG(KREAD_GRID) | KREAD_ARG(KREAD_BLOCK))

_Static_assert(KREAD_ARG_COUNT <= 64, "a bit for each");

/* A row of the file, or a device, as far as it has been read. Reused for every row. */
struct kread_event {
	char phase;
	bool has_time, is_absurd; /* is_absurd: "ts" or "dur" is beyond what a clock can show */
	trace_string category, name;
	struct import_id pid, tid;
	int64_t begin_ns, duration_ns;
	/* valid if the set `args` has them; then they are not attributes */
	uint32_t grid[3], block[3];
	/* set of the known words that the row's args have (KREAD_ARG) */
	uint64_t args;
	/* by word: index into attributes; valid if `args` has the word */
	uint32_t arg_at[KREAD_ARG_COUNT];
	/* all args, in the file's order; owned by kread_load */
	struct trace_scope_attribute *attributes;
	uint32_t attribute_count;
	size_t attributes_room;
};

#define KREAD_NO_STREAM (-1)
#define KREAD_NO_DEVICE UINT32_MAX

/* What the file states about a GPU activity, kept until all rows are read. Meanwhile the
 * activity's `id` is the index of its kread_activity. */
struct kread_activity {
	int64_t stream; /* the file's stream number, or KREAD_NO_STREAM */
	uint64_t external_id;
	uint64_t graph, node; /* the file's ids; 0 = none */
	uint32_t device;      /* the file's number of the GPU, or KREAD_NO_DEVICE */
	/* index into trace.works; its agents are device numbers, not agents, until map_work
	 * replaces it */
	uint32_t work;
};

/* A wait, or the record of an event, as a row of the file states it. */
struct kread_sync {
	uint64_t cid;	     /* of the row's call; 0 = not stated */
	uint64_t record_cid; /* cid of the record that a wait waits for; 0 = not stated */
	uint64_t event;	     /* the file's id or handle of the event; valid if has_event */
	int64_t begin_ns, end_ns;
	/* of a wait: the stream that waits or is waited for; of a record: its stream */
	int64_t stream;
	int64_t record_stream; /* stream of the record that a wait waits for */
	uint32_t process;      /* TRACE_NONE until the call is known */
	uint32_t device;
	uint32_t context;	/* CUPTI's number; 0 = not stated */
	uint32_t event_context; /* context whose numbering EVENT belongs to; 0 for HIP's handles */
	enum trace_wait_type type;
	enum trace_known known; /* how the producer of a wait is known, if it is known */
	bool is_record;
	bool is_call; /* taken from the args of the call's own row */
	bool has_event;
	bool is_untimed; /* of a record: begin_ns is the host's time, not the device's */
};

/* The name of a process or thread: "thread 410 (python3)". */
struct kread_label {
	struct import_id pid, tid;
	bool is_thread;
	trace_string text;
};

/* Rows that the model has no place for, counted by reason. The texts go into the trace's
 * messages. */
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

/* A cache of recently met texts: entries are addressed by a hash of some bytes of the text. */
#define KREAD_KNOWN 4096u

struct kread_known {
	uint64_t first, last; /* its first and last bytes; all of them if there are up to 16 */
	const char *text;     /* belongs to the trace's strings */
	uint32_t bytes;
	trace_string string;
};

struct kread_load {
	/* A scope's id in the model is its External id (0 = none) until kread_conclude numbers
	 * the scopes. */
	struct import import;
	const char *name;
	struct dagtap_error *error;
	const struct trace_options *options;
	struct kineto_input *input;
	int result; /* negative errno: why a token handler stopped the JSON reader */

	/* The position in the file's structure, used by kineto_reader_tokens.c only: `place` and
	 * `outer_place` are enum place, `depth` counts open objects and arrays, `inner_depth` is
	 * the depth at which a nested or skipped value began. */
	int place, outer_place;
	uint64_t depth, inner_depth;
	trace_string key; /* the last key that was read */
	char *nested;	  /* JSON text of a nested value, put together again; owned */
	size_t nested_bytes, nested_room;
	struct kread_event event;

	bool has_events, has_base, is_gzip, is_cut_off;
	uint64_t bytes;	 /* bytes of JSON that were read; valid after parse */
	int64_t base_ns; /* baseTimeNanoseconds, if has_base */
	trace_string host;
	uint64_t left_out[KREAD_LEFT_OUT_COUNT];
	uint64_t backwards; /* number of rows that end before they begin */

	struct numbers properties; /* device -> index into `agents` */
	/* (process, External id); filled by the first kread_find_scope */
	struct numbers externals;
	uint32_t *external_scopes; /* by number in `externals`: index into trace.scopes */

	struct kread_activity *raw;
	uint32_t raw_count;
	struct kread_sync *syncs;
	uint32_t syncs_count;
	struct kread_label *labels;
	uint32_t labels_count;
	struct trace_agent *agents; /* as in deviceProperties; `process` is not set yet */
	uint32_t agents_count;
	uint64_t *call_externals; /* by call: its External id, 0 = none; owned */
	uint32_t call_externals_count;
	struct kread_known known[KREAD_KNOWN];
};

static inline const char *kread_string(const struct kread_load *load, trace_string string)
{
	return load->import.strings->strings[string];
}

static inline bool kread_has(const struct kread_event *event, enum kread_word word)
{
	return (event->args & KREAD_ARG(word)) != 0;
}

/* The attribute of an arg that kread_has has found. Not for KREAD_GRID and KREAD_BLOCK, which are
 * in event->grid and event->block. */
static inline const struct trace_scope_attribute *kread_arg(const struct kread_event *event,
							    enum kread_word word)
{
	return &event->attributes[event->arg_at[word - KREAD_ARG_FIRST]];
}

/* Notes that the row has the known arg KEY, at the place of the next attribute. */
static inline void kread_know_arg(struct kread_event *event, trace_string key)
{
	event->args |= KREAD_ARG(key);
	event->arg_at[key - KREAD_ARG_FIRST] = event->attribute_count;
}

/* Reads the tokens of load->input, and takes each row and device when it is complete. Returns what
 * json_read returns, with *RET_STOP; load->result is negative if a row could not be taken. */
int kread_read_tokens(struct kread_load *load, struct json_stop *ret_stop);

/* Interns a text as strtab_intern does. Rows are alike, so the cache `known` mostly replaces the
 * search by one comparison. */
trace_string kread_intern(struct kread_load *load, const char *text, size_t bytes);

/* Gets the integer value of an arg. Also accepts a number that is written with a point but is an
 * integer, and a text in decimal or hexadecimal (0x...). Returns false, and leaves RET_VALUE
 * undefined, if the row has no such arg or it is no integer. */
bool kread_int(const struct kread_load *load, const struct kread_event *event, enum kread_word word,
	       int64_t *ret_value);

/* Like kread_int, but returns the value, or FALLBACK if there is none. */
int64_t kread_int_or(const struct kread_load *load, const struct kread_event *event,
		     enum kread_word word, int64_t fallback);

/* The number in a JSON text times 10^SCALE, rounded down, without floating point. Returns false if
 * its magnitude is greater than 2^61; RET_VALUE is then unchanged. */
bool kread_decimal(const char *text, size_t bytes, int scale, int64_t *ret_value);

/* Sets VALUE from a JSON number: an integer if it is written as one and fits into 64 bits, else a
 * double. A number of more than 127 characters, longer than any program writes, is kept as text. */
void kread_number(struct kread_load *load, const char *text, size_t bytes,
		  struct trace_scope_attribute *value);

/* Takes load->event, a complete row of traceEvents, into the model. A row without a place in the
 * model is counted in left_out. Returns 0 or -ENOMEM. */
int kread_take_event(struct kread_load *load);

/* Takes load->event, a complete object of deviceProperties, into load->agents. A device that was
 * described before is ignored. Returns 0 or -ENOMEM. */
int kread_take_device(struct kread_load *load);

/* Adds an attribute with KEY to load->event and, if KEY is a known word, to its set of args. The
 * caller sets kind and value. The pointer is valid
 * until the next call. NULL: out of memory; load->result is set. */
struct trace_scope_attribute *kread_add_attribute(struct kread_load *load, trace_string key);

/* Adds the decoded dimensions of load->event that are not in TAKEN back to its attributes, as
 * texts. Returns 0 or -ENOMEM. */
int kread_keep_dimensions(struct kread_load *load, uint64_t taken);

/* The index of the attribute set with all args of load->event except those in TAKEN, the args that
 * the model's row states itself; 0 if none is left. Equal sets share one row. Removes the args of
 * TAKEN from the event. -ENOMEM. */
int64_t kread_attribute_set(struct kread_load *load, uint64_t taken);

/* Takes a wait from load->event, a cuda_sync row, into load->syncs. Returns 0 or -ENOMEM. */
int kread_take_sync(struct kread_load *load);

/* Takes an event record from load->event, a cuda_event row, into load->syncs. A row without a
 * correlation id is counted in left_out. Returns 0 or -ENOMEM. */
int kread_take_event_record(struct kread_load *load);

/* Takes the wait or event record that the hip_* args of a HIP call of PROCESS describe, if
 * load->event has them, into load->syncs. Returns 0 or -ENOMEM. */
int kread_take_hip_call(struct kread_load *load, uint32_t process);

/* The index into trace.agents of PROCESS's agent for DEVICE, which is added when it is new;
 * TRACE_NONE for KREAD_NO_DEVICE; or -ENOMEM. */
int64_t kread_agent(struct kread_load *load, uint32_t process, uint32_t device);

/* The index into trace.streams of a stream, which is added when it is new; TRACE_NONE for
 * KREAD_NO_STREAM; or -ENOMEM. If DEVICE is KREAD_NO_DEVICE, looks only for a stream that
 * activities of PROCESS have shown, and gives TRACE_NONE if there is none. */
int64_t kread_stream(struct kread_load *load, uint32_t process, uint32_t device, int64_t stream);

/* The index of the scope with this External id; TRACE_NONE if EXTERNAL_ID is 0 or names no scope
 * (the latter is counted in left_out); or -ENOMEM. Scopes must be in order already. */
int64_t kread_find_scope(struct kread_load *load, uint32_t process, uint64_t external_id);

/* After all rows are read, kineto_reader.c calls the following functions in this order. Each
 * returns 0 or -ENOMEM.
 *
 * kread_nest (kineto_reader_nest.c) sorts the scopes and finds parents and scopes of scopes and
 * calls. */
int kread_nest(struct kread_load *load);

/* Finds processes, GPUs, streams and graphs of activities, and sorts threads, APIs, calls,
 * activities and graphs (kineto_reader_join.c). */
int kread_join(struct kread_load *load);

/* Makes events, event records and waits, and sorts streams and agents (kineto_reader_waits.c). */
int kread_join_waits(struct kread_load *load);

/* Makes times absolute, and adds the ledger's source and messages (kineto_reader_conclude.c). */
int kread_conclude(struct kread_load *load);

#endif

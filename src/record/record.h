/* Layouts of the records that the traced process writes and the loader reads. This header is the
 * C form of docs/format/spool.md, section "Records"; spool.h has the layout of the file.
 *
 * A record is a multiple of 8 bytes and starts with a struct record_header. The writer stores the
 * header last, with release (writer_commit). A header of zero means that nothing is written here
 * yet, so a reader of the file of a killed process stops at the first unfinished record.
 *
 * Records hold no pointers to follow: addresses are stored as plain numbers. Text lies inline, is
 * not terminated, and has its length in a field; text longer than RECORD_TEXT_MAX is cut. Arrays
 * of char of fixed size are filled with zeros, and not terminated when they are full. Times are
 * CLOCK_MONOTONIC ns ("host ns") unless the field says otherwise. All integers are little-endian,
 * as on the machines that dagtap supports. Once written, a record does not change.
 *
 * Ids: "cid" is a correlation id: one per call, unique in the process, from 1, in order of entry;
 * 0 means no call. "scope" is the id of the innermost scope of the calling thread; 0 means none.
 * Graph, exec, kernel, queue and copy ids count from 1 in the process and are never used again,
 * unlike the handles beside them, which the vendor's library may use again.
 */
#ifndef DAGTAP_RECORD_H
#define DAGTAP_RECORD_H

#include <stddef.h>
#include <stdint.h>

/* The first 8 bytes of every record, stored as one word. All zero: nothing is written here yet. */
struct record_header {
	uint16_t type;	/* enum record_type; 0 = not written yet */
	uint16_t words; /* size of the whole record in 8-byte words, header included */
	uint32_t tag;	/* the meaning depends on the type: see each struct */
};

/* X(name, class). Attempted and dropped records are counted by class. The position in the list is
 * the number in the file: append new types at the end. */
#define RECORD_TYPES(X)                                                                            \
	X(THREAD, META)                                                                            \
	X(AGENT, META)                                                                             \
	X(KERNEL, META)                                                                            \
	X(KERNEL_GONE, META)                                                                       \
	X(FUNCTION, META)                                                                          \
	X(QUEUE, META)                                                                             \
	X(QUEUE_COUNT, META)                                                                       \
	X(DISPATCH, DISPATCH)                                                                      \
	X(DISPATCH_DONE, DONE)                                                                     \
	X(BARRIER, BARRIER)                                                                        \
	X(COPY, COPY)                                                                              \
	X(COPY_DONE, DONE)                                                                         \
	X(API_NAME, META)                                                                          \
	X(API, API)                                                                                \
	X(SCOPE, SCOPE)                                                                            \
	X(SCOPE_END, SCOPE)                                                                        \
	X(GRAPH, GRAPH)                                                                            \
	X(GRAPH_NODE, GRAPH)                                                                       \
	X(GRAPH_EDGE, GRAPH)                                                                       \
	X(GRAPH_EXEC, GRAPH)                                                                       \
	X(GRAPH_EXEC_UPDATE, GRAPH)                                                                \
	X(GRAPH_EXEC_GONE, GRAPH)                                                                  \
	X(GRAPH_LAUNCH, GRAPH)                                                                     \
	X(NODE_RECORDED, GRAPH)                                                                    \
	X(ANCHOR, META)                                                                            \
	X(WITNESS, META)                                                                           \
	X(SOURCE, META)                                                                            \
	X(NOTE, META)                                                                              \
	X(END, META)                                                                               \
	X(CUDA_KERNEL, DISPATCH)                                                                   \
	X(CUDA_COPY, COPY)                                                                         \
	X(CUDA_SYNC, BARRIER)                                                                      \
	X(CUDA_EVENT, BARRIER)                                                                     \
	X(CUDA_MEMORY, BARRIER)                                                                    \
	X(CUDA_OVERHEAD, BARRIER)                                                                  \
	X(CUDA_GRAPH, GRAPH)                                                                       \
	X(CUDA_INNER, GRAPH)                                                                       \
	X(CUDA_STREAM, META)                                                                       \
	X(CUDA_UPDATE, GRAPH)                                                                      \
	X(QUEUE_TAKEN, META)                                                                       \
	X(FAULT, META)                                                                             \
	X(CUDA_STREAM_HANDLE, META)                                                                \
	X(MEMORY, META)

enum record_type {
	RECORD_NONE,
#define X(name, class) RECORD_##name,
	RECORD_TYPES(X)
#undef X
		RECORD_TYPE_COUNT
};

#define RECORD_CLASSES(X)                                                                          \
	X(META, "meta")                                                                            \
	X(API, "api")                                                                              \
	X(DISPATCH, "dispatch")                                                                    \
	X(DONE, "done")                                                                            \
	X(BARRIER, "barrier")                                                                      \
	X(COPY, "copy")                                                                            \
	X(SCOPE, "scope")                                                                          \
	X(GRAPH, "graph")

enum record_class {
#define X(name, text) RECORD_CLASS_##name,
	RECORD_CLASSES(X)
#undef X
		RECORD_CLASS_COUNT
};

/* X(name, text): why a record was dropped. */
#define RECORD_DROPS(X)                                                                            \
	X(FULL, "no free chunk")                                                                   \
	X(REENTERED, "signal handler interrupted a write")                                         \
	X(OVERSIZE, "record larger than a chunk")                                                  \
	X(NO_WRITER, "no writer for this thread")                                                  \
	X(RING, "dropped by the ring") /* intended: a ring recording reused its chunk */

enum record_drop {
#define X(name, text) RECORD_DROP_##name,
	RECORD_DROPS(X)
#undef X
		RECORD_DROP_COUNT
};

/* Bytes of the longest inline text of any record; the writer cuts longer text. */
#define RECORD_TEXT_MAX 8192

/* Says to which thread the following records of this writer belong. Every chunk starts with one;
 * another follows when the writer goes to a new thread or the thread gets its scope number. */
struct record_thread {
	struct record_header header; /* tag: tid */
	uint64_t ns;
	uint64_t scope_number; /* high 16 bits of the thread's scope ids; 0 = none yet */
	char name[16];	       /* the thread's (PR_GET_NAME) */
};

/* A GPU or CPU of the HSA runtime, or a GPU of CUDA (see RECORD_CUDA_AGENT_FIRST). */
struct record_agent {
	struct record_header header; /* tag: index in the runtime's order, CPUs included */
	uint64_t handle;	     /* hsa_agent_t; of a CUDA device: the index */
	uint64_t tick_hz;	     /* ticks a second in DISPATCH_DONE; 0 = unknown */
	uint32_t is_gpu;
	uint32_t gpu_ordinal; /* number among the GPUs, as HIP has it without *_VISIBLE_DEVICES */
	char name[32];	      /* the architecture: "gfx906" */
	char product[64];     /* the marketing name */
	uint64_t memory_bytes;
	uint32_t compute_units;
	uint32_t wave_size;
	char uuid[32];
	/* Records of older recordings end here. */
	uint32_t pci_domain;
	uint32_t pci_location; /* bus, device, function; bits 28 to 31: the card's partition */
	uint32_t has_location; /* 0: pci_domain and pci_location are not known */
	uint32_t driver_id;    /* the kernel driver's number of the GPU or partition; 0 = unknown */
	/* Records of older recordings end here, too. */
	uint64_t memory_bytes_per_s; /* what the memory can transfer at most; 0 = unknown */
	uint32_t clock_khz;	     /* the highest of the compute units; 0 = unknown */
	uint32_t unused;
};

/* The size of an AGENT record without the fields that were added later, and without those that were
 * added last. */
#define RECORD_AGENT_LEAST   offsetof(struct record_agent, pci_domain)
#define RECORD_AGENT_LOCATED offsetof(struct record_agent, memory_bytes_per_s)

/* A kernel symbol of a loaded code object. The runtime may use kernel_object again after the code
 * object was unloaded; a DISPATCH names the kernel id that was valid when it was submitted. */
struct record_kernel {
	struct record_header header; /* tag: kernel id */
	uint64_t ns;
	uint64_t kernel_object;
	uint64_t agent; /* hsa_agent_t */
	uint32_t kernarg_bytes;
	uint32_t group_bytes;	/* LDS, per work-group */
	uint32_t private_bytes; /* scratch, per work-item */
	uint32_t name_bytes;
	/* From the code object's kernel descriptor; both 0: it could not be read. */
	uint32_t rsrc1;	     /* compute_pgm_rsrc1: the number of registers per work-item */
	uint32_t properties; /* kernel_code_properties: the wave size */
	char name[];	     /* the symbol's, without ".kd" */
};

/* The kernel's code object was unloaded. */
struct record_kernel_gone {
	struct record_header header; /* tag: kernel id */
	uint64_t ns;
};

/* A HIP function handle and the name of its kernel. The handle is the address of a host stub or a
 * hipFunction_t. */
struct record_function {
	struct record_header header; /* tag: name_bytes */
	uint64_t ns;
	uint64_t handle;
	char name[];
};

/* X(name, text), numbered from 1: how a queue is traced (docs/hsa-timing.md). */
#define RECORD_QUEUE_MODES(X)                                                                      \
	X(HARVEST, "harvest")	  /* packets pass one to one; one without a signal gets ours */    \
	X(OBSERVE, "observe")	  /* packets unchanged; timed where the program's signals are */   \
	X(BORROW, "borrow")	  /* as harvest, and ours also replaces a signal that is shared */ \
	X(INTERCEPT, "intercept") /* packets come through the runtime's intercept queue */

enum record_queue_mode {
	RECORD_QUEUE_UNKNOWN,
#define X(name, text) RECORD_QUEUE_##name,
	RECORD_QUEUE_MODES(X)
#undef X
		RECORD_QUEUE_MODE_COUNT
};

/* An HSA queue. Written once for each queue in each session. */
struct record_queue {
	struct record_header header; /* tag: queue id */
	uint64_t ns;
	uint64_t handle; /* address of the hsa_queue_t */
	uint64_t agent;	 /* hsa_agent_t */
	uint64_t size;	 /* packets */
	uint64_t mode;	 /* enum record_queue_mode */
};

/* A witness: counts of packets that the queue's gate keeps, independent of the code that writes
 * DISPATCH and BARRIER records. The counts only grow; the last record of a queue is valid. */
struct record_queue_count {
	struct record_header header; /* tag: queue id */
	uint64_t ns;
	uint64_t write_index; /* the runtime's index, less its value when recording began */
	uint64_t dispatches;
	uint64_t barriers;
	uint64_t others;
	uint64_t destroyed; /* 1: the queue was destroyed */
};

/* The queue's read index. Written every 250 ms if it has changed, when a GPU faults, and when
 * recording ends. */
struct record_queue_taken {
	struct record_header header; /* tag: queue id */
	uint64_t ns;
	uint64_t taken; /* a packet index: the device has taken all packets before it */
};

/* The runtime reported a fault. Written before the program is told, after the QUEUE_TAKEN records
 * of all queues. */
struct record_fault {
	struct record_header header; /* tag: queue id, 0 = not an error of a queue */
	uint64_t ns;
	uint64_t agent;	  /* hsa_agent_t, 0 = unknown */
	uint64_t address; /* the accessed address, 0 = unknown */
	uint32_t status;  /* the queue's error (hsa_status_t); 0: a memory fault of the GPU */
	uint32_t reason;  /* memory faults: bits of hsa_amd_memory_fault_reason_t */
};

/* A kernel dispatch packet. The thread that passes the packet to the device writes the record
 * before it rings the doorbell. */
struct record_dispatch {
	struct record_header header; /* tag: queue id */
	uint64_t packet_index;
	uint64_t cid;
	uint64_t scope;
	uint64_t ns; /* time of submission */
	uint64_t kernel_object;
	uint64_t completion_signal; /* the application's own handle, 0 = none */
	uint32_t kernel;	    /* kernel id, 0 = unknown */
	uint32_t ordinal;	    /* number of the activity within its call, from 0 */
	uint32_t grid[3];	    /* work-items */
	uint16_t workgroup[3];	    /* work-items */
	uint16_t setup;		    /* as in the packet */
	uint32_t private_bytes;	    /* scratch, per work-item */
	uint32_t group_bytes;	    /* LDS, per work-group */
	uint16_t packet_header;	    /* as in the packet */
	uint16_t untimed;	    /* enum record_untimed, as far as known at submission */
	uint32_t tid; /* thread that made the call and reserved the packet; 0 = unknown */
};

/* X(name, text): why an activity has no start and end. The capture side writes those up to
 * SIGNAL_GONE; only the loader sets the others. */
#define RECORD_UNTIMED(X)                                                                          \
	X(NO, "timed")                                                                             \
	X(NO_SLOT, "no free slot")                                                                 \
	X(SHARED_SIGNAL, "signal shared by several packets")                                       \
	X(FOREIGN_SIGNAL, "signal not made by the runtime")                                        \
	X(ZERO_TICK, "the device wrote no tick")                                                   \
	X(QUEUE_DESTROYED, "queue destroyed before completion")                                    \
	X(SHUTDOWN, "not finished when tracing ended")                                             \
	X(OBSERVED, "queue is only observed")                                                      \
	X(SIGNAL_GONE, "signal re-used or destroyed before its ticks were read")                   \
	X(TRUNCATED, "recording ends before its completion")                                       \
	X(RECORD_LOST, "its completion's record is missing")                                       \
	X(NO_CLOCK, "no clock anchor to convert its ticks")                                        \
	X(RING, "its completion was dropped by the ring")                                          \
	X(BACKWARDS, "its end lies before its start")                                              \
	X(ON_DEVICE, "taken by the device, its end was not seen")                                  \
	X(IN_QUEUE, "in its queue at the end, not taken by the device")                            \
	X(IMPOSSIBLE, "its times cannot be: its stream ran later work meanwhile")

enum record_untimed {
#define X(name, text) RECORD_UNTIMED_##name,
	RECORD_UNTIMED(X)
#undef X
		RECORD_UNTIMED_COUNT
};

/* The end of a dispatch was seen, or can no longer be seen. */
struct record_dispatch_done {
	struct record_header header; /* tag: queue id */
	uint64_t packet_index; /* with the queue id: the DISPATCH that this record completes */
	uint64_t start_tick;   /* of the device's clock */
	uint64_t end_tick;
	uint64_t untimed; /* enum record_untimed; the ticks are 0 unless it is NO */
};

/* A barrier-AND or barrier-OR packet. It has no time stamps. */
struct record_barrier {
	struct record_header header; /* tag: queue id */
	uint64_t packet_index;
	uint64_t cid;
	uint64_t ns;		    /* time of submission */
	uint64_t dep_signal[5];	    /* handles of the signals that it waits for; 0 = none */
	uint64_t completion_signal; /* handle, 0 = none */
	uint32_t packet_header;	    /* as in the packet: tells AND from OR */
	uint32_t ordinal;	    /* number of the activity within its call, from 0 */
};

enum record_copy_kind {
	RECORD_COPY_LINEAR = 1,
	RECORD_COPY_RECT,
};

/* A copy that HSA's asynchronous copy functions submitted. The calling thread writes the record
 * after the function has returned successfully. */
struct record_copy {
	struct record_header header; /* tag: enum record_copy_kind */
	uint64_t copy_id;
	uint64_t cid;
	uint64_t scope;
	uint64_t ns;
	uint64_t dst;
	uint64_t src;
	uint64_t bytes;
	uint64_t dst_agent; /* hsa_agent_t */
	uint64_t src_agent;
	uint64_t completion_signal; /* the application's own handle */
	uint32_t ordinal;	    /* number of the activity within its call, from 0 */
	uint32_t tid;		    /* thread that made the call */
};

/* The end of a copy was seen, or can no longer be seen. */
struct record_copy_done {
	struct record_header header; /* tag: enum record_untimed */
	uint64_t copy_id;
	uint64_t start; /* host ns: HSA's system time plus the offset of the last anchor */
	uint64_t end;
};

/* The name and the arguments of the function with this number. An example of the text is
 * "hipMemcpyAsync dst:p src:p sizeBytes:s kind:e stream:h": the name, then one "name:kind" for
 * each recorded argument. Kinds: u unsigned, i signed, e enum, s bytes, p pointer, h handle,
 * o handle or value that the call returned through a pointer, f float bits (low 32) or double,
 * d dim3 (two words: x | y << 32, then z), t text cut to 8 bytes. */
struct record_api_name {
	struct record_header header; /* tag: the function's number */
	uint64_t domain;	     /* enum record_domain */
	uint64_t text_bytes;
	char text[];
};

enum record_domain {
	RECORD_DOMAIN_HIP = 1,
	RECORD_DOMAIN_HSA,
	RECORD_DOMAIN_CUDA,
	RECORD_DOMAIN_RCCL,
};

/* One call of a vendor's interface. Its thread writes the record when the call returns. */
struct record_api {
	struct record_header header; /* tag: the function's number */
	uint64_t cid;
	uint64_t parent; /* cid of the enclosing call on this thread, 0 = none */
	uint64_t scope;	 /* innermost at entry, 0 = none */
	uint64_t begin_ns;
	uint64_t end_ns;
	int32_t result;	     /* the vendor's error code */
	uint32_t activities; /* activities submitted inside the call: the join expects as many */
	uint64_t args[];     /* API_NAME's arguments; as many words as the record has left */
};

enum record_scope_kind {
	RECORD_SCOPE_DAGTAP = 1, /* dagtap_scope_push: nested, on this thread's stack */
	RECORD_SCOPE_ROCTX,	 /* roctxRangePush: nested, on this thread's stack */
	RECORD_SCOPE_RANGE,	 /* roctxRangeStart: not nested, may end on another thread */
	RECORD_SCOPE_MARK,	 /* an instant: has no SCOPE_END */
	RECORD_SCOPE_STEP,	 /* nested; the attribute RECORD_STEP_KEY is its number */
	RECORD_SCOPE_NVTX,	 /* nested; domain, category and payload are attributes */
};

/* Keys of the attributes of a scope that came through NVTX. The default domain and category 0
 * have no attribute. */
#define RECORD_NVTX_DOMAIN_KEY	      "domain"
#define RECORD_NVTX_CATEGORY_KEY      "category"
#define RECORD_NVTX_CATEGORY_NAME_KEY "category_name"
#define RECORD_NVTX_PAYLOAD_KEY	      "payload"

/* Key of the attribute with the number of a step, an int64. */
#define RECORD_STEP_KEY "step_num"

/* A scope was opened. The id is: scope number of the thread << 48 | counter (dagtap/annotate.h). A
 * scope that was open when recording started is written with its thread's first record. A ring
 * recording may hold several equal SCOPE records of one scope. */
struct record_scope {
	struct record_header header; /* tag: enum record_scope_kind */
	uint64_t id;
	uint64_t parent; /* scope id, perhaps of another thread; 0 = none */
	uint64_t ns;	 /* when it was opened, also if recording started later */
	uint64_t text_bytes;
	char text[]; /* padded to 8 bytes, then struct record_attribute to the record's end */
};

#define RECORD_ATTRIBUTE_KINDS(X)                                                                  \
	X(INT64, "int64")                                                                          \
	X(UINT64, "uint64")                                                                        \
	X(DOUBLE, "double")                                                                        \
	X(TEXT, "text")

enum record_attribute_kind {
	RECORD_ATTRIBUTE_NONE,
#define X(name, text) RECORD_ATTRIBUTE_##name,
	RECORD_ATTRIBUTE_KINDS(X)
#undef X
		RECORD_ATTRIBUTE_KIND_COUNT
};

/* Part of a SCOPE record; record/attribute.h has the functions that iterate over them. */
struct record_attribute {
	uint16_t kind; /* enum record_attribute_kind */
	uint16_t key_bytes;
	uint32_t text_bytes; /* 0 unless the kind is TEXT */
	uint64_t value;	     /* the bits of a number; 0 if the kind is TEXT */
	char bytes[];	     /* the key, then the text; padded to 8 bytes */
};

/* A scope was closed. */
struct record_scope_end {
	struct record_header header;
	uint64_t id;
	uint64_t ns;
};

/* A graph (the template) as it was when an exec was instantiated from it. Its GRAPH_NODE and
 * GRAPH_EDGE records have the same graph_id. */
struct record_graph {
	struct record_header header;
	uint64_t graph_id;
	uint64_t handle;
	uint64_t ns;
	uint32_t node_count;
	uint32_t edge_count;
	uint64_t parent_graph_id; /* of a child graph: the graph that contains it; else 0 */
	uint64_t parent_node;	  /* index of the child node in that graph */
};

enum record_node_type {
	RECORD_NODE_KERNEL,
	RECORD_NODE_MEMCPY,
	RECORD_NODE_MEMSET,
	RECORD_NODE_HOST,
	RECORD_NODE_CHILD,
	RECORD_NODE_EMPTY,
	RECORD_NODE_EVENT_WAIT,
	RECORD_NODE_EVENT_RECORD,
	RECORD_NODE_MEM_ALLOC,
	RECORD_NODE_MEM_FREE,
	RECORD_NODE_OTHER,
	RECORD_NODE_UNTOLD,	 /* CUPTI did not tell the type; in CUDA_GRAPH records only */
	RECORD_NODE_CONDITIONAL, /* CUDA only: the device decides how often its bodies run */
};

#define RECORD_COPY_KIND_UNKNOWN UINT32_MAX

/* A node of a graph, or, as GRAPH_EXEC_UPDATE, the new parameters of a node of an exec (graph_id is
 * then the exec's id). Fields that do not apply to the type are 0. */
struct record_graph_node {
	struct record_header header; /* tag: node index in the order of the runtime's node list */
	uint64_t graph_id;
	uint64_t handle;
	uint32_t type;	    /* enum record_node_type */
	uint32_t copy_kind; /* copies: hipMemcpyKind, or RECORD_COPY_KIND_UNKNOWN */
	union {
		uint64_t function; /* kernels: the handle of a FUNCTION record */
		uint64_t event;	   /* event nodes: the event's handle, 0 = not known */
	};
	uint32_t grid[3];      /* blocks, as the API has them */
	uint32_t block[3];     /* threads */
	uint64_t shared_bytes; /* dynamic */
	uint64_t bytes;	       /* copies and memsets: total */
	uint64_t dst;
	uint64_t src;
	uint32_t width, height, depth; /* copies: extent; memsets: elements and rows */
	uint32_t element_bytes;	       /* memsets */
	uint64_t child_graph_id; /* child nodes: the child graph; updates: the child graph that
				    contains the node, 0 = the exec's own graph */
	uint64_t cid;		 /* updates: the call that made the update */
	uint64_t ns;
};

enum record_edge_type {
	RECORD_EDGE_PLAIN,	 /* the second node begins when the first has ended */
	RECORD_EDGE_PROGRAMMATIC /* kernels: when the first triggers it, or has ended */
};

/* A dependency between two nodes of a graph. */
struct record_graph_edge {
	struct record_header header; /* tag: enum record_edge_type */
	uint64_t graph_id;
	uint32_t from; /* node indexes */
	uint32_t to;
};

/* An exec was instantiated from the graph. */
struct record_graph_exec {
	struct record_header header;
	uint64_t exec_id;
	uint64_t graph_id;
	uint64_t handle; /* hipGraphExec_t */
	uint64_t cid;	 /* the call that instantiated it */
	uint64_t ns;
};

/* The exec was destroyed. */
struct record_graph_exec_gone {
	struct record_header header;
	uint64_t exec_id;
	uint64_t ns;
};

/* The replay number of a launch for which the capture side had no counter left. The loader numbers
 * such launches of an exec in the order of their cids. */
#define RECORD_REPLAY_UNCOUNTED UINT64_MAX

/* One replay of an exec. */
struct record_graph_launch {
	struct record_header header;
	uint64_t exec_id;
	uint64_t replay; /* from 0, per exec, or RECORD_REPLAY_UNCOUNTED */
	uint64_t cid;	 /* the launch call */
	uint64_t stream; /* handle */
};

/* A call added a node to a graph, or was captured into one: gives the scope of the node. Of a
 * captured call the record comes before its API record. */
struct record_node_recorded {
	struct record_header header;
	uint64_t node;	/* handle, 0: the call was captured, and its node is not known */
	uint64_t graph; /* handle, 0 = unknown */
	uint64_t cid;
	uint64_t scope;
	uint64_t ns;
};

/* An anchor: a device tick and a host time, sampled as closely together as possible. */
struct record_anchor {
	struct record_header header; /* tag: agent index */
	uint64_t tick;		     /* of the device's clock */
	uint64_t host_ns;
	uint64_t system_ns;	 /* the runtime's system clock at that moment */
	uint64_t uncertainty_ns; /* width of the bracket of host times around the sample */
};

/* A witness: a count that is kept independently of the code that writes rows. The last record of a
 * source and key is valid. */
struct record_witness {
	struct record_header header; /* tag: sequence number, orders those of equal ns */
	uint64_t ns;
	uint64_t value;
	char source[16];
	char key[48];
};

/* PARTIAL: the source delivers only some of its records. ABSENT: it delivers none. */
enum record_source_state { RECORD_SOURCE_ON = 1, RECORD_SOURCE_PARTIAL, RECORD_SOURCE_ABSENT };

/* The state of a capture source, with the reason in text. The last record of a name is valid. */
struct record_source {
	struct record_header header; /* tag: enum record_source_state */
	char name[16];		     /* "hip", "hsa", "session", ... */
	uint64_t ns;
	uint64_t text_bytes;
	char text[];
};

/* A message to the reader of the recording, by the capture side or by dagtap_session_note. */
struct record_note {
	struct record_header header; /* tag: text bytes */
	uint64_t ns;
	char text[];
};

/* The session ended. */
struct record_end {
	struct record_header header;
	uint64_t ns;
};

/* ---- NVIDIA GPUs, through CUPTI ----
 *
  * Ids of devices, contexts, streams, events, graphs and nodes are CUPTI's. Times are ns of CUPTI's
 * clock unless the field is named ns; this clock has its own anchors (RECORD_CUDA_CLOCK). An end of
 * 0 means that the activity is untimed. A cid is CUPTI's correlation id of 32 bits, widened to 64
 * bits. Functions have numbers from RECORD_CUDA_FUNCTION_FIRST on. */

#define RECORD_CUDA_AGENT_FIRST 256 /* index and handle of device 0's AGENT record */
#define RECORD_CUDA_CLOCK	255 /* agent index of the anchors of CUPTI's clock */

/* A function's number is its number in CUPTI's list of driver or runtime functions, plus the first
 * number of that list. */
#define RECORD_CUDA_FUNCTION_FIRST   4096
#define RECORD_CUDA_FUNCTION_DRIVER  RECORD_CUDA_FUNCTION_FIRST
#define RECORD_CUDA_FUNCTION_RUNTIME 6144
#define RECORD_CUDA_FUNCTION_END     8192

/* A kernel that has ended. */
struct record_cuda_kernel {
	struct record_header header; /* tag: id of the KERNEL record, 0 = CUPTI gave no name */
	uint64_t cid;
	uint64_t start;
	uint64_t end;
	uint64_t node;	/* graph node, 0 = none */
	uint32_t graph; /* executable graph, 0 = none */
	uint32_t device;
	uint32_t context;
	uint32_t stream;
	uint32_t grid[3];	/* blocks */
	uint32_t static_bytes;	/* shared memory, per block */
	uint32_t dynamic_bytes; /* shared memory, per block */
	uint32_t local_bytes;	/* per thread */
	uint16_t block[3];	/* threads */
	uint16_t registers;	/* per thread */
	uint16_t cluster[3];	/* blocks */
	uint16_t reserved;
};

enum record_cuda_copy_type {
	RECORD_CUDA_COPY_MEMCPY = 1,
	RECORD_CUDA_COPY_PEER,
	RECORD_CUDA_COPY_MEMSET
};

/* A copy or memset that has ended. */
struct record_cuda_copy {
	struct record_header header; /* tag: enum record_cuda_copy_type */
	uint64_t cid;
	uint64_t start;
	uint64_t end;
	uint64_t node;	/* graph node, 0 = none */
	uint32_t graph; /* executable graph, 0 = none */
	uint32_t device;
	uint32_t context;
	uint32_t stream;
	uint64_t bytes;
	uint32_t src_device; /* PEER only */
	uint32_t dst_device; /* PEER only */
	uint32_t value;	     /* MEMSET only */
	uint8_t direction;   /* CUPTI's copyKind; not for MEMSET */
	uint8_t src_memory;  /* CUPTI's memory kinds */
	uint8_t dst_memory;
	uint8_t flags; /* bit 0: asynchronous */
};

/* X(name, text), numbered from 1 as in CUPTI. */
#define RECORD_CUDA_SYNCS(X)                                                                       \
	X(EVENT, "event synchronize")                                                              \
	X(STREAM_WAIT, "stream wait event")                                                        \
	X(STREAM, "stream synchronize")                                                            \
	X(CONTEXT, "context synchronize")

enum record_cuda_sync_type {
	RECORD_CUDA_SYNC_UNKNOWN,
#define X(name, text) RECORD_CUDA_SYNC_##name,
	RECORD_CUDA_SYNCS(X)
#undef X
		RECORD_CUDA_SYNC_TYPE_COUNT
};

#define RECORD_CUDA_NONE UINT32_MAX /* no stream, no event */

/* The host or a stream waited. */
struct record_cuda_sync {
	struct record_header header; /* tag: enum record_cuda_sync_type */
	uint64_t cid;
	uint64_t start;
	uint64_t end;
	uint64_t order; /* of the awaited CUDA_EVENT; 0 = not known (CUPTI before CUDA 12.8) */
	uint32_t context;
	uint32_t stream; /* or RECORD_CUDA_NONE */
	uint32_t event;	 /* or RECORD_CUDA_NONE */
	int32_t result;
};

/* An event was recorded in a stream. */
struct record_cuda_event {
	struct record_header header; /* tag: event */
	uint64_t cid;
	uint64_t time;	/* when the device recorded the event, 0 = not known */
	uint64_t order; /* sequence number of the record of the event; 0 = not known */
	uint32_t device;
	uint32_t context;
	uint32_t stream;
	uint32_t reserved;
};

enum record_cuda_memory_type { RECORD_CUDA_MEMORY_ALLOCATE = 1, RECORD_CUDA_MEMORY_RELEASE };

/* Memory was allocated or released. */
struct record_cuda_memory {
	struct record_header header; /* tag: enum record_cuda_memory_type */
	uint64_t cid;
	uint64_t time;
	uint64_t address;
	uint64_t bytes;
	uint32_t device;
	uint32_t context;
	uint32_t stream;
	uint32_t memory; /* CUPTI's memory kind */
};

enum record_memory_type {
	RECORD_MEMORY_ALLOCATE = 1,
	RECORD_MEMORY_RELEASE,
	RECORD_MEMORY_FAIL /* an allocation that failed */
};

/* X(name, text): what kind of memory it is. */
#define RECORD_MEMORY_KINDS(X)                                                                     \
	X(UNKNOWN, "unknown")                                                                      \
	X(DEVICE, "device")                                                                        \
	X(HOST, "host")	      /* of the host, that GPUs can access */                              \
	X(MANAGED, "managed") /* moves between host and device */                                  \
	X(ARRAY, "array")     /* its address is the handle of an array */

enum record_memory_kind {
#define X(name, text) RECORD_MEMORY_KIND_##name,
	RECORD_MEMORY_KINDS(X)
#undef X
		RECORD_MEMORY_KIND_COUNT
};

/* A call of HIP, or of HSA in a program without HIP, allocated or released memory, or could not
 * allocate it. */
struct record_memory {
	struct record_header header; /* tag: enum record_memory_type */
	uint64_t cid;		     /* 0 = no recorded call */
	uint64_t scope;
	/* An allocation's end and a release's begin. So the releases of an address and its next
	 * allocation are in order, whatever the threads. */
	uint64_t ns;
	uint64_t address;
	uint64_t bytes; /* 0 of a release */
	uint64_t agent; /* hsa_agent_t whose memory it is, 0 = unknown */
	uint32_t kind;	/* enum record_memory_kind; unknown of a release */
	int32_t result; /* what the call returned, 0 = success */
};

/* Time that CUPTI or the driver spent on its own work. */
struct record_cuda_overhead {
	struct record_header header; /* tag: CUPTI's overhead kind */
	uint64_t cid;
	uint64_t start;
	uint64_t end;
	uint32_t tid; /* 0 = not bound to a thread */
	uint32_t reserved;
};

/* What changed, and which fields of struct record_cuda_graph say so. */
enum record_cuda_graph_step {
	RECORD_CUDA_GRAPH_CREATED = 1,
	RECORD_CUDA_GRAPH_CLONED, /* graph from other_graph */
	RECORD_CUDA_GRAPH_GONE,
	RECORD_CUDA_NODE_CREATED,
	RECORD_CUDA_NODE_CLONED, /* node from other_node */
	RECORD_CUDA_NODE_GONE,
	RECORD_CUDA_EDGE_CREATED, /* from other_node to node */
	RECORD_CUDA_EDGE_GONE,
	RECORD_CUDA_EXEC_CREATED, /* exec from graph */
	RECORD_CUDA_EXEC_GONE,
	RECORD_CUDA_NODE_SWITCHED, /* first cudaGraphNodeSetEnabled on the exec; dagtap's own */
	RECORD_CUDA_NODE_HOLDS,	   /* other_graph is a child graph or body of node; dagtap's own */
};

/* Bit positions in other_graph of an EDGE_CREATED, which holds three bytes of CUDA's
 * CUgraphEdgeData. 0: a plain edge, or the data is not known. */
enum record_cuda_edge_bit {
	RECORD_CUDA_EDGE_TYPE = 0, /* the type; 1: programmatic */
	RECORD_CUDA_EDGE_FROM = 8, /* the port of the first node */
	RECORD_CUDA_EDGE_TO = 16,  /* the port of the second node */
};

/* One change of a graph or exec, written by the thread that made it. */
struct record_cuda_graph {
	struct record_header header; /* tag: enum record_cuda_graph_step */
	uint64_t cid;
	uint64_t scope;
	uint64_t ns;
	uint64_t node;
	uint64_t other_node;
	uint32_t graph;
	uint32_t other_graph;
	uint32_t exec;
	uint32_t type; /* enum record_node_type */
};

/* A node of an exec got new parameters. Programs may do so before every launch. */
struct record_cuda_update {
	struct record_header header;
	uint64_t cid;
	uint64_t ns; /* when the call began */
	uint64_t node;
	uint32_t exec;
	uint32_t is_source; /* 1: node is of the source graph; the next record names the exec's */
};

/* A call inside another call, such as a driver call inside a runtime call. It has a correlation id
 * but no API record: records with this id belong to the outer call. */
struct record_cuda_inner {
	struct record_header header;
	uint64_t cid;
	uint64_t outer; /* cid of the outer call */
};

/* Numbered as in CUPTI. */
enum record_cuda_stream_kind {
	RECORD_CUDA_STREAM_UNKNOWN,
	RECORD_CUDA_STREAM_BLOCKING,
	RECORD_CUDA_STREAM_NONBLOCKING,
	RECORD_CUDA_STREAM_NULL,
};

/* A stream was created, by the program or together with its context. */
struct record_cuda_stream {
	struct record_header header; /* tag: stream */
	uint64_t cid;
	uint32_t context;
	uint32_t kind; /* enum record_cuda_stream_kind */
	uint32_t priority;
	uint32_t reserved;
};

/* Which stream a handle stands for from a time on, until the next record of the same handle. Handle
 * 0 is the context's legacy default stream, 2 the default stream of the writing thread. */
struct record_cuda_stream_handle {
	struct record_header header; /* tag: stream */
	uint64_t handle;
	uint64_t ns; /* when the first call that used the handle began */
	uint32_t context;
	uint32_t reserved;
};

#endif

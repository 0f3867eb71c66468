/* The records that a traced process writes and the loader reads: docs/format/spool.md in C.
 *
 * A record is a multiple of 8 bytes and starts with a record_header, which is stored last, with
 * release: a header of zero means "nothing here yet", so a reader of a file whose writer was
 * killed stops at the first record that was not finished. Records hold no pointers to be followed
 * (addresses are stored as plain numbers), and text is inline, not terminated, its length in a
 * field. Times are CLOCK_MONOTONIC ns ("host ns") unless the field says ticks. All integers are
 * little-endian, as the machine's.
 *
 * Ids: "cid" is a correlation id: one per API call, process-wide, from 1, in order of entry; 0 is
 * no call. Graph, exec, kernel, queue and copy ids are process-wide counters from 1 and are never
 * re-used, unlike the handles beside them.
 */
#ifndef DAGTAP_RECORD_H
#define DAGTAP_RECORD_H

#include <stddef.h>
#include <stdint.h>

struct record_header {
	uint16_t type;	/* enum record_type; 0 = not written */
	uint16_t words; /* size of the whole record in 8-byte words, header included */
	uint32_t tag;	/* meaning depends on the type */
};

/* X(name, class): the class is what losses are counted by. */
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
	X(FAULT, META)

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

/* Why a record could not be written, or is there no more. */
#define RECORD_DROPS(X)                                                                            \
	X(FULL, "no free chunk")                                                                   \
	X(REENTERED, "signal handler interrupted a write")                                         \
	X(OVERSIZE, "record larger than a chunk")                                                  \
	X(NO_WRITER, "no writer for this thread")                                                  \
	X(RING, "let go by the ring") /* as it was asked to: its chunk is used again */

enum record_drop {
#define X(name, text) RECORD_DROP_##name,
	RECORD_DROPS(X)
#undef X
		RECORD_DROP_COUNT
};

/* Longest inline text of any record; longer is cut. */
#define RECORD_TEXT_MAX 8192

/* From here on, the records of this writer belong to this thread. First in every chunk. */
struct record_thread {
	struct record_header header; /* tag: tid */
	uint64_t ns;
	uint64_t scope_number; /* high 16 bits of the thread's scope ids; 0 = none yet */
	char name[16];
};

struct record_agent {
	struct record_header header; /* tag: index in the runtime's order, CPU included */
	uint64_t handle;
	uint64_t tick_hz; /* of the ticks in DISPATCH_DONE; 0 = unknown */
	uint32_t is_gpu;
	uint32_t gpu_ordinal; /* among the GPUs, as HIP numbers devices without *_VISIBLE_DEVICES */
	char name[32];	      /* "gfx906" */
	char product[64];
	uint64_t memory_bytes;
	uint32_t compute_units;
	uint32_t wave_size;
	char uuid[32];
	/* Earlier recordings' records end here. */
	uint32_t pci_domain;
	uint32_t pci_location; /* bus, device, function; bits 28 to 31: the card's partition */
	uint32_t has_location; /* 0: these two are not known */
	uint32_t driver_id;    /* the kernel driver's number of the GPU or partition; 0 = unknown */
};

#define RECORD_AGENT_LEAST offsetof(struct record_agent, pci_domain)

/* A kernel symbol of a loaded code object. kernel_object is re-used after unloading: dispatches
 * name the kernel id that was valid when they were submitted. */
struct record_kernel {
	struct record_header header; /* tag: kernel id */
	uint64_t ns;
	uint64_t kernel_object;
	uint64_t agent; /* handle */
	uint32_t kernarg_bytes;
	uint32_t group_bytes;
	uint32_t private_bytes;
	uint32_t name_bytes;
	/* From the code object's kernel descriptor; both 0: it could not be read. */
	uint32_t rsrc1;	     /* compute_pgm_rsrc1: how many registers a work-item has */
	uint32_t properties; /* kernel_code_properties: how wide a wave is */
	char name[];	     /* without ".kd" */
};

struct record_kernel_gone {
	struct record_header header; /* tag: kernel id */
	uint64_t ns;
};

/* A HIP function handle and its kernel's name: host stubs and hipFunction_t. */
struct record_function {
	struct record_header header; /* tag: name_bytes */
	uint64_t ns;
	uint64_t handle;
	char name[];
};

/* How a queue's packets are timed. X(name, text), numbered from 1. */
#define RECORD_QUEUE_MODES(X)                                                                      \
	X(HARVEST, "harvest")	  /* packets 1 to 1; own signals where there is none */            \
	X(OBSERVE, "observe")	  /* nothing touched; timed only where the application does it */  \
	X(BORROW, "borrow")	  /* harvest; of a signal in use, a completion is passed on */     \
	X(INTERCEPT, "intercept") /* packets come through the runtime's intercept queue */

enum record_queue_mode {
	RECORD_QUEUE_UNKNOWN,
#define X(name, text) RECORD_QUEUE_##name,
	RECORD_QUEUE_MODES(X)
#undef X
		RECORD_QUEUE_MODE_COUNT
};

struct record_queue {
	struct record_header header; /* tag: queue id */
	uint64_t ns;
	uint64_t handle;
	uint64_t agent; /* handle */
	uint64_t size;	/* packets */
	uint64_t mode;
};

/* Counts kept by the queue's gate, not by who writes rows; cumulative, the last one is valid. */
struct record_queue_count {
	struct record_header header; /* tag: queue id */
	uint64_t ns;
	uint64_t write_index; /* the runtime's own index, from where the recording began */
	uint64_t dispatches;
	uint64_t barriers;
	uint64_t others;
	uint64_t destroyed; /* 1: the queue is gone */
};

/* How far the device has got with a queue. Written now and then when it has changed, when a GPU
 * faults and when recording ends. */
struct record_queue_taken {
	struct record_header header; /* tag: queue id */
	uint64_t ns;
	uint64_t taken; /* a packet index: the device has taken all packets before it */
};

/* The runtime told of a fault. */
struct record_fault {
	struct record_header header; /* tag: queue id, 0 if it is no queue's */
	uint64_t ns;
	uint64_t agent;	  /* handle, 0 if unknown */
	uint64_t address; /* that was accessed, 0 if unknown */
	uint32_t status;  /* the queue's error (hsa_status_t); 0: a memory fault of the GPU */
	uint32_t reason;  /* of a memory fault: hsa_amd_memory_fault_reason_t */
};

/* A kernel dispatch packet, written by the submitting thread before the doorbell. */
struct record_dispatch {
	struct record_header header; /* tag: queue id */
	uint64_t packet_index;
	uint64_t cid;
	uint64_t scope;
	uint64_t ns; /* submitted */
	uint64_t kernel_object;
	uint64_t completion_signal; /* the application's own, 0 = none */
	uint32_t kernel;	    /* kernel id, 0 = unknown */
	uint32_t ordinal;	    /* n-th activity of its call, from 0 */
	uint32_t grid[3];	    /* work-items */
	uint16_t workgroup[3];
	uint16_t setup;
	uint32_t private_bytes;
	uint32_t group_bytes;
	uint16_t packet_header;
	uint16_t untimed; /* enum record_untimed: known already at submission */
	uint32_t tid;	  /* thread that reserved the slot: the call's; 0 = unknown */
};

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
	X(RING, "its completion was let go by the ring")                                           \
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

struct record_dispatch_done {
	struct record_header header; /* tag: queue id */
	uint64_t packet_index;
	uint64_t start_tick;
	uint64_t end_tick;
	uint64_t untimed; /* enum record_untimed; ticks are 0 unless NO */
};

struct record_barrier {
	struct record_header header; /* tag: queue id */
	uint64_t packet_index;
	uint64_t cid;
	uint64_t ns;
	uint64_t dep_signal[5];
	uint64_t completion_signal;
	uint32_t packet_header;
	uint32_t ordinal;
};

enum record_copy_kind {
	RECORD_COPY_LINEAR = 1,
	RECORD_COPY_RECT,
};

struct record_copy {
	struct record_header header; /* tag: enum record_copy_kind */
	uint64_t copy_id;
	uint64_t cid;
	uint64_t scope;
	uint64_t ns;
	uint64_t dst;
	uint64_t src;
	uint64_t bytes;
	uint64_t dst_agent; /* handles */
	uint64_t src_agent;
	uint64_t completion_signal;
	uint32_t ordinal;
	uint32_t tid;
};

struct record_copy_done {
	struct record_header header; /* tag: enum record_untimed */
	uint64_t copy_id;
	uint64_t start; /* HSA system time brought to host ns by the anchor's offset */
	uint64_t end;
};

/* What an API call's number means. Written once each when tracing starts. TEXT is
 * "hipMemcpyAsync dst:p src:p sizeBytes:s kind:e stream:h": the name, then one "name:kind" for
 * each captured argument. Kinds: u unsigned, i signed, e enum, s bytes, p pointer, h handle,
 * o handle or value that the call gave back through a pointer, f float bits (low 32) or double,
 * d dim3 (two words: x | y << 32, then z), t text cut to 8 bytes. */
struct record_api_name {
	struct record_header header; /* tag: op */
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

struct record_api {
	struct record_header header; /* tag: op */
	uint64_t cid;
	uint64_t parent; /* cid of the enclosing call on this thread, 0 = none */
	uint64_t scope;	 /* innermost at entry, 0 = none */
	uint64_t begin_ns;
	uint64_t end_ns;
	int32_t result;
	uint32_t activities; /* GPU work submitted inside: what the join expects to find */
	uint64_t args[];     /* as many words as the record has left */
};

enum record_scope_kind {
	RECORD_SCOPE_DAGTAP = 1, /* nested, this thread's stack */
	RECORD_SCOPE_ROCTX,	 /* the same */
	RECORD_SCOPE_RANGE,	 /* roctxRangeStart: no nesting, may end on another thread */
	RECORD_SCOPE_MARK,	 /* an instant */
	RECORD_SCOPE_STEP,	 /* nested like the first two; which one: RECORD_STEP_KEY */
	RECORD_SCOPE_NVTX,	 /* nested; domain, category and payload are attributes */
};

/* Attributes of what came through NVTX: the domain's name, unless it is the default one. */
#define RECORD_NVTX_DOMAIN_KEY	      "domain"
#define RECORD_NVTX_CATEGORY_KEY      "category"
#define RECORD_NVTX_CATEGORY_NAME_KEY "category_name"
#define RECORD_NVTX_PAYLOAD_KEY	      "payload"

/* The attribute of a step that holds its number, an int64. */
#define RECORD_STEP_KEY "step_num"

/* scope id: thread number << 48 | counter (dagtap/annotate.h). */
struct record_scope {
	struct record_header header; /* tag: enum record_scope_kind */
	uint64_t id;
	uint64_t parent; /* 0 = root */
	uint64_t ns;
	uint64_t text_bytes;
	char text[]; /* padded to 8 bytes, then struct record_attribute to the end */
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

/* Part of a SCOPE record (record/attribute.h goes from one to the next). */
struct record_attribute {
	uint16_t kind;
	uint16_t key_bytes;
	uint32_t text_bytes;
	uint64_t value; /* a number's bits */
	char bytes[];	/* the key, then the text; padded to 8 bytes */
};

struct record_scope_end {
	struct record_header header;
	uint64_t id;
	uint64_t ns;
};

/* The topology of a graph, snapshot when it is instantiated (template). */
struct record_graph {
	struct record_header header;
	uint64_t graph_id;
	uint64_t handle;
	uint64_t ns;
	uint32_t node_count;
	uint32_t edge_count;
	uint64_t parent_graph_id; /* the graph whose child node this is, or 0 */
	uint64_t parent_node;	  /* that node's index */
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
	RECORD_NODE_UNTOLD,	 /* in steps of CUDA's graphs alone */
	RECORD_NODE_CONDITIONAL, /* CUDA's: its bodies run as often as the device says */
};

#define RECORD_COPY_KIND_UNKNOWN UINT32_MAX

/* Node: also the payload of an exec update (then graph_id is the exec's id). */
struct record_graph_node {
	struct record_header header; /* tag: node index in the order of the runtime's node list */
	uint64_t graph_id;
	uint64_t handle;
	uint32_t type;	    /* enum record_node_type */
	uint32_t copy_kind; /* hipMemcpyKind of a copy node, or RECORD_COPY_KIND_UNKNOWN */
	union {
		uint64_t function; /* of a kernel node: its handle (see FUNCTION) */
		uint64_t event;	   /* of an event node: the event's handle, 0 = not known */
	};
	uint32_t grid[3]; /* blocks, as the API has them */
	uint32_t block[3];
	uint64_t shared_bytes;
	uint64_t bytes; /* copies and memsets: in all */
	uint64_t dst;
	uint64_t src;
	uint32_t width, height, depth; /* copies: extent; memsets: elements and rows */
	uint32_t element_bytes;	       /* memsets */
	uint64_t child_graph_id; /* of a child node; of an update: the child graph that has the
				    node, 0 = the exec's own graph */
	uint64_t cid;		 /* exec updates: the call that did it */
	uint64_t ns;
};

enum record_edge_type {
	RECORD_EDGE_PLAIN,	 /* the second begins when the first has ended */
	RECORD_EDGE_PROGRAMMATIC /* of kernels: when the first says so, or has ended */
};

struct record_graph_edge {
	struct record_header header; /* tag: enum record_edge_type */
	uint64_t graph_id;
	uint32_t from;
	uint32_t to;
};

struct record_graph_exec {
	struct record_header header;
	uint64_t exec_id;
	uint64_t graph_id;
	uint64_t handle;
	uint64_t cid;
	uint64_t ns;
};

struct record_graph_exec_gone {
	struct record_header header;
	uint64_t exec_id;
	uint64_t ns;
};

/* Launches that nobody counted are numbered in the order of their cids. */
#define RECORD_REPLAY_UNCOUNTED UINT64_MAX

struct record_graph_launch {
	struct record_header header;
	uint64_t exec_id;
	uint64_t replay; /* from 0, per exec, or RECORD_REPLAY_UNCOUNTED */
	uint64_t cid;
	uint64_t stream;
};

/* A node was added to a graph by this call, or captured by it: under which scope. */
struct record_node_recorded {
	struct record_header header;
	uint64_t node;	/* handle, 0 = not known: the call was captured */
	uint64_t graph; /* handle, 0 = unknown */
	uint64_t cid;
	uint64_t scope;
	uint64_t ns;
};

/* One moment on both clocks, as near as it could be read. */
struct record_anchor {
	struct record_header header; /* tag: agent index */
	uint64_t tick;
	uint64_t host_ns;
	uint64_t system_ns;	 /* the runtime's own clock at that moment */
	uint64_t uncertainty_ns; /* width of the bracket in which it was read */
};

/* A count from somebody else than the code that writes rows; the last per source and key counts. */
struct record_witness {
	struct record_header header; /* tag: counts up; tells apart those of one nanosecond */
	uint64_t ns;
	uint64_t value;
	char source[16];
	char key[48];
};

enum record_source_state { RECORD_SOURCE_ON = 1, RECORD_SOURCE_PARTIAL, RECORD_SOURCE_ABSENT };

/* What a source delivers, or why it does not; the last word counts. */
struct record_source {
	struct record_header header; /* tag: enum record_source_state */
	char name[16];
	uint64_t ns;
	uint64_t text_bytes;
	char text[];
};

struct record_note {
	struct record_header header; /* tag: text bytes */
	uint64_t ns;
	char text[];
};

struct record_end {
	struct record_header header;
	uint64_t ns;
};

/* ---- NVIDIA GPUs, through CUPTI ----
 *
 * Ids of devices, contexts, streams, events, graphs and nodes are CUPTI's. Times are ns of CUPTI's
 * clock, which has anchors of its own; start = end = 0: not timed. A cid is CUPTI's correlation id,
 * widened to 64 bits. Calls have ops from RECORD_CUDA_OP_FIRST on. */

#define RECORD_CUDA_AGENT_FIRST 256 /* index and handle of device 0's AGENT record */
#define RECORD_CUDA_CLOCK	255 /* what anchors of CUPTI's clock have for an agent index */

/* Ops: the number of a function in CUPTI's lists and where the list begins. */
#define RECORD_CUDA_OP_FIRST   4096
#define RECORD_CUDA_OP_DRIVER  RECORD_CUDA_OP_FIRST
#define RECORD_CUDA_OP_RUNTIME 6144
#define RECORD_CUDA_OP_END     8192

struct record_cuda_kernel {
	struct record_header header; /* tag: kernel id (KERNEL), 0 = it came without a name */
	uint64_t cid;
	uint64_t start;
	uint64_t end;
	uint64_t node;	/* of a graph, 0 = none */
	uint32_t graph; /* executable graph, 0 = none */
	uint32_t device;
	uint32_t context;
	uint32_t stream;
	uint32_t grid[3]; /* blocks */
	uint32_t static_bytes;
	uint32_t dynamic_bytes;
	uint32_t local_bytes; /* a thread */
	uint16_t block[3];
	uint16_t registers; /* a thread */
	uint16_t cluster[3];
	uint16_t reserved;
};

enum record_cuda_copy_type {
	RECORD_CUDA_COPY_MEMCPY = 1,
	RECORD_CUDA_COPY_PEER,
	RECORD_CUDA_COPY_MEMSET
};

struct record_cuda_copy {
	struct record_header header; /* tag: enum record_cuda_copy_type */
	uint64_t cid;
	uint64_t start;
	uint64_t end;
	uint64_t node;
	uint32_t graph;
	uint32_t device;
	uint32_t context;
	uint32_t stream;
	uint64_t bytes;
	uint32_t src_device; /* PEER */
	uint32_t dst_device; /* PEER */
	uint32_t value;	     /* MEMSET */
	uint8_t direction;   /* CUPTI's copyKind; not of MEMSET */
	uint8_t src_memory;  /* CUPTI's memory kinds */
	uint8_t dst_memory;
	uint8_t flags; /* 1: asynchronous */
};

/* X(name, text), numbered from 1 as CUPTI does. */
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

struct record_cuda_sync {
	struct record_header header; /* tag: enum record_cuda_sync_type */
	uint64_t cid;
	uint64_t start;
	uint64_t end;
	uint64_t order; /* of the CUDA_EVENT that is waited for; 0 = not known */
	uint32_t context;
	uint32_t stream;
	uint32_t event;
	int32_t result;
};

/* An event was recorded. */
struct record_cuda_event {
	struct record_header header; /* tag: event */
	uint64_t cid;
	uint64_t time;	/* on the device, 0 = not known */
	uint64_t order; /* ascends by record; 0 = not known */
	uint32_t device;
	uint32_t context;
	uint32_t stream;
	uint32_t reserved;
};

enum record_cuda_memory_type { RECORD_CUDA_MEMORY_ALLOCATE = 1, RECORD_CUDA_MEMORY_RELEASE };

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

/* What CUPTI and the driver themselves cost. */
struct record_cuda_overhead {
	struct record_header header; /* tag: CUPTI's overhead kind */
	uint64_t cid;
	uint64_t start;
	uint64_t end;
	uint32_t tid; /* 0 = no thread's */
	uint32_t reserved;
};

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
	RECORD_CUDA_NODE_SWITCHED, /* of the exec: on or off, by cudaGraphNodeSetEnabled */
	RECORD_CUDA_NODE_HOLDS,	   /* other_graph: a graph moved into the node, or a body of it */
};

/* The other_graph of an EDGE_CREATED: CUDA's CUgraphEdgeData, where each byte of it begins; 0: a
 * plain edge, or no more is known. */
enum record_cuda_edge_bit {
	RECORD_CUDA_EDGE_TYPE = 0, /* 1: programmatic */
	RECORD_CUDA_EDGE_FROM = 8,
	RECORD_CUDA_EDGE_TO = 16,
};

/* A step in the life of a graph, on the thread that made it. */
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

/* A node of an exec got other parameters: before each launch, it may be. */
struct record_cuda_update {
	struct record_header header;
	uint64_t cid;
	uint64_t ns; /* when its call began */
	uint64_t node;
	uint32_t exec;
	uint32_t is_source; /* 1: the node is of the graph that the parameters are taken from */
};

/* A call inside another one, of which there is no row: what names it means the outer one. */
struct record_cuda_inner {
	struct record_header header;
	uint64_t cid;
	uint64_t outer;
};

/* As CUPTI numbers them. */
enum record_cuda_stream_kind {
	RECORD_CUDA_STREAM_UNKNOWN,
	RECORD_CUDA_STREAM_BLOCKING,
	RECORD_CUDA_STREAM_NONBLOCKING,
	RECORD_CUDA_STREAM_NULL,
};

/* A stream was made, by the program or with its context. */
struct record_cuda_stream {
	struct record_header header; /* tag: stream */
	uint64_t cid;
	uint32_t context;
	uint32_t kind; /* enum record_cuda_stream_kind */
	uint32_t priority;
	uint32_t reserved;
};

#endif

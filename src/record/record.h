/* Layouts of the records that the traced process writes and the loader reads. This header is the
 * C form of docs/format/spool.md, section "Records"; spool.h has the layout of the file. It
 * includes record_types.h (the header, the types), record_graph.h (graphs) and record_cuda.h (what
 * CUPTI reports); the other records are here.
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

#include "record/record_cuda.h"
#include "record/record_graph.h"
#include "record/record_types.h"

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

/* Functions of RCCL and NCCL have numbers from here up to RECORD_CUDA_FUNCTION_FIRST. */
#define RECORD_RCCL_FUNCTION_FIRST 2049

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
	int32_t result; /* the vendor's error code */
	/* Activities submitted inside the call, barriers included: the join expects as many. Of
	 * other packets those are not counted that were passed before the call returned. */
	uint32_t activities;
	uint64_t args[]; /* API_NAME's arguments; as many words as the record has left */
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

/* A SCOPE_BODY has the layout of a SCOPE: a text and attributes that many scopes share. Its tag is
 * its number, from 1; its id, parent and time are 0. It is written before the scopes that refer to
 * it, perhaps by another thread, and may be repeated. */

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
		RECORD_ATTRIBUTE_KIND_COUNT,
	/* No attribute, and the only one of its record, whose text is empty: `value` is the number
	 * of the SCOPE_BODY that has the scope's text and attributes. */
	RECORD_ATTRIBUTE_BODY = 256,
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

/* An anchor: a device tick and a host time, sampled as closely together as possible. */
#define RECORD_STEADY_CLOCK 65535 /* in place of an agent: tick is ns of CLOCK_MONOTONIC_RAW */
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

enum record_memory_type {
	RECORD_MEMORY_ALLOCATE = 1,
	RECORD_MEMORY_RELEASE,
	RECORD_MEMORY_FAIL, /* an allocation that failed */
	/* A reset of a device: all memory of its agent is released; and that of the host too, if
	 * the bytes are RECORD_MEMORY_RESET_ALL. Without an address and a kind. */
	RECORD_MEMORY_RESET
};

#define RECORD_MEMORY_RESET_ALL 1

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
	/* An allocation's end; a release's or a reset's begin. So the releases of an address and
	 * its next allocation are in order, whatever the threads. */
	uint64_t ns;
	uint64_t address;
	uint64_t bytes; /* 0 of a release */
	uint64_t agent; /* hsa_agent_t whose memory it is, 0 = unknown */
	uint32_t kind;	/* enum record_memory_kind; unknown of a release */
	int32_t result; /* what the call returned, 0 = success */
};

#endif

/* Layouts of the records of NVIDIA GPUs, which come through CUPTI. Part of record.h, which says
 * what all records have in common.
 *
 * Ids of devices, contexts, streams, events, graphs and nodes are CUPTI's. Times are ns of CUPTI's
 * clock unless the field is named ns; this clock has its own anchors (RECORD_CUDA_CLOCK). An end of
 * 0 means that the activity is untimed. A cid is CUPTI's correlation id of 32 bits, widened to 64
 * bits. Functions have numbers from RECORD_CUDA_FUNCTION_FIRST on. */
#ifndef DAGTAP_RECORD_CUDA_H
#define DAGTAP_RECORD_CUDA_H

#include <stdint.h>

#include "record/record_types.h"

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
	/* In no file: src/live says which number the last graph before this step got (field node),
	 * because it has forgotten records of graphs. */
	RECORD_CUDA_GRAPHS_NUMBERED,
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
 * 0 is the context's legacy default stream, STREAM_HANDLE_PER_THREAD (record/stream_handles.h) the
 * default stream of the writing thread. */
struct record_cuda_stream_handle {
	struct record_header header; /* tag: stream */
	uint64_t handle;
	uint64_t ns; /* when the first call that used the handle began */
	uint32_t context;
	uint32_t reserved;
};

#endif

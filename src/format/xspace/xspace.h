/* What the writer and the reader of XSpace (.xplane.pb) share: numbers of fields, names of planes
 * and stats. docs/format/xspace.md describes the format.
 *
 * Source: xplane.proto and xplane_schema of OpenXLA (package tensorflow.profiler). */
#ifndef DAGTAP_FORMAT_XSPACE_H
#define DAGTAP_FORMAT_XSPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum xspace_field { XSPACE_PLANES = 1, XSPACE_ERRORS, XSPACE_WARNINGS, XSPACE_HOSTNAMES };

enum xplane_field {
	XPLANE_ID = 1, /* ordinal of a GPU */
	XPLANE_NAME,
	XPLANE_LINES,
	XPLANE_EVENT_METADATA, /* map entries: MAP_KEY int64, MAP_VALUE XEventMetadata */
	XPLANE_STAT_METADATA,  /* the same with XStatMetadata */
	XPLANE_STATS,
};

enum xmap_field { XMAP_KEY = 1, XMAP_VALUE };

enum xline_field {
	XLINE_ID = 1,
	XLINE_NAME,
	XLINE_TIMESTAMP_NS,
	XLINE_EVENTS,
	XLINE_DURATION_PS = 9,
	XLINE_DISPLAY_ID,
	XLINE_DISPLAY_NAME,
};

enum xevent_field {
	XEVENT_METADATA_ID = 1,
	XEVENT_OFFSET_PS, /* member of a oneof, so it is written even if it is 0 */
	XEVENT_DURATION_PS,
	XEVENT_STATS,
	XEVENT_OCCURRENCES, /* member of the same oneof: the event is aggregated */
};

enum xstat_field {
	XSTAT_METADATA_ID = 1,
	XSTAT_DOUBLE,
	XSTAT_UINT64,
	XSTAT_INT64,
	XSTAT_STRING,
	XSTAT_BYTES,
	XSTAT_REF, /* id of a stat's metadata whose name is the text */
};

enum xevent_metadata_field {
	XEVENT_METADATA_KEY = 1,
	XEVENT_METADATA_NAME,
	XEVENT_METADATA_BYTES,
	XEVENT_METADATA_DISPLAY_NAME,
	XEVENT_METADATA_STATS,
	XEVENT_METADATA_CHILD,
};

enum xstat_metadata_field {
	XSTAT_METADATA_KEY = 1,
	XSTAT_METADATA_NAME,
	XSTAT_METADATA_DESCRIPTION
};

#define XSPACE_PLANE_GPU	 "/device:GPU:" /* followed by the GPU's number */
/* activities on no GPU, or on an unknown one */
#define XSPACE_PLANE_NO_GPU	 "/device:CUSTOM:no GPU"
#define XSPACE_PLANE_HOST	 "/host:CPU"
/* API calls before post-processing; read, never written */
#define XSPACE_PLANE_CUPTI	 "/host:CUPTI"
#define XSPACE_PLANE_NVTX	 "/host:NVTX-CUPTI" /* NVTX ranges; read, never written */
#define XSPACE_PLANE_ROCTRACER	 "/host:ROCTRACER"  /* HIP calls; read, never written */
#define XSPACE_PLANE_SCOPES	 "/host:__ScopeRangeCallStack__"
#define XSPACE_PLANE_METADATA	 "/host:metadata"
#define XSPACE_PLANE_ENVIRONMENT "Task Environment"
#define XSPACE_PLANE_RECORDING	 "/host:dagtap" /* dagtap's own: processes and the ledger */

/* In a plugin's planes: what XSpace.errors and warnings say. No thread has this tid. */
#define XSPACE_LINE_MESSAGES	  (UINT64_C(1) << 30)
#define XSPACE_LINE_MESSAGES_NAME "dagtap messages"

/* The stats that the writer uses, the most frequent first. In every plane that dagtap writes, the
 * id of a stat's metadata is its place in this list, from 1. An id below 128 takes one byte. Ids
 * from XSPACE_STAT_COUNT + 1 on are texts (XSTAT_REF) and keys of attributes. X(NAME, text) */
#define XSPACE_STATS(X)                                                                            \
	/* device events and API calls */                                                          \
	X(CORRELATION_ID, "correlation_id") /* uint64 */                                           \
	X(SCOPE_RANGE_ID, "scope_range_id") /* int64: the innermost scope */                       \
	X(DEVICE_ID, "device_id")	    /* uint64: of calls with activities; the plane's id */ \
	X(KERNEL_DETAILS, "kernel_details") /* ref */                                              \
	X(TF_OP, "tf_op")		    /* ref: text of the outermost scope */                 \
	X(HLO_OP, "hlo_op")		    /* ref; hlo_op to program_id: scope attributes */      \
	X(HLO_MODULE, "hlo_module")                                                                \
	X(PROGRAM_ID, "program_id")                                                                \
	X(GRAPH_ID, "cuda_graph_id")		  /* uint64 */                                     \
	X(GRAPH_NODE_ID, "cuda_graph_node_id")	  /* uint64: node's index in its graph + 1 */      \
	X(GRAPH_EXEC_ID, "cuda_graph_exec_id")	  /* uint64: kernels and launches */               \
	X(NVTX_RANGE, "nvtx_range")		  /* ref: innermost roctx range */                 \
	X(MEMCPY_DETAILS, "memcpy_details")	  /* ref */                                        \
	X(MEMSET_DETAILS, "Memset_details")	  /* ref; the capital letter is XLA's */           \
	X(MEMALLOC_DETAILS, "memalloc_details")	  /* ref: allocating calls */                      \
	X(MEMFREE_DETAILS, "MemFree_details")	  /* read, never written */                        \
	X(REPLAY, "graph_replay")		  /* uint64: of a graph launch, from 0 */          \
	X(CONFIDENCE, "graph_node_confidence")	  /* ref: absent when exact */                     \
	X(BLIT_KERNEL, "blit_kernel")		  /* ref: kernel that carried a copy or memset */  \
	X(ORPHAN, "orphan")			  /* ref: "no call", "no activity" */              \
	X(RESULT, "result")			  /* int64: of a call, absent when 0 */            \
	X(OCCUPANCY, "theoretical_occupancy_pct") /* double: of a kernel */                        \
	/* scopes */                                                                               \
	X(ROOT, "_r")			/* int64 1: a step */                                      \
	X(STEP_NUM, "step_num")		/* int64 */                                                \
	X(SCOPE_KIND, "scope_kind")	/* ref: roctx, range, mark, step; absent: scope */         \
	X(SCOPE_OPEN, "scope_open")	/* int64 1: had no end */                                  \
	X(SCOPE_PARENT, "scope_parent") /* int64: a parent outside the tree: a step */             \
	/* a GPU */                                                                                \
	X(DEVICE_VENDOR, "device_vendor")                                                          \
	X(DEVICE_NAME, "gpu_device_name")                                                          \
	X(CLOCK_RATE, "clock_rate")		  /* int64, kHz */                                 \
	X(CORE_COUNT, "core_count")		  /* int64 */                                      \
	X(MEMORY_BANDWIDTH, "memory_bandwidth")	  /* uint64, bytes/s */                            \
	X(MEMORY_SIZE, "memory_size")		  /* uint64, bytes */                              \
	X(COMPUTE_CAP_MAJOR, "compute_cap_major") /* int64 */                                      \
	X(COMPUTE_CAP_MINOR, "compute_cap_minor") /* int64 */                                      \
	X(DEVICE_UUID, "gpu_uuid")                                                                 \
	X(DEVICE_PRODUCT, "gpu_product_name")                                                      \
	/* Task Environment */                                                                     \
	X(START_TIME, "profile_start_time") /* uint64, ns since 1970 */                            \
	X(STOP_TIME, "profile_stop_time")                                                          \
	/* /host:dagtap */                                                                         \
	X(WRITER, "writer") /* "dagtap 0.1.0" */                                                   \
	X(PROCESS_ID, "process_id")                                                                \
	X(PARENT_PROCESS_ID, "parent_process_id")                                                  \
	X(CORRELATION_BASE, "correlation_base") /* added to the process's correlation ids */       \
	X(CORRELATION_LAST, "correlation_last") /* greatest correlation id in the file */          \
	X(CLOCK_ORIGIN, "clock_origin")		/* int64: CLOCK_MONOTONIC at the lines' origin */  \
	X(COMMAND, "command")                                                                      \
	X(EXPECTED, "expected")                                                                    \
	X(RECEIVED, "received")                                                                    \
	X(JOINED, "joined")                                                                        \
	X(ORPHAN_CALLS, "orphan_calls")                                                            \
	X(ORPHAN_ACTIVITIES, "orphan_activities")                                                  \
	X(UNTIMED, "untimed")                                                                      \
	X(DROPPED, "dropped")                                                                      \
	X(UNEXPLAINED, "unexplained")                                                              \
	X(WITNESS, "witness")                                                                      \
	X(STATE, "state")

enum xspace_stat {
	XSPACE_STAT_NONE,
#define X(name, text) XSPACE_STAT_##name,
	XSPACE_STATS(X)
#undef X
		XSPACE_STAT_END,
	XSPACE_STAT_COUNT = XSPACE_STAT_END - 1
};

/* The two top bits of an id mark a number that the reader chose for a scope to which another
 * tool's file gives no id. XLA uses such ids for "no scope". They are not written back. */
#define XSPACE_SCOPE_NUMBERED (UINT64_C(3) << 62)

static inline bool xspace_scope_is_numbered(uint64_t id)
{
	return (id & XSPACE_SCOPE_NUMBERED) == XSPACE_SCOPE_NUMBERED;
}

/* The name of a stat in the file; "" if STAT is not in the list. */
const char *xspace_stat_name(enum xspace_stat stat);

#endif

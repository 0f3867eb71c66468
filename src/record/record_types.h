/* What all records have in common: the header word, the list of types, the classes by which records
 * are counted, and the causes for which they are dropped. record.h has the layouts. */
#ifndef DAGTAP_RECORD_TYPES_H
#define DAGTAP_RECORD_TYPES_H

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
	X(MEMORY, META)                                                                            \
	X(SCOPE_BODY, META)

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
	X(NO_WRITER, "more threads at once than can be recorded")                                  \
	X(RING, "dropped by the ring") /* intended: a ring recording reused its chunk */

enum record_drop {
#define X(name, text) RECORD_DROP_##name,
	RECORD_DROPS(X)
#undef X
		RECORD_DROP_COUNT
};

/* Bytes of the longest inline text of any record; the writer cuts longer text. */
#define RECORD_TEXT_MAX 8192

#endif

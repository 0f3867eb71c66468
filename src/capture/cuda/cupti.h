/* CUPTI's functions, found when they are first needed: in the library that DAGTAP_CUPTI names,
 * or else in the one that the process has loaded, or else in the one that the loader finds.
 * dagtap links nothing of CUDA.
 *
 * Threading: any thread may load it; a thread reads the struct after its load, or one that it knows
 * of, has returned 0. The loader of libraries is called with no lock held. */
#ifndef DAGTAP_CAPTURE_CUDA_CUPTI_H
#define DAGTAP_CAPTURE_CUDA_CUPTI_H

#include <stdbool.h>
#include <stddef.h>

#include "vendor/cupti_types.h"

struct cupti {
	uint32_t version; /* of CUPTI's interface; 0: not loaded */
#define X(result_name, name, parameters) uint32_t(*result_name) parameters;
	CUPTI_FUNCTIONS(X)
	CUPTI_OPTIONAL_FUNCTIONS(X) /* NULL: this CUPTI does not have it */
#undef X
};

extern struct cupti cupti;

/* Loads CUPTI. Returns 0, at once if it is loaded; else -ENOENT (no library), -ENOSYS (a
 * function is missing), -EIO (CUPTI failed) or -EOPNOTSUPP (too old), with the reason as a
 * sentence. */
int cupti_load(char *ret_reason, size_t reason_bytes);

/* Writes "cuptiSubscribe: CUPTI error 39 (...)" for a RESULT of CALL, with advice where there is
 * some. */
void cupti_describe(const char *call, uint32_t result, char *ret_text, size_t text_bytes);

/* X(name, function, consequence): failures that a recording survives, and what it lacks then. */
#define CUPTI_FAILURES(X)                                                                          \
	X(TIMESTAMP, "cuptiGetTimestamp", "times are not on the host's clock")                     \
	X(FLUSH, "cuptiActivityFlushAll", "what it still held is missing")                         \
	X(DROPPED, "cuptiActivityGetNumDroppedRecords", "what it dropped is not counted")          \
	X(NEXT_RECORD, "cuptiActivityGetNextRecord", "the rest of such buffers is missing")        \
	X(GRAPH_IDS, "cuptiGetGraphId", "graphs, or their nodes, are not told apart")              \
	X(STREAM_IDS, "cuptiGetStreamIdEx", "waits of default streams name no stream")

enum cupti_failure {
#define X(name, function, consequence) CUPTI_FAILURE_##name,
	CUPTI_FAILURES(X)
#undef X
		CUPTI_FAILURE_COUNT
};

/* Notes RESULT of a call: the first error of its kind in this recording is kept. CUPTI_OK is
 * ignored. Any thread. */
void cupti_note(enum cupti_failure failure, uint32_t result);
/* A recording starts. */
void cupti_forget_failures(void);

/* Returns how many kinds of failures this recording has had so far. */
uint32_t cupti_count_failures(void);
/* Writes "; cuptiActivityFlushAll: CUPTI error 999 (...): ..." for each kind of failure so far. */
void cupti_describe_failures(char *ret_text, size_t text_bytes);

#endif

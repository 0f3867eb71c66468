/* CUPTI's functions, found when they are needed: in the library that the process has, or else in the
 * one that DAGTAP_CUPTI names or the loader finds. Nothing of CUDA is linked.
 *
 * Filled once, by the thread that starts the first recording; read by all afterwards. */
#ifndef DAGTAP_CAPTURE_CUDA_CUPTI_H
#define DAGTAP_CAPTURE_CUDA_CUPTI_H

#include <stdbool.h>
#include <stddef.h>

#include "vendor/cupti_types.h"

struct cupti {
	uint32_t version;
#define X(result_name, name, parameters) uint32_t(*result_name) parameters;
	CUPTI_FUNCTIONS(X)
	CUPTI_OPTIONAL_FUNCTIONS(X) /* NULL where CUPTI has none */
#undef X
};

extern struct cupti cupti;

/* 0, or -ENOENT, -ENOSYS, -EIO or -EOPNOTSUPP with the reason as a sentence. Again: at once. */
int cupti_load(char *ret_reason, size_t reason_bytes);

/* "cuptiSubscribe: CUPTI error 39 (...)" */
void cupti_describe(const char *call, uint32_t result, char *ret_text, size_t text_bytes);

/* X(name, function, consequence): what a recording goes on without. */
#define CUPTI_FAILURES(X)                                                                          \
	X(TIMESTAMP, "cuptiGetTimestamp", "times are not on the host's clock")                     \
	X(FLUSH, "cuptiActivityFlushAll", "what it still held is missing")                         \
	X(DROPPED, "cuptiActivityGetNumDroppedRecords", "what it dropped is not counted")          \
	X(NEXT_RECORD, "cuptiActivityGetNextRecord", "the rest of such buffers is missing")        \
	X(GRAPH_IDS, "cuptiGetGraphId", "graphs, or their nodes, are not told apart")

enum cupti_failure {
#define X(name, function, consequence) CUPTI_FAILURE_##name,
	CUPTI_FAILURES(X)
#undef X
		CUPTI_FAILURE_COUNT
};

/* Keeps RESULT if it is the first error of its kind in this recording. Any thread. */
void cupti_note(enum cupti_failure failure, uint32_t result);
void cupti_forget_failures(void); /* a recording starts */

/* How many kinds there were so far, and "; cuptiActivityFlushAll: CUPTI error 999 (...): ..." of each. */
uint32_t cupti_count_failures(void);
void cupti_describe_failures(char *ret_text, size_t text_bytes);

#endif

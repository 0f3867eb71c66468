/* Inside trace/load/: which stream of CUPTI's a call's handle stands for (CUDA_STREAM_HANDLE).
 * A handle may be used again by a later stream, so the time of the call counts. */
#ifndef DAGTAP_TRACE_CUDA_HANDLES_H
#define DAGTAP_TRACE_CUDA_HANDLES_H

#include <stdint.h>

#include "record/record.h"
#include "trace/args.h"

struct process_load;

/* From NS on, HANDLE is STREAM of CONTEXT, for a default stream only in that context, and for a
 * thread's default stream only on thread TID. */
struct cuda_handle {
	uint64_t handle; /* 0: legacy default stream, also for STREAM_HANDLE_LEGACY */
	uint64_t ns;
	uint32_t context, tid;		 /* 0 where they do not tell streams apart */
	uint32_t stream, stream_context; /* CUPTI's numbers */
	uint32_t row;			 /* of the stream; calls_load sets it */
};

/* The rows of a process, sorted; cuda_load owns them. */
struct cuda_handles {
	struct cuda_handle *rows;
	uint32_t count;
};

/* Where the records of an API have a stream's handle and its context's number (args_word).
 * ARGS_NO_WORD: they have none. NCCL's have a handle alone. */
struct cuda_stream_api {
	uint8_t handle_word, context_word;
};

/* Returns where records of API have them; both are ARGS_NO_WORD for other interfaces. */
struct cuda_stream_api cuda_stream_api_of(const struct trace *trace, const struct trace_api *api);

/* Reads the CUDA_STREAM_HANDLE records. Called by cuda_load. 0 or -ENOMEM. */
int cuda_handles_load(struct process_load *load);

/* Returns the row of the stream that the call of RECORD, made by thread TID, names; TRACE_NONE: it
 * names none, or it is not known which. Call after the rows are set. Any thread. */
uint32_t cuda_handles_find(const struct process_load *load, const struct cuda_stream_api *api,
			   const struct record_api *record, uint32_t tid);

#endif

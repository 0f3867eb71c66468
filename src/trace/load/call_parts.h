/* Inside trace/: what a part of the file adds to the calls besides their rows. Threads fill parts
 * of their own; calls_load puts them together in the order of the file. */
#ifndef DAGTAP_TRACE_CALL_PARTS_H
#define DAGTAP_TRACE_CALL_PARTS_H

#include "trace/process_load.h"

/* trace_api.function of the rows of calls without a name. */
#define CALL_UNKNOWN_FUNCTION UINT32_MAX

/* Arguments that are kept: the rank of their call and their number. */
struct kept_args {
	uint32_t rank, words;
};

/* What a part of the file adds besides rows; put together in the order of the parts. */
struct call_part {
	struct call_event_notes call_events;
	struct cuda_captures captures;
	struct update_notes updates;
	uint64_t *words; /* of arguments; arg_first of the calls in `kept` is an index here */
	size_t word_count, word_room;
	struct kept_args *kept; /* in the order of `words` */
	uint32_t kept_count;
	/* Calls without a row of their API: twice the rank, plus 1 if it is a call of CUDA. */
	uint64_t *unknown;
	uint32_t unknown_count;
};

/* Keeps the arguments of the call RANK, WORDS words, if RECORD has so many. Sets CALL->arg_first to
 * their index in the part. Returns 0, -ENOMEM, or -E2BIG. */
int call_part_keep(struct call_part *part, uint32_t words, uint32_t rank,
		   const struct record_api *record, struct trace_call *call);

/* Notes that the call RANK has no row of its API; FUNCTION is that of its record. Returns 0 or
 * -ENOMEM. */
int call_part_note_unknown(struct call_part *part, uint32_t rank, uint32_t function);

/* Moves the arguments that a part has kept to the model; nothing if that was done before. Returns
 * 0, -ENOMEM, or -E2BIG. */
int call_part_take_words(struct process_load *load, struct call_part *part);

/* Moves what COUNT parts have found to LOAD, in their order. Returns 0, -ENOMEM, or -E2BIG. */
int call_parts_take(struct process_load *load, struct call_part *parts, uint32_t count);

/* Frees what PART still holds. */
void call_part_release(struct call_part *part);

#endif

/* Inside trace/: completions. Their records are read in the same walk as those of submissions, when
 * the rows of activities have no final place yet. So they are kept by the rank of their
 * submission's id, and settle.c gives each row its own. */
#ifndef DAGTAP_TRACE_COMPLETIONS_H
#define DAGTAP_TRACE_COMPLETIONS_H

#include <pthread.h>

#include "trace/pack/origin.h"
#include "trace/process_load.h"

#define COMPLETION_TYPES (ORIGIN_TYPE(RECORD_DISPATCH_DONE) | ORIGIN_TYPE(RECORD_COPY_DONE))

/* Makes room for the completions of all submissions. Returns 0 or -ENOMEM; completions_release
 * frees it. */
int completions_init(struct process_load *load);

/* Reads records. Each thread has its own; zero but for `load` and `lock`. */
struct completion_reader {
	struct process_load *load;
	pthread_mutex_t *lock; /* of all readers of the load */
	uint64_t matched;      /* completions that have a submission */
	uint64_t unmatched;    /* completions that have none */
	struct idset_near packet, copy;
};

/* Keeps a record of COMPLETION_TYPES. Of several completions of a submission one stays: with one
 * thread the first; with several threads any, or parts of two. Returns 0 or -ENOMEM. */
int completion_read(struct completion_reader *reader, const struct record_header *header);

/* The number of submissions that have a completion. Less than the completions that were matched:
 * some have several. */
uint64_t completions_count(const struct process_load *load);

/* Forgets all completions. */
void completions_clear(struct process_load *load);

/* Gives rows their completions. Each thread has its own; zero but for `load`. */
struct completion_giver {
	struct process_load *load;
	struct trace_ticks *ticks; /* by activity; NULL if they are not loaded */
	uint32_t clock_hint;
	bool has_untimed; /* a row got none, or one without times */
};

/* Gives ROW, which has its final place, the times of its completion, or the reason why it has none.
 * COMPLETED: where its completion is kept; NULL: it comes finished from CUPTI. RANK: of its id
 * there. */
void completion_give(struct completion_giver *giver, struct submissions *completed, uint32_t rank,
		     struct trace_activity *row);

/* Frees the completions; the ids stay. */
void completions_release(struct process_load *load);

#endif

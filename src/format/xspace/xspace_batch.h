/* The events of a line, encoded by several threads.
 *
 * One thread gathers the events of a line in batches, in the order of the line. While it gathers,
 * it gives ids to names and texts and encodes what many events share, because ids follow the order
 * of first use. The others meanwhile encode ranges of the batch before, and write the bytes to the
 * output in the order of the ranges (xspace_turns). So the bytes do not depend on the number of
 * threads, and the memory does not depend on the trace.
 *
 * Threading: a struct xspace_batches belongs to one thread. */
#ifndef DAGTAP_FORMAT_XSPACE_BATCH_H
#define DAGTAP_FORMAT_XSPACE_BATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "format/xspace/xspace_event.h"
#include "format/xspace/xspace_out.h"
#include "format/xspace/xspace_pieces.h"

/* The most pieces of an event; together with the other fields they are shorter than
 * XSPACE_OUT_PIECE. */
#define XSPACE_EVENT_PIECES 4

/* An event with all that it needs to be encoded, so that a thread that encodes reads memory in
 * order, and no row. */
struct xspace_batch_event {
	struct xspace_event head;
	bool has_correlation, has_scope;
	uint64_t correlation_id, scope_id;
	const struct xspace_piece *stats[XSPACE_EVENT_PIECES]; /* after the ids, in this order */
};

struct xspace_batch {
	struct xspace_batch_event *events; /* owned */
	uint32_t count, room;
	struct xspace_pieces pieces; /* stats of this batch alone */
};

struct xspace_buffer; /* encoded events, to which a thread adds */

/* A line that is written. Adds events to BATCH, which is empty, until it is full or the line has
 * no more. CONTEXT is the caller's, who keeps errors in it. */
typedef void xspace_gather(void *context, struct xspace_batch *batch);

/* Memory for all lines of a file. */
struct xspace_batches {
	struct xspace_batch batches[2];
	struct xspace_buffer *buffers; /* by worker; owned */
	unsigned buffers_count;
};

/* Returns 0 or -ENOMEM; then nothing is left to release. */
int xspace_batches_init(struct xspace_batches *batches);

/* Frees the memory. Accepts a zeroed or released struct. */
void xspace_batches_release(struct xspace_batches *batches);

/* Writes all events that GATHER gives to OUT, between the begin and the end of their line. Errors
 * stick in OUT. */
void xspace_batches_put(struct xspace_batches *batches, struct xspace_out *out,
			xspace_gather *gather, void *context);

/* An empty batch for one event, for a caller that writes other events in between, and the function
 * that writes this event, if it was added. */
struct xspace_batch *xspace_batches_begin_one(struct xspace_batches *batches);
void xspace_batches_put_one(struct xspace_batches *batches, struct xspace_out *out);

static inline bool xspace_batch_is_full(const struct xspace_batch *batch)
{
	return batch->count == batch->room;
}

/* Adds an event to a batch that is not full. The caller sets its members. */
static inline struct xspace_batch_event *xspace_batch_add(struct xspace_batch *batch)
{
	return &batch->events[batch->count++];
}

#endif

/* Gathers the events of a line and has them encoded by several threads (xspace_batch.h). */
#include "format/xspace/xspace_batch.h"

#include <errno.h>
#include <stdlib.h>

#include "base/table.h"
#include "base/workers.h"

/* Events that a thread encodes at a time: some 80 KiB, which stay in its cache until they are
 * written. */
#define RANGE_EVENTS ((uint32_t)1024)

/* As many are encoded before a thread has started. */
#define FEW_EVENTS ((uint32_t)4096)

/* Events of a batch for each thread: few enough that they are still in a cache when they are
 * encoded, and so many that starting the threads takes little beside that. */
#define BATCH_EVENTS	 ((uint32_t)8 << 10)
#define BATCH_EVENTS_MAX ((uint32_t)64 << 10)

/* Most ranges fit. */
#define BUFFER_BYTES (4 * XSPACE_OUT_PIECE)

struct xspace_buffer {
	uint8_t *bytes; /* owned */
	size_t used, room;
	int error; /* -ENOMEM; then the bytes are of no use */
	char apart[WORKERS_APART];
};

static int init_batch(struct xspace_batch *batch, uint32_t room)
{
	batch->room = room;
	batch->events = malloc(room * sizeof(*batch->events));
	return batch->events ? 0 : -ENOMEM;
}

static int init_buffer(struct xspace_buffer *buffer)
{
	buffer->bytes = malloc(BUFFER_BYTES);
	buffer->room = BUFFER_BYTES;
	return buffer->bytes ? 0 : -ENOMEM;
}

/* One thread encodes each range as soon as it is gathered. */
static uint32_t batch_room(unsigned threads)
{
	uint32_t room = threads * BATCH_EVENTS;

	if (threads == 1)
		return RANGE_EVENTS;
	return room < BATCH_EVENTS_MAX ? room : BATCH_EVENTS_MAX;
}

int xspace_batches_init(struct xspace_batches *batches)
{
	unsigned threads = workers_count(WORKERS_ALL);
	int err = 0;

	*batches = (struct xspace_batches){.buffers_count = threads};
	batches->buffers = calloc(threads, sizeof(*batches->buffers));
	if (!batches->buffers)
		return -ENOMEM;
	for (unsigned i = 0; i < 2 && !err; i++)
		err = init_batch(&batches->batches[i], batch_room(threads));
	for (unsigned i = 0; i < threads && !err; i++)
		err = init_buffer(&batches->buffers[i]);
	if (err)
		xspace_batches_release(batches);
	return err;
}

void xspace_batches_release(struct xspace_batches *batches)
{
	for (unsigned i = 0; i < 2; i++) {
		free(batches->batches[i].events);
		xspace_pieces_release(&batches->batches[i].pieces);
	}
	for (unsigned i = 0; batches->buffers && i < batches->buffers_count; i++)
		free(batches->buffers[i].bytes);
	free(batches->buffers);
	*batches = (struct xspace_batches){0};
}

/* A place with room for XSPACE_OUT_PIECE bytes. After an error the bytes so far are overwritten. */
static uint8_t *room_in(struct xspace_buffer *buffer)
{
	if (table_reserve((void **)&buffer->bytes, &buffer->room, buffer->used + XSPACE_OUT_PIECE,
			  1) < 0) {
		buffer->error = -ENOMEM;
		buffer->used = 0;
	}
	return buffer->bytes + buffer->used;
}

/* Writes an event at BEGIN, where there is room for XSPACE_OUT_PIECE bytes, and returns its end. */
static inline uint8_t *put_event(uint8_t *begin, const struct xspace_batch_event *event)
{
	uint8_t *at = xspace_event_begin(begin, &event->head);

	if (event->has_correlation)
		at = xspace_number_put(at, XSPACE_STAT_CORRELATION_ID, XSTAT_UINT64,
				       event->correlation_id);
	if (event->has_scope)
		at = xspace_number_put(at, XSPACE_STAT_SCOPE_RANGE_ID, XSTAT_INT64,
				       event->scope_id);
	for (unsigned i = 0; i < XSPACE_EVENT_PIECES; i++)
		at = xspace_piece_copy(at, event->stats[i]);
	return xspace_event_end(begin, at);
}

static void reset(struct xspace_batch *batch)
{
	batch->count = 0;
	xspace_pieces_reset(&batch->pieces);
}

/* Encodes range number RANGE of BATCH. */
static void encode(const struct xspace_batch *batch, uint32_t range, struct xspace_buffer *buffer)
{
	uint32_t from = range * RANGE_EVENTS;
	uint32_t end = batch->count - from < RANGE_EVENTS ? batch->count : from + RANGE_EVENTS;

	buffer->used = 0;
	buffer->error = 0;
	for (uint32_t i = from; i < end; i++) {
		uint8_t *room = room_in(buffer);

		buffer->used += (size_t)(put_event(room, &batch->events[i]) - room);
	}
}

/* What the threads do that encode a batch and gather the next one. */
struct step {
	struct xspace_batches *batches;
	xspace_gather *gather;
	void *context;
	const struct xspace_batch *full;
	struct xspace_batch *next;
	struct xspace_turns turns;
};

/* Part 0, which takes longest, gathers. */
static int do_part(void *step_of_all, unsigned worker, uint32_t part)
{
	struct step *step = step_of_all;
	struct xspace_buffer *buffer = &step->batches->buffers[worker];

	if (part == 0) {
		reset(step->next);
		step->gather(step->context, step->next);
		return 0;
	}
	encode(step->full, part - 1, buffer);
	xspace_turns_put(&step->turns, part - 1, buffer->bytes, buffer->used, buffer->error);
	return 0;
}

/* Few events need no other thread, and no buffer beside the output's. */
static void put_few(struct xspace_out *out, const struct xspace_batch *batch)
{
	for (uint32_t i = 0; i < batch->count; i++) {
		uint8_t *room = xspace_out_room(out);

		out->used += (size_t)(put_event(room, &batch->events[i]) - room);
	}
}

static void put_many(struct step *step, struct xspace_out *out)
{
	xspace_turns_begin(&step->turns, out);
	workers_run(step->batches->buffers_count, 2 + (step->full->count - 1) / RANGE_EVENTS,
		    do_part, step);
	xspace_turns_end(&step->turns);
}

void xspace_batches_put(struct xspace_batches *batches, struct xspace_out *out,
			xspace_gather *gather, void *context)
{
	struct xspace_batch *full = &batches->batches[0], *next = &batches->batches[1], *emptied;
	struct step step = {.batches = batches, .gather = gather, .context = context};

	reset(full);
	gather(context, full);
	while (full->count > 0) {
		step.full = full;
		step.next = next;
		if (full->count > FEW_EVENTS) {
			put_many(&step, out);
		} else {
			put_few(out, full);
			reset(next);
			gather(context, next);
		}
		emptied = full;
		full = next;
		next = emptied;
	}
}

struct xspace_batch *xspace_batches_begin_one(struct xspace_batches *batches)
{
	reset(&batches->batches[0]);
	return &batches->batches[0];
}

void xspace_batches_put_one(struct xspace_batches *batches, struct xspace_out *out)
{
	put_few(out, &batches->batches[0]);
}

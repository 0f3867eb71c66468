/* Completions, from their records to the rows of their submissions (completions.h). */
#include "trace/join/completions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "trace/clock_fit.h"

/* A completion is 12 bytes: most memory of the walk besides the rows is for them. The start has 56
 * bits: `low`, and the upper 24 of `state`. The lowest 8 bits of `state` are 1 + enum
 * record_untimed, and STATE_GIVEN once a row has taken the completion, or has found none. Where
 * start and length do not fit, the length is LENGTH_LONG and `low` the index into
 * long_completions. */
#define STATE_BITS  8
#define STATE_MASK  0x7fu
#define STATE_GIVEN 0x80u
#define START_BITS  56
#define LENGTH_LONG UINT32_MAX

_Static_assert(RECORD_UNTIMED_COUNT < STATE_MASK, "the causes fit below the mark");

/* ---- reading ---- */

static int make_room(struct submissions *of)
{
	of->completions = table_zeroed(of->ids.count, sizeof(*of->completions));
	return of->completions ? 0 : -ENOMEM;
}

int completions_init(struct process_load *load)
{
	return make_room(&load->packets) < 0 ? -ENOMEM : make_room(&load->copies);
}

/* Adds to long_completions. Returns the index, or TRACE_NONE: out of memory. */
static uint32_t add_long(struct completion_reader *reader, uint64_t start, uint64_t end)
{
	struct long_completions *longs = &reader->load->long_completions;
	struct completion_times *place;
	uint32_t index = TRACE_NONE;

	pthread_mutex_lock(reader->lock);
	place = table_add((void **)&longs->rows, &longs->count, sizeof(*place));
	if (place) {
		*place = (struct completion_times){start, end};
		index = longs->count - 1;
	}
	pthread_mutex_unlock(reader->lock);
	return index;
}

static struct completion pack(struct completion_reader *reader, uint64_t untimed, uint64_t start,
			      uint64_t end)
{
	uint32_t state =
		1 +
		(uint32_t)(untimed < RECORD_UNTIMED_COUNT ? untimed : RECORD_UNTIMED_RECORD_LOST);

	if (start >> START_BITS == 0 && end >= start && end - start < LENGTH_LONG)
		return (struct completion){
			.state = state | (uint32_t)(start >> 32) << STATE_BITS,
			.low = (uint32_t)start,
			.length = (uint32_t)(end - start),
		};
	return (struct completion){
		.state = state,
		.low = add_long(reader, start, end),
		.length = LENGTH_LONG,
	};
}

static struct completion_times unpack(const struct process_load *load,
				      const struct completion *completion)
{
	uint64_t start = (uint64_t)(completion->state >> STATE_BITS) << 32 | completion->low;

	return completion->length == LENGTH_LONG
		       ? load->long_completions.rows[completion->low]
		       : (struct completion_times){start, start + completion->length};
}

/* Stores without a lock, because a locked instruction waits for all stores before it, and most of
 * those of rows miss the cache. Two threads may store at one place only if a submission has two
 * completions. */
static int keep(struct completion_reader *reader, struct submissions *of, uint32_t rank,
		uint64_t untimed, struct completion_times times)
{
	struct completion *place = &of->completions[rank];
	struct completion packed;

	if (rank == UINT32_MAX) {
		reader->unmatched++;
		return 0;
	}
	reader->matched++;
	if (__atomic_load_n(&place->state, __ATOMIC_RELAXED))
		return 0;
	packed = pack(reader, untimed, times.start, times.end);
	__atomic_store_n(&place->state, packed.state, __ATOMIC_RELAXED);
	__atomic_store_n(&place->low, packed.low, __ATOMIC_RELAXED);
	__atomic_store_n(&place->length, packed.length, __ATOMIC_RELAXED);
	return packed.length == LENGTH_LONG && packed.low == TRACE_NONE ? -ENOMEM : 0;
}

int completion_read(struct completion_reader *reader, const struct record_header *header)
{
	struct submissions *packets = &reader->load->packets, *copies = &reader->load->copies;
	const void *at = header;
	const struct record_dispatch_done *dispatch = at;
	const struct record_copy_done *copy = at;
	uint64_t key;

	if (header->type == RECORD_COPY_DONE)
		return keep(reader, copies,
			    idset_find_near(&copies->ids, copy->copy_id, &reader->copy),
			    header->tag, (struct completion_times){copy->start, copy->end});
	key = packet_key(header->tag, dispatch->packet_index);
	return keep(reader, packets, idset_find_near(&packets->ids, key, &reader->packet),
		    dispatch->untimed,
		    (struct completion_times){dispatch->start_tick, dispatch->end_tick});
}

static uint64_t count(const struct submissions *of)
{
	uint64_t known = 0;

	for (uint32_t rank = 0; rank < of->ids.count; rank++)
		known += of->completions[rank].state != 0;
	return known;
}

uint64_t completions_count(const struct process_load *load)
{
	return count(&load->packets) + count(&load->copies);
}

static void clear(struct submissions *of)
{
	memset(of->completions, 0, of->ids.count * sizeof(*of->completions));
}

void completions_clear(struct process_load *load)
{
	clear(&load->packets);
	clear(&load->copies);
	load->long_completions.count = 0;
}

void completions_release(struct process_load *load)
{
	free(load->packets.completions);
	free(load->copies.completions);
	free(load->long_completions.rows);
	load->packets.completions = load->copies.completions = NULL;
	load->long_completions = (struct long_completions){0};
}

/* ---- giving ---- */

/* The cause for a submission without a completion. */
static enum record_untimed why_unfinished(const struct process_load *load)
{
	if (load->raw.counts.dropped[RECORD_CLASS_DONE][RECORD_DROP_RING])
		return RECORD_UNTIMED_RING;
	return load->trace->processes[load->process].state == TRACE_TRUNCATED
		       ? RECORD_UNTIMED_TRUNCATED
		       : RECORD_UNTIMED_RECORD_LOST;
}

static void leave_unfinished(struct completion_giver *giver, struct trace_activity *row)
{
	/* CUPTI's activities come finished. */
	if (row->start_ns || row->end_ns)
		return;
	if (row->untimed == RECORD_UNTIMED_NO)
		row->untimed = why_unfinished(giver->load);
	giver->has_untimed = true;
}

static const struct clock_fit *clock_of(const struct process_load *load,
					const struct trace_activity *row)
{
	if (row->agent == TRACE_NONE || row->agent - load->first.agents >= load->clock_count)
		return NULL;
	return &load->clocks[row->agent - load->first.agents];
}

static void finish_dispatch(struct completion_giver *giver, struct completion_times ticks,
			    struct trace_activity *row)
{
	const struct clock_fit *fit = clock_of(giver->load, row);

	if (giver->ticks)
		giver->ticks[row - giver->load->trace->activities] =
			(struct trace_ticks){ticks.start, ticks.end};
	if (ticks.start == 0 || ticks.end == 0) {
		row->untimed = RECORD_UNTIMED_ZERO_TICK;
	} else if (!fit || !clock_fit_is_usable(fit)) {
		row->untimed = RECORD_UNTIMED_NO_CLOCK;
	} else {
		row->start_ns = clock_fit_convert(fit, ticks.start, &giver->clock_hint);
		row->end_ns = clock_fit_convert(fit, ticks.end, &giver->clock_hint);
	}
}

static void finish_copy(struct completion_giver *giver, struct completion_times times,
			struct trace_activity *row)
{
	if (times.start == 0 || times.end == 0) {
		row->untimed = RECORD_UNTIMED_ZERO_TICK;
		giver->has_untimed = true;
		return;
	}
	row->start_ns = (int64_t)times.start;
	row->end_ns = (int64_t)times.end;
}

static void finish_row(struct completion_giver *giver, const struct completion *completion,
		       bool is_copy, struct trace_activity *row)
{
	enum record_untimed untimed = (enum record_untimed)((completion->state & STATE_MASK) - 1);

	/* Of a dispatch, it may be known at its submission that it has no times. */
	if (!is_copy && row->untimed != RECORD_UNTIMED_NO)
		return;
	row->untimed = (uint8_t)untimed;
	if (untimed != RECORD_UNTIMED_NO)
		giver->has_untimed = true;
	else if (is_copy)
		finish_copy(giver, unpack(giver->load, completion), row);
	else
		finish_dispatch(giver, unpack(giver->load, completion), row);
}

void completion_give(struct completion_giver *giver, struct submissions *completed, uint32_t rank,
		     struct trace_activity *row)
{
	struct completion *completion = completed ? &completed->completions[rank] : NULL;

	if (!completion) {
		leave_unfinished(giver, row);
		return;
	}
	if (completion->state & STATE_GIVEN)
		giver->load->tally.duplicates++;
	if (completion->state == 0 || completion->state & STATE_GIVEN)
		leave_unfinished(giver, row);
	else
		finish_row(giver, completion, completed == &giver->load->copies, row);
	completion->state |= STATE_GIVEN;
}

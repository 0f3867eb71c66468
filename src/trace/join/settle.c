/* The final order of activities (settle.h). */
#include "trace/join/settle.h"

#include <errno.h>
#include <stdlib.h>

#include "base/workers.h"
#include "trace/row_table.h"

#define CALLS_PER_PART 32768

static int compare_rows(const void *left, const void *right)
{
	const struct trace_activity *a = left, *b = right;

	if (a->cid != b->cid)
		return a->cid < b->cid ? -1 : 1;
	if (a->ordinal != b->ordinal)
		return a->ordinal < b->ordinal ? -1 : 1;
	if (a->FIELD_IS_COPY != b->FIELD_IS_COPY)
		return a->FIELD_IS_COPY < b->FIELD_IS_COPY ? -1 : 1;
	if (a->queue != b->queue)
		return a->queue < b->queue ? -1 : 1;
	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return (a->submit_ns > b->submit_ns) - (a->submit_ns < b->submit_ns);
}

/* Maps the row's id to the row, for its completion. If two submissions have one id, both have rows,
 * and the completion belongs to the first. */
static void map_row(struct process_load *load, const struct trace_activity *row)
{
	struct submissions *of = row->FIELD_IS_COPY ? &load->copies : &load->packets;
	uint32_t *place = &of->rows[row->FIELD_RANK];

	if (*place == TRACE_NONE)
		*place = (uint32_t)(row - load->trace->activities);
	else
		load->tally.duplicates++;
}

/* Work kinds get new numbers in the order of the activities that use them. A thread lists those of
 * its part in that order; the lists together give the numbers. */
struct settled_part {
	uint32_t *works; /* each once */
	uint32_t work_count;
};

struct settling {
	struct process_load *load;
	const struct places *places;
	struct work_numbering numbering;
	uint64_t **is_listed; /* by worker: bits by work kind, zero between parts */
	struct settled_part *parts;
	uint32_t part_count;
	unsigned worker_count;
};

static int list_work(struct settled_part *part, uint64_t *is_listed, uint32_t first, uint32_t work)
{
	uint32_t at = work - first;
	uint32_t *place;

	if (work < first || is_listed[at / 64] >> at % 64 & 1)
		return 0;
	is_listed[at / 64] |= 1ull << at % 64;
	place = table_add((void **)&part->works, &part->work_count, sizeof(*place));
	if (!place)
		return -ENOMEM;
	*place = work;
	return 0;
}

/* Sorts only if needed: rows mostly come in their order. */
static int settle_range(const struct settling *settling, struct settled_part *part,
			uint64_t *is_listed, uint32_t first, uint32_t count)
{
	struct process_load *load = settling->load;
	struct trace_activity *rows = load->trace->activities + first;

	for (uint32_t i = 1; i < count; i++) {
		if (compare_rows(&rows[i - 1], &rows[i]) > 0) {
			qsort(rows, count, sizeof(*rows), compare_rows);
			break;
		}
	}
	for (uint32_t i = 0; i < count; i++) {
		if (rows[i].FIELD_IS_COPY != NO_COMPLETION)
			map_row(load, &rows[i]);
		rows[i].launch = TRACE_NONE;
		rows[i].node = TRACE_NONE;
		if (list_work(part, is_listed, load->first.works, rows[i].work) < 0)
			return -ENOMEM;
	}
	return 0;
}

static uint32_t part_end(const struct settling *settling, uint32_t number)
{
	uint32_t calls = settling->load->raw.cids.count;
	uint64_t end = (number + 1ull) * CALLS_PER_PART;

	return end < calls ? (uint32_t)end : calls;
}

/* The place of the first activity of call RANK, or behind those of the last call. */
static uint32_t first_of(const struct settling *settling, uint32_t rank)
{
	return rank ? settling->places->next[rank - 1] : settling->load->first.activities;
}

/* The last part has the activities without a call. */
static int settle_part(void *settling_of_load, unsigned worker, uint32_t number)
{
	const struct settling *settling = settling_of_load;
	const struct process_load *load = settling->load;
	struct settled_part *part = &settling->parts[number];
	uint64_t *is_listed = settling->is_listed[worker];
	int err = 0;

	if (number == settling->part_count - 1)
		err = settle_range(settling, part, is_listed, settling->places->orphan_first,
				   load->trace->activities_count - settling->places->orphan_first);
	else
		for (uint32_t i = number * CALLS_PER_PART;
		     i < part_end(settling, number) && err == 0; i++) {
			uint32_t count = load->call_notes.activity_counts[i];
			uint32_t first = first_of(settling, i);

			err = settling->places->next[i] == first + count
				      ? settle_range(settling, part, is_listed, first, count)
				      : -ESTALE;
		}
	for (uint32_t i = 0; i < part->work_count; i++)
		is_listed[(part->works[i] - load->first.works) / 64] = 0;
	return err;
}

static int renumber_part(void *settling_of_load, unsigned worker, uint32_t number)
{
	const struct settling *settling = settling_of_load;
	struct trace *trace = settling->load->trace;
	bool is_last = number == settling->part_count - 1;
	uint32_t first = is_last ? settling->places->orphan_first
				 : first_of(settling, number * CALLS_PER_PART);
	uint32_t end =
		is_last ? trace->activities_count : first_of(settling, part_end(settling, number));

	for (uint32_t i = first; i < end; i++)
		trace->activities[i].work =
			work_numbering_get(&settling->numbering, trace->activities[i].work);
	return 0;
}

static int init_settling(struct settling *settling, struct process_load *load,
			 const struct places *places)
{
	uint32_t works = load->trace->works_count - load->first.works;

	*settling = (struct settling){
		.load = load,
		.places = places,
		.worker_count = workers_count(WORKERS_ALL),
		.part_count = load->raw.cids.count / CALLS_PER_PART + 2,
	};
	settling->parts = table_zeroed(settling->part_count, sizeof(*settling->parts));
	settling->is_listed = calloc(settling->worker_count, sizeof(*settling->is_listed));
	if (!settling->is_listed || !settling->parts)
		return -ENOMEM;
	for (unsigned i = 0; i < settling->worker_count; i++) {
		settling->is_listed[i] = table_zeroed(works / 64, sizeof(uint64_t));
		if (!settling->is_listed[i])
			return -ENOMEM;
	}
	return work_numbering_init(&settling->numbering, load->trace, load->first.works);
}

static void release_settling(struct settling *settling)
{
	for (unsigned i = 0; settling->is_listed && i < settling->worker_count; i++)
		free(settling->is_listed[i]);
	for (uint32_t i = 0; settling->parts && i < settling->part_count; i++)
		free(settling->parts[i].works);
	free(settling->is_listed);
	free(settling->parts);
	work_numbering_release(&settling->numbering);
}

int settle(struct process_load *load, const struct places *places, unsigned threads)
{
	struct settling settling;
	int err = init_settling(&settling, load, places);

	if (err == 0)
		err = workers_run(threads, settling.part_count, settle_part, &settling);
	for (uint32_t i = 0; i < settling.part_count && err == 0; i++) {
		for (uint32_t k = 0; k < settling.parts[i].work_count; k++)
			work_numbering_take(&settling.numbering, settling.parts[i].works[k]);
	}
	if (err == 0)
		err = workers_run(WORKERS_ALL, settling.part_count, renumber_part, &settling);
	if (err == 0)
		err = work_numbering_apply(&settling.numbering, &load->works);
	release_settling(&settling);
	return err;
}

/* The final order of activities (settle.h). */
#include "trace/join/settle.h"

#include <errno.h>
#include <stdlib.h>

#include "base/workers.h"
#include "trace/join/completions.h"
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

/* Where the completion of ROW is. NULL: it comes finished. */
static struct submissions *submissions_of(struct process_load *load,
					  const struct trace_activity *row)
{
	if (row->FIELD_IS_COPY == NO_COMPLETION)
		return NULL;
	return row->FIELD_IS_COPY ? &load->copies : &load->packets;
}

/* Work kinds get new numbers in the order of the activities that use them. A thread lists those of
 * its part in that order; the lists together give the numbers. */
struct settled_part {
	uint32_t *works; /* each once */
	uint32_t work_count;
};

/* What each thread has of its own. */
struct settling_worker {
	uint64_t *is_listed; /* bits by work kind, zero between parts */
	struct completion_giver giver;
	char apart[WORKERS_APART];
};

struct settling {
	struct process_load *load;
	struct settling_worker *workers;
	unsigned worker_count;
	struct settled_part *parts;
	uint32_t part_count;
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
			struct settling_worker *worker, uint32_t first, uint32_t count)
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
		completion_give(&worker->giver, submissions_of(load, &rows[i]), rows[i].FIELD_RANK,
				&rows[i]);
		rows[i].launch = TRACE_NONE;
		rows[i].node = TRACE_NONE;
		if (list_work(part, worker->is_listed, load->first.works, rows[i].work) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* The calls of a part. The last part has the activities without a call, whose number is that behind
 * the last call's. */
static uint32_t first_call(const struct settling *settling, uint32_t number)
{
	return number == settling->part_count - 1 ? settling->load->raw.cids.count
						  : number * CALLS_PER_PART;
}

static uint32_t end_call(const struct settling *settling, uint32_t number)
{
	uint32_t calls = settling->load->raw.cids.count;
	uint64_t end = (number + 1ull) * CALLS_PER_PART;

	if (number == settling->part_count - 1)
		return calls + 1;
	return end < calls ? (uint32_t)end : calls;
}

static int settle_part(void *settling_of_load, unsigned worker_number, uint32_t number)
{
	const struct settling *settling = settling_of_load;
	const struct process_load *load = settling->load;
	struct settled_part *part = &settling->parts[number];
	struct settling_worker *worker = &settling->workers[worker_number];
	int err = 0;

	for (uint32_t i = first_call(settling, number); i < end_call(settling, number) && err == 0;
	     i++)
		err = settle_range(settling, part, worker, load->call_notes.activity_firsts[i],
				   call_activities(&load->call_notes, i));
	for (uint32_t i = 0; i < part->work_count; i++)
		worker->is_listed[(part->works[i] - load->first.works) / 64] = 0;
	return err;
}

static int init_settling(struct settling *settling, struct process_load *load)
{
	struct trace *trace = load->trace;
	uint32_t works = trace->works_count - load->first.works;

	*settling = (struct settling){
		.load = load,
		.worker_count = workers_count(WORKERS_ALL),
		.part_count = load->raw.cids.count / CALLS_PER_PART + 2,
	};
	settling->parts = table_zeroed(settling->part_count, sizeof(*settling->parts));
	settling->workers = calloc(settling->worker_count, sizeof(*settling->workers));
	if (!settling->workers || !settling->parts)
		return -ENOMEM;
	for (unsigned i = 0; i < settling->worker_count; i++) {
		struct settling_worker *worker = &settling->workers[i];

		worker->giver = (struct completion_giver){
			.load = load,
			.ticks = load->is_brief ? NULL : trace->ticks,
		};
		worker->is_listed = table_zeroed(works / 64, sizeof(uint64_t));
		if (!worker->is_listed)
			return -ENOMEM;
	}
	return work_numbering_init(&load->work_numbering, trace, load->first.works);
}

static void release_settling(struct settling *settling)
{
	for (unsigned i = 0; settling->workers && i < settling->worker_count; i++)
		free(settling->workers[i].is_listed);
	for (uint32_t i = 0; settling->parts && i < settling->part_count; i++)
		free(settling->parts[i].works);
	free(settling->workers);
	free(settling->parts);
}

int settle(struct process_load *load, unsigned threads)
{
	struct settling settling;
	int err = init_settling(&settling, load);

	if (err == 0)
		err = workers_run(threads, settling.part_count, settle_part, &settling);
	for (uint32_t i = 0; i < settling.part_count && err == 0; i++) {
		for (uint32_t k = 0; k < settling.parts[i].work_count; k++)
			work_numbering_take(&load->work_numbering, settling.parts[i].works[k]);
	}
	if (err == 0)
		err = work_numbering_apply(&load->work_numbering, &load->works);
	for (unsigned i = 0; err == 0 && i < settling.worker_count; i++)
		load->tally.has_untimed |= settling.workers[i].giver.has_untimed;
	release_settling(&settling);
	return err;
}

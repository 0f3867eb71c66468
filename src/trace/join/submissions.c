/* The stage of submissions: each record of a dispatch, a copy or one of CUPTI's activities becomes
 * a row at its place in the order of calls. Barrier packets are filled in the same walk. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/join/barriers.h"
#include "trace/load/calls.h"
#include "trace/row_table.h"

#define SEEN_SLOTS 4096

/* A kernel with its dimensions that was seen lately, and its work kind. */
struct seen_dispatch {
	uint32_t kernel;
	uint32_t grid[3];
	uint16_t workgroup[3];
	uint16_t is_used;
	uint32_t private_bytes;
	uint32_t group_bytes;
	uint32_t work;
};

/* Until a row has its final place, two of its fields hold what settle_row needs: the rank of its
 * id, and of which kind its completion is. */
#define FIELD_RANK    launch
#define FIELD_IS_COPY node
#define NO_COMPLETION 2 /* CUPTI's activities come finished */

struct submitting {
	struct process_load *load;
	struct seen_dispatch *seen;
	struct barriers barriers;
	struct fill_thread thread;
	uint32_t queue_id, queue; /* asked for last */
	struct idset_last cid, scope;
	uint32_t *next; /* by call, from first.calls: place of its next activity */
	uint32_t orphan_first, orphan_next;
	uint32_t count; /* number of filled rows */
	struct work_numbering numbering;
};

static uint32_t find_queue(struct submitting *submitting, uint32_t id)
{
	if (submitting->queue_id != id || submitting->queue == TRACE_NONE) {
		submitting->queue_id = id;
		submitting->queue = load_find_queue(submitting->load, id);
	}
	return submitting->queue;
}

static uint32_t find_call(struct submitting *submitting, uint64_t cid)
{
	const struct process_load *load = submitting->load;
	uint32_t rank = idset_find_again(&load->raw.cids, cid, &submitting->cid);

	return rank == UINT32_MAX ? TRACE_NONE : load->first.calls + rank;
}

static uint32_t find_scope(struct submitting *submitting, uint64_t id)
{
	const struct process_load *load = submitting->load;
	uint32_t rank = idset_find_again(&load->raw.scope_ids, id, &submitting->scope);

	return rank == UINT32_MAX ? TRACE_NONE : load->first.scopes + rank;
}

/* Interns the work kind of a dispatch; TRACE_NONE: out of memory. */
static uint32_t make_work(struct submitting *submitting, const struct record_dispatch *record)
{
	struct process_load *load = submitting->load;
	struct load_kernel kernel = load_find_kernel(load, record->kernel);
	struct trace_work work;

	work_blank(&work, kernel.kind);
	work.blit = kernel.blit;
	work.name = kernel.name;
	work.symbol = kernel.symbol;
	for (int i = 0; i < 3; i++) {
		work.grid[i] = record->grid[i];
		work.workgroup[i] = record->workgroup[i];
	}
	work.private_bytes = record->private_bytes;
	work.group_bytes = record->group_bytes;
	work.registers = kernel.registers;
	work.scalar_registers = kernel.scalar_registers;
	return work_intern(&load->works, &work);
}

static bool is_same(const struct seen_dispatch *seen, const struct record_dispatch *record)
{
	return seen->is_used && seen->kernel == record->kernel &&
	       !memcmp(seen->grid, record->grid, sizeof(seen->grid)) &&
	       !memcmp(seen->workgroup, record->workgroup, sizeof(seen->workgroup)) &&
	       seen->private_bytes == record->private_bytes &&
	       seen->group_bytes == record->group_bytes;
}

/* make_work with a cache: most dispatches repeat a recent kernel with its dimensions. */
static uint32_t work_of_dispatch(struct submitting *submitting,
				 const struct record_dispatch *record)
{
	uint32_t hash = record->kernel * 0x9e3779b1u ^ record->grid[0] * 0x85ebca6bu ^
			record->grid[1] * 0xc2b2ae35u;
	struct seen_dispatch *seen = &submitting->seen[(hash >> 16 ^ hash) % SEEN_SLOTS];

	if (is_same(seen, record))
		return seen->work;
	*seen = (struct seen_dispatch){
		.kernel = record->kernel,
		.is_used = 1,
		.private_bytes = record->private_bytes,
		.group_bytes = record->group_bytes,
		.work = make_work(submitting, record),
	};
	memcpy(seen->grid, record->grid, sizeof(seen->grid));
	memcpy(seen->workgroup, record->workgroup, sizeof(seen->workgroup));
	return seen->work;
}

static enum trace_copy_direction direction(const struct trace *trace, uint32_t dst, uint32_t src)
{
	bool to_gpu, from_gpu;

	if (dst == TRACE_NONE || src == TRACE_NONE)
		return TRACE_COPY_UNKNOWN;
	to_gpu = trace->agents[dst].is_gpu;
	from_gpu = trace->agents[src].is_gpu;
	if (to_gpu && from_gpu)
		return dst == src ? TRACE_D2D : TRACE_P2P;
	if (to_gpu)
		return TRACE_H2D;
	return from_gpu ? TRACE_D2H : TRACE_H2H;
}

static uint32_t work_of_copy(struct submitting *submitting, const struct record_copy *record)
{
	struct trace_work work;

	work_blank(&work, TRACE_COPY);
	work.dst_agent = load_find_agent(submitting->load, record->dst_agent);
	work.src_agent = load_find_agent(submitting->load, record->src_agent);
	work.direction = direction(submitting->load->trace, work.dst_agent, work.src_agent);
	work.bytes = record->bytes;
	work.dst = record->dst;
	work.src = record->src;
	return work_intern(&submitting->load->works, &work);
}

/* Computes where each call's activities begin; calls_load has counted them. */
static int find_places(struct submitting *submitting)
{
	struct process_load *load = submitting->load;
	uint32_t next = load->first.activities;

	submitting->next = table_alloc(load->raw.cids.count, sizeof(*submitting->next));
	if (!submitting->next)
		return -ENOMEM;
	for (uint32_t i = 0; i < load->raw.cids.count; i++) {
		submitting->next[i] = next;
		next += load->call_notes.activity_counts[i];
	}
	submitting->orphan_first = next;
	submitting->orphan_next = next;
	return 0;
}

/* The place of the next activity of CALL. NULL: there are more than were counted, so the file
 * changed. */
static struct trace_activity *take_place(struct submitting *submitting, uint32_t call)
{
	const struct process_load *load = submitting->load;
	uint32_t *next = call == TRACE_NONE ? &submitting->orphan_next
					    : &submitting->next[call - load->first.calls];

	if (*next == load->trace->activities_count)
		return NULL;
	submitting->count++;
	return &load->trace->activities[(*next)++];
}

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

static void settle_row(struct submitting *submitting, struct trace_activity *row)
{
	struct process_load *load = submitting->load;

	if (row->FIELD_IS_COPY != NO_COMPLETION)
		map_row(load, row);
	row->work = work_numbering_take(&submitting->numbering, row->work);
	row->launch = TRACE_NONE;
	row->node = TRACE_NONE;
}

static int add_dispatch(struct submitting *submitting, const struct record_dispatch *record)
{
	struct process_load *load = submitting->load;
	uint64_t key = packet_key(record->header.tag, record->packet_index);
	uint32_t call = find_call(submitting, record->cid);
	uint32_t queue = find_queue(submitting, record->header.tag);
	uint32_t work = work_of_dispatch(submitting, record);
	uint32_t rank = idset_find(&load->packets.ids, key);
	struct trace_activity *row = take_place(submitting, call);

	if (work == TRACE_NONE)
		return -ENOMEM;
	if (rank == UINT32_MAX || !row)
		return -ESTALE;
	*row = (struct trace_activity){
		.submit_ns = (int64_t)record->ns,
		.cid = record->cid,
		.id = record->packet_index,
		.work = work,
		.call = call,
		.ordinal = record->ordinal,
		.process = load->process,
		.agent = queue == TRACE_NONE ? TRACE_NONE : load->trace->queues[queue].agent,
		.queue = queue,
		.stream = TRACE_NONE,
		.thread = fill_thread(&submitting->thread, load, record->tid),
		.scope = find_scope(submitting, record->scope),
		.FIELD_RANK = rank,
		.packet_header = record->packet_header,
		.untimed = record->untimed < RECORD_UNTIMED_COUNT ? (uint8_t)record->untimed
								  : RECORD_UNTIMED_RECORD_LOST,
	};
	load->tally.awaited += record->untimed == RECORD_UNTIMED_NO;
	return 0;
}

static int add_copy(struct submitting *submitting, const struct record_copy *record)
{
	struct process_load *load = submitting->load;
	const struct trace *trace = load->trace;
	uint32_t call = find_call(submitting, record->cid);
	uint32_t work = work_of_copy(submitting, record), agent;
	uint32_t rank = idset_find(&load->copies.ids, record->copy_id);
	struct trace_activity *row = take_place(submitting, call);

	if (work == TRACE_NONE)
		return -ENOMEM;
	if (rank == UINT32_MAX || !row)
		return -ESTALE;
	agent = trace->works[work].dst_agent;
	if (agent == TRACE_NONE || !trace->agents[agent].is_gpu)
		agent = trace->works[work].src_agent;
	*row = (struct trace_activity){
		.submit_ns = (int64_t)record->ns,
		.cid = record->cid,
		.id = record->copy_id,
		.work = work,
		.call = call,
		.ordinal = record->ordinal,
		.process = load->process,
		.agent = agent,
		.queue = TRACE_NONE,
		.stream = TRACE_NONE,
		.thread = fill_thread(&submitting->thread, load, record->tid),
		.scope = find_scope(submitting, record->scope),
		.FIELD_RANK = rank,
		.FIELD_IS_COPY = true,
	};
	load->tally.awaited++;
	return 0;
}

/* CUPTI's activities come finished, and name their call; an inner call stands for the outermost
 * one. */
static struct trace_activity *take_cuda_place(struct submitting *submitting, uint64_t cid)
{
	const struct process_load *load = submitting->load;
	uint64_t outer = cuda_outer_cid(&load->cuda, cid);
	uint32_t call = find_call(submitting, outer);
	struct trace_activity *row = take_place(submitting, call);

	if (row)
		*row = (struct trace_activity){
			.cid = outer,
			.call = call,
			.thread = TRACE_NONE,
			.scope = TRACE_NONE,
			.FIELD_IS_COPY = NO_COMPLETION,
		};
	return row;
}

static int add_cuda_kernel(struct submitting *submitting, const struct record_cuda_kernel *record)
{
	struct trace_activity *row = take_cuda_place(submitting, record->cid);

	return row ? cuda_fill_kernel(submitting->load, record, row) : -ESTALE;
}

static int add_cuda_copy(struct submitting *submitting, const struct record_cuda_copy *record)
{
	struct trace_activity *row = take_cuda_place(submitting, record->cid);

	return row ? cuda_fill_copy(submitting->load, record, row) : -ESTALE;
}

static int read_submissions(struct submitting *submitting)
{
	const struct process_load *load = submitting->load;
	const struct trace *trace = load->trace;
	struct origin *origin = load->raw.origin;
	const struct record_header *header;
	struct origin_walk walk;
	int err = 0;

	origin_walk_init(&walk, origin,
			 ORIGIN_TYPE(RECORD_DISPATCH) | ORIGIN_TYPE(RECORD_COPY) |
				 ORIGIN_TYPE(RECORD_BARRIER) | ORIGIN_TYPE(RECORD_CUDA_KERNEL) |
				 ORIGIN_TYPE(RECORD_CUDA_COPY));
	while (err == 0 && (header = origin_walk_next(&walk))) {
		const void *at = header;

		if (header->type == RECORD_DISPATCH)
			err = add_dispatch(submitting, at);
		else if (header->type == RECORD_COPY)
			err = add_copy(submitting, at);
		else if (header->type == RECORD_CUDA_KERNEL)
			err = add_cuda_kernel(submitting, at);
		else if (header->type == RECORD_CUDA_COPY)
			err = add_cuda_copy(submitting, at);
		else if (header->type == RECORD_BARRIER)
			err = barriers_add(&submitting->barriers, at);
	}
	if (err == 0 && (submitting->count != trace->activities_count - load->first.activities ||
			 !barriers_are_complete(&submitting->barriers)))
		err = -ESTALE;
	return origin->error < 0 ? origin->error : err;
}

/* Sorts only if needed: rows mostly come in their order. */
static void settle_range(struct submitting *submitting, uint32_t first, uint32_t count)
{
	struct trace_activity *rows = submitting->load->trace->activities + first;

	for (uint32_t i = 1; i < count; i++) {
		if (compare_rows(&rows[i - 1], &rows[i]) > 0) {
			qsort(rows, count, sizeof(*rows), compare_rows);
			break;
		}
	}
	for (uint32_t i = 0; i < count; i++)
		settle_row(submitting, &rows[i]);
}

static int settle_all(struct submitting *submitting)
{
	struct process_load *load = submitting->load;
	uint32_t first = load->first.activities;

	if (work_numbering_init(&submitting->numbering, load->trace, load->first.works) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < load->raw.cids.count; i++) {
		uint32_t count = load->call_notes.activity_counts[i];

		if (submitting->next[i] != first + count)
			return -ESTALE;
		settle_range(submitting, first, count);
		first += count;
	}
	settle_range(submitting, first, load->trace->activities_count - first);
	return work_numbering_apply(&submitting->numbering, &load->works);
}

static int make_room(struct submissions *submissions)
{
	submissions->rows = table_alloc(submissions->ids.count, sizeof(*submissions->rows));
	if (!submissions->rows)
		return -ENOMEM;
	memset(submissions->rows, 0xff, submissions->ids.count * sizeof(*submissions->rows));
	return 0;
}

int submissions_load(struct process_load *load)
{
	struct submitting submitting = {.load = load, .queue = TRACE_NONE};
	uint64_t count =
		load->raw.type_counts[RECORD_DISPATCH] + load->raw.type_counts[RECORD_COPY] +
		load->raw.type_counts[RECORD_CUDA_KERNEL] + load->raw.type_counts[RECORD_CUDA_COPY];
	int result = barriers_init(&submitting.barriers, load);

	submitting.seen = calloc(SEEN_SLOTS, sizeof(*submitting.seen));
	if (!submitting.seen || !trace_append(load->trace, activities, count) ||
	    make_room(&load->packets) < 0 || make_room(&load->copies) < 0)
		result = -ENOMEM;
	if (result == 0)
		result = find_places(&submitting);
	if (result == 0)
		result = read_submissions(&submitting);
	if (result == 0)
		result = settle_all(&submitting);
	work_numbering_release(&submitting.numbering);
	free(submitting.next);
	free(submitting.seen);
	barriers_release(&submitting.barriers);
	return result;
}

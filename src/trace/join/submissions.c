/* The stage of submissions: each record of a dispatch, a copy or one of CUPTI's activities becomes
 * a row at its place in the order of calls. Barrier packets are filled in the same walk.
 *
 * Threads share the parts of the file. The activities of a call are first placed in the order in
 * which they are read; settle brings them into their final order. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/workers.h"
#include "trace/join/barriers.h"
#include "trace/join/settle.h"
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

struct submitting {
	struct process_load *load;
	struct barriers barriers;
	struct places places;
	uint32_t orphan_next;
	pthread_mutex_t works_lock; /* for load->works and trace.works while the file is read */
	struct submitting_worker *workers;
	unsigned worker_count;
};

/* What each thread has of its own. */
struct submitting_worker {
	struct submitting *of;
	struct seen_dispatch *seen;
	struct fill_thread thread;
	uint32_t queue_id, queue; /* asked for last */
	struct idset_last cid, scope;
	uint32_t count; /* number of filled rows */
	uint64_t awaited;
	bool has_untimed;
};

static uint32_t find_queue(struct submitting_worker *worker, uint32_t id)
{
	if (worker->queue_id != id || worker->queue == TRACE_NONE) {
		worker->queue_id = id;
		worker->queue = load_find_queue(worker->of->load, id);
	}
	return worker->queue;
}

static uint32_t find_call(struct submitting_worker *worker, uint64_t cid)
{
	const struct process_load *load = worker->of->load;
	uint32_t rank = idset_find_again(&load->raw.cids, cid, &worker->cid);

	return rank == UINT32_MAX ? TRACE_NONE : load->first.calls + rank;
}

static uint32_t find_scope(struct submitting_worker *worker, uint64_t id)
{
	const struct process_load *load = worker->of->load;
	uint32_t rank = idset_find_again(&load->raw.scope_ids, id, &worker->scope);

	return rank == UINT32_MAX ? TRACE_NONE : load->first.scopes + rank;
}

static uint32_t intern(struct submitting_worker *worker, const struct trace_work *work)
{
	uint32_t row;

	pthread_mutex_lock(&worker->of->works_lock);
	row = work_intern(&worker->of->load->works, work);
	pthread_mutex_unlock(&worker->of->works_lock);
	return row;
}

/* Interns the work kind of a dispatch; TRACE_NONE: out of memory. */
static uint32_t make_work(struct submitting_worker *worker, const struct record_dispatch *record)
{
	struct process_load *load = worker->of->load;
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
	work.wave_size = kernel.mode.size;
	work.is_wgp_mode = kernel.mode.is_wgp;
	return intern(worker, &work);
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
static uint32_t work_of_dispatch(struct submitting_worker *worker,
				 const struct record_dispatch *record)
{
	uint32_t hash = record->kernel * 0x9e3779b1u ^ record->grid[0] * 0x85ebca6bu ^
			record->grid[1] * 0xc2b2ae35u;
	struct seen_dispatch *seen = &worker->seen[(hash >> 16 ^ hash) % SEEN_SLOTS];

	if (is_same(seen, record))
		return seen->work;
	*seen = (struct seen_dispatch){
		.kernel = record->kernel,
		.is_used = 1,
		.private_bytes = record->private_bytes,
		.group_bytes = record->group_bytes,
		.work = make_work(worker, record),
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

/* Sets also the agent that the copy belongs to. */
static uint32_t work_of_copy(struct submitting_worker *worker, const struct record_copy *record,
			     uint32_t *ret_agent)
{
	const struct process_load *load = worker->of->load;
	struct trace_work work;

	work_blank(&work, TRACE_COPY);
	work.dst_agent = load_find_agent(load, record->dst_agent);
	work.src_agent = load_find_agent(load, record->src_agent);
	work.direction = direction(load->trace, work.dst_agent, work.src_agent);
	work.bytes = record->bytes;
	work.dst = record->dst;
	work.src = record->src;
	*ret_agent = work.dst_agent == TRACE_NONE || !load->trace->agents[work.dst_agent].is_gpu
			     ? work.src_agent
			     : work.dst_agent;
	return intern(worker, &work);
}

/* Computes where each call's activities begin; calls_load has counted them. */
static int find_places(struct submitting *submitting)
{
	struct process_load *load = submitting->load;
	uint32_t next = load->first.activities;

	submitting->places.next =
		table_alloc(load->raw.cids.count, sizeof(*submitting->places.next));
	if (!submitting->places.next)
		return -ENOMEM;
	for (uint32_t i = 0; i < load->raw.cids.count; i++) {
		submitting->places.next[i] = next;
		next += load->call_notes.activity_counts[i];
	}
	submitting->places.orphan_first = next;
	submitting->orphan_next = next;
	return 0;
}

/* The place of the next activity of CALL. NULL: there are more than were counted, so the file
 * changed. */
static struct trace_activity *take_place(struct submitting_worker *worker, uint32_t call)
{
	struct submitting *submitting = worker->of;
	const struct process_load *load = submitting->load;
	uint32_t *next = call == TRACE_NONE ? &submitting->orphan_next
					    : &submitting->places.next[call - load->first.calls];
	uint32_t place = __atomic_fetch_add(next, 1, __ATOMIC_RELAXED);

	if (place >= load->trace->activities_count)
		return NULL;
	worker->count++;
	return &load->trace->activities[place];
}

static int add_dispatch(struct submitting_worker *worker, const struct record_dispatch *record)
{
	struct process_load *load = worker->of->load;
	uint64_t key = packet_key(record->header.tag, record->packet_index);
	uint32_t call = find_call(worker, record->cid);
	uint32_t queue = find_queue(worker, record->header.tag);
	uint32_t work = work_of_dispatch(worker, record);
	uint32_t rank = idset_find(&load->packets.ids, key);
	struct trace_activity *row = take_place(worker, call);

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
		.thread = fill_thread(&worker->thread, load, record->tid),
		.scope = find_scope(worker, record->scope),
		.FIELD_RANK = rank,
		.packet_header = record->packet_header,
		.untimed = record->untimed < RECORD_UNTIMED_COUNT ? (uint8_t)record->untimed
								  : RECORD_UNTIMED_RECORD_LOST,
	};
	worker->awaited += record->untimed == RECORD_UNTIMED_NO;
	worker->has_untimed |= record->untimed != RECORD_UNTIMED_NO;
	return 0;
}

static int add_copy(struct submitting_worker *worker, const struct record_copy *record)
{
	struct process_load *load = worker->of->load;
	uint32_t call = find_call(worker, record->cid);
	uint32_t agent;
	uint32_t work = work_of_copy(worker, record, &agent);
	uint32_t rank = idset_find(&load->copies.ids, record->copy_id);
	struct trace_activity *row = take_place(worker, call);

	if (work == TRACE_NONE)
		return -ENOMEM;
	if (rank == UINT32_MAX || !row)
		return -ESTALE;
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
		.thread = fill_thread(&worker->thread, load, record->tid),
		.scope = find_scope(worker, record->scope),
		.FIELD_RANK = rank,
		.FIELD_IS_COPY = true,
	};
	worker->awaited++;
	return 0;
}

/* CUPTI's activities come finished, and name their call; an inner call stands for the outermost
 * one. */
static struct trace_activity *take_cuda_place(struct submitting_worker *worker, uint64_t cid)
{
	uint64_t outer = cuda_outer_cid(&worker->of->load->cuda, cid);
	uint32_t call = find_call(worker, outer);
	struct trace_activity *row = take_place(worker, call);

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

static int add_cuda_kernel(struct submitting_worker *worker,
			   const struct record_cuda_kernel *record)
{
	struct trace_activity *row = take_cuda_place(worker, record->cid);

	int err = row ? cuda_fill_kernel(worker->of->load, record, row) : -ESTALE;

	worker->has_untimed |= err == 0 && row->untimed != RECORD_UNTIMED_NO;
	return err;
}

static int add_cuda_copy(struct submitting_worker *worker, const struct record_cuda_copy *record)
{
	struct trace_activity *row = take_cuda_place(worker, record->cid);

	int err = row ? cuda_fill_copy(worker->of->load, record, row) : -ESTALE;

	worker->has_untimed |= err == 0 && row->untimed != RECORD_UNTIMED_NO;
	return err;
}

static int read_part(void *submitting_of_load, unsigned number, uint32_t part,
		     struct origin_walk *walk)
{
	struct submitting *submitting = submitting_of_load;
	struct submitting_worker *worker = &submitting->workers[number];
	const struct record_header *header;
	int err = 0;

	while (err == 0 && (header = origin_walk_next(walk))) {
		const void *at = header;

		if (header->type == RECORD_DISPATCH)
			err = add_dispatch(worker, at);
		else if (header->type == RECORD_COPY)
			err = add_copy(worker, at);
		else if (header->type == RECORD_CUDA_KERNEL)
			err = add_cuda_kernel(worker, at);
		else if (header->type == RECORD_CUDA_COPY)
			err = add_cuda_copy(worker, at);
		else if (header->type == RECORD_BARRIER && !submitting->load->without_ledger)
			err = barriers_add(&submitting->barriers, at);
	}
	return err;
}

/* One thread, if the order of the file counts: where ids are equal, and for CUPTI's activities,
 * which have no other order within their call. */
static unsigned reading_threads(const struct process_load *load)
{
	const uint64_t *counts = load->raw.type_counts;
	bool is_ordered =
		counts[RECORD_CUDA_KERNEL] || counts[RECORD_CUDA_COPY] ||
		counts[RECORD_DISPATCH] != load->packets.ids.count ||
		counts[RECORD_COPY] != load->copies.ids.count ||
		(counts[RECORD_BARRIER] != load->raw.barrier_ids.count && !load->without_ledger);

	return is_ordered ? 1 : WORKERS_ALL;
}

static int read_submissions(struct submitting *submitting)
{
	struct process_load *load = submitting->load;
	uint64_t types = ORIGIN_TYPE(RECORD_DISPATCH) | ORIGIN_TYPE(RECORD_COPY) |
			 ORIGIN_TYPE(RECORD_CUDA_KERNEL) | ORIGIN_TYPE(RECORD_CUDA_COPY);
	uint64_t count = 0;
	int err;

	if (!load->without_ledger)
		types |= ORIGIN_TYPE(RECORD_BARRIER);
	err = origin_share(load->raw.origin, types, reading_threads(load), read_part, submitting);

	for (unsigned i = 0; i < submitting->worker_count; i++) {
		count += submitting->workers[i].count;
		load->tally.awaited += submitting->workers[i].awaited;
		load->tally.has_untimed |= submitting->workers[i].has_untimed;
	}
	if (err == 0 && (count != load->trace->activities_count - load->first.activities ||
			 !barriers_are_complete(&submitting->barriers)))
		err = -ESTALE;
	return err;
}

static int init_workers(struct submitting *submitting)
{
	submitting->worker_count = workers_count(WORKERS_ALL);
	submitting->workers = calloc(submitting->worker_count, sizeof(*submitting->workers));
	for (unsigned i = 0; submitting->workers && i < submitting->worker_count; i++) {
		struct submitting_worker *worker = &submitting->workers[i];

		worker->of = submitting;
		worker->queue = TRACE_NONE;
		worker->seen = calloc(SEEN_SLOTS, sizeof(*worker->seen));
		if (!worker->seen)
			return -ENOMEM;
	}
	return submitting->workers ? 0 : -ENOMEM;
}

static int make_room(struct submissions *submissions)
{
	submissions->rows = table_alloc(submissions->ids.count, sizeof(*submissions->rows));
	if (!submissions->rows)
		return -ENOMEM;
	memset(submissions->rows, 0xff, submissions->ids.count * sizeof(*submissions->rows));
	return 0;
}

static void release(struct submitting *submitting)
{
	for (unsigned i = 0; submitting->workers && i < submitting->worker_count; i++)
		free(submitting->workers[i].seen);
	free(submitting->workers);
	free(submitting->places.next);
	barriers_release(&submitting->barriers);
	pthread_mutex_destroy(&submitting->works_lock);
}

int submissions_load(struct process_load *load)
{
	struct submitting submitting = {.load = load, .works_lock = PTHREAD_MUTEX_INITIALIZER};
	uint64_t count =
		load->raw.type_counts[RECORD_DISPATCH] + load->raw.type_counts[RECORD_COPY] +
		load->raw.type_counts[RECORD_CUDA_KERNEL] + load->raw.type_counts[RECORD_CUDA_COPY];
	int result = barriers_init(&submitting.barriers, load);

	if (!trace_append(load->trace, activities, count) || make_room(&load->packets) < 0 ||
	    make_room(&load->copies) < 0)
		result = -ENOMEM;
	if (result == 0)
		result = init_workers(&submitting);
	if (result == 0)
		result = find_places(&submitting);
	if (result == 0)
		result = read_submissions(&submitting);
	if (result == 0)
		result = settle(load, &submitting.places, reading_threads(load));
	release(&submitting);
	return result;
}

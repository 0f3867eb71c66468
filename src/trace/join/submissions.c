/* Rows of activities: each record of a dispatch, a copy or one of CUPTI's activities becomes a row
 * at its place in the order of calls. Barrier packets are filled in the same walk.
 *
 * Threads share the parts of the file (rows.c). The activities of a call are first placed in the
 * order in which they are read; settle brings them into their final order. */
#include "trace/join/submissions.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/workers.h"
#include "trace/join/barriers.h"
#include "trace/join/seen_dispatches.h"
#include "trace/join/settle.h"
#include "trace/load/call_streams.h"
#include "trace/row_table.h"

struct submission_rows {
	struct process_load *load;
	struct barriers barriers;
	pthread_mutex_t works_lock; /* for load->works and trace.works while the file is read */
	struct submission_worker *workers;
	unsigned worker_count;
};

/* What each thread has of its own. */
struct submission_worker {
	struct submission_rows *of;
	struct seen_dispatches seen;
	struct fill_thread thread;
	uint32_t queue_id, queue;		  /* asked for last */
	const struct activity_run *run, *run_end; /* of the part: the current one, and the end */
	uint32_t run_taken;			  /* rows of the current one that are filled */
	struct idset_last cid, scope;
	struct idset_near packet;
	uint32_t count; /* number of filled rows */
	uint64_t awaited;
	bool has_untimed;
	char apart[WORKERS_APART];
};

static uint32_t find_queue(struct submission_worker *worker, uint32_t id)
{
	if (worker->queue_id != id || worker->queue == TRACE_NONE) {
		worker->queue_id = id;
		worker->queue = load_find_queue(worker->of->load, id);
	}
	return worker->queue;
}

static uint32_t find_call(struct submission_worker *worker, uint64_t cid)
{
	const struct process_load *load = worker->of->load;
	uint32_t rank = idset_find_again(&load->raw.cids, cid, &worker->cid);

	return rank == UINT32_MAX ? TRACE_NONE : load->first.calls + rank;
}

static uint32_t find_scope(struct submission_worker *worker, uint64_t id)
{
	const struct process_load *load = worker->of->load;
	uint32_t rank = idset_find_again(&load->raw.scope_ids, id, &worker->scope);

	return rank == UINT32_MAX ? TRACE_NONE : load->first.scopes + rank;
}

static uint32_t intern(struct submission_worker *worker, const struct trace_work *work)
{
	uint32_t row;

	pthread_mutex_lock(&worker->of->works_lock);
	row = work_intern(&worker->of->load->works, work);
	pthread_mutex_unlock(&worker->of->works_lock);
	return row;
}

/* Interns the work kind of a dispatch; TRACE_NONE: out of memory. */
static uint32_t make_work(struct submission_worker *worker, const struct record_dispatch *record)
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

/* make_work with a cache. */
static uint32_t work_of_dispatch(struct submission_worker *worker,
				 const struct record_dispatch *record)
{
	const struct seen_dispatch *seen = seen_dispatches_find(&worker->seen, record);
	uint32_t work;

	if (seen)
		return seen->work;
	work = make_work(worker, record);
	return seen_dispatches_add(&worker->seen, record, work) < 0 ? TRACE_NONE : work;
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
static uint32_t work_of_copy(struct submission_worker *worker, const struct record_copy *record,
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

/* The place of the next activity. NULL: it was not there in the first walk. */
static struct trace_activity *take_place(struct submission_worker *worker, uint32_t call)
{
	const struct process_load *load = worker->of->load;
	uint32_t rank = call == TRACE_NONE ? load->raw.cids.count : call - load->first.calls;

	if (worker->run != worker->run_end && worker->run_taken == worker->run->count) {
		worker->run++;
		worker->run_taken = 0;
	}
	if (worker->run == worker->run_end || worker->run->call != rank)
		return NULL;
	worker->count++;
	return &load->trace->activities[load->call_notes.activity_firsts[rank] +
					worker->run->first + worker->run_taken++];
}

void submission_rows_begin_part(struct submission_rows *rows, unsigned number, uint32_t part)
{
	const struct activity_runs_part *runs = &rows->load->raw.runs.parts[part];
	struct submission_worker *worker = &rows->workers[number];

	worker->run = runs->first;
	worker->run_end = runs->end;
	worker->run_taken = 0;
}

int submission_rows_end_part(struct submission_rows *rows, unsigned number)
{
	const struct submission_worker *worker = &rows->workers[number];
	bool is_last = worker->run == worker->run_end || (worker->run + 1 == worker->run_end &&
							  worker->run_taken == worker->run->count);

	return is_last ? 0 : -ESTALE;
}

static int add_dispatch(struct submission_worker *worker, const struct record_dispatch *record)
{
	struct process_load *load = worker->of->load;
	uint64_t key = packet_key(record->header.tag, record->packet_index);
	uint32_t call = find_call(worker, record->cid);
	uint32_t queue = find_queue(worker, record->header.tag);
	uint32_t work = work_of_dispatch(worker, record);
	uint32_t rank = idset_find_near(&load->packets.ids, key, &worker->packet);
	struct trace_activity *row = take_place(worker, call);

	if (work == TRACE_NONE)
		return -ENOMEM;
	if (rank == UINT32_MAX || !row)
		return -ESTALE;
	/* All members, in their order: what is left to the compiler it clears with a slow
	 * instruction before. */
	*row = (struct trace_activity){
		.submit_ns = (int64_t)record->ns,
		.start_ns = 0,
		.end_ns = 0,
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
		.FIELD_IS_COPY = false,
		.packet_header = record->packet_header,
		.untimed = record->untimed < RECORD_UNTIMED_COUNT ? (uint8_t)record->untimed
								  : RECORD_UNTIMED_RECORD_LOST,
		.confidence = TRACE_CONFIDENCE_NONE,
		.is_programmatic = false,
		.zero = 0,
	};
	worker->awaited += record->untimed == RECORD_UNTIMED_NO;
	worker->has_untimed |= record->untimed != RECORD_UNTIMED_NO;
	return 0;
}

static int add_copy(struct submission_worker *worker, const struct record_copy *record)
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
static struct trace_activity *take_cuda_place(struct submission_worker *worker, uint64_t cid)
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

static int add_cuda_kernel(struct submission_worker *worker,
			   const struct record_cuda_kernel *record)
{
	struct trace_activity *row = take_cuda_place(worker, record->cid);

	int err = row ? cuda_fill_kernel(worker->of->load, record, row) : -ESTALE;

	worker->has_untimed |= err == 0 && row->untimed != RECORD_UNTIMED_NO;
	return err;
}

static int add_cuda_copy(struct submission_worker *worker, const struct record_cuda_copy *record)
{
	struct trace_activity *row = take_cuda_place(worker, record->cid);

	int err = row ? cuda_fill_copy(worker->of->load, record, row) : -ESTALE;

	worker->has_untimed |= err == 0 && row->untimed != RECORD_UNTIMED_NO;
	return err;
}

void submission_rows_expect(struct submission_rows *rows, unsigned number,
			    const struct record_dispatch *record)
{
	seen_dispatches_fetch(&rows->workers[number].seen, record);
}

int submission_rows_read(struct submission_rows *rows, unsigned number,
			 const struct record_header *header)
{
	struct submission_worker *worker = &rows->workers[number];
	const void *at = header;

	switch (header->type) {
	case RECORD_DISPATCH:
		return add_dispatch(worker, at);
	case RECORD_COPY:
		return add_copy(worker, at);
	case RECORD_CUDA_KERNEL:
		return add_cuda_kernel(worker, at);
	case RECORD_CUDA_COPY:
		return add_cuda_copy(worker, at);
	case RECORD_BARRIER:
		return rows->load->without_ledger ? 0 : barriers_add(&rows->barriers, at);
	default:
		return 0;
	}
}

/* One thread, if the order of the file counts: where ids are equal, and for CUPTI's activities,
 * which have no other order within their call. */
unsigned submission_rows_threads(const struct process_load *load)
{
	const uint64_t *counts = load->raw.type_counts;
	bool is_ordered =
		counts[RECORD_CUDA_KERNEL] || counts[RECORD_CUDA_COPY] ||
		counts[RECORD_DISPATCH] != load->packets.ids.count ||
		counts[RECORD_COPY] != load->copies.ids.count ||
		(counts[RECORD_BARRIER] != load->raw.barrier_ids.count && !load->without_ledger);

	return is_ordered ? 1 : WORKERS_ALL;
}

static int init_workers(struct submission_rows *rows)
{
	rows->worker_count = workers_count(WORKERS_ALL);
	rows->workers = calloc(rows->worker_count, sizeof(*rows->workers));
	for (unsigned i = 0; rows->workers && i < rows->worker_count; i++) {
		struct submission_worker *worker = &rows->workers[i];

		worker->of = rows;
		worker->queue = TRACE_NONE;
		if (seen_dispatches_init(&worker->seen) < 0)
			return -ENOMEM;
	}
	return rows->workers ? 0 : -ENOMEM;
}

static int make_room(struct process_load *load)
{
	struct trace *trace = load->trace;
	uint64_t count =
		load->raw.type_counts[RECORD_DISPATCH] + load->raw.type_counts[RECORD_COPY] +
		load->raw.type_counts[RECORD_CUDA_KERNEL] + load->raw.type_counts[RECORD_CUDA_COPY];
	uint32_t ticks_count = load->first.activities;

	if (!trace_append(trace, activities, count))
		return -ENOMEM;
	if (!load->is_brief &&
	    !table_extend((void **)&trace->ticks, &ticks_count, count, sizeof(*trace->ticks)))
		return -ENOMEM;
	return 0;
}

int submission_rows_create(struct process_load *load, struct submission_rows **ret_rows)
{
	struct submission_rows *rows = calloc(1, sizeof(*rows));
	int err = -ENOMEM;

	if (rows) {
		rows->load = load;
		pthread_mutex_init(&rows->works_lock, NULL);
		err = barriers_init(&rows->barriers, load);
	}
	if (err == 0)
		err = make_room(load);
	if (err == 0)
		err = init_workers(rows);
	if (err < 0) {
		submission_rows_release(rows);
		return err;
	}
	*ret_rows = rows;
	return 0;
}

int submission_rows_finish(struct submission_rows *rows)
{
	struct process_load *load = rows->load;
	uint64_t count = 0;

	for (unsigned i = 0; i < rows->worker_count; i++) {
		count += rows->workers[i].count;
		load->tally.awaited += rows->workers[i].awaited;
		load->tally.has_untimed |= rows->workers[i].has_untimed;
	}
	if (count != load->trace->activities_count - load->first.activities ||
	    !barriers_are_complete(&rows->barriers))
		return -ESTALE;
	return settle(load, submission_rows_threads(load));
}

void submission_rows_release(struct submission_rows *rows)
{
	if (!rows)
		return;
	for (unsigned i = 0; rows->workers && i < rows->worker_count; i++)
		seen_dispatches_release(&rows->workers[i].seen);
	free(rows->workers);
	barriers_release(&rows->barriers);
	pthread_mutex_destroy(&rows->works_lock);
	free(rows);
}

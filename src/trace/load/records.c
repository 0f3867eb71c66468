/* The first walk through a process's records: it learns the ids of the frequent ones, lists the
 * calls of activities, and copies the other records (process_load.h). Threads share the parts of
 * the file. Each learns for itself; then what they learned is put together, copies and calls in the
 * order of the file. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "base/workers.h"
#include "trace/load/idle_calls.h"
#include "trace/process_load.h"

struct unsure_call {
	uint64_t cid;
	uint32_t function;
};

/* What one thread has learned. The members are those of struct process_load. */
struct learned {
	struct idset cids, scope_ids, barrier_ids, packet_ids, copy_ids;
	struct idle_functions *idle; /* shared; NULL: idle calls are as any other */
	struct idset busy_cids;	     /* correlation ids of calls that are not idle */
	struct unsure_call *unsure;  /* calls of functions whose names were not known yet */
	uint32_t unsure_count;
	struct cuda_load cuda;
	struct activity_run *runs;
	uint32_t run_count;
	/* the run of the records of the part that were read last */
	uint64_t run_cid;
	uint32_t run_activities;
	struct raw_list lists[RECORD_TYPE_COUNT];
	uint64_t type_counts[RECORD_TYPE_COUNT];
	uint64_t last_ns;
	uint64_t ignored; /* the types of records that nothing is loaded of: ORIGIN_TYPE bits */
};

/* What a part left: the thread that read it, and where its copies and runs are in that thread's
 * lists. */
struct copied_part {
	unsigned worker;
	uint32_t first[RECORD_TYPE_COUNT], end[RECORD_TYPE_COUNT];
	uint32_t run_first, run_end;
};

struct first_walk {
	struct learned *learned;    /* by worker */
	struct idle_functions idle; /* kept when the walk is repeated */
	struct copied_part *parts;
	unsigned worker_count;
	uint32_t part_count;
	bool is_closed;
};

/* Ends the run that is being counted. */
static int end_run(struct learned *learned)
{
	struct activity_run *place;

	if (learned->run_activities == 0)
		return 0;
	place = table_add((void **)&learned->runs, &learned->run_count, sizeof(*place));
	if (!place)
		return -ENOMEM;
	*place = (struct activity_run){
		.count = learned->run_activities,
		.cid = {(uint32_t)learned->run_cid, (uint32_t)(learned->run_cid >> 32)},
	};
	learned->run_activities = 0;
	return 0;
}

/* Counts an activity of the call CID. Those of a launch of a graph follow each other. */
static inline int count_activity(struct learned *learned, uint64_t cid)
{
	int err = 0;

	if (cid != learned->run_cid) {
		err = end_run(learned);
		learned->run_cid = cid;
		if (err == 0 && learned->idle)
			err = idset_add(&learned->busy_cids, cid);
	}
	learned->run_activities++;
	return err;
}

static int note_unsure(struct learned *learned, const struct record_api *record)
{
	struct unsure_call *place =
		table_add((void **)&learned->unsure, &learned->unsure_count, sizeof(*place));

	if (!place)
		return -ENOMEM;
	*place = (struct unsure_call){record->cid, record->header.tag};
	return 0;
}

/* Learns which calls are busy by the record of one: a call inside another is, and the outer one. */
static int learn_busy(struct learned *learned, const struct record_api *record)
{
	enum idleness idleness = IDLENESS_BUSY;

	if (record->parent && idset_add(&learned->busy_cids, record->parent) < 0)
		return -ENOMEM;
	if (!record->parent)
		idleness = idle_functions_ask(learned->idle, record->header.tag);
	if (idleness == IDLENESS_UNKNOWN)
		return note_unsure(learned, record);
	return idleness == IDLENESS_BUSY ? idset_add(&learned->busy_cids, record->cid) : 0;
}

/* Learns the ids of frequent records and keeps copies of the others. */
static int sort_out(struct learned *learned, const struct record_header *header,
		    const struct origin_walk *walk)
{
	const struct record_dispatch *dispatch;
	const struct record_barrier *barrier;
	const struct record_copy *copy;
	const void *at = header;

	if (ORIGIN_TYPE(header->type) & learned->ignored)
		return 0;
	if (header->type >= RECORD_CUDA_KERNEL && cuda_learn(&learned->cuda, header) < 0)
		return -ENOMEM;
	switch (header->type) {
	case RECORD_API:
		learned->cuda.call_records += cuda_is_call(header);
		learned->cuda.nccl_records += cuda_is_nccl_call(header);
		if (learned->idle && learn_busy(learned, at) < 0)
			return -ENOMEM;
		return idset_add(&learned->cids, ((const struct record_api *)at)->cid);
	case RECORD_DISPATCH:
		dispatch = at;
		if (count_activity(learned, dispatch->cid) < 0)
			return -ENOMEM;
		return idset_add(&learned->packet_ids,
				 packet_key(dispatch->header.tag, dispatch->packet_index));
	case RECORD_BARRIER:
		barrier = at;
		return idset_add(&learned->barrier_ids,
				 packet_key(barrier->header.tag, barrier->packet_index));
	case RECORD_COPY:
		copy = at;
		if (count_activity(learned, copy->cid) < 0)
			return -ENOMEM;
		return idset_add(&learned->copy_ids, copy->copy_id);
	case RECORD_CUDA_KERNEL:
		return count_activity(learned, ((const struct record_cuda_kernel *)at)->cid);
	case RECORD_CUDA_COPY:
		return count_activity(learned, ((const struct record_cuda_copy *)at)->cid);
	case RECORD_DISPATCH_DONE:
	case RECORD_COPY_DONE:
		return 0;
	case RECORD_API_NAME:
		if (learned->idle)
			idle_functions_learn(learned->idle, at);
		break;
	case RECORD_SCOPE:
		if (idset_add(&learned->scope_ids, ((const struct record_scope *)at)->id) < 0)
			return -ENOMEM;
		break;
	default:
		break;
	}
	return raw_add(&learned->lists[header->type], header, walk);
}

static int read_part(void *first_walk, unsigned worker, uint32_t number, struct origin_walk *walk)
{
	const struct first_walk *first = first_walk;
	struct learned *learned = &first->learned[worker];
	struct copied_part *part = &first->parts[number];
	const struct record_header *header;
	int err = 0;

	part->worker = worker;
	part->run_first = learned->run_count;
	for (int type = 0; type < RECORD_TYPE_COUNT; type++)
		part->first[type] = learned->lists[type].count;
	while (err == 0 && (header = origin_walk_next(walk))) {
		learned->type_counts[header->type]++;
		if (!first->is_closed && record_times(header).last_ns > learned->last_ns)
			learned->last_ns = record_times(header).last_ns;
		err = sort_out(learned, header, walk);
	}
	if (err == 0)
		err = end_run(learned);
	part->run_end = learned->run_count;
	for (int type = 0; type < RECORD_TYPE_COUNT; type++)
		part->end[type] = learned->lists[type].count;
	return err;
}

static int gather_copies(struct process_load *load, const struct first_walk *first,
			 enum record_type type)
{
	struct raw_list *list = &load->raw.lists[type];
	uint64_t count = 0;

	for (unsigned i = 0; i < first->worker_count; i++)
		count += first->learned[i].lists[type].count;
	if (raw_make_room(list, count) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < first->part_count; i++) {
		const struct copied_part *part = &first->parts[i];

		raw_append(list, &first->learned[part->worker].lists[type], part->first[type],
			   part->end[type] - part->first[type]);
	}
	for (unsigned i = 0; i < first->worker_count; i++)
		raw_take_memory(list, &first->learned[i].lists[type]);
	return 0;
}

/* Takes the runs of all threads. */
static int gather_runs(struct process_load *load, const struct first_walk *first)
{
	struct activity_runs *runs = &load->raw.runs;
	uint64_t count = 0;

	runs->parts = table_alloc(first->part_count, sizeof(*runs->parts));
	if (!runs->parts)
		return -ENOMEM;
	for (unsigned i = 0; i < first->worker_count; i++) {
		count += first->learned[i].run_count;
		runs->of_worker[i] = first->learned[i].runs;
		first->learned[i].runs = NULL;
	}
	for (uint32_t i = 0; i < first->part_count; i++) {
		const struct copied_part *part = &first->parts[i];
		struct activity_run *rows = runs->of_worker[part->worker];

		runs->parts[i] = (struct activity_runs_part){rows, rows};
		if (part->run_first != part->run_end)
			runs->parts[i] = (struct activity_runs_part){rows + part->run_first,
								     rows + part->run_end};
	}
	return count < TRACE_NONE ? 0 : -E2BIG;
}

/* Decides about the calls whose functions were not known when they were read. */
static int settle_unsure(struct learned *from)
{
	int err = 0;

	for (uint32_t i = 0; i < from->unsure_count && err == 0; i++) {
		const struct unsure_call *call = &from->unsure[i];

		if (idle_functions_ask(from->idle, call->function) != IDLENESS_IDLE)
			err = idset_add(&from->busy_cids, call->cid);
	}
	return err;
}

static int gather_ids(struct process_load *load, struct learned *from)
{
	if (settle_unsure(from) < 0)
		return -ENOMEM;
	for (int type = 0; type < RECORD_TYPE_COUNT; type++)
		load->raw.type_counts[type] += from->type_counts[type];
	if (from->last_ns > load->raw.last_ns)
		load->raw.last_ns = from->last_ns;
	return cuda_merge(&load->cuda, &from->cuda);
}

/* A set of the model, and where each thread has what it learned of it. */
struct gathered_set {
	struct idset *set;
	size_t learned_offset;
};

struct gathering {
	const struct first_walk *first;
	struct gathered_set sets[6];
};

static int gather_set(void *gathering_of_walk, unsigned worker, uint32_t number)
{
	const struct gathering *gathering = gathering_of_walk;
	const struct gathered_set *to = &gathering->sets[number];

	for (unsigned i = 0; i < gathering->first->worker_count; i++) {
		char *learned = (char *)&gathering->first->learned[i];

		if (idset_merge(to->set, (struct idset *)(learned + to->learned_offset)) < 0)
			return -ENOMEM;
	}
	return idset_finish(to->set);
}

/* Leaves the cids of idle calls out. */
static int drop_idle_calls(struct process_load *load, const struct idset *busy_cids)
{
	struct raw_records *raw = &load->raw;
	uint32_t all = raw->cids.count;
	int err = idset_intersect(&raw->cids, busy_cids);

	raw->idle_calls = all - raw->cids.count;
	load->trace->idle_calls += raw->idle_calls;
	return err;
}

/* Threads share the sets. */
static int gather_sets(struct process_load *load, const struct first_walk *first)
{
	struct idset busy_cids = {0};
	struct gathering gathering = {
		first,
		{
			{&load->raw.cids, offsetof(struct learned, cids)},
			{&load->packets.ids, offsetof(struct learned, packet_ids)},
			{&load->raw.scope_ids, offsetof(struct learned, scope_ids)},
			{&load->raw.barrier_ids, offsetof(struct learned, barrier_ids)},
			{&load->copies.ids, offsetof(struct learned, copy_ids)},
			{&busy_cids, offsetof(struct learned, busy_cids)},
		},
	};
	int err = workers_run(WORKERS_ALL, sizeof(gathering.sets) / sizeof(gathering.sets[0]),
			      gather_set, &gathering);

	if (err == 0 && idle_functions_exist(&first->idle))
		err = drop_idle_calls(load, &busy_cids);
	idset_release(&busy_cids);
	return err;
}

static int gather(struct process_load *load, const struct first_walk *first)
{
	int err = 0;

	for (unsigned i = 0; i < first->worker_count && err == 0; i++)
		err = gather_ids(load, &first->learned[i]);
	if (err == 0)
		err = gather_runs(load, first);
	if (err == 0)
		err = gather_sets(load, first);
	for (int type = 0; type < RECORD_TYPE_COUNT && err == 0; type++)
		err = gather_copies(load, first, (enum record_type)type);
	return err;
}

static void release_learned(struct learned *learned)
{
	idset_release(&learned->cids);
	idset_release(&learned->scope_ids);
	idset_release(&learned->barrier_ids);
	idset_release(&learned->packet_ids);
	idset_release(&learned->copy_ids);
	idset_release(&learned->busy_cids);
	cuda_load_release(&learned->cuda);
	free(learned->unsure);
	free(learned->runs);
	for (int type = 0; type < RECORD_TYPE_COUNT; type++)
		raw_release(&learned->lists[type]);
}

static int finish_sets(struct process_load *load)
{
	if (cuda_finish_sets(&load->cuda) < 0)
		return -ENOMEM;
	for (int type = 0; type < RECORD_TYPE_COUNT; type++) {
		if (load->raw.type_counts[type] >= TRACE_NONE)
			return -E2BIG;
		/* The order of the rows must not depend on the place of a chunk in the file.
		 * scopes_load sorts scopes. */
		if (type != RECORD_SCOPE && type != RECORD_SCOPE_END &&
		    raw_sort(&load->raw.lists[type], raw_order) < 0)
			return -ENOMEM;
	}
	return 0;
}

static uint64_t ignored_types(const struct process_load *load)
{
	uint64_t types = 0;

	if (load->without_ledger)
		types |= ORIGIN_TYPE(RECORD_BARRIER);
	if (load->without_scopes)
		types |= ORIGIN_TYPE(RECORD_SCOPE) | ORIGIN_TYPE(RECORD_SCOPE_END) |
			 ORIGIN_TYPE(RECORD_SCOPE_BODY);
	return types;
}

static int init_walk(const struct process_load *load, struct first_walk *first)
{
	first->learned = calloc(first->worker_count, sizeof(*first->learned));
	first->parts = table_alloc(first->part_count, sizeof(*first->parts));
	if (!first->learned || !first->parts)
		return -ENOMEM;
	for (unsigned i = 0; i < first->worker_count; i++) {
		first->learned[i].ignored = ignored_types(load);
		first->learned[i].idle = load->without_idle_calls ? &first->idle : NULL;
	}
	return 0;
}

static void release_walk(struct first_walk *first)
{
	for (unsigned i = 0; first->learned && i < first->worker_count; i++)
		release_learned(&first->learned[i]);
	free(first->learned);
	free(first->parts);
	first->learned = NULL;
	first->parts = NULL;
}

/* Returns as origin_share. */
static int walk_once(const struct process_load *load, struct first_walk *first)
{
	int err = init_walk(load, first);

	return err == 0 ? origin_share(load->raw.origin, ORIGIN_ALL, WORKERS_ALL, read_part, first)
			: err;
}

/* Walks a second time if only the first walk has found out which records count, or which functions
 * are idle. */
static int walk_all(const struct process_load *load, struct first_walk *first)
{
	int result = walk_once(load, first);

	if (result == 0)
		result = idle_functions_contradict(&first->idle);
	if (result <= 0)
		return result;
	release_walk(first);
	return walk_once(load, first);
}

int records_load(struct process_load *load)
{
	struct first_walk first = {
		.worker_count = workers_count(WORKERS_ALL),
		.part_count = origin_part_count(load->raw.origin),
		.is_closed = origin_info(load->raw.origin)->closed,
	};
	int err = walk_all(load, &first);

	if (err == 0)
		err = gather(load, &first);
	release_walk(&first);
	return err == 0 ? finish_sets(load) : err;
}

/* Selecting the records of collectives (rank_records.h). */
#include "merge/rank_records.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/idset.h"
#include "base/numbers.h"
#include "base/table.h"
#include "merge/rank_calls.h"
#include "trace/record_facts.h"
#include "trace/trace_model.h"

/* What records of other types refer to. There are few of them, but of THREAD, which each chunk has;
 * of those, the first of each thread is taken. */
#define DEFINITIONS                                                                                \
	(ORIGIN_TYPE(RECORD_THREAD) | ORIGIN_TYPE(RECORD_AGENT) | ORIGIN_TYPE(RECORD_KERNEL) |     \
	 ORIGIN_TYPE(RECORD_KERNEL_GONE) | ORIGIN_TYPE(RECORD_QUEUE) |                             \
	 ORIGIN_TYPE(RECORD_API_NAME) | ORIGIN_TYPE(RECORD_ANCHOR) | ORIGIN_TYPE(RECORD_END) |     \
	 ORIGIN_TYPE(RECORD_CUDA_STREAM) | ORIGIN_TYPE(RECORD_CUDA_STREAM_HANDLE))

#define SUBMISSIONS                                                                                \
	(ORIGIN_TYPE(RECORD_DISPATCH) | ORIGIN_TYPE(RECORD_COPY) |                                 \
	 ORIGIN_TYPE(RECORD_CUDA_KERNEL) | ORIGIN_TYPE(RECORD_CUDA_COPY))

#define COMPLETIONS (ORIGIN_TYPE(RECORD_DISPATCH_DONE) | ORIGIN_TYPE(RECORD_COPY_DONE))

struct selection {
	struct rank_records records;
	struct idset cids;	   /* of calls */
	struct numbers inner_cids; /* of CUDA's calls inside them, which are no records of calls */
	struct idset packets;	   /* by packet_key */
	struct idset copies;
	struct numbers tids; /* of which a THREAD record was taken */
	struct record_thread last;
	uint32_t last_tid;
};

static int keep(struct selection *selection, uint32_t tid, const void *records, size_t bytes)
{
	struct rank_records *to = &selection->records;
	struct record_run *run = to->run_count ? &to->runs[to->run_count - 1] : NULL;

	if (table_reserve((void **)&to->bytes, &to->room, to->size + bytes, 1) < 0)
		return -ENOMEM;
	if (!run || run->tid != tid)
		run = table_add((void **)&to->runs, &to->run_count, sizeof(*run));
	if (!run)
		return -ENOMEM;
	memcpy(to->bytes + to->size, records, bytes);
	to->size += bytes;
	run->tid = tid;
	run->bytes += bytes;
	return 0;
}

static int keep_record(struct selection *selection, uint32_t tid,
		       const struct record_header *header)
{
	return keep(selection, tid, header, header->words * 8u);
}

/* ---- calls ---- */

static int keep_calls(struct selection *selection, const struct rank_calls *calls)
{
	int err = 0;

	for (size_t i = 0; i < calls->count && err == 0; i++) {
		const struct rank_call_group *group = &calls->groups[i];

		err = keep(selection, group->tid, group->records, group->bytes);
		for (size_t at = 0; at < group->bytes && err == 0;) {
			const struct record_api *call = (const void *)(group->records + at);

			err = idset_add(&selection->cids, call->cid);
			at += call->header.words * 8u;
		}
	}
	return err == 0 ? idset_finish(&selection->cids) : err;
}

static bool has(const struct idset *ids, uint64_t id)
{
	return id && idset_find(ids, id) != UINT32_MAX;
}

static bool is_of_call(const struct selection *selection, uint64_t cid)
{
	return has(&selection->cids, cid) ||
	       (selection->inner_cids.count &&
		numbers_find(&selection->inner_cids, cid, 0) != NUMBERS_NONE);
}

static int read_inner(void *state, unsigned worker, uint32_t part, struct origin_walk *walk)
{
	struct selection *selection = state;
	const struct record_header *header;
	int err = 0;

	while (err == 0 && (header = origin_walk_next(walk))) {
		const struct record_cuda_inner *inner = (const void *)header;

		if (header->type != RECORD_CUDA_INNER || !is_of_call(selection, inner->outer) ||
		    is_of_call(selection, inner->cid))
			continue;
		err = keep_record(selection, walk->tid, header);
		if (err == 0 && numbers_get(&selection->inner_cids, inner->cid, 0) == NUMBERS_NONE)
			err = -ENOMEM;
	}
	return err;
}

/* The record of a call inside another may come before that of the outer one. Each walk finds at
 * least one more level of calls, and nothing in a trace has more levels than TRACE_PARENTS_MOST. */
static int keep_inner_calls(struct selection *selection, struct origin *origin)
{
	uint32_t before;
	int err = 0, walks = 0;

	do {
		before = selection->inner_cids.count;
		err = origin_share(origin, ORIGIN_TYPE(RECORD_CUDA_INNER), 1, read_inner,
				   selection);
	} while (err == 0 && selection->inner_cids.count > before && ++walks < TRACE_PARENTS_MOST);
	return err;
}

/* ---- what they submitted ---- */

/* Keeps a submission of a kept call, and its id for the completion. */
static int take_submission(struct selection *selection, const struct record_header *header,
			   uint32_t tid)
{
	const void *at = header;
	const struct record_dispatch *dispatch = at;
	const struct record_copy *copy = at;
	uint64_t cid = 0;
	int err = 0;

	if (header->type == RECORD_DISPATCH)
		cid = dispatch->cid;
	else if (header->type == RECORD_COPY)
		cid = copy->cid;
	else if (header->type == RECORD_CUDA_KERNEL)
		cid = ((const struct record_cuda_kernel *)at)->cid;
	else if (header->type == RECORD_CUDA_COPY)
		cid = ((const struct record_cuda_copy *)at)->cid;
	if (!is_of_call(selection, cid))
		return 0;
	if (header->type == RECORD_DISPATCH)
		err = idset_add(&selection->packets,
				packet_key(header->tag, dispatch->packet_index));
	else if (header->type == RECORD_COPY)
		err = idset_add(&selection->copies, copy->copy_id);
	return err == 0 ? keep_record(selection, tid, header) : err;
}

static int take_definition(struct selection *selection, const struct record_header *header,
			   uint32_t tid)
{
	uint32_t tids = selection->tids.count;

	if (header->type == RECORD_THREAD) {
		if (numbers_get(&selection->tids, tid, 0) == NUMBERS_NONE)
			return -ENOMEM;
		if (selection->tids.count == tids)
			return 0;
	}
	return keep_record(selection, tid, header);
}

static int read_submissions(void *state, unsigned worker, uint32_t part, struct origin_walk *walk)
{
	struct selection *selection = state;
	const struct record_header *header;
	int err = 0;

	while (err == 0 && (header = origin_walk_next(walk))) {
		if (ORIGIN_TYPE(header->type) & DEFINITIONS)
			err = take_definition(selection, header, walk->tid);
		else if (ORIGIN_TYPE(header->type) & SUBMISSIONS)
			err = take_submission(selection, header, walk->tid);
	}
	return err;
}

static int read_completions(void *state, unsigned worker, uint32_t part, struct origin_walk *walk)
{
	struct selection *selection = state;
	const struct record_header *header;
	int err = 0;

	while (err == 0 && (header = origin_walk_next(walk))) {
		const struct record_dispatch_done *dispatch = (const void *)header;
		const struct record_copy_done *copy = (const void *)header;

		if ((header->type == RECORD_DISPATCH_DONE &&
		     has(&selection->packets, packet_key(header->tag, dispatch->packet_index))) ||
		    (header->type == RECORD_COPY_DONE && has(&selection->copies, copy->copy_id)))
			err = keep_record(selection, walk->tid, header);
	}
	return err;
}

/* ---- the end of a process that was cut off ---- */

static int read_moments(void *state, unsigned worker, uint32_t part, struct origin_walk *walk)
{
	struct selection *selection = state;
	const struct record_header *header;

	while ((header = origin_walk_next(walk))) {
		if (record_times(header).last_ns <= selection->last.ns)
			continue;
		selection->last.ns = record_times(header).last_ns;
		selection->last_tid = walk->tid;
	}
	return 0;
}

static int keep_last_moment(struct selection *selection, struct origin *origin)
{
	struct record_thread *last = &selection->last;
	int err = origin_share(origin, ORIGIN_ALL, 1, read_moments, selection);

	last->header.type = RECORD_THREAD;
	last->header.words = sizeof(*last) / 8;
	last->header.tag = selection->last_tid;
	return err == 0 && last->ns ? keep_record(selection, selection->last_tid, &last->header)
				    : err;
}

/* ---- selecting ---- */

static int select_submitted(struct selection *selection, struct origin *origin)
{
	int err = keep_inner_calls(selection, origin);

	if (err == 0)
		err = origin_share(origin, DEFINITIONS | SUBMISSIONS, 1, read_submissions,
				   selection);
	if (err == 0)
		err = idset_finish(&selection->packets);
	if (err == 0)
		err = idset_finish(&selection->copies);
	if (err == 0 && (selection->packets.count || selection->copies.count))
		err = origin_share(origin, COMPLETIONS, 1, read_completions, selection);
	return err;
}

static void release(struct selection *selection)
{
	idset_release(&selection->cids);
	numbers_release(&selection->inner_cids);
	idset_release(&selection->packets);
	idset_release(&selection->copies);
	numbers_release(&selection->tids);
}

int rank_records_select(struct origin *origin, struct rank_records *ret_records)
{
	struct selection selection = {0};
	struct rank_records *records = &selection.records;
	struct rank_calls calls = {0};
	const unsigned char *at;
	int err = rank_calls_select(origin, &calls);

	if (err == 0)
		err = keep_calls(&selection, &calls);
	rank_calls_release(&calls);
	if (err == 0)
		err = select_submitted(&selection, origin);
	if (err == 0 && !origin_info(origin)->closed)
		err = keep_last_moment(&selection, origin);
	release(&selection);
	if (err < 0) {
		rank_records_release(records);
		return err;
	}
	at = records->bytes;
	for (uint32_t i = 0; i < records->run_count; i++) {
		records->runs[i].records = at;
		at += records->runs[i].bytes;
	}
	*ret_records = *records;
	return 0;
}

void rank_records_release(struct rank_records *records)
{
	free(records->bytes);
	free(records->runs);
	*records = (struct rank_records){0};
}

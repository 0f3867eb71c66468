/* Definitions of a recording that is followed: see definitions.h. */
#include "live/definitions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "live/scope_definitions.h"
#include "trace/clock_fit.h"

#define AGENTS_MOST 4096 /* a larger index is damage */

bool definitions_has_type(enum record_type type)
{
	switch (type) {
	case RECORD_THREAD:
	case RECORD_AGENT:
	case RECORD_KERNEL:
	case RECORD_QUEUE:
	case RECORD_API_NAME:
	case RECORD_SCOPE:
	case RECORD_SCOPE_END:
	case RECORD_SCOPE_BODY:
	case RECORD_ANCHOR:
		return true;
	default:
		return false;
	}
}

static struct agent_anchors *make_anchors(struct definitions *definitions, uint32_t agent)
{
	if (agent >= AGENTS_MOST)
		return NULL;
	if (agent >= definitions->agents_count &&
	    !table_extend((void **)&definitions->agents, &definitions->agents_count,
			  agent + 1 - definitions->agents_count, sizeof(*definitions->agents)))
		return NULL;
	if (!definitions->agents[agent]) {
		definitions->agents[agent] = calloc(1, sizeof(struct agent_anchors));
		definitions->bytes += sizeof(struct agent_anchors);
	}
	return definitions->agents[agent];
}

/* Follows which anchors clock_fit_init uses, as far as that does not depend on later ones: those
 * that are far enough from the last used one and from the newest, at NEWEST_NS. */
static void judge_anchors(struct agent_anchors *anchors, uint64_t newest_ns)
{
	while (anchors->judged < anchors->count) {
		const struct record_anchor *anchor =
			&anchors->rows[anchors->judged % DEFINITIONS_ANCHORS];

		if (anchor->host_ns + CLOCK_FIT_PIECE_NS > newest_ns)
			return;
		if (!anchors->judged || anchor->host_ns >= anchors->used_ns + CLOCK_FIT_PIECE_NS) {
			anchors->used_ns = anchor->host_ns;
			anchors->final_tick = anchor->tick;
		}
		anchors->judged++;
	}
}

static int add_anchor(struct definitions *definitions, const struct record_anchor *record)
{
	struct agent_anchors *anchors = make_anchors(definitions, record->header.tag);

	if (!anchors)
		return record->header.tag < AGENTS_MOST ? -ENOMEM : 0;
	anchors->rows[anchors->count++ % DEFINITIONS_ANCHORS] = *record;
	judge_anchors(anchors, record->host_ns);
	if (record->host_ns > definitions->last_anchor_ns)
		definitions->last_anchor_ns = record->host_ns;
	return 0;
}

static bool is_unnamed_thread(const struct record_header *record)
{
	return record->type == RECORD_THREAD &&
	       !((const struct record_thread *)(const void *)record)->name[0];
}

/* Activities name agents by their handles. Of two agents with one handle the first counts. */
static int add_agent(struct definitions *definitions, const struct record_agent *record)
{
	void *is_new;
	int64_t number = numbers_row(&definitions->agent_handles, record->handle, 0,
				     (void **)&definitions->agent_indices,
				     &definitions->agent_indices_count, sizeof(uint32_t), &is_new);

	if (number < 0)
		return -ENOMEM;
	if (is_new)
		definitions->agent_indices[number] = record->header.tag;
	return 0;
}

static int add_row(struct definitions *definitions, const struct record_header *record,
		   uint32_t tid)
{
	size_t bytes = record->words * 8u;
	struct definition *row;
	void *is_new;
	int64_t number = numbers_row(&definitions->keys, record->type, record->tag,
				     (void **)&definitions->rows, &definitions->rows_count,
				     sizeof(*row), &is_new);

	if (number < 0)
		return -ENOMEM;
	row = &definitions->rows[number];
	/* Of several records of one key the first counts, and of a thread the first with a name, as
	 * in trace/load/catalog.c. */
	if (row->record && !is_unnamed_thread(row->record))
		return 0;
	definitions->bytes -= row->record ? row->record->words * 8u : 0;
	free(row->record);
	row->record = malloc(bytes);
	if (!row->record)
		return -ENOMEM;
	memcpy(row->record, record, bytes);
	row->tid = tid;
	definitions->bytes += bytes;
	return record->type == RECORD_AGENT ? add_agent(definitions, (const void *)record) : 0;
}

int definitions_add(struct definitions *definitions, const struct record_header *record,
		    uint32_t tid)
{
	switch (record->type) {
	case RECORD_ANCHOR:
		return add_anchor(definitions, (const void *)record);
	case RECORD_SCOPE:
	case RECORD_SCOPE_END:
		return scope_definitions_add(definitions, record, tid);
	default:
		return add_row(definitions, record, tid);
	}
}

/* ---- references ---- */

static bool has(const struct definitions *definitions, enum record_type type, uint64_t id)
{
	return definitions_find(definitions, type, id) != NULL;
}

static bool has_scope(const struct definitions *definitions, const struct record_header *record)
{
	uint64_t scope = scope_of_record(record);

	return scope == 0 || scope_definitions_has(definitions, scope);
}

/* The index of the agent with HANDLE; UINT32_MAX: it has not come. */
static uint32_t agent_index(const struct definitions *definitions, uint64_t handle)
{
	uint32_t number = numbers_find(&definitions->agent_handles, handle, 0);

	return number == NUMBERS_NONE ? UINT32_MAX : definitions->agent_indices[number];
}

/* HANDLE 0 is no agent. */
static bool has_agent(const struct definitions *definitions, uint64_t handle)
{
	return !handle || agent_index(definitions, handle) != UINT32_MAX;
}

static bool has_queue(const struct definitions *definitions, uint32_t id)
{
	const struct definition *queue = definitions_find(definitions, RECORD_QUEUE, id);

	return queue &&
	       has_agent(definitions,
			 ((const struct record_queue *)(const void *)queue->record)->agent);
}

/* Whether the times of a completion are final: they lie before an anchor of the queue's agent. */
static bool is_anchored(const struct definitions *definitions,
			const struct record_dispatch_done *done)
{
	const struct definition *queue =
		definitions_find(definitions, RECORD_QUEUE, done->header.tag);
	uint32_t agent;

	if (done->untimed != RECORD_UNTIMED_NO || definitions->takes_any_time)
		return true;
	if (!queue)
		return false;
	agent = agent_index(definitions,
			    ((const struct record_queue *)(const void *)queue->record)->agent);
	return agent < definitions->agents_count && definitions->agents[agent] &&
	       definitions->agents[agent]->final_tick >= done->end_tick;
}

/* Whether what a finished activity of CUDA refers to has come, and its times are final: they lie
 * before an anchor of CUPTI's clock. */
static bool has_all_of_cuda(const struct definitions *definitions, uint32_t device, uint64_t end)
{
	const struct agent_anchors *clock = RECORD_CUDA_CLOCK < definitions->agents_count
						    ? definitions->agents[RECORD_CUDA_CLOCK]
						    : NULL;

	return has(definitions, RECORD_AGENT, (uint64_t)RECORD_CUDA_AGENT_FIRST + device) &&
	       (!end || definitions->takes_any_time || (clock && clock->final_tick >= end));
}

bool definitions_resolve(const struct definitions *definitions, const struct record_header *record)
{
	const void *at = record;
	const struct record_dispatch *dispatch = at;
	const struct record_cuda_kernel *kernel = at;
	const struct record_cuda_copy *copy = at;

	if (!has_scope(definitions, record))
		return false;
	switch (record->type) {
	case RECORD_API:
		return has(definitions, RECORD_API_NAME, record->tag);
	case RECORD_DISPATCH:
		return has_queue(definitions, record->tag) &&
		       (!dispatch->kernel || has(definitions, RECORD_KERNEL, dispatch->kernel));
	case RECORD_DISPATCH_DONE:
		return is_anchored(definitions, at);
	case RECORD_COPY:
		return has_agent(definitions, ((const struct record_copy *)at)->dst_agent) &&
		       has_agent(definitions, ((const struct record_copy *)at)->src_agent);
	case RECORD_MEMORY:
		return has_agent(definitions, ((const struct record_memory *)at)->agent);
	case RECORD_CUDA_KERNEL:
		return (!record->tag || has(definitions, RECORD_KERNEL, record->tag)) &&
		       has_all_of_cuda(definitions, kernel->device, kernel->end);
	case RECORD_CUDA_COPY:
		return has_all_of_cuda(definitions, copy->device, copy->end);
	default:
		return true;
	}
}

/* ---- windows ---- */

void definitions_begin(struct definitions *definitions)
{
	definitions->window++;
}

static void select_row(struct definitions *definitions, enum record_type type, uint64_t id)
{
	struct definition *row = definitions_find(definitions, type, id);

	if (row)
		row->window = definitions->window;
}

void definitions_select(struct definitions *definitions, const struct record_header *record,
			uint32_t tid)
{
	const void *at = record;
	const struct record_dispatch *dispatch = at;

	select_row(definitions, RECORD_THREAD, tid);
	scope_definitions_select(definitions, scope_of_record(record));
	switch (record->type) {
	case RECORD_API:
		select_row(definitions, RECORD_API_NAME, record->tag);
		break;
	case RECORD_DISPATCH:
		select_row(definitions, RECORD_THREAD, dispatch->tid);
		select_row(definitions, RECORD_QUEUE, record->tag);
		select_row(definitions, RECORD_KERNEL, dispatch->kernel);
		break;
	case RECORD_COPY:
		select_row(definitions, RECORD_THREAD, ((const struct record_copy *)at)->tid);
		break;
	case RECORD_CUDA_KERNEL:
		select_row(definitions, RECORD_KERNEL, record->tag);
		break;
	default:
		break;
	}
}

int definitions_selected(const struct definitions *definitions,
			 int (*take)(void *context, const struct record_header *record,
				     uint32_t tid),
			 void *context)
{
	int err = 0;

	for (uint32_t i = 0; i < definitions->rows_count && err == 0; i++) {
		const struct definition *row = &definitions->rows[i];

		if (row->record &&
		    (row->window == definitions->window || row->record->type == RECORD_AGENT))
			err = take(context, row->record, row->tid);
	}
	for (uint32_t i = 0; i < definitions->agents_count && err == 0; i++) {
		const struct agent_anchors *anchors = definitions->agents[i];
		uint64_t k = anchors && anchors->count > DEFINITIONS_ANCHORS
				     ? anchors->count - DEFINITIONS_ANCHORS
				     : 0;

		for (; anchors && k < anchors->count && err == 0; k++)
			err = take(context, &anchors->rows[k % DEFINITIONS_ANCHORS].header, 0);
	}
	return err == 0 ? scope_definitions_selected(definitions, take, context) : err;
}

void definitions_release(struct definitions *definitions)
{
	scope_definitions_release(definitions);
	for (uint32_t i = 0; i < definitions->rows_count; i++)
		free(definitions->rows[i].record);
	for (uint32_t i = 0; i < definitions->agents_count; i++)
		free(definitions->agents[i]);
	free(definitions->rows);
	free(definitions->agents);
	free(definitions->agent_indices);
	numbers_release(&definitions->agent_handles);
	numbers_release(&definitions->keys);
	*definitions = (struct definitions){0};
}

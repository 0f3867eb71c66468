/* GPU activities: each submission with its completion, in the order of calls. */
#include <errno.h>
#include <stdlib.h>

#include "trace/blit.h"
#include "trace/clock.h"
#include "trace/process.h"
#include "trace/sort.h"
#include "trace/table.h"

/* A submission beside its completion (NULL: none was recorded). */
struct pair {
	const struct raw *begin;
	const void *done;
};

/* What is being built: dispatches by (queue, packet), then copies by id. */
struct pairing {
	struct pair *pairs;
	uint32_t dispatch_count;
	uint32_t count;
};

/* All four start alike: header (tag: queue id), packet index. */
_Static_assert(offsetof(struct record_dispatch, packet_index) == 8, "packet index");
_Static_assert(offsetof(struct record_dispatch_done, packet_index) == 8, "packet index");
_Static_assert(offsetof(struct record_barrier, packet_index) == 8, "packet index");
_Static_assert(offsetof(struct record_copy, copy_id) == 8, "copy id");
_Static_assert(offsetof(struct record_copy_done, copy_id) == 8, "copy id");

static uint64_t by_id(const struct raw *row)
{
	return ((const struct record_dispatch *)row->record)->packet_index;
}

static uint64_t by_queue(const struct raw *row)
{
	return ((const struct record_header *)row->record)->tag;
}

static int sort_packets(struct raw_list *list)
{
	int result = raw_sort(list, by_id);

	return result == 0 ? raw_sort(list, by_queue) : result;
}

static int compare_ids(const struct raw *a, const struct raw *b, bool has_queue)
{
	if (has_queue && by_queue(a) != by_queue(b))
		return by_queue(a) < by_queue(b) ? -1 : 1;
	if (by_id(a) != by_id(b))
		return by_id(a) < by_id(b) ? -1 : 1;
	return 0;
}

/* Merges two sorted lists. Of rows with one key the first counts. */
static uint32_t pair_up(struct process_load *load, const struct raw_list *begins,
			const struct raw_list *dones, bool has_queue, struct pair *pairs)
{
	uint32_t used = 0, at = 0;

	for (uint32_t i = 0; i < begins->count; i++) {
		const struct raw *begin = &begins->rows[i];
		const void *done = NULL;

		if (i && compare_ids(begin - 1, begin, has_queue) == 0) {
			load->duplicates++;
			continue;
		}
		for (; at < dones->count; at++) {
			int order = compare_ids(&dones->rows[at], begin, has_queue);

			if (order > 0)
				break;
			if (order == 0 && !done)
				done = dones->rows[at].record;
			else
				load->unmatched_done++;
		}
		pairs[used++] = (struct pair){.begin = begin, .done = done};
	}
	load->unmatched_done += dones->count - at;
	return used;
}

static int make_pairs(struct process_load *load, struct pairing *pairing)
{
	struct raw_list *dispatches = &load->lists[RECORD_DISPATCH];
	struct raw_list *copies = &load->lists[RECORD_COPY];
	struct raw_list *copies_done = &load->lists[RECORD_COPY_DONE];

	if (sort_packets(dispatches) < 0 || sort_packets(&load->lists[RECORD_DISPATCH_DONE]) < 0 ||
	    raw_sort(copies, by_id) < 0 || raw_sort(copies_done, by_id) < 0)
		return -ENOMEM;
	pairing->pairs = calloc((size_t)dispatches->count + copies->count + 1, sizeof(struct pair));
	if (!pairing->pairs)
		return -ENOMEM;
	pairing->dispatch_count =
		pair_up(load, dispatches, &load->lists[RECORD_DISPATCH_DONE], true, pairing->pairs);
	pairing->count = pairing->dispatch_count;
	pairing->count +=
		pair_up(load, copies, copies_done, false, pairing->pairs + pairing->count);
	return 0;
}

static uint64_t pair_cid(const struct pairing *pairing, uint32_t at)
{
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): pair_up() filled all rows there are */
	const void *record = pairing->pairs[at].begin->record;

	return at < pairing->dispatch_count ? ((const struct record_dispatch *)record)->cid
					    : ((const struct record_copy *)record)->cid;
}

static uint32_t pair_ordinal(const struct pairing *pairing, uint32_t at)
{
	const void *record = pairing->pairs[at].begin->record;

	return at < pairing->dispatch_count ? ((const struct record_dispatch *)record)->ordinal
					    : ((const struct record_copy *)record)->ordinal;
}

/* (cid, ordinal, source, id): the last two are the order that the pairs have already. */
static int sort_pairs(const struct pairing *pairing, struct sort_row **ret_order)
{
	struct sort_row *order = malloc(((size_t)pairing->count + 1) * sizeof(*order));
	int result;

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < pairing->count; i++)
		order[i] = (struct sort_row){.key = pair_ordinal(pairing, i), .index = i};
	result = sort_rows(order, pairing->count);
	for (uint32_t i = 0; i < pairing->count; i++)
		order[i].key = pair_cid(pairing, order[i].index);
	if (result == 0)
		result = sort_rows(order, pairing->count);
	if (result < 0) {
		free(order);
		return result;
	}
	*ret_order = order;
	return 0;
}

static enum record_untimed no_done(const struct process_load *load)
{
	return load->trace->processes[load->process].state == TRACE_TRUNCATED
		       ? RECORD_UNTIMED_TRUNCATED
		       : RECORD_UNTIMED_RECORD_LOST;
}

static void set_dispatch_times(struct process_load *load, struct trace_activity *row,
			       const struct record_dispatch_done *done, uint32_t *hint)
{
	const struct clock_fit *fit = NULL;

	if (row->untimed != RECORD_UNTIMED_NO)
		return;
	if (!done) {
		row->untimed = no_done(load);
		return;
	}
	row->untimed = done->untimed < RECORD_UNTIMED_COUNT ? (enum record_untimed)done->untimed
							    : RECORD_UNTIMED_RECORD_LOST;
	if (row->untimed != RECORD_UNTIMED_NO)
		return;
	row->start_tick = done->start_tick;
	row->end_tick = done->end_tick;
	if (row->agent != TRACE_NONE && row->agent - load->first.agents < load->clock_count)
		fit = &load->clocks[row->agent - load->first.agents];
	if (done->start_tick == 0 || done->end_tick == 0) {
		row->untimed = RECORD_UNTIMED_ZERO_TICK;
	} else if (!fit || !clock_fit_is_usable(fit)) {
		row->untimed = RECORD_UNTIMED_NO_CLOCK;
	} else {
		row->start_ns = clock_fit_convert(fit, done->start_tick, hint);
		row->end_ns = clock_fit_convert(fit, done->end_tick, hint);
	}
}

static void fill_dispatch(struct process_load *load, const struct pair *pair,
			  struct trace_activity *row, uint32_t *hint)
{
	const struct record_dispatch *record = pair->begin->record;
	uint32_t queue = load_find_queue(load, record->header.tag);

	*row = (struct trace_activity){
		.kind = TRACE_KERNEL,
		.agent = queue == TRACE_NONE ? TRACE_NONE : load->trace->queues[queue].agent,
		.queue = queue,
		.thread = load_find_thread(load, record->tid),
		.ordinal = record->ordinal,
		.scope = load_find_scope(load, record->scope),
		.name = load_kernel_name(load, record->kernel),
		.untimed = record->untimed < RECORD_UNTIMED_COUNT
				   ? (enum record_untimed)record->untimed
				   : RECORD_UNTIMED_RECORD_LOST,
		.packet_index = record->packet_index,
		.submit_ns = (int64_t)record->ns,
		.grid = {record->grid[0], record->grid[1], record->grid[2]},
		.workgroup = {record->workgroup[0], record->workgroup[1], record->workgroup[2]},
		.private_bytes = record->private_bytes,
		.group_bytes = record->group_bytes,
		.dst_agent = TRACE_NONE,
		.src_agent = TRACE_NONE,
		.packet_header = record->packet_header,
	};
	row->blit = blit_find(load->strings->strings[row->name], &row->kind);
	set_dispatch_times(load, row, pair->done, hint);
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

static void fill_copy(struct process_load *load, const struct pair *pair,
		      struct trace_activity *row)
{
	const struct record_copy *record = pair->begin->record;
	const struct record_copy_done *done = pair->done;
	const struct trace *trace = load->trace;
	uint32_t dst = load_find_agent(load, record->dst_agent);
	uint32_t src = load_find_agent(load, record->src_agent);

	*row = (struct trace_activity){
		.kind = TRACE_COPY,
		.agent = dst != TRACE_NONE && trace->agents[dst].is_gpu ? dst : src,
		.queue = TRACE_NONE,
		.thread = load_find_thread(load, record->tid),
		.ordinal = record->ordinal,
		.scope = load_find_scope(load, record->scope),
		.packet_index = record->copy_id,
		.submit_ns = (int64_t)record->ns,
		.bytes = record->bytes,
		.dst = record->dst,
		.src = record->src,
		.dst_agent = dst,
		.src_agent = src,
		.direction = direction(trace, dst, src),
	};
	if (!done)
		row->untimed = no_done(load);
	else if (done->header.tag != RECORD_UNTIMED_NO)
		row->untimed = done->header.tag < RECORD_UNTIMED_COUNT ? done->header.tag
								       : RECORD_UNTIMED_RECORD_LOST;
	else if (done->start == 0 || done->end == 0)
		row->untimed = RECORD_UNTIMED_ZERO_TICK;
	if (row->untimed != RECORD_UNTIMED_NO)
		return;
	row->start_ns = (int64_t)done->start;
	row->end_ns = (int64_t)done->end;
}

static int fill_rows(struct process_load *load, const struct pairing *pairing,
		     const struct sort_row *order)
{
	struct trace_activity *rows = trace_extend(load->trace, activities, pairing->count);
	uint32_t call = load->first.calls, hint = 0;

	load->activity_cids = calloc((size_t)pairing->count + 1, sizeof(*load->activity_cids));
	if (!rows || !load->activity_cids)
		return -ENOMEM;
	for (uint32_t i = 0; i < pairing->count; i++) {
		const struct pair *pair = &pairing->pairs[order[i].index];
		uint64_t cid = pair_cid(pairing, order[i].index);

		if (order[i].index < pairing->dispatch_count)
			fill_dispatch(load, pair, &rows[i], &hint);
		else
			fill_copy(load, pair, &rows[i]);
		/* Both sides ascend by cid. */
		while (call < load->trace->calls_count && load->trace->calls[call].cid < cid)
			call++;
		rows[i].call = TRACE_NONE;
		if (cid && call < load->trace->calls_count && load->trace->calls[call].cid == cid)
			rows[i].call = call;
		rows[i].process = load->process;
		rows[i].stream = TRACE_NONE;
		rows[i].launch = TRACE_NONE;
		rows[i].node = TRACE_NONE;
		load->activity_cids[i] = cid;
	}
	return 0;
}

static int load_barriers(struct process_load *load)
{
	struct raw_list *list = &load->lists[RECORD_BARRIER];
	struct trace_barrier *rows;
	uint32_t used = 0;

	if (sort_packets(list) < 0)
		return -ENOMEM;
	rows = trace_extend(load->trace, barriers, list->count);
	if (!rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < list->count; i++) {
		const struct record_barrier *record = list->rows[i].record;

		if (i && compare_ids(&list->rows[i - 1], &list->rows[i], true) == 0) {
			load->duplicates++;
			continue;
		}
		rows[used] = (struct trace_barrier){
			.process = load->process,
			.queue = load_find_queue(load, record->header.tag),
			.call = load_find_call(load, record->cid),
			.packet_index = record->packet_index,
			.submit_ns = (int64_t)record->ns,
			.completion_signal = record->completion_signal,
			.packet_header = record->packet_header,
		};
		for (int dep = 0; dep < 5; dep++)
			rows[used].dep_signal[dep] = record->dep_signal[dep];
		used++;
	}
	load->trace->barriers_count -= list->count - used;
	return 0;
}

int activities_load(struct process_load *load)
{
	struct pairing pairing = {0};
	struct sort_row *order = NULL;
	int result = make_pairs(load, &pairing);

	if (result == 0)
		result = sort_pairs(&pairing, &order);
	if (result == 0)
		result = fill_rows(load, &pairing, order);
	free(pairing.pairs);
	free(order);
	return result == 0 ? load_barriers(load) : result;
}

/* Finds the graph nodes that recorded events (cuda_recorders.h). */
#include "trace/graph/cuda_recorders.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/graph/graph_events.h"
#include "trace/load/cuda_load.h"
#include "trace/process_load.h"
#include "trace/row_table.h"

/* CUPTI's number of an event and the program's pointer to it. Both are known for a call that has
 * the pointer as an argument and for which CUPTI reports the number. */
struct name {
	uint64_t key; /* cuda_stream_key() of context and event */
	uint64_t pointer;
};

struct placing {
	struct process_load *load;
	struct name *names; /* sorted by key */
	uint32_t name_count;
	/* Event record nodes of launches; place_all sorts them by call */
	struct graph_events events;
	uint32_t *nodes; /* cuda_recorders.nodes */
	bool *is_taken;	 /* by row of events: a record has this node */
};

/* ---- names ---- */

static int compare_names(const void *left, const void *right)
{
	const struct name *a = left, *b = right;

	return (a->key > b->key) - (a->key < b->key);
}

static void learn_name(struct placing *placing, uint64_t cid, uint32_t context, uint32_t event)
{
	uint64_t pointer = cuda_event_of_call(placing->load, cuda_find_call(placing->load, cid));

	if (pointer && event != RECORD_CUDA_NONE)
		placing->names[placing->name_count++] =
			(struct name){cuda_stream_key(context, event), pointer};
}

static int learn_names(struct placing *placing)
{
	const struct raw_list *records = &placing->load->raw.lists[RECORD_CUDA_EVENT];
	const struct raw_list *syncs = &placing->load->raw.lists[RECORD_CUDA_SYNC];

	placing->names = table_alloc(records->count + syncs->count, sizeof(*placing->names));
	if (!placing->names)
		return -ENOMEM;
	for (uint32_t i = 0; i < records->count; i++) {
		const struct record_cuda_event *record = records->rows[i].record;

		learn_name(placing, record->cid, record->context, record->header.tag);
	}
	for (uint32_t i = 0; i < syncs->count; i++) {
		const struct record_cuda_sync *record = syncs->rows[i].record;

		learn_name(placing, record->cid, record->context, record->event);
	}
	qsort(placing->names, placing->name_count, sizeof(*placing->names), compare_names);
	return 0;
}

/* The program's pointer to the event of RECORD; 0 = not known. */
static uint64_t pointer_of(const struct placing *placing, const struct record_cuda_event *record)
{
	struct name wanted = {.key = cuda_stream_key(record->context, record->header.tag)};
	const struct name *found = bsearch(&wanted, placing->names, placing->name_count,
					   sizeof(wanted), compare_names);

	return found ? found->pointer : 0;
}

/* ---- launches ---- */

static const struct record_cuda_event *record_at(const struct placing *placing, uint32_t at)
{
	return placing->load->raw.lists[RECORD_CUDA_EVENT].rows[at].record;
}

static int compare_events(const void *left, const void *right)
{
	const struct graph_event *a = left, *b = right;

	if (a->call != b->call)
		return a->call < b->call ? -1 : 1;
	return (a->node > b->node) - (a->node < b->node);
}

/* The rows of CALL in events are [returned index, *RET_STOP). */
static uint32_t find_events(const struct placing *placing, uint32_t call, uint32_t *ret_stop)
{
	const struct graph_event *rows = placing->events.rows;
	uint32_t low = 0, high = placing->events.count, stop;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (rows[middle].call < call)
			low = middle + 1;
		else
			high = middle;
	}
	for (stop = low; stop < placing->events.count && rows[stop].call == call;)
		stop++;
	*ret_stop = stop;
	return low;
}

/* Gives record AT the first free node of rows [FIRST, STOP) that records the same event pointer. */
static void place_by_pointer(struct placing *placing, uint32_t at, uint32_t first, uint32_t stop)
{
	uint64_t pointer = pointer_of(placing, record_at(placing, at));

	for (uint32_t i = first; pointer && i < stop; i++) {
		const struct graph_event *row = &placing->events.rows[i];

		if (placing->is_taken[i] || row->event != pointer || row->node == TRACE_NONE)
			continue;
		placing->nodes[at] = row->node;
		placing->is_taken[i] = true;
		return;
	}
}

/* If exactly one record and one node are left, they belong together. Needs as many records as
 * nodes. */
static void place_last(struct placing *placing, uint32_t begin, uint32_t end, uint32_t first,
		       uint32_t stop)
{
	uint32_t record = TRACE_NONE, node = TRACE_NONE;

	if (end - begin != stop - first)
		return;
	for (uint32_t i = begin; i < end; i++) {
		if (placing->nodes[i] != TRACE_NONE)
			continue;
		if (record != TRACE_NONE)
			return;
		record = i;
	}
	for (uint32_t i = first; i < stop; i++)
		if (!placing->is_taken[i])
			node = placing->events.rows[i].node;
	if (record != TRACE_NONE)
		placing->nodes[record] = node;
}

/* A record with its node, for sorting by node. */
struct placed {
	struct raw row;
	uint32_t node, at;
};

static int compare_placed(const void *left, const void *right)
{
	const struct placed *a = left, *b = right;

	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	return (a->at > b->at) - (a->at < b->at);
}

static int order_by_node(struct placing *placing, uint32_t begin, uint32_t end)
{
	struct raw *rows = placing->load->raw.lists[RECORD_CUDA_EVENT].rows;
	struct placed *placed = table_alloc(end - begin, sizeof(*placed));

	if (!placed)
		return -ENOMEM;
	for (uint32_t i = begin; i < end; i++)
		placed[i - begin] = (struct placed){rows[i], placing->nodes[i], i};
	qsort(placed, end - begin, sizeof(*placed), compare_placed);
	for (uint32_t i = begin; i < end; i++) {
		rows[i] = placed[i - begin].row;
		placing->nodes[i] = placed[i - begin].node;
	}
	free(placed);
	return 0;
}

/* Finds the nodes of records [BEGIN, END), which have the same cid, and sorts them by node. */
static int place_call(struct placing *placing, uint32_t begin, uint32_t end)
{
	uint32_t call = cuda_find_call(placing->load, record_at(placing, begin)->cid), first, stop;

	if (call == TRACE_NONE || placing->load->trace->calls[call].launch == TRACE_NONE)
		return 0;
	first = find_events(placing, call, &stop);
	for (uint32_t i = begin; i < end; i++)
		place_by_pointer(placing, i, first, stop);
	place_last(placing, begin, end, first, stop);
	return end - begin > 1 ? order_by_node(placing, begin, end) : 0;
}

static int place_all(struct placing *placing)
{
	uint32_t count = placing->load->raw.lists[RECORD_CUDA_EVENT].count, end;
	int err = 0;

	if (placing->events.count)
		qsort(placing->events.rows, placing->events.count, sizeof(*placing->events.rows),
		      compare_events);
	for (uint32_t begin = 0; begin < count && err == 0; begin = end) {
		for (end = begin + 1; end < count; end++)
			if (record_at(placing, end)->cid != record_at(placing, begin)->cid)
				break;
		err = place_call(placing, begin, end);
	}
	return err;
}

static uint64_t by_cid(const struct raw *row)
{
	return ((const struct record_cuda_event *)row->record)->cid;
}

/* Finds the launches whose event records are all missing, as with an older CUPTI. */
static int find_silent(struct placing *placing, struct cuda_recorders *recorders)
{
	const struct raw_list *list = &placing->load->raw.lists[RECORD_CUDA_EVENT];
	const struct graph_event *rows = placing->events.rows;

	recorders->silent = table_alloc(placing->events.count, sizeof(*recorders->silent));
	if (!recorders->silent)
		return -ENOMEM;
	for (uint32_t i = 0; i < placing->events.count; i++) {
		uint64_t cid = placing->load->trace->calls[rows[i].call].cid;
		int64_t at = raw_find(list, cid, by_cid);

		if ((i == 0 || rows[i].call != rows[i - 1].call) &&
		    (at < 0 || by_cid(&list->rows[at]) != cid))
			recorders->silent[recorders->silent_count++] = cid;
	}
	return 0;
}

int cuda_recorders_find(struct process_load *load, struct cuda_recorders *ret_recorders)
{
	uint32_t count = load->raw.lists[RECORD_CUDA_EVENT].count;
	struct placing placing = {.load = load};
	int err = graph_events_find(load, &placing.events);

	*ret_recorders = (struct cuda_recorders){.nodes = table_alloc(count, sizeof(uint32_t))};
	placing.nodes = ret_recorders->nodes;
	placing.is_taken = calloc((size_t)placing.events.count + 1, sizeof(*placing.is_taken));
	if (err == 0 && (!placing.nodes || !placing.is_taken))
		err = -ENOMEM;
	if (err == 0)
		memset(placing.nodes, 0xff, (size_t)count * sizeof(*placing.nodes));
	if (err == 0 && placing.events.count) {
		err = learn_names(&placing);
		if (err == 0)
			err = place_all(&placing);
		if (err == 0)
			err = find_silent(&placing, ret_recorders);
	}
	graph_events_release(&placing.events);
	free(placing.names);
	free(placing.is_taken);
	return err;
}

void cuda_recorders_release(struct cuda_recorders *recorders)
{
	free(recorders->nodes);
	free(recorders->silent);
	*recorders = (struct cuda_recorders){0};
}

/* Which graph node an activity of a launch is, and how sure that is.
 *
 * The activities of a launch, in the order in which they were submitted, are laid beside the
 * sequence that the graph lets expect (expect.h), with the exec's updates up to that launch
 * applied. Where all of it agrees, the names are exact. Where it does not, a node is named only if
 * nothing else it could be; the rest stays unknown. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "trace/expect.h"
#include "trace/process.h"
#include "trace/sort.h"

/* What an activity of a node looks like. */
struct signature {
	uint64_t bytes;	   /* of copies and fills; 0 = unknown */
	trace_string name; /* of kernels; 0 = unknown */
	uint32_t grid[3];
	uint32_t workgroup[3];
	uint32_t pieces; /* activities that HIP is known to make of it */
};

_Static_assert(sizeof(struct signature) == 40, "signature without padding");

/* The exec whose launches are being named, as it is at the present launch. */
struct exec_state {
	uint32_t exec; /* index into trace.execs, TRACE_NONE = none yet */
	const struct expect_graph *expect;
	struct signature *signatures; /* by item */
	struct sort_row *by_node;     /* items by node; NULL = not made, no update came */
	struct sort_row *by_hash;     /* items by hash of their signature; NULL = not made */
	uint32_t next_update;	      /* into the list of updates */
};

struct naming {
	struct process_load *load;
	struct exec_state state;
	bool has_losses; /* activities were dropped: a gap may be anywhere */
};

static uint64_t update_exec(const struct raw *row)
{
	return ((const struct record_graph_node *)row->record)->graph_id;
}

static uint64_t update_cid(const struct raw *row)
{
	return ((const struct record_graph_node *)row->record)->cid;
}

static struct signature node_signature(const struct trace_node *node)
{
	struct signature signature = {.bytes = node->bytes, .pieces = node->pieces};

	if (node->type != RECORD_NODE_KERNEL)
		return signature;
	signature.name = node->name;
	memcpy(signature.grid, node->grid, sizeof(signature.grid));
	memcpy(signature.workgroup, node->workgroup, sizeof(signature.workgroup));
	return signature;
}

static void exec_state_release(struct exec_state *state)
{
	free(state->by_hash);
	free(state->by_node);
	free(state->signatures);
}

static int enter_exec(struct naming *naming, uint32_t exec)
{
	struct process_load *load = naming->load;
	struct exec_state *state = &naming->state;
	const struct trace *trace = load->trace;
	uint32_t graph = trace->execs[exec].graph;
	int64_t before;

	exec_state_release(state);
	*state = (struct exec_state){.exec = exec};
	if (graph == TRACE_NONE)
		return 0;
	state->expect = &load->expects[graph - load->first.graphs];
	state->signatures = calloc((size_t)state->expect->item_count + 1, sizeof(struct signature));
	if (!state->signatures)
		return -ENOMEM;
	for (uint32_t i = 0; i < state->expect->item_count; i++)
		state->signatures[i] = node_signature(&trace->nodes[state->expect->items[i].node]);
	before = raw_find(&load->lists[RECORD_GRAPH_EXEC_UPDATE], trace->execs[exec].id - 1,
			  update_exec);
	state->next_update = (uint32_t)(before + 1);
	return 0;
}

/* Items by a key each, so that only_item() finds them. */
static int index_items(const struct exec_state *state,
		       uint64_t (*key)(const struct exec_state *, uint32_t item),
		       struct sort_row **ret_rows)
{
	uint32_t count = state->expect->item_count;
	struct sort_row *rows = malloc(((size_t)count + 1) * sizeof(*rows));
	int result;

	if (!rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		rows[i] = (struct sort_row){.key = key(state, i), .index = i};
	result = sort_rows(rows, count);
	if (result < 0)
		free(rows);
	else
		*ret_rows = rows;
	return result;
}

/* The one item with this key, or TRACE_NONE if there are none or several. */
static uint32_t only_item(const struct exec_state *state, const struct sort_row *rows, uint64_t key)
{
	uint32_t low = 0, high = state->expect->item_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (rows[middle].key < key)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == state->expect->item_count || rows[low].key != key)
		return TRACE_NONE;
	if (low + 1 < state->expect->item_count && rows[low + 1].key == key)
		return TRACE_NONE;
	return rows[low].index;
}

static uint64_t node_of_item(const struct exec_state *state, uint32_t item)
{
	return state->expect->items[item].node;
}

/* The item that RECORD updates: none for a node that brings nothing to the GPU, and for a graph
 * that is not in this exec. */
static uint32_t updated_item(const struct process_load *load, const struct exec_state *state,
			     const struct record_graph_node *record)
{
	uint32_t graph = load->trace->execs[state->exec].graph;

	if (record->child_graph_id)
		graph = load_find_graph(load, record->child_graph_id);
	if (graph == TRACE_NONE || record->header.tag >= load->trace->graphs[graph].node_count)
		return TRACE_NONE;
	return only_item(state, state->by_node,
			 load->trace->graphs[graph].node_first + record->header.tag);
}

static struct signature updated_signature(struct process_load *load,
					  const struct record_graph_node *record)
{
	struct signature signature = {.bytes = record->bytes, .pieces = 1};

	if (record->type == RECORD_NODE_MEMSET)
		signature.pieces = expect_fill_pieces(record->dst, record->bytes, record->height);
	if (record->type != RECORD_NODE_KERNEL)
		return signature;
	signature.name = load_function_name(load, record->function, record->ns);
	for (int axis = 0; axis < 3; axis++) {
		signature.grid[axis] = record->grid[axis] * record->block[axis];
		signature.workgroup[axis] = record->block[axis];
	}
	return signature;
}

static int apply_update(struct naming *naming, const struct record_graph_node *record)
{
	struct exec_state *state = &naming->state;
	uint32_t item;

	if (!state->by_node && index_items(state, node_of_item, &state->by_node) < 0)
		return -ENOMEM;
	item = updated_item(naming->load, state, record);
	if (item == TRACE_NONE)
		return 0;
	state->signatures[item] = updated_signature(naming->load, record);
	free(state->by_hash);
	state->by_hash = NULL;
	return 0;
}

/* Updates of this exec by calls before CID. */
static int apply_updates(struct naming *naming, uint64_t cid)
{
	const struct raw_list *list = &naming->load->lists[RECORD_GRAPH_EXEC_UPDATE];
	struct exec_state *state = &naming->state;
	uint64_t exec_id = naming->load->trace->execs[state->exec].id;

	for (; state->next_update < list->count; state->next_update++) {
		const struct record_graph_node *record = list->rows[state->next_update].record;

		if (record->graph_id != exec_id || record->cid >= cid)
			break;
		if (state->expect && apply_update(naming, record) < 0)
			return -ENOMEM;
	}
	return 0;
}

enum agreement { DIFFERS, SILENT, AGREES };

/* SILENT: nothing contradicts, but part of the signature is not known. */
static enum agreement compare(const struct signature *signature, const struct trace_activity *row)
{
	if (row->kind != TRACE_KERNEL)
		return AGREES;
	if (memcmp(signature->grid, row->grid, sizeof(row->grid)) != 0 ||
	    memcmp(signature->workgroup, row->workgroup, sizeof(row->workgroup)) != 0)
		return DIFFERS;
	if (signature->name == 0 || row->name == 0)
		return SILENT;
	return signature->name == row->name ? AGREES : DIFFERS;
}

/* The activities of one launch beside the items; assigned[i] = item, TRACE_NONE = not told. */
struct layout {
	struct trace_activity *rows;
	uint32_t row_count;
	uint32_t *assigned;
	bool is_whole;	/* every item got its activities and every activity its item */
	bool is_prefix; /* every activity got its item, in order; the end is missing */
};

static uint32_t run_of_rows(const struct layout *layout, uint32_t at, enum trace_activity_kind kind)
{
	uint32_t stop = at;

	while (stop < layout->row_count && layout->rows[stop].kind == kind)
		stop++;
	return stop - at;
}

static uint32_t run_of_items(const struct expect_graph *expect, uint32_t at)
{
	uint32_t stop = at + 1;

	while (stop < expect->item_count && expect->items[stop].kind == expect->items[at].kind)
		stop++;
	return stop - at;
}

/* Several items of one kind in a row: one row each, or the pieces that HIP makes of each; if
 * neither comes to the number of rows, it cannot be told which row is whose. */
static uint32_t rows_of_item(const struct exec_state *state, const struct layout *layout,
			     uint32_t item, uint32_t at)
{
	const struct expect_item *expected = &state->expect->items[item];
	uint32_t run = run_of_rows(layout, at, expected->kind);
	uint32_t items = run_of_items(state->expect, item);
	uint64_t pieces = 0;

	if (expected->most == 1)
		return run ? 1 : 0;
	for (uint32_t i = 0; i < items; i++)
		pieces += state->signatures[item + i].pieces;
	if (pieces == run)
		return state->signatures[item].pieces;
	if (run == items)
		return 1;
	return items == 1 ? run : 0;
}

static void lay_out(const struct exec_state *state, struct layout *layout)
{
	uint32_t item, at = 0;

	for (item = 0; item < state->expect->item_count && at < layout->row_count; item++) {
		uint32_t rows = rows_of_item(state, layout, item, at);

		if (rows < state->expect->items[item].least)
			break;
		for (uint32_t i = 0; i < rows; i++)
			layout->assigned[at++] = item;
	}
	layout->is_prefix = at == layout->row_count && item < state->expect->item_count;
	layout->is_whole = at == layout->row_count && item == state->expect->item_count;
}

static void name_row(struct trace_activity *row, const struct exec_state *state, uint32_t item,
		     enum trace_confidence confidence, bool alone)
{
	row->confidence = confidence;
	if (confidence <= TRACE_CONFIDENCE_UNKNOWN)
		return;
	row->node = state->expect->items[item].node;
	if (row->kind != TRACE_KERNEL && alone && row->bytes == 0)
		row->bytes = state->signatures[item].bytes;
}

/* In order, and complete: exact if every signature agrees. Otherwise place is all there is, and
 * a row that contradicts its place is unknown. */
static bool name_by_place(const struct exec_state *state, const struct layout *layout,
			  const struct trace *trace)
{
	bool exact = layout->is_whole;

	for (uint32_t i = 0; i < layout->row_count && exact; i++)
		exact = compare(&state->signatures[layout->assigned[i]], &layout->rows[i]) ==
			AGREES;
	for (uint32_t i = 0; i < layout->row_count; i++) {
		uint32_t item = layout->assigned[i];
		struct trace_activity *row = &layout->rows[i];
		bool alone = (i == 0 || layout->assigned[i - 1] != item) &&
			     (i + 1 == layout->row_count || layout->assigned[i + 1] != item);
		enum trace_confidence confidence = TRACE_CONFIDENCE_ORDER;

		if (exact)
			confidence = TRACE_CONFIDENCE_EXACT;
		else if (compare(&state->signatures[item], row) == DIFFERS)
			confidence = TRACE_CONFIDENCE_UNKNOWN;
		name_row(row, state, item, confidence, alone);
		if (row->kind == TRACE_COPY && row->direction == TRACE_COPY_UNKNOWN &&
		    row->node != TRACE_NONE)
			row->direction = trace->nodes[row->node].direction;
	}
	return exact;
}

static uint64_t hash_of(const struct signature *signature)
{
	struct signature kernel = *signature;

	kernel.bytes = 0;
	kernel.pieces = 1;
	return XXH3_64bits(&kernel, sizeof(kernel));
}

static uint64_t hash_of_item(const struct exec_state *state, uint32_t item)
{
	return hash_of(&state->signatures[item]);
}

static int name_by_signature(struct exec_state *state, const struct layout *layout)
{
	if (!state->by_hash && index_items(state, hash_of_item, &state->by_hash) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < layout->row_count; i++) {
		struct trace_activity *row = &layout->rows[i];
		struct signature seen = {.name = row->name};
		uint32_t item = TRACE_NONE;

		memcpy(seen.grid, row->grid, sizeof(seen.grid));
		memcpy(seen.workgroup, row->workgroup, sizeof(seen.workgroup));
		if (row->kind == TRACE_KERNEL && row->name)
			item = only_item(state, state->by_hash, hash_of(&seen));
		name_row(row, state, item,
			 item == TRACE_NONE ? TRACE_CONFIDENCE_UNKNOWN : TRACE_CONFIDENCE_SIGNATURE,
			 false);
	}
	return 0;
}

/* First activity of the process whose cid is at least CID. */
static uint32_t find_activity(const struct process_load *load, uint64_t cid)
{
	uint32_t low = 0, high = load->trace->activities_count - load->first.activities;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (load->activity_cids[middle] < cid)
			low = middle + 1;
		else
			high = middle;
	}
	return low + load->first.activities;
}

static int name_rows(struct naming *naming, struct trace_launch *launch, struct layout *layout)
{
	struct exec_state *state = &naming->state;

	for (uint32_t i = 0; i < layout->row_count; i++)
		layout->rows[i].confidence = TRACE_CONFIDENCE_UNKNOWN;
	if (!state->expect)
		return 0;
	if (!state->expect->unknown)
		lay_out(state, layout);
	/* A launch that was cut off has its first activities, unless others were dropped. */
	if (layout->is_whole ||
	    (layout->is_prefix && launch->call == TRACE_NONE && !naming->has_losses)) {
		launch->exact = name_by_place(state, layout, naming->load->trace);
		return 0;
	}
	return name_by_signature(state, layout);
}

static int name_launch(struct naming *naming, uint32_t index)
{
	struct process_load *load = naming->load;
	struct trace *trace = load->trace;
	struct trace_launch *launch = &trace->launches[index];
	uint64_t cid = load->launch_cids[index - load->first.launches];
	uint32_t first = find_activity(load, cid);
	uint32_t stop = cid == UINT64_MAX ? first : find_activity(load, cid + 1);
	struct layout layout = {.rows = trace->activities + first, .row_count = stop - first};
	int result;

	if (cid == 0)
		return 0;
	if (naming->state.exec != launch->exec && enter_exec(naming, launch->exec) < 0)
		return -ENOMEM;
	if (apply_updates(naming, cid) < 0)
		return -ENOMEM;
	if (naming->state.expect)
		launch->activities_expected = expect_count(naming->state.expect);
	launch->activity_count = layout.row_count;
	for (uint32_t i = first; i < stop; i++)
		trace->activities[i].launch = index;
	layout.assigned = calloc((size_t)layout.row_count + 1, sizeof(*layout.assigned));
	if (!layout.assigned)
		return -ENOMEM;
	result = name_rows(naming, launch, &layout);
	free(layout.assigned);
	return result;
}

static void count_updates(struct process_load *load)
{
	const struct raw_list *list = &load->lists[RECORD_GRAPH_EXEC_UPDATE];
	uint32_t exec = load->first.execs;

	for (uint32_t i = 0; i < list->count; i++) {
		while (exec < load->trace->execs_count &&
		       load->trace->execs[exec].id < update_exec(&list->rows[i]))
			exec++;
		if (exec < load->trace->execs_count &&
		    load->trace->execs[exec].id == update_exec(&list->rows[i]))
			load->trace->execs[exec].update_count++;
	}
}

static int make_expectations(struct process_load *load)
{
	struct trace *trace = load->trace;

	for (uint32_t i = load->first.execs; i < trace->execs_count; i++) {
		uint32_t graph = trace->execs[i].graph;
		struct expect_graph *expect;

		if (graph == TRACE_NONE)
			continue;
		expect = &load->expects[graph - load->first.graphs];
		if (!expect->items &&
		    expect_make(trace, load->expects, load->first.graphs, graph) < 0)
			return -ENOMEM;
	}
	return 0;
}

int naming_load(struct process_load *load)
{
	struct raw_list *updates = &load->lists[RECORD_GRAPH_EXEC_UPDATE];
	struct naming naming = {.load = load, .state = {.exec = TRACE_NONE}};
	int result;

	for (int cause = 0; cause < RECORD_DROP_COUNT; cause++)
		naming.has_losses |= load->counts.dropped[RECORD_CLASS_DISPATCH][cause] ||
				     load->counts.dropped[RECORD_CLASS_COPY][cause];
	naming.has_losses |= load->damage != 0;
	result = raw_sort(updates, update_cid);
	if (result == 0)
		result = raw_sort(updates, update_exec);
	if (result == 0)
		result = make_expectations(load);
	count_updates(load);
	for (uint32_t i = load->first.launches; i < load->trace->launches_count && result == 0; i++)
		result = name_launch(&naming, i);
	exec_state_release(&naming.state);
	return result;
}

/* The naming stage: which graph node an activity of a launch is, and how certain that is.
 *
 * The activities of a launch, in the order in which they were submitted, are compared with the
 * sequence that the graph lets expect (expect.h), after the exec's updates up to that launch. If
 * all of it agrees, the names are exact. If not, an activity gets a node only if it can be no
 * other; the rest stays unknown. For CUDA, whose activities name their nodes, cuda_naming.c
 * does this. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/sort.h"
#include "base/table.h"
#include "trace/graph/expect.h"
#include "trace/process_load.h"

/* The exec whose launches are being named, as it was at the current launch. */
struct exec_state {
	uint32_t exec; /* index into trace.execs, TRACE_NONE = none yet */
	const struct expect_graph *expect;
	struct node_signature *signatures; /* by item; updates change them */
	/* items by node; NULL = not made, because no update came yet */
	struct sort_row *by_node;
	struct sort_row *by_hash; /* items by the hash of their signature; NULL = not made */
	uint32_t next_update;	  /* index into the updates of load->graph_input */
};

struct naming {
	struct process_load *load;
	struct exec_state state;
	struct switch_walk switches;
	/* index of the first activity without a call; all later ones have none */
	uint32_t orphan_first;
	uint32_t *assigned; /* scratch for the layout of each launch */
	size_t assigned_room;
	bool has_losses; /* activities were dropped, so activities may be missing anywhere */
	bool is_cuda;	 /* the launches are CUDA's, whose activities name their nodes */
};

static uint64_t update_exec(const void *row)
{
	return ((const struct input_update *)row)->exec_id;
}

static uint64_t update_cid(const void *row)
{
	return ((const struct input_update *)row)->cid;
}

static struct node_signature node_signature(const struct trace_node *node)
{
	struct node_signature signature = {.bytes = node->bytes, .pieces = node->pieces};

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

	exec_state_release(state);
	*state = (struct exec_state){.exec = exec};
	if (graph == TRACE_NONE)
		return 0;
	state->expect = &load->expects[graph - load->first.graphs];
	state->signatures =
		calloc((size_t)state->expect->item_count + 1, sizeof(struct node_signature));
	if (!state->signatures)
		return -ENOMEM;
	for (uint32_t i = 0; i < state->expect->item_count; i++)
		state->signatures[i] = node_signature(&trace->nodes[state->expect->items[i].node]);
	state->next_update = graph_input_find_updates(&load->graph_input, trace->execs[exec].id);
	return 0;
}

/* Makes rows of items, sorted by a key, for only_item(). */
static int index_items(const struct exec_state *state,
		       uint64_t (*key)(const struct exec_state *, uint32_t item),
		       struct sort_row **ret_rows)
{
	uint32_t count = state->expect->item_count;
	struct sort_row *rows = malloc(((size_t)count + 1) * sizeof(*rows));
	int err;

	if (!rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		rows[i] = (struct sort_row){.key = key(state, i), .index = i};
	err = sort_rows(rows, count);
	if (err < 0)
		free(rows);
	else
		*ret_rows = rows;
	return err;
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

/* The item that UPDATE changes. TRACE_NONE for a node that causes no activity, and for a graph that
 * is not in this exec. */
static uint32_t updated_item(const struct process_load *load, const struct exec_state *state,
			     const struct input_update *update)
{
	uint32_t graph = load->trace->execs[state->exec].graph;

	if (update->graph_id)
		graph = load_find_graph(load, update->graph_id);
	if (graph == TRACE_NONE || update->index >= load->trace->graphs[graph].node_count)
		return TRACE_NONE;
	return only_item(state, state->by_node,
			 load->trace->graphs[graph].node_first + update->index);
}

static int apply_update(struct naming *naming, const struct input_update *update)
{
	struct exec_state *state = &naming->state;
	uint32_t item;

	if (!state->by_node && index_items(state, node_of_item, &state->by_node) < 0)
		return -ENOMEM;
	item = updated_item(naming->load, state, update);
	if (item == TRACE_NONE)
		return 0;
	state->signatures[item] = update->signature;
	free(state->by_hash);
	state->by_hash = NULL;
	return 0;
}

/* Applies the updates of this exec by calls before CID. */
static int apply_updates(struct naming *naming, uint64_t cid)
{
	const struct graph_input *input = &naming->load->graph_input;
	struct exec_state *state = &naming->state;
	uint64_t exec_id = naming->load->trace->execs[state->exec].id;
	const struct input_update *update;

	while ((update = graph_input_next_update(input, exec_id, cid, &state->next_update)))
		if (state->expect && apply_update(naming, update) < 0)
			return -ENOMEM;
	return 0;
}

enum agreement { DIFFERS, SILENT, AGREES };

/* SILENT: nothing contradicts, but a name is not known. */
static enum agreement compare(const struct node_signature *signature, const struct trace_work *work)
{
	if (work->kind != TRACE_KERNEL)
		return AGREES;
	if (memcmp(signature->grid, work->grid, sizeof(work->grid)) != 0 ||
	    memcmp(signature->workgroup, work->workgroup, sizeof(work->workgroup)) != 0)
		return DIFFERS;
	if (signature->name == 0 || work->name == 0)
		return SILENT;
	return signature->name == work->name ? AGREES : DIFFERS;
}

/* The activities of one launch beside the items of its graph. assigned[i] is the item of row i. */
struct layout {
	const struct trace *trace;
	struct trace_activity *rows;
	uint32_t row_count;
	uint32_t *assigned;
	bool is_whole;	/* each item has its activities and each activity its item */
	bool is_prefix; /* each activity has its item, in order; the last items have none */
};

static const struct trace_work *row_work(const struct layout *layout, uint32_t at)
{
	return trace_work_of(layout->trace, &layout->rows[at]);
}

/* Consecutive items of one kind, from the one that is being laid out on, and the consecutive rows
 * of that kind. */
struct run {
	uint32_t item_stop, row_stop;
	uint64_t pieces; /* sum over these items */
};

/* Moves RUN to ITEM and row AT, which must not be before those of the last call. So a whole launch
 * takes time linear in its items and rows. */
static void run_move(struct run *run, const struct exec_state *state, const struct layout *layout,
		     uint32_t item, uint32_t at)
{
	const struct expect_graph *expect = state->expect;
	enum trace_activity_kind kind = expect->items[item].kind;

	if (item < run->item_stop) {
		run->pieces -= state->signatures[item - 1].pieces;
	} else {
		*run = (struct run){.item_stop = item, .row_stop = at};
		while (run->item_stop < expect->item_count &&
		       expect->items[run->item_stop].kind == kind)
			run->pieces += state->signatures[run->item_stop++].pieces;
	}
	if (run->row_stop > at)
		return;
	run->row_stop = at;
	while (run->row_stop < layout->row_count && row_work(layout, run->row_stop)->kind == kind)
		run->row_stop++;
}

/* Number of rows that belong to ITEM. For several consecutive items of one kind: one row each, or
 * the pieces that HIP makes of each. If neither sum is the number of rows, it is not known which
 * row belongs to which item, and the result is 0. */
static uint32_t rows_of_item(const struct exec_state *state, const struct layout *layout,
			     const struct run *run, uint32_t item, uint32_t at)
{
	const struct expect_item *expected = &state->expect->items[item];
	uint32_t rows = run->row_stop - at, items = run->item_stop - item;

	if (expected->most == 1)
		return row_work(layout, at)->kind == expected->kind ? 1 : 0;
	if (run->pieces == rows)
		return state->signatures[item].pieces;
	if (rows == items)
		return 1;
	return items == 1 ? rows : 0;
}

static void lay_out(const struct exec_state *state, struct layout *layout)
{
	struct run run = {0};
	uint32_t item, at = 0;

	for (item = 0; item < state->expect->item_count && at < layout->row_count; item++) {
		uint32_t rows;

		run_move(&run, state, layout, item, at);
		rows = rows_of_item(state, layout, &run, item, at);
		if (rows < state->expect->items[item].least)
			break;
		for (uint32_t i = 0; i < rows; i++)
			layout->assigned[at++] = item;
	}
	layout->is_prefix = at == layout->row_count && item < state->expect->item_count;
	layout->is_whole = at == layout->row_count && item == state->expect->item_count;
}

/* Gives ROW the work kind WANTED. */
static int describe_row(struct process_load *load, struct trace_activity *row,
			const struct trace_work *wanted)
{
	row->work = work_intern(&load->works, wanted);
	return row->work == TRACE_NONE ? -ENOMEM : 0;
}

/* Gives ROW the node of ITEM. If the node came as one copy or fill (ALONE), the size that the
 * program gave for the node is the size of the activity. */
static int name_row(struct naming *naming, struct trace_activity *row, uint32_t item,
		    enum trace_confidence confidence, bool alone)
{
	const struct exec_state *state = &naming->state;
	const struct trace_work *work = trace_work_of(naming->load->trace, row);
	struct trace_work wanted;

	row->confidence = (uint8_t)confidence;
	if (confidence <= TRACE_CONFIDENCE_UNKNOWN)
		return 0;
	row->node = state->expect->items[item].node;
	if (work->kind == TRACE_KERNEL || !alone || work->bytes)
		return 0;
	memcpy(&wanted, work, sizeof(wanted));
	wanted.bytes = state->signatures[item].bytes;
	return describe_row(naming->load, row, &wanted);
}

/* Gives a copy without a direction the direction of its node. */
static int direct_row(struct process_load *load, struct trace_activity *row)
{
	const struct trace_work *work = trace_work_of(load->trace, row);
	struct trace_work wanted;

	if (work->kind != TRACE_COPY || work->direction != TRACE_COPY_UNKNOWN ||
	    row->node == TRACE_NONE)
		return 0;
	memcpy(&wanted, work, sizeof(wanted));
	wanted.direction = load->trace->nodes[row->node].direction;
	return describe_row(load, row, &wanted);
}

static bool is_alone(const struct layout *layout, uint32_t at)
{
	uint32_t item = layout->assigned[at];

	return (at == 0 || layout->assigned[at - 1] != item) &&
	       (at + 1 == layout->row_count || layout->assigned[at + 1] != item);
}

/* Names rows by their position, which is known. If every signature agrees, the names are exact. If
 * not, the position is all that is known, and a row that contradicts its position is unknown. */
static int name_by_place(struct naming *naming, const struct layout *layout, bool *ret_exact)
{
	const struct exec_state *state = &naming->state;
	enum trace_confidence confidence;
	bool exact = layout->is_whole;

	for (uint32_t i = 0; i < layout->row_count && exact; i++)
		exact = compare(&state->signatures[layout->assigned[i]], row_work(layout, i)) ==
			AGREES;
	for (uint32_t i = 0; i < layout->row_count; i++) {
		uint32_t item = layout->assigned[i];
		struct trace_activity *row = &layout->rows[i];

		confidence = TRACE_CONFIDENCE_ORDER;
		if (exact)
			confidence = TRACE_CONFIDENCE_EXACT;
		else if (compare(&state->signatures[item], row_work(layout, i)) == DIFFERS)
			confidence = TRACE_CONFIDENCE_UNKNOWN;
		if (name_row(naming, row, item, confidence, is_alone(layout, i)) < 0 ||
		    direct_row(naming->load, row) < 0)
			return -ENOMEM;
	}
	*ret_exact = exact;
	return 0;
}

static uint64_t hash_of(const struct node_signature *signature)
{
	struct node_signature kernel = *signature;

	kernel.bytes = 0;
	kernel.pieces = 1;
	return hash_bytes(&kernel, sizeof(kernel));
}

static uint64_t hash_of_item(const struct exec_state *state, uint32_t item)
{
	return hash_of(&state->signatures[item]);
}

/* The positions are not known: names each kernel whose signature only one item has. */
static int name_by_signature(struct naming *naming, const struct layout *layout)
{
	struct exec_state *state = &naming->state;

	if (!state->by_hash && index_items(state, hash_of_item, &state->by_hash) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < layout->row_count; i++) {
		const struct trace_work *work = row_work(layout, i);
		struct node_signature seen = {.name = work->name};
		uint32_t item = TRACE_NONE;

		memcpy(seen.grid, work->grid, sizeof(seen.grid));
		memcpy(seen.workgroup, work->workgroup, sizeof(seen.workgroup));
		if (work->kind == TRACE_KERNEL && work->name)
			item = only_item(state, state->by_hash, hash_of(&seen));
		if (name_row(naming, &layout->rows[i], item,
			     item == TRACE_NONE ? TRACE_CONFIDENCE_UNKNOWN
						: TRACE_CONFIDENCE_SIGNATURE,
			     false) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Index of the first activity without a call whose cid is at least CID. */
static uint32_t find_orphan(const struct naming *naming, uint64_t cid)
{
	const struct trace *trace = naming->load->trace;
	uint32_t low = naming->orphan_first, high = trace->activities_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (trace->activities[middle].cid < cid)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Finds the activities of a launch, whose call may have no row. */
static void find_rows(const struct naming *naming, const struct trace_launch *launch, uint64_t cid,
		      struct layout *layout)
{
	struct trace *trace = naming->load->trace;
	uint32_t first, stop;

	if (launch->call != TRACE_NONE) {
		first = trace->calls[launch->call].activity_first;
		stop = first + trace->calls[launch->call].activity_count;
	} else {
		first = find_orphan(naming, cid);
		stop = cid == UINT64_MAX ? first : find_orphan(naming, cid + 1);
	}
	layout->trace = trace;
	layout->rows = trace->activities + first;
	layout->row_count = stop - first;
}

static int name_rows(struct naming *naming, struct trace_launch *launch, struct layout *layout)
{
	struct exec_state *state = &naming->state;

	for (uint32_t i = 0; i < layout->row_count; i++) {
		bool is_body = layout->rows[i].confidence == TRACE_CONFIDENCE_TIME;

		launch->body_count += is_body;
		if (!is_body)
			layout->rows[i].confidence = TRACE_CONFIDENCE_UNKNOWN;
	}
	if (naming->is_cuda) {
		launch->exact =
			cuda_name_rows(naming->load, launch->exec, layout->rows, layout->row_count);
		return 0;
	}
	if (!state->expect)
		return 0;
	if (!state->expect->unknown)
		lay_out(state, layout);
	/* A launch that was cut off has its first activities, unless activities were dropped. */
	if (layout->is_whole ||
	    (layout->is_prefix && launch->call == TRACE_NONE && !naming->has_losses))
		return name_by_place(naming, layout, &launch->exact);
	return name_by_signature(naming, layout);
}

static uint32_t count_expected(struct naming *naming, const struct trace_launch *launch,
			       uint64_t cid)
{
	uint32_t count = expect_count(naming->state.expect);
	uint64_t off;

	if (!switch_walk_take(&naming->switches, launch->exec, cid, &off) || count == TRACE_NONE)
		return TRACE_NONE;
	return count - (uint32_t)(off < count ? off : count);
}

static int name_launch(struct naming *naming, uint32_t index)
{
	struct process_load *load = naming->load;
	struct trace_launch *launch = &load->trace->launches[index];
	uint64_t cid = load->graph_input.launches[index - load->first.launches].cid;
	struct layout layout = {0};

	if (cid == 0)
		return 0;
	find_rows(naming, launch, cid, &layout);
	if (naming->state.exec != launch->exec && enter_exec(naming, launch->exec) < 0)
		return -ENOMEM;
	if (apply_updates(naming, cid) < 0 ||
	    table_reserve((void **)&naming->assigned, &naming->assigned_room,
			  layout.row_count + 1ull, sizeof(*naming->assigned)) < 0)
		return -ENOMEM;
	if (naming->state.expect)
		launch->activities_expected = count_expected(naming, launch, cid);
	launch->activity_count = layout.row_count;
	for (uint32_t i = 0; i < layout.row_count; i++)
		layout.rows[i].launch = index;
	layout.assigned = naming->assigned;
	memset(layout.assigned, 0, layout.row_count * sizeof(*layout.assigned));
	return name_rows(naming, launch, &layout);
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

static uint32_t first_orphan(const struct process_load *load)
{
	uint32_t at = load->trace->activities_count;

	while (at > load->first.activities && load->trace->activities[at - 1].call == TRACE_NONE)
		at--;
	return at;
}

int naming_load(struct process_load *load)
{
	struct graph_input *input = &load->graph_input;
	struct naming naming = {.load = load, .state = {.exec = TRACE_NONE}};
	int err;

	for (int cause = 0; cause < RECORD_DROP_COUNT; cause++)
		naming.has_losses |= load->raw.counts.dropped[RECORD_CLASS_DISPATCH][cause] ||
				     load->raw.counts.dropped[RECORD_CLASS_COPY][cause];
	naming.has_losses |= load->raw.damage != 0;
	naming.orphan_first = first_orphan(load);
	naming.is_cuda = cuda_is_there(&load->cuda);
	err = sort_by_key(input->updates, input->updates_count, sizeof(*input->updates),
			  update_cid);
	if (err == 0)
		err = sort_by_key(input->updates, input->updates_count, sizeof(*input->updates),
				  update_exec);
	if (err == 0)
		err = make_expectations(load);
	if (err == 0)
		err = updates_count(load);
	if (err == 0)
		err = switch_walk_init(&naming.switches, load);
	for (uint32_t i = load->first.launches; i < load->trace->launches_count && err == 0; i++)
		err = name_launch(&naming, i);
	cuda_finish_rows(load);
	exec_state_release(&naming.state);
	switch_walk_release(&naming.switches);
	free(naming.assigned);
	work_table_release(&load->works);
	return err;
}

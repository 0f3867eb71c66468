/* What an executable graph launches, as updates change it (exec_state.h). */
#include "trace/graph/exec_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "trace/graph/expect.h"

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

void exec_state_release(struct exec_state *state)
{
	free(state->by_hash);
	free(state->by_node);
	free(state->signatures);
}

int exec_state_enter(struct exec_state *state, const struct process_load *load, uint32_t exec)
{
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

/* Makes rows of items, sorted by a key, for only_item. */
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

static int apply_update(struct exec_state *state, const struct process_load *load,
			const struct input_update *update)
{
	uint32_t item;

	if (!state->by_node && index_items(state, node_of_item, &state->by_node) < 0)
		return -ENOMEM;
	item = updated_item(load, state, update);
	if (item == TRACE_NONE)
		return 0;
	state->signatures[item] = update->signature;
	free(state->by_hash);
	state->by_hash = NULL;
	return 0;
}

int exec_state_update(struct exec_state *state, const struct process_load *load, uint64_t cid)
{
	const struct graph_input *input = &load->graph_input;
	uint64_t exec_id = load->trace->execs[state->exec].id;
	const struct input_update *update;

	while ((update = graph_input_next_update(input, exec_id, cid, &state->next_update)))
		if (state->expect && apply_update(state, load, update) < 0)
			return -ENOMEM;
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

int exec_state_find(struct exec_state *state, const struct node_signature *signature,
		    uint32_t *ret_item)
{
	if (!state->by_hash && index_items(state, hash_of_item, &state->by_hash) < 0)
		return -ENOMEM;
	*ret_item = only_item(state, state->by_hash, hash_of(signature));
	return 0;
}

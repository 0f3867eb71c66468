/* Updates and switches of nodes of executable graphs (see updates.h). */
#include "trace/graph/updates.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/args.h"
#include "trace/outermost.h"
#include "trace/process_load.h"
#include "trace/row_table.h"

/* ---- what a call does ---- */

static struct update_api switch_api_of(const struct trace *trace, const struct trace_api *api)
{
	uint32_t exec = args_find(trace, api, "hGraphExec");
	uint32_t node = args_find(trace, api, "hNode");
	uint32_t on = args_find(trace, api, "isEnabled");

	if (exec == TRACE_NONE || node == TRACE_NONE || on == TRACE_NONE)
		return (struct update_api){0};
	return (struct update_api){
		.is_update = true,
		.is_switch = true,
		.exec_word = trace->api_args[exec].word,
		.node_word = trace->api_args[node].word,
		.on_word = trace->api_args[on].word,
	};
}

struct update_api update_api_of(const struct trace *trace, const struct trace_api *api)
{
	const char *name = trace_text(trace, api->name);
	uint32_t exec, node;

	if (api->domain == RECORD_DOMAIN_HIP && !strcmp(name, "hipGraphNodeSetEnabled"))
		return switch_api_of(trace, api);
	if (api->domain != RECORD_DOMAIN_HIP || !strstr(name, "GraphExec"))
		return (struct update_api){0};
	exec = args_find(trace, api, "hGraphExec");
	node = args_find(trace, api, "hNode");
	if (node == TRACE_NONE)
		node = args_find(trace, api, "node");
	if (exec == TRACE_NONE)
		return (struct update_api){0};
	if (strcmp(name, "hipGraphExecUpdate") == 0)
		return (struct update_api){.is_update = true,
					   .is_whole = true,
					   .exec_word = trace->api_args[exec].word,
					   .node_word = UINT8_MAX};
	if (node == TRACE_NONE || !strstr(name, "NodeSet"))
		return (struct update_api){0};
	return (struct update_api){.is_update = true,
				   .exec_word = trace->api_args[exec].word,
				   .node_word = trace->api_args[node].word};
}

int update_note(struct update_notes *notes, const struct update_api *api, uint32_t rank,
		const struct record_api *record)
{
	uint64_t words = record->header.words - sizeof(*record) / 8;
	struct update_note *note;

	if (record->result != 0 || api->exec_word >= words ||
	    (!api->is_whole && (api->node_word >= words || !record->args[api->node_word])) ||
	    (api->is_switch && api->on_word >= words))
		return 0;
	note = table_add((void **)&notes->rows, &notes->count, sizeof(*note));
	if (!note)
		return -ENOMEM;
	*note = (struct update_note){
		.exec = record->args[api->exec_word],
		.node = api->is_whole ? 0 : record->args[api->node_word],
		.rank = rank,
		.is_switch = api->is_switch,
		.is_on = api->is_switch && (uint32_t)record->args[api->on_word],
	};
	return 0;
}

/* ---- updates that were recorded ---- */

uint32_t updates_find_node(struct process_load *load, uint32_t exec,
			   const struct input_update *update)
{
	const struct trace *trace = load->trace;
	uint32_t graph = trace->execs[exec].graph;

	if (cuda_is_there(&load->cuda) && update->index == INPUT_BY_HANDLE)
		return cuda_find_node(load, exec, update->handle);
	if (update->graph_id)
		graph = load_find_graph(load, update->graph_id);
	if (graph == TRACE_NONE || update->index >= trace->graphs[graph].node_count)
		return TRACE_NONE;
	return trace->graphs[graph].node_first + update->index;
}

static void count_call(struct trace *trace, struct trace_exec *exec, uint32_t call)
{
	if (call == TRACE_NONE)
		return;
	exec->update_calls++;
	/* In a damaged file the end may be before the begin. */
	if (trace->calls[call].end_ns > trace->calls[call].begin_ns)
		exec->update_ns +=
			(uint64_t)(trace->calls[call].end_ns - trace->calls[call].begin_ns);
}

static bool is_whole_call(const struct trace *trace, uint32_t call)
{
	return call != TRACE_NONE && trace->calls[call].api != TRACE_NONE &&
	       strstr(trace_text(trace, trace->apis[trace->calls[call].api].name), "ExecUpdate");
}

bool updates_is_whole(const struct process_load *load, uint64_t cid)
{
	return is_whole_call(load->trace, cuda_find_call(load, cid));
}

/* Counts one update. When a graph is updated as a whole, CUPTI reports each of its nodes, whether
 * or not it changed; IS_TOUCHED_ONLY means such a report. */
static void count_row(struct process_load *load, uint32_t exec, const struct input_update *update,
		      bool is_touched_only)
{
	uint32_t node = is_touched_only ? TRACE_NONE : updates_find_node(load, exec, update);

	load->trace->execs[exec].update_count++;
	if (node != TRACE_NONE)
		load->trace->nodes[node].update_count++;
	else if (!is_touched_only)
		load->trace->execs[exec].unplaced_count++;
}

static void count_rows(struct process_load *load)
{
	const struct graph_input *input = &load->graph_input;
	struct trace *trace = load->trace;
	uint32_t exec = load->first.execs, last_exec = TRACE_NONE, last_call = TRACE_NONE;

	for (uint32_t i = 0; i < input->updates_count; i++) {
		const struct input_update *update = &input->updates[i];
		uint32_t call = cuda_find_call(load, update->cid);
		bool is_whole = is_whole_call(trace, call);

		while (exec < trace->execs_count && trace->execs[exec].id < update->exec_id)
			exec++;
		if (exec == trace->execs_count || trace->execs[exec].id != update->exec_id)
			continue;
		count_row(load, exec, update, is_whole && update->index == INPUT_BY_HANDLE);
		if (exec == last_exec && call == last_call)
			continue;
		last_exec = exec;
		last_call = call;
		/* HIP's updates of whole graphs are noted from their calls, because they may have
		 * no record at all. */
		if (is_whole && update->index != INPUT_BY_HANDLE)
			continue;
		trace->execs[exec].whole_update_count += is_whole;
		count_call(trace, &trace->execs[exec], call);
	}
}

/* ---- updates that show only in their calls ---- */

struct exec_life {
	uint64_t handle;
	uint64_t cid; /* correlation id of the call that made it */
	uint32_t exec;
};

struct node_handle {
	uint32_t root; /* the outermost graph that contains the node */
	uint32_t node;
	uint64_t handle;
};

struct update_index {
	struct exec_life *execs;
	struct node_handle *nodes;
	uint32_t exec_count, node_count;
};

static int compare_lives(const void *left, const void *right)
{
	const struct exec_life *a = left, *b = right;

	if (a->handle != b->handle)
		return a->handle < b->handle ? -1 : 1;
	return (a->cid > b->cid) - (a->cid < b->cid);
}

static int compare_handles(const void *left, const void *right)
{
	const struct node_handle *a = left, *b = right;

	if (a->root != b->root)
		return a->root < b->root ? -1 : 1;
	return (a->handle > b->handle) - (a->handle < b->handle);
}

static int make_index(const struct process_load *load, struct update_index *index)
{
	const struct graph_input *input = &load->graph_input;
	const struct trace *trace = load->trace;
	uint32_t node_count = trace->nodes_count - load->first.nodes;

	index->execs = calloc((size_t)input->execs_count + 1, sizeof(*index->execs));
	index->nodes = calloc((size_t)node_count + 1, sizeof(*index->nodes));
	if (!index->execs || !index->nodes)
		return -ENOMEM;
	for (uint32_t i = 0; i < input->execs_count; i++) {
		const struct input_exec *made = &input->execs[i];
		uint32_t exec = load_find_exec(load, made->id);

		if (exec != TRACE_NONE)
			index->execs[index->exec_count++] =
				(struct exec_life){made->handle, made->cid, exec};
	}
	for (uint32_t i = load->first.nodes; i < trace->nodes_count; i++)
		index->nodes[index->node_count++] =
			(struct node_handle){trace_outermost_graph(trace, trace->nodes[i].graph), i,
					     trace->nodes[i].handle};
	qsort(index->execs, index->exec_count, sizeof(*index->execs), compare_lives);
	qsort(index->nodes, index->node_count, sizeof(*index->nodes), compare_handles);
	return 0;
}

/* The last exec that was made with this handle before the call CID. */
static uint32_t exec_at(const struct update_index *index, uint64_t handle, uint64_t cid)
{
	struct exec_life wanted = {.handle = handle, .cid = cid};
	uint32_t low = 0, high = index->exec_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (compare_lives(&index->execs[middle], &wanted) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low && index->execs[low - 1].handle == handle ? index->execs[low - 1].exec
							     : TRACE_NONE;
}

/* The node with HANDLE in GRAPH or in its child graphs. */
static uint32_t node_at(const struct update_index *index, const struct trace *trace, uint32_t graph,
			uint64_t handle)
{
	struct node_handle wanted = {.root = graph, .handle = handle};
	const struct node_handle *found = NULL;

	if (graph != TRACE_NONE && trace->graphs[graph].parent == TRACE_NONE)
		found = bsearch(&wanted, index->nodes, index->node_count, sizeof(*index->nodes),
				compare_handles);
	return found ? found->node : TRACE_NONE;
}

/* True if the capture side wrote a record of the update by this call. The updates are sorted by
 * (exec, call). */
static bool has_row(const struct process_load *load, uint64_t exec_id, uint64_t cid)
{
	const struct input_update *updates = load->graph_input.updates;
	uint32_t low = 0, high = load->graph_input.updates_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const struct input_update *row = &updates[middle];

		if (row->exec_id == exec_id && row->cid == cid)
			return true;
		if (row->exec_id < exec_id || (row->exec_id == exec_id && row->cid < cid))
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

static int add_switch(struct process_load *load, const struct update_index *index,
		      const struct update_note *note)
{
	const struct trace *trace = load->trace;
	uint64_t cid = trace->calls[load->first.calls + note->rank].cid;
	uint32_t exec = exec_at(index, note->exec, cid);
	struct switch_row row = {.exec = exec, .cid = cid, .is_on = note->is_on};

	if (exec == TRACE_NONE)
		return 0;
	row.node = node_at(index, trace, trace->execs[exec].graph, note->node);
	return switches_add(&load->switches, &row);
}

static void count_note(struct process_load *load, const struct update_index *index,
		       const struct update_note *note)
{
	struct trace *trace = load->trace;
	uint32_t call = load->first.calls + note->rank;
	uint32_t at = exec_at(index, note->exec, trace->calls[call].cid);
	struct trace_exec *exec = at == TRACE_NONE ? NULL : &trace->execs[at];
	uint32_t node;

	if (!exec)
		return;
	if (!note->node) {
		exec->whole_update_count++;
		count_call(trace, exec, call);
		return;
	}
	if (has_row(load, exec->id, trace->calls[call].cid))
		return;
	exec->update_count++;
	count_call(trace, exec, call);
	node = node_at(index, trace, exec->graph, note->node);
	if (node == TRACE_NONE)
		exec->unplaced_count++;
	else
		trace->nodes[node].update_count++;
}

int updates_count(struct process_load *load)
{
	struct update_index index = {0};
	int err = 0;

	count_rows(load);
	if (load->updates.count)
		err = make_index(load, &index);
	for (uint32_t i = 0; i < load->updates.count && err == 0; i++) {
		const struct update_note *note = &load->updates.rows[i];

		if (note->is_switch)
			err = add_switch(load, &index, note);
		else
			count_note(load, &index, note);
	}
	switches_sort(&load->switches);
	free(index.execs);
	free(index.nodes);
	return err;
}

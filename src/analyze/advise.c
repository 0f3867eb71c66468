/* Finds nodes that are worth a slot (advise.h). */
#include "analyze/advise.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/advise_sets.h"
#include "base/numbers.h"
#include "base/table.h"
#include "trace/outermost.h"

/* ---- graphs ---- */

static void add_nodes(const struct trace *trace, struct advice *advice, struct graph_advice *row,
		      uint32_t graph)
{
	const struct trace_graph *part = &trace->graphs[graph];

	for (uint32_t i = part->node_first; i < part->node_first + part->node_count; i++) {
		row->node_count +=
			trace->nodes[i].child == TRACE_NONE || trace->nodes[i].update_count;
		if (trace->nodes[i].update_count)
			advice->nodes[row->first_change + row->changed++] = i;
	}
}

/* The row of EXEC in the table: first a row per graph, then one per process for execs without a
 * graph. */
static uint32_t row_of(const struct trace *trace, const struct trace_exec *exec)
{
	return exec->graph == TRACE_NONE ? trace->graphs_count + exec->process
					 : trace_outermost_graph(trace, exec->graph);
}

static void add_exec(struct graph_advice *row, const struct trace_exec *exec)
{
	row->process = exec->process;
	row->replays += exec->launch_count;
	row->updates += exec->update_count;
	row->unplaced += exec->unplaced_count;
	row->whole_updates += exec->whole_update_count;
	row->calls += exec->update_calls;
	row->host_ns += exec->update_ns;
}

struct member {
	uint32_t root, graph;
};

static int compare_members(const void *left, const void *right)
{
	const struct member *a = left, *b = right;

	if (a->root != b->root)
		return a->root < b->root ? -1 : 1;
	return (a->graph > b->graph) - (a->graph < b->graph);
}

/* Fills advice->nodes, with the nodes of each updated top graph and of its child graphs
 * together. */
static int place_nodes(const struct trace *trace, struct advice *advice)
{
	struct member *members = malloc(((size_t)trace->graphs_count + 1) * sizeof(*members));
	uint32_t used = 0;

	if (!members)
		return -ENOMEM;
	for (uint32_t i = 0; i < trace->graphs_count; i++)
		members[i] = (struct member){trace_outermost_graph(trace, i), i};
	qsort(members, trace->graphs_count, sizeof(*members), compare_members);
	for (uint32_t i = 0; i < trace->graphs_count; i++) {
		struct graph_advice *row = &advice->graphs[members[i].root];

		if (!row->updates && !row->whole_updates)
			continue;
		if (i == 0 || members[i - 1].root != members[i].root)
			row->first_change = used;
		used -= row->changed;
		add_nodes(trace, advice, row, members[i].graph);
		used += row->changed;
	}
	free(members);
	return 0;
}

/* Whether records of the process are missing or damaged. */
static bool has_losses(const struct trace *trace, uint32_t process)
{
	for (uint32_t i = 0; i < trace->sources_count; i++) {
		if (trace->sources[i].process == process &&
		    (trace->sources[i].drop_count || trace->sources[i].unexplained))
			return true;
	}
	for (uint32_t i = 0; i < trace->messages_count; i++) {
		if (trace->messages[i].damage && trace->messages[i].process == process)
			return true;
	}
	return false;
}

/* Sets has_losses and others_are_fixed of all rows. */
static void conclude(const struct trace *trace, struct advice *advice)
{
	uint32_t process = TRACE_NONE;
	bool is_lossy = false;

	for (uint32_t i = 0; i < advice->graph_count; i++) {
		struct graph_advice *row = &advice->graphs[i];

		if (row->process != process)
			is_lossy = has_losses(trace, row->process);
		process = row->process;
		row->has_losses = is_lossy;
		row->others_are_fixed = row->graph != TRACE_NONE && !row->whole_updates &&
					!row->unplaced && !is_lossy;
	}
}

static int advise_graphs(const struct trace *trace, struct advice *advice)
{
	uint32_t rows = trace->graphs_count + trace->processes_count;
	uint32_t kept = 0;

	advice->graphs = calloc((size_t)rows + 1, sizeof(*advice->graphs));
	advice->nodes = malloc(((size_t)trace->nodes_count + 1) * sizeof(*advice->nodes));
	if (!advice->graphs || !advice->nodes)
		return -ENOMEM;
	for (uint32_t i = 0; i < rows; i++)
		advice->graphs[i].graph = i < trace->graphs_count ? i : TRACE_NONE;
	for (uint32_t i = 0; i < trace->execs_count; i++)
		add_exec(&advice->graphs[row_of(trace, &trace->execs[i])], &trace->execs[i]);
	if (place_nodes(trace, advice) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < rows; i++) {
		if (advice->graphs[i].updates || advice->graphs[i].whole_updates)
			advice->graphs[kept++] = advice->graphs[i];
	}
	advice->graph_count = kept;
	conclude(trace, advice);
	return 0;
}

static bool is_update_call(const char *name)
{
	const char *part = strstr(name, "GraphExec");

	return part && (strstr(part, "NodeSet") || strstr(part, "ExecUpdate"));
}

/* Counts all successful calls that update execs, minus those that execs of the trace have. */
static int count_unplaced_calls(const struct trace *trace, struct advice *advice)
{
	bool *is_update = calloc((size_t)trace->apis_count + 1, sizeof(*is_update));

	if (!is_update)
		return -ENOMEM;
	for (uint32_t i = 0; i < trace->apis_count; i++)
		is_update[i] = is_update_call(trace_text(trace, trace->apis[i].name));
	for (uint32_t i = 0; i < trace->calls_count; i++) {
		const struct trace_call *call = &trace->calls[i];

		if (call->api == TRACE_NONE || !is_update[call->api] || call->result != 0)
			continue;
		advice->unplaced_calls++;
		if (call->end_ns > call->begin_ns)
			advice->unplaced_ns += (uint64_t)(call->end_ns - call->begin_ns);
	}
	for (uint32_t i = 0; i < trace->execs_count; i++) {
		const struct trace_exec *exec = &trace->execs[i];

		if (exec->update_calls > advice->unplaced_calls ||
		    exec->update_ns > advice->unplaced_ns)
			continue;
		advice->unplaced_calls -= exec->update_calls;
		advice->unplaced_ns -= exec->update_ns;
	}
	free(is_update);
	return 0;
}

/* ---- dagpatch's marks ---- */

struct mark {
	uint64_t recording, slot, node, byte, ns;
	trace_string strategy;
	bool has_node;
};

struct marking {
	const struct trace *trace;
	struct advice *advice;
	/* of pairs: process and recording; number of the recording and slot, or node */
	struct numbers recordings, slots, nodes;
	uint32_t process, thread; /* of the last mark */
	struct mark last, first;  /* the last mark, and the first mark of its step */
};

static struct mark read_mark(const struct trace *trace, const struct trace_scope *scope)
{
	struct mark mark = {0};

	for (uint32_t i = 0; i < scope->attribute_count; i++) {
		const struct trace_scope_attribute *attribute =
			&trace->scope_attributes[scope->attribute_first + i];
		const char *key = trace_text(trace, attribute->key);
		bool is_number = attribute->kind == RECORD_ATTRIBUTE_UINT64 ||
				 attribute->kind == RECORD_ATTRIBUTE_INT64;

		if (attribute->kind == RECORD_ATTRIBUTE_TEXT && strcmp(key, "strategy") == 0)
			mark.strategy = attribute->value.text;
		if (!is_number)
			continue;
		if (strcmp(key, "recording") == 0)
			mark.recording = attribute->value.uint64;
		else if (strcmp(key, "slot") == 0)
			mark.slot = attribute->value.uint64;
		else if (strcmp(key, "byte") == 0)
			mark.byte = attribute->value.uint64;
		else if (strcmp(key, "ns") == 0)
			mark.ns = attribute->value.uint64;
		else if (strcmp(key, "node") == 0)
			mark.node = attribute->value.uint64;
		mark.has_node |= strcmp(key, "node") == 0;
	}
	return mark;
}

static bool is_same_place(const struct mark *a, const struct mark *b)
{
	return a->slot == b->slot && a->has_node == b->has_node && a->node == b->node &&
	       a->byte == b->byte;
}

/* Whether MARK begins a new step. The marks of a step come consecutively on one thread and have the
 * same time, and no place occurs twice in a step. */
static bool begins_step(const struct marking *marking, const struct trace_scope *scope,
			const struct mark *mark, const struct patch_advice *row)
{
	return row->marks == 0 || marking->process != scope->process ||
	       marking->thread != scope->thread || marking->last.recording != mark->recording ||
	       marking->last.ns != mark->ns || is_same_place(&marking->first, mark);
}

static void count_strategy(struct patch_advice *row, trace_string strategy)
{
	for (int i = 0; strategy && i < ADVISE_STRATEGIES; i++) {
		if (row->strategies[i].name && row->strategies[i].name != strategy)
			continue;
		row->strategies[i].name = strategy;
		row->strategies[i].marks++;
		return;
	}
}

/* The index of the recording in advice->patches, or NUMBERS_NONE. */
static uint32_t number_recording(struct marking *marking, uint32_t process, uint64_t recording)
{
	struct advice *advice = marking->advice;
	uint32_t number = numbers_get(&marking->recordings, process, recording);
	struct patch_advice *row;

	if (number != advice->patch_count || number == NUMBERS_NONE)
		return number;
	row = table_add((void **)&advice->patches, &advice->patch_count, sizeof(*row));
	if (!row)
		return NUMBERS_NONE;
	row->process = process;
	row->recording = recording;
	return number;
}

/* 1: the pair is new; 0: it is not; -ENOMEM. */
static int is_new(struct numbers *numbers, uint64_t high, uint64_t low)
{
	uint32_t before = numbers->count;

	if (numbers_get(numbers, high, low) == NUMBERS_NONE)
		return -ENOMEM;
	return numbers->count > before;
}

static int add_mark(struct marking *marking, const struct trace_scope *scope)
{
	struct mark mark = read_mark(marking->trace, scope);
	uint32_t number = number_recording(marking, scope->process, mark.recording);
	struct patch_advice *row;
	int is_new_slot, is_new_node = 0;

	if (number == NUMBERS_NONE)
		return -ENOMEM;
	row = &marking->advice->patches[number];
	is_new_slot = is_new(&marking->slots, number, (uint32_t)mark.slot);
	if (mark.has_node)
		is_new_node = is_new(&marking->nodes, number, (uint32_t)mark.node);
	if (is_new_slot < 0 || is_new_node < 0)
		return -ENOMEM;
	if (begins_step(marking, scope, &mark, row)) {
		row->steps++;
		row->ns += mark.ns;
		marking->first = mark;
	}
	row->marks++;
	row->slots += (uint32_t)is_new_slot;
	row->nodes += (uint32_t)is_new_node;
	row->has_table |= !mark.has_node;
	count_strategy(row, mark.strategy);
	marking->last = mark;
	marking->process = scope->process;
	marking->thread = scope->thread;
	return 0;
}

/* Scopes are sorted by id, so those of one thread come in the order in which it opened them. */
static int advise_patches(const struct trace *trace, struct advice *advice)
{
	struct marking marking = {.trace = trace, .advice = advice};
	int err = 0;

	for (uint32_t i = 0; i < trace->scopes_count && err == 0; i++) {
		const struct trace_scope *scope = &trace->scopes[i];

		if (scope->attribute_count &&
		    strcmp(trace_text(trace, scope->name), "dagpatch") == 0)
			err = add_mark(&marking, scope);
	}
	numbers_release(&marking.recordings);
	numbers_release(&marking.slots);
	numbers_release(&marking.nodes);
	return err;
}

int advise(const struct trace *trace, struct advice *ret_advice)
{
	int err;

	*ret_advice = (struct advice){0};
	err = advise_graphs(trace, ret_advice);
	if (err == 0)
		err = count_unplaced_calls(trace, ret_advice);
	if (err == 0)
		err = advise_patches(trace, ret_advice);
	if (err == 0)
		err = advise_sets(trace, ret_advice);
	if (err < 0)
		advice_release(ret_advice);
	return err;
}

void advice_release(struct advice *advice)
{
	free(advice->graphs);
	free(advice->nodes);
	free(advice->patches);
	free(advice->sets);
	*advice = (struct advice){0};
}

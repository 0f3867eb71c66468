/* Forgets records of HIP's graphs that nothing needs any more: see graph_history.h.
 *
 * HIP's capture writes a graph of its own for each executable graph, with an id that no other has,
 * and its child graphs after it. So a graph is dead when its executable graph is. */
#include <errno.h>
#include <stdlib.h>

#include "live/graph_history.h"

/* Parts of most_bytes: so much is kept, and so much has come since the last eviction. */
#define KEPT_PART  4
#define FRESH_PART 8

struct graph_state {
	uint32_t root; /* row of the outermost graph around it */
	bool is_dead;  /* of a root */
};

struct exec_state {
	bool is_dead;
};

struct eviction {
	struct graph_history *history;
	const struct graph_pendings *pendings;
	uint64_t before_ns;
	struct numbers graph_ids; /* (0, id) of graphs */
	struct graph_state *graphs;
	uint32_t graphs_count;
	struct numbers exec_ids; /* (0, id) of execs */
	struct exec_state *execs;
	uint32_t execs_count;
	struct numbers places;	/* (exec, graph of the node) of updates */
	struct numbers updated; /* (number in places, node) that a later update replaces */
};

bool graph_history_is_due(const struct graph_history *history)
{
	return history->most_bytes && history->bytes >= history->most_bytes / KEPT_PART &&
	       history->fresh_bytes >= history->most_bytes / FRESH_PART;
}

static const struct graph_pending *find_pending(const struct eviction *eviction, uint64_t exec)
{
	uint32_t number = numbers_find(&eviction->pendings->execs, 0, exec);

	return number == NUMBERS_NONE ? NULL : &eviction->pendings->rows[number];
}

/* ---- what is dead ---- */

/* Returns 0 or -ENOMEM. A child graph comes after the graph around it. */
static int learn_graph(struct eviction *eviction, const struct record_graph *record)
{
	uint32_t parent = record->parent_graph_id
				  ? numbers_find(&eviction->graph_ids, 0, record->parent_graph_id)
				  : NUMBERS_NONE;
	void *added;
	int64_t number =
		numbers_row(&eviction->graph_ids, 0, record->graph_id, (void **)&eviction->graphs,
			    &eviction->graphs_count, sizeof(*eviction->graphs), &added);

	if (number < 0)
		return -ENOMEM;
	if (added)
		eviction->graphs[number].root =
			parent == NUMBERS_NONE ? (uint32_t)number : eviction->graphs[parent].root;
	return 0;
}

static int learn_gone(struct eviction *eviction, const struct record_graph_exec_gone *record)
{
	void *added;
	int64_t number;

	if (record->ns >= eviction->before_ns || find_pending(eviction, record->exec_id))
		return 0;
	number = numbers_row(&eviction->exec_ids, 0, record->exec_id, (void **)&eviction->execs,
			     &eviction->execs_count, sizeof(*eviction->execs), &added);
	if (number < 0)
		return -ENOMEM;
	eviction->execs[number].is_dead = true;
	return 0;
}

static bool is_dead_exec(const struct eviction *eviction, uint64_t id)
{
	uint32_t number = numbers_find(&eviction->exec_ids, 0, id);

	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a number has a row */
	return number != NUMBERS_NONE && eviction->execs[number].is_dead;
}

static bool is_dead_graph(const struct eviction *eviction, uint64_t id)
{
	uint32_t number = numbers_find(&eviction->graph_ids, 0, id);

	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a number has a row */
	return number != NUMBERS_NONE && eviction->graphs[eviction->graphs[number].root].is_dead;
}

static void end_graph(struct eviction *eviction, const struct record_graph_exec *record)
{
	uint32_t number = numbers_find(&eviction->graph_ids, 0, record->graph_id);

	if (number != NUMBERS_NONE && is_dead_exec(eviction, record->exec_id))
		eviction->graphs[number].is_dead = true;
}

static int learn(struct eviction *eviction)
{
	const struct graph_history *history = eviction->history;
	int err = 0;

	for (uint32_t i = 0; i < history->rows_count && err == 0; i++) {
		const struct record_header *record = history->rows[i].record;

		if (record->type == RECORD_GRAPH)
			err = learn_graph(eviction, (const void *)record);
		else if (record->type == RECORD_GRAPH_EXEC_GONE)
			err = learn_gone(eviction, (const void *)record);
	}
	for (uint32_t i = 0; i < history->rows_count && err == 0; i++) {
		const struct record_header *record = history->rows[i].record;

		if (record->type == RECORD_GRAPH_EXEC)
			end_graph(eviction, (const void *)record);
	}
	return err;
}

/* Whether a later update replaces UPDATE for all launches that are to come. Call for the newest
 * update first. Returns 1 or 0, or -ENOMEM. */
static int is_replaced(struct eviction *eviction, const struct record_graph_node *update)
{
	const struct graph_pending *pending = find_pending(eviction, update->graph_id);
	uint32_t place, known = eviction->updated.count;

	if (update->ns >= eviction->before_ns || (pending && update->cid >= pending->cid))
		return 0;
	place = numbers_get(&eviction->places, update->graph_id, update->child_graph_id);
	if (place == NUMBERS_NONE ||
	    numbers_get(&eviction->updated, place, update->header.tag) == NUMBERS_NONE)
		return -ENOMEM;
	return eviction->updated.count == known;
}

/* Returns 1 if the record can be forgotten, 0 if not, or -ENOMEM. */
static int is_dead(struct eviction *eviction, const struct record_header *record)
{
	const void *at = record;
	uint64_t graph = ((const struct record_graph_node *)at)->graph_id;

	switch (record->type) {
	case RECORD_GRAPH:
		return is_dead_graph(eviction, ((const struct record_graph *)at)->graph_id);
	case RECORD_GRAPH_NODE:
		return is_dead_graph(eviction, graph);
	case RECORD_GRAPH_EDGE:
		return is_dead_graph(eviction, ((const struct record_graph_edge *)at)->graph_id);
	case RECORD_GRAPH_EXEC:
		return is_dead_exec(eviction, ((const struct record_graph_exec *)at)->exec_id);
	case RECORD_GRAPH_EXEC_GONE:
		return is_dead_exec(eviction, ((const struct record_graph_exec_gone *)at)->exec_id);
	case RECORD_GRAPH_EXEC_UPDATE:
		return is_dead_exec(eviction, graph) ? 1 : is_replaced(eviction, at);
	default:
		return 0;
	}
}

/* ---- forgetting ---- */

static bool is_over(const void *context, bool is_cuda, uint64_t exec_id)
{
	return !is_cuda && is_dead_exec(context, exec_id);
}

/* Removes the rows without a record. */
static void close_gaps(struct graph_history *history)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < history->rows_count; i++) {
		if (history->rows[i].record)
			history->rows[kept++] = history->rows[i];
	}
	history->rows_count = kept;
}

static int forget_dead(struct eviction *eviction)
{
	struct graph_history *history = eviction->history;
	int dead = 0;

	for (uint32_t i = history->rows_count; i-- && dead >= 0;) {
		struct record_header *record = history->rows[i].record;

		dead = is_dead(eviction, record);
		if (dead <= 0)
			continue;
		history->bytes -= record->words * 8u;
		free(record);
		history->rows[i].record = NULL;
	}
	close_gaps(history);
	return dead < 0 ? dead : 0;
}

int graph_history_evict(struct graph_history *history, const struct graph_pendings *pendings,
			uint64_t before_ns)
{
	struct eviction eviction = {
		.history = history, .pendings = pendings, .before_ns = before_ns};
	int err = learn(&eviction);

	if (err == 0)
		err = graph_history_forget_execs(history, is_over, &eviction);
	if (err == 0)
		err = forget_dead(&eviction);
	history->fresh_bytes = 0;
	free(eviction.graphs);
	free(eviction.execs);
	numbers_release(&eviction.graph_ids);
	numbers_release(&eviction.exec_ids);
	numbers_release(&eviction.places);
	numbers_release(&eviction.updated);
	return err;
}

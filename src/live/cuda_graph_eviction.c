/* Forgets steps of CUDA's graphs that nothing needs any more: see graph_history.h.
 *
 * CUPTI tells of graphs, of their clones (an executable graph is one) and of nodes step by step. A
 * node of a clone is found by way of the node that it was cloned from, so graphs that have to do
 * with each other form a group, and a group is forgotten as a whole. The loader numbers the graphs
 * of executable graphs as they come; GRAPHS_NUMBERED steps before those that stay keep the numbers
 * as they were. */
#include <errno.h>
#include <stdlib.h>

#include "base/table.h"
#include "live/graph_history.h"
#include "trace/trace_model.h"

enum member_kind { MEMBER_GRAPH, MEMBER_EXEC, MEMBER_CALL };

/* A graph, an executable graph, or a call that made steps. */
struct member {
	uint32_t group; /* a member of the same group; itself: the first one */
	uint8_t kind;	/* enum member_kind */
	bool is_gone;
	bool is_internal; /* a graph that a call made together with an executable graph */
	bool is_maker;	  /* a call that made an executable graph */
	bool is_alive;	  /* of the first one of a group: some member is */
};

struct cuda_eviction {
	struct graph_history *history;
	const struct graph_pendings *pendings;
	uint64_t before_ns;
	struct numbers ids; /* (kind, id) of members */
	struct member *members;
	uint32_t members_count;
};

static const struct record_cuda_graph *step_of(const struct graph_record *row)
{
	return row->record->type == RECORD_CUDA_GRAPH ? (const void *)row->record : NULL;
}

/* Halves the way for the next look-up. */
static uint32_t first_of(const struct cuda_eviction *eviction, uint32_t member)
{
	struct member *members = eviction->members;

	while (members[member].group != member) {
		members[member].group = members[members[member].group].group;
		member = members[member].group;
	}
	return member;
}

/* Puts (KIND, ID) into the group of *FIRST; UINT32_MAX there: of no other. ID 0 is none. Returns 0
 * or -ENOMEM. */
static int join(struct cuda_eviction *eviction, enum member_kind kind, uint64_t id, uint32_t *first)
{
	void *added;
	int64_t number;

	if (!id)
		return 0;
	number = numbers_row(&eviction->ids, kind, id, (void **)&eviction->members,
			     &eviction->members_count, sizeof(*eviction->members), &added);
	if (number < 0)
		return -ENOMEM;
	if (added)
		eviction->members[number] =
			(struct member){.group = (uint32_t)number, .kind = (uint8_t)kind};
	number = first_of(eviction, (uint32_t)number);
	if (*first == UINT32_MAX)
		*first = (uint32_t)number;
	eviction->members[number].group = *first;
	return 0;
}

static struct member *find(const struct cuda_eviction *eviction, enum member_kind kind, uint64_t id)
{
	uint32_t number = id ? numbers_find(&eviction->ids, kind, id) : NUMBERS_NONE;

	return number == NUMBERS_NONE ? NULL : &eviction->members[number];
}

static int join_step(struct cuda_eviction *eviction, const struct record_cuda_graph *step)
{
	bool has_other = step->header.tag == RECORD_CUDA_GRAPH_CLONED ||
			 step->header.tag == RECORD_CUDA_NODE_CLONED ||
			 step->header.tag == RECORD_CUDA_NODE_HOLDS;
	uint32_t first = UINT32_MAX;

	if (join(eviction, MEMBER_CALL, step->cid, &first) < 0 ||
	    join(eviction, MEMBER_GRAPH, step->graph, &first) < 0 ||
	    join(eviction, MEMBER_EXEC, step->exec, &first) < 0)
		return -ENOMEM;
	return has_other ? join(eviction, MEMBER_GRAPH, step->other_graph, &first) : 0;
}

/* Whether what the step of ROW destroyed is named by no activity that may yet come. */
static bool is_long_ago(const struct cuda_eviction *eviction, const struct graph_record *row)
{
	return step_of(row)->ns < eviction->before_ns &&
	       eviction->history->activities - row->activities >= GRAPH_HISTORY_HELD;
}

/* Follows the lives of graphs and executable graphs; an id may be used again. */
static void follow_step(const struct cuda_eviction *eviction, const struct graph_record *row)
{
	const struct record_cuda_graph *step = step_of(row);
	struct member *graph = find(eviction, MEMBER_GRAPH, step->graph);
	struct member *exec = find(eviction, MEMBER_EXEC, step->exec);
	const struct member *call = find(eviction, MEMBER_CALL, step->cid);

	switch (step->header.tag) {
	case RECORD_CUDA_GRAPH_CREATED:
	case RECORD_CUDA_GRAPH_CLONED:
	case RECORD_CUDA_NODE_CREATED:
	case RECORD_CUDA_NODE_CLONED:
		if (graph) {
			graph->is_gone = false;
			graph->is_internal = call && call->is_maker;
		}
		break;
	case RECORD_CUDA_GRAPH_GONE:
		if (graph)
			graph->is_gone = is_long_ago(eviction, row);
		break;
	case RECORD_CUDA_EXEC_CREATED:
		if (exec)
			exec->is_gone = false;
		break;
	case RECORD_CUDA_EXEC_GONE:
		if (exec)
			exec->is_gone = is_long_ago(eviction, row) &&
					numbers_find(&eviction->pendings->execs, 1, step->exec) ==
						NUMBERS_NONE;
		break;
	default:
		break;
	}
}

static int learn(struct cuda_eviction *eviction)
{
	const struct graph_history *history = eviction->history;

	for (uint32_t i = 0; i < history->rows_count; i++) {
		const struct record_cuda_graph *step = step_of(&history->rows[i]);
		struct member *call;

		if (!step || step->header.tag == RECORD_CUDA_GRAPHS_NUMBERED)
			continue;
		if (join_step(eviction, step) < 0)
			return -ENOMEM;
		call = find(eviction, MEMBER_CALL, step->cid);
		if (call && step->header.tag == RECORD_CUDA_EXEC_CREATED)
			call->is_maker = true;
	}
	for (uint32_t i = 0; i < history->rows_count; i++) {
		if (step_of(&history->rows[i]))
			follow_step(eviction, &history->rows[i]);
	}
	for (uint32_t i = 0; i < eviction->members_count; i++) {
		const struct member *member = &eviction->members[i];

		if (member->kind != MEMBER_CALL && !member->is_gone && !member->is_internal)
			eviction->members[first_of(eviction, i)].is_alive = true;
	}
	return 0;
}

static bool is_dead_member(const struct cuda_eviction *eviction, const struct member *member)
{
	return !eviction->members[first_of(eviction, (uint32_t)(member - eviction->members))]
			.is_alive;
}

static bool is_dead(const struct cuda_eviction *eviction, const struct record_cuda_graph *step)
{
	const struct member *member = find(eviction, MEMBER_GRAPH, step->graph);

	if (!member)
		member = find(eviction, MEMBER_EXEC, step->exec);
	return member && is_dead_member(eviction, member);
}

/* ---- numbers of graphs ---- */

struct numbered_exec {
	uint64_t graph_id; /* of its graph; 0: none */
	bool is_numbered;  /* the row that makes it is kept */
};

/* The ids that graphs of executable graphs have in a window. */
struct numbering {
	struct numbers exec_ids; /* (0, id) of execs */
	struct numbered_exec *execs;
	uint32_t execs_count;
	struct numbers graphs; /* (0, id) of these graphs */
	uint64_t last;	       /* of them, and of the graphs inside them */
};

/* Learns the ids of executable graphs of which the history has the step that made them: others are
 * numbered after them. Returns 0 or -ENOMEM. */
static int learn_execs(struct numbering *numbering, const struct cuda_eviction *eviction,
		       const struct trace *window)
{
	for (uint32_t i = 0; i < window->execs_count; i++) {
		const struct trace_exec *exec = &window->execs[i];
		void *added;
		int64_t number;

		if (exec->graph == TRACE_NONE || !find(eviction, MEMBER_EXEC, exec->id))
			continue;
		number = numbers_row(&numbering->exec_ids, 0, exec->id, (void **)&numbering->execs,
				     &numbering->execs_count, sizeof(*numbering->execs), &added);
		if (number < 0)
			return -ENOMEM;
		numbering->execs[number].graph_id = window->graphs[exec->graph].id;
		if (numbers_get(&numbering->graphs, 0, numbering->execs[number].graph_id) ==
		    NUMBERS_NONE)
			return -ENOMEM;
	}
	return 0;
}

static struct numbered_exec *find_made(const struct numbering *numbering,
				       const struct record_cuda_graph *step)
{
	uint32_t exec = step && step->header.tag == RECORD_CUDA_EXEC_CREATED
				? numbers_find(&numbering->exec_ids, 0, step->exec)
				: NUMBERS_NONE;

	return exec == NUMBERS_NONE ? NULL : &numbering->execs[exec];
}

static void learn_last(struct numbering *numbering, const struct trace *window)
{
	for (uint32_t i = 0; i < window->graphs_count; i++) {
		uint32_t outer = i;

		for (int depth = 0; depth < 64 && window->graphs[outer].parent != TRACE_NONE;
		     depth++)
			outer = window->graphs[outer].parent;
		if (window->graphs[i].id > numbering->last &&
		    numbers_find(&numbering->graphs, 0, window->graphs[outer].id) != NUMBERS_NONE)
			numbering->last = window->graphs[i].id;
	}
}

static void release_numbering(struct numbering *numbering)
{
	numbers_release(&numbering->exec_ids);
	numbers_release(&numbering->graphs);
	free(numbering->execs);
}

/* The rows that stay. */
struct kept {
	struct graph_record *rows;
	uint32_t rows_count;
	size_t bytes;
	uint64_t last_ns; /* of the last step that made an executable graph, 0: none */
};

static int keep(struct kept *kept, const struct graph_record *row)
{
	struct graph_record *place =
		table_add((void **)&kept->rows, &kept->rows_count, sizeof(*place));

	if (!place)
		return -ENOMEM;
	*place = *row;
	kept->bytes += row->record->words * 8u;
	return 0;
}

/* The graph of the next step that makes an executable graph gets the number after NUMBER. */
static int keep_number(struct kept *kept, uint64_t ns, uint64_t number)
{
	struct record_cuda_graph *record = malloc(sizeof(*record));
	struct graph_record row = {.record = record ? &record->header : NULL};

	if (!record)
		return -ENOMEM;
	*record = (struct record_cuda_graph){
		.header = {RECORD_CUDA_GRAPH, sizeof(*record) / 8, RECORD_CUDA_GRAPHS_NUMBERED},
		.ns = ns,
		.node = number,
	};
	if (keep(kept, &row) == 0)
		return 0;
	free(record);
	return -ENOMEM;
}

/* An id may be used again: the exec of a trace has the graph of the first row with its id. Graphs
 * of the others get numbers that no graph has. */
static int keep_row(struct kept *kept, struct numbering *numbering, const struct graph_record *row)
{
	const struct record_cuda_graph *step = step_of(row);
	struct numbered_exec *exec = find_made(numbering, step);
	int err = 0;

	if (exec)
		err = keep_number(kept, step->ns,
				  exec->is_numbered ? numbering->last++ : exec->graph_id - 1);
	if (exec)
		exec->is_numbered = true;
	return err == 0 ? keep(kept, row) : err;
}

static bool is_forgotten(const struct cuda_eviction *eviction, const struct graph_record *row)
{
	const struct record_cuda_graph *step = step_of(row);

	return step && (step->header.tag == RECORD_CUDA_GRAPHS_NUMBERED || is_dead(eviction, step));
}

static int keep_all(struct kept *kept, const struct cuda_eviction *eviction,
		    struct numbering *numbering)
{
	const struct graph_history *history = eviction->history;
	int err = 0;

	for (uint32_t i = 0; i < history->rows_count && err == 0; i++) {
		const struct record_cuda_graph *step = step_of(&history->rows[i]);

		if (step && step->header.tag == RECORD_CUDA_EXEC_CREATED &&
		    step->ns > kept->last_ns)
			kept->last_ns = step->ns;
		if (!is_forgotten(eviction, &history->rows[i]))
			err = keep_row(kept, numbering, &history->rows[i]);
	}
	return err == 0 && kept->last_ns ? keep_number(kept, kept->last_ns, numbering->last) : err;
}

static bool is_dead_exec(const void *context, bool is_cuda, uint64_t exec_id)
{
	const struct cuda_eviction *eviction = context;
	const struct member *exec = is_cuda ? find(eviction, MEMBER_EXEC, exec_id) : NULL;

	return exec && is_dead_member(eviction, exec);
}

/* Puts KEPT in the place of the rows. */
static void replace_rows(const struct cuda_eviction *eviction, const struct kept *kept)
{
	struct graph_history *history = eviction->history;

	for (uint32_t i = 0; i < history->rows_count; i++) {
		if (is_forgotten(eviction, &history->rows[i]))
			free(history->rows[i].record);
	}
	free(history->rows);
	history->rows = kept->rows;
	history->rows_count = kept->rows_count;
	history->bytes = kept->bytes;
}

/* Frees KEPT, which is not complete; the history has its rows still. */
static void release_kept(struct kept *kept)
{
	for (uint32_t i = 0; i < kept->rows_count; i++) {
		const struct record_cuda_graph *step = step_of(&kept->rows[i]);

		if (step && step->header.tag == RECORD_CUDA_GRAPHS_NUMBERED)
			free(kept->rows[i].record);
	}
	free(kept->rows);
}

int graph_history_evict_cuda(struct graph_history *history, const struct graph_pendings *pendings,
			     uint64_t before_ns, const struct trace *window)
{
	struct cuda_eviction eviction = {
		.history = history, .pendings = pendings, .before_ns = before_ns};
	struct numbering numbering = {0};
	struct kept kept = {0};
	int err = learn(&eviction);

	if (err == 0)
		err = learn_execs(&numbering, &eviction, window);
	if (err == 0) {
		learn_last(&numbering, window);
		err = keep_all(&kept, &eviction, &numbering);
	}
	if (err == 0)
		err = graph_history_forget_execs(history, is_dead_exec, &eviction);
	if (err == 0)
		replace_rows(&eviction, &kept);
	else
		release_kept(&kept);
	history->fresh_bytes = 0;
	release_numbering(&numbering);
	free(eviction.members);
	numbers_release(&eviction.ids);
	return err;
}

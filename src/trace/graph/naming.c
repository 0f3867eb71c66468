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

#include "base/sort.h"
#include "base/workers.h"
#include "trace/graph/exec_state.h"
#include "trace/graph/expect.h"
#include "trace/graph/launch_layout.h"
#include "trace/row_table.h"

#define LAUNCHES_PER_PART 64

/* A copy or fill that came from a node which tells more about it. */
struct named_copy {
	uint32_t activity;
	bool has_bytes;
	uint64_t bytes;
};

/* Launches that one thread names. */
struct naming_part {
	uint32_t first, end;
	struct named_copy *copies; /* in the order of naming */
	uint32_t copies_count;
};

/* What each thread has of its own. */
struct naming_worker {
	struct exec_state state;
	struct switch_walk switches;
	uint32_t *assigned; /* scratch for the layout of each launch */
	size_t assigned_room;
};

struct naming {
	struct process_load *load;
	/* index of the first activity without a call; all later ones have none */
	uint32_t orphan_first;
	bool has_losses; /* activities were dropped, so activities may be missing anywhere */
	bool is_cuda;	 /* the launches are CUDA's, whose activities name their nodes */
	bool has_bodies; /* a graph is a body of a conditional node */
	/* by work kind: a bit if its node may tell more about it; NULL unless the nodes of
	 * activities are left out */
	uint64_t *unclear;
	struct naming_part *parts;
	uint32_t parts_count;
	struct naming_worker *workers;
	unsigned worker_count;
};

static uint64_t update_exec(const void *row)
{
	return ((const struct input_update *)row)->exec_id;
}

static uint64_t update_cid(const void *row)
{
	return ((const struct input_update *)row)->cid;
}

/* Gives ROW the work kind WANTED. */
static int describe_row(struct process_load *load, struct trace_activity *row,
			const struct trace_work *wanted)
{
	row->work = work_intern(&load->works, wanted);
	return row->work == TRACE_NONE ? -ENOMEM : 0;
}

static void name_row(const struct exec_state *state, struct trace_activity *row, uint32_t item,
		     enum trace_confidence confidence)
{
	row->confidence = (uint8_t)confidence;
	if (confidence > TRACE_CONFIDENCE_UNKNOWN)
		row->node = state->expect->items[item].node;
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

/* Completes the work kind of a copy or fill by its node. */
static int complete_copy(struct process_load *load, const struct named_copy *copy)
{
	struct trace_activity *row = &load->trace->activities[copy->activity];
	struct trace_work wanted;

	if (copy->has_bytes) {
		memcpy(&wanted, trace_work_of(load->trace, row), sizeof(wanted));
		wanted.bytes = copy->bytes;
		if (describe_row(load, row, &wanted) < 0)
			return -ENOMEM;
	}
	return direct_row(load, row);
}

static bool is_alone(const struct layout *layout, uint32_t at)
{
	uint32_t item = layout->assigned[at];

	return (at == 0 || layout->assigned[at - 1] != item) &&
	       (at + 1 == layout->row_count || layout->assigned[at + 1] != item);
}

/* Notes a copy or fill whose node may tell more about it. If the node came as one activity, the
 * size that the program gave for the node is the size of the activity. */
static int note_copy(const struct exec_state *state, struct naming_part *part,
		     const struct layout *layout, uint32_t at)
{
	const struct trace_activity *row = &layout->rows[at];
	const struct trace_work *work = layout_work(layout, at);
	struct named_copy *copy;

	if (work->kind == TRACE_KERNEL || row->confidence <= TRACE_CONFIDENCE_UNKNOWN)
		return 0;
	copy = trace_add(part, copies);
	if (!copy)
		return -ENOMEM;
	copy->activity = (uint32_t)(row - layout->trace->activities);
	copy->has_bytes = !work->bytes && is_alone(layout, at);
	copy->bytes = state->signatures[layout->assigned[at]].bytes;
	return 0;
}

/* Names rows by their position, which is known. If every signature agrees, the names are exact. If
 * not, the position is all that is known, and a row that contradicts its position is unknown. */
static int name_by_place(const struct exec_state *state, struct naming_part *part,
			 const struct layout *layout, bool *ret_exact)
{
	enum trace_confidence confidence;
	bool exact = layout->is_whole;

	for (uint32_t i = 0; i < layout->row_count && exact; i++)
		exact = layout_compare(&state->signatures[layout->assigned[i]],
				       layout_work(layout, i)) == AGREES;
	for (uint32_t i = 0; i < layout->row_count; i++) {
		uint32_t item = layout->assigned[i];

		confidence = TRACE_CONFIDENCE_ORDER;
		if (exact)
			confidence = TRACE_CONFIDENCE_EXACT;
		else if (layout_compare(&state->signatures[item], layout_work(layout, i)) ==
			 DIFFERS)
			confidence = TRACE_CONFIDENCE_UNKNOWN;
		name_row(state, &layout->rows[i], item, confidence);
		if (note_copy(state, part, layout, i) < 0)
			return -ENOMEM;
	}
	*ret_exact = exact;
	return 0;
}

/* Names only the copies and fills of a launch, whose position is known. */
static int name_copies(const struct exec_state *state, struct naming_part *part,
		       const struct layout *layout)
{
	for (uint32_t i = 0; i < layout->row_count; i++) {
		if (layout_work(layout, i)->kind == TRACE_KERNEL)
			continue;
		name_row(state, &layout->rows[i], layout->assigned[i], TRACE_CONFIDENCE_ORDER);
		if (note_copy(state, part, layout, i) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* The positions are not known: names each kernel whose signature only one item has. */
static int name_by_signature(struct exec_state *state, const struct layout *layout)
{
	for (uint32_t i = 0; i < layout->row_count; i++) {
		const struct trace_work *work = layout_work(layout, i);
		struct node_signature seen = {.name = work->name};
		uint32_t item = TRACE_NONE;

		memcpy(seen.grid, work->grid, sizeof(seen.grid));
		memcpy(seen.workgroup, work->workgroup, sizeof(seen.workgroup));
		if (work->kind == TRACE_KERNEL && work->name &&
		    exec_state_find(state, &seen, &item) < 0)
			return -ENOMEM;
		name_row(state, &layout->rows[i], item,
			 item == TRACE_NONE ? TRACE_CONFIDENCE_UNKNOWN
					    : TRACE_CONFIDENCE_SIGNATURE);
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

static int name_rows(const struct naming *naming, struct exec_state *state,
		     struct naming_part *part, struct trace_launch *launch, struct layout *layout)
{
	for (uint32_t i = 0; i < layout->row_count && !naming->unclear; i++) {
		if (layout->rows[i].confidence != TRACE_CONFIDENCE_TIME)
			layout->rows[i].confidence = TRACE_CONFIDENCE_UNKNOWN;
	}
	if (naming->is_cuda) {
		launch->exact =
			cuda_name_rows(naming->load, launch->exec, layout->rows, layout->row_count);
		for (uint32_t i = 0; i < layout->row_count && naming->has_bodies; i++)
			launch->body_count += trace_is_in_body(layout->trace, &layout->rows[i]);
		return 0;
	}
	if (!state->expect)
		return 0;
	if (!state->expect->unknown)
		layout_make(state, layout);
	/* A launch that was cut off has its first activities, unless activities were dropped. */
	if (layout->is_whole ||
	    (layout->is_prefix && launch->call == TRACE_NONE && !naming->has_losses))
		return naming->unclear ? name_copies(state, part, layout)
				       : name_by_place(state, part, layout, &launch->exact);
	return naming->unclear ? 0 : name_by_signature(state, layout);
}

static uint32_t count_expected(struct naming_worker *worker, const struct trace_launch *launch,
			       uint64_t cid)
{
	uint32_t count = expect_count(worker->state.expect);
	uint64_t off;

	if (!switch_walk_take(&worker->switches, launch->exec, cid, &off) || count == TRACE_NONE)
		return TRACE_NONE;
	return count - (uint32_t)(off < count ? off : count);
}

/* Whether LAYOUT has an activity about which its node may tell more. */
static bool has_unclear(const struct naming *naming, const struct layout *layout)
{
	uint64_t found = 0;

	for (uint32_t i = 0; i < layout->row_count; i++) {
		uint32_t work = layout->rows[i].work;

		found |= naming->unclear[work / 64] >> work % 64;
	}
	return found & 1;
}

static int name_launch(const struct naming *naming, struct naming_worker *worker,
		       struct naming_part *part, uint32_t index)
{
	struct process_load *load = naming->load;
	struct exec_state *state = &worker->state;
	struct trace_launch *launch = &load->trace->launches[index];
	uint64_t cid = load->graph_input.launches[index - load->first.launches].cid;
	struct layout layout = {0};

	if (cid == 0)
		return 0;
	find_rows(naming, launch, cid, &layout);
	if (state->exec != launch->exec && exec_state_enter(state, load, launch->exec) < 0)
		return -ENOMEM;
	if (exec_state_update(state, load, cid) < 0 ||
	    table_reserve((void **)&worker->assigned, &worker->assigned_room,
			  layout.row_count + 1ull, sizeof(*worker->assigned)) < 0)
		return -ENOMEM;
	if (state->expect)
		launch->activities_expected = count_expected(worker, launch, cid);
	launch->activity_count = layout.row_count;
	for (uint32_t i = 0; i < layout.row_count; i++)
		layout.rows[i].launch = index;
	if (naming->unclear && !has_unclear(naming, &layout))
		return 0;
	layout.assigned = worker->assigned;
	memset(layout.assigned, 0, layout.row_count * sizeof(*layout.assigned));
	return name_rows(naming, state, part, launch, &layout);
}

/* ---- the parts ---- */

static int name_part(void *naming_of_load, unsigned worker, uint32_t number)
{
	const struct naming *naming = naming_of_load;
	struct naming_part *part = &naming->parts[number];
	int err = 0;

	for (uint32_t i = part->first; i < part->end && err == 0; i++)
		err = name_launch(naming, &naming->workers[worker], part, i);
	return err;
}

/* True if all launches of an exec find it in the same state. */
static bool is_constant(const struct process_load *load, uint32_t exec)
{
	const struct graph_input *input = &load->graph_input;
	uint64_t id = load->trace->execs[exec].id;
	uint32_t update = graph_input_find_updates(input, id);

	return load->switches.count == 0 &&
	       (update == input->updates_count || input->updates[update].exec_id != id);
}

/* Cuts the launches into parts. An exec that changes between its launches is in one part. */
static int cut(struct naming *naming)
{
	const struct process_load *load = naming->load;
	const struct trace *trace = load->trace;
	struct naming_part *part = NULL;

	for (uint32_t i = load->first.launches; i < trace->launches_count; i++) {
		uint32_t exec = trace->launches[i].exec;
		bool is_next = i > load->first.launches && trace->launches[i - 1].exec == exec;

		if (!part || (part->end - part->first >= LAUNCHES_PER_PART &&
			      (!is_next || is_constant(load, exec)))) {
			part = trace_add(naming, parts);
			if (!part)
				return -ENOMEM;
			part->first = i;
		}
		part->end = i + 1;
	}
	return 0;
}

/* One thread, if two launches may have the same activities, and for CUDA's. */
static unsigned naming_threads(const struct naming *naming)
{
	const struct trace *trace = naming->load->trace;

	if (naming->is_cuda)
		return 1;
	for (uint32_t i = naming->load->first.launches; i < trace->launches_count; i++) {
		uint32_t call = trace->launches[i].call;

		if (call == TRACE_NONE || trace->calls[call].launch != i)
			return 1;
	}
	return WORKERS_ALL;
}

/* Finds the copies and fills whose size or direction is not known. */
static int find_unclear(struct naming *naming)
{
	const struct trace *trace = naming->load->trace;

	/* The works of this process may be those of earlier ones. */
	naming->unclear = table_zeroed(trace->works_count / 64, sizeof(*naming->unclear));
	if (!naming->unclear)
		return -ENOMEM;
	for (uint32_t i = 0; i < trace->works_count; i++) {
		const struct trace_work *work = &trace->works[i];

		if (work->kind != TRACE_KERNEL &&
		    (!work->bytes ||
		     (work->kind == TRACE_COPY && work->direction == TRACE_COPY_UNKNOWN)))
			naming->unclear[i / 64] |= 1ull << i % 64;
	}
	return 0;
}

static int name_all(struct naming *naming)
{
	struct process_load *load = naming->load;
	unsigned threads = naming_threads(naming);
	int err = cut(naming);

	naming->worker_count = workers_count(threads);
	naming->workers = table_zeroed(naming->worker_count, sizeof(*naming->workers));
	if (err == 0 && !naming->workers)
		err = -ENOMEM;
	for (unsigned i = 0; i < naming->worker_count && err == 0; i++) {
		naming->workers[i].state.exec = TRACE_NONE;
		err = switch_walk_init(&naming->workers[i].switches, load);
	}
	if (err == 0)
		err = workers_run(threads, naming->parts_count, name_part, naming);
	/* In order, because the order in which work kinds are added is that of their rows. */
	for (uint32_t i = 0; i < naming->parts_count && err == 0; i++) {
		const struct naming_part *part = &naming->parts[i];

		for (uint32_t k = 0; k < part->copies_count && err == 0; k++)
			err = complete_copy(load, &part->copies[k]);
	}
	return err;
}

static void release(struct naming *naming)
{
	for (unsigned i = 0; naming->workers && i < naming->worker_count; i++) {
		exec_state_release(&naming->workers[i].state);
		switch_walk_release(&naming->workers[i].switches);
		free(naming->workers[i].assigned);
	}
	for (uint32_t i = 0; i < naming->parts_count; i++)
		free(naming->parts[i].copies);
	free(naming->workers);
	free(naming->parts);
	free(naming->unclear);
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
		if (!expect->items && !expect->memory &&
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
	struct naming naming = {.load = load};
	int err;

	for (int cause = 0; cause < RECORD_DROP_COUNT; cause++)
		naming.has_losses |= load->raw.counts.dropped[RECORD_CLASS_DISPATCH][cause] ||
				     load->raw.counts.dropped[RECORD_CLASS_COPY][cause];
	naming.has_losses |= load->raw.damage != 0;
	naming.orphan_first = first_orphan(load);
	naming.is_cuda = cuda_is_there(&load->cuda);
	for (uint32_t i = load->first.graphs; i < load->trace->graphs_count; i++)
		naming.has_bodies |= load->trace->graphs[i].is_body;
	err = sort_by_key(input->updates, input->updates_count, sizeof(*input->updates),
			  update_cid);
	if (err == 0)
		err = sort_by_key(input->updates, input->updates_count, sizeof(*input->updates),
				  update_exec);
	if (err == 0)
		err = make_expectations(load);
	if (err == 0)
		err = updates_count(load);
	if (err == 0 && load->without_nodes && !naming.is_cuda)
		err = find_unclear(&naming);
	if (err == 0)
		err = name_all(&naming);
	cuda_finish_rows(load);
	release(&naming);
	work_table_release(&load->works);
	return err;
}

/* Finds the launches of activities that ran in bodies of conditional nodes. CUPTI reports their
 * exec and node, but no call (H200, CUDA 13.0). Launches of one exec run one after the other: all
 * nodes of a launch have ended before the nodes of the next launch begin. So the time of an
 * activity identifies its launch. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/process_load.h"
#include "trace/row_table.h"

#define HOLDERS_MOST 64 /* limit of nested graphs; damaged files may have cycles */

/* First start and last end of the activities of a launch that name its call, in host ns. */
struct span {
	int64_t first_ns, last_ns; /* INT64_MAX, INT64_MIN: no activity has times */
};

/* A successful wait of the host for all work of a context, in host ns. */
struct device_wait {
	int64_t begin_ns, end_ns;
};

struct bodies {
	struct process_load *load;
	uint32_t orphan_first; /* activities from here on have no call (orphans) */
	uint32_t *launches;    /* by orphan: index into trace.launches, or TRACE_NONE */
	uint32_t *added;       /* by call, from first.calls: orphans that it gets */
	struct span *spans;    /* by launch, from first.launches */
	/* By node, from first.nodes: it has an edge to it, from it. */
	bool *is_after, *is_before;
	struct device_wait *waits; /* sorted by begin */
	uint32_t waits_count;
};

static uint32_t first_orphan(const struct process_load *load)
{
	uint32_t at = load->trace->activities_count;

	while (at > load->first.activities && load->trace->activities[at - 1].call == TRACE_NONE)
		at--;
	return at;
}

/* Whether the activity names an exec and a node, but no call. */
static bool may_be_body(const struct trace_activity *row)
{
	return row->confidence == TRACE_CONFIDENCE_UNKNOWN && !row->cid && row->queue && row->id;
}

/* ---- what is known of launches ---- */

static void learn_spans(struct bodies *bodies)
{
	const struct process_load *load = bodies->load;
	const struct trace *trace = load->trace;

	for (uint32_t i = load->first.launches; i < trace->launches_count; i++) {
		struct span *span = &bodies->spans[i - load->first.launches];
		uint32_t call = trace->launches[i].call;
		uint32_t count = call == TRACE_NONE ? 0 : trace->calls[call].activity_count;

		*span = (struct span){INT64_MAX, INT64_MIN};
		for (uint32_t k = 0; k < count; k++) {
			const struct trace_activity *row =
				&trace->activities[trace->calls[call].activity_first + k];

			if (row->untimed != RECORD_UNTIMED_NO)
				continue;
			if (row->start_ns < span->first_ns)
				span->first_ns = row->start_ns;
			if (row->end_ns > span->last_ns)
				span->last_ns = row->end_ns;
		}
	}
}

static void learn_edges(struct bodies *bodies)
{
	const struct process_load *load = bodies->load;

	for (uint32_t i = load->first.edges; i < load->trace->edges_count; i++) {
		const struct trace_edge *edge = &load->trace->edges[i];

		bodies->is_before[edge->from - load->first.nodes] = true;
		bodies->is_after[edge->to - load->first.nodes] = true;
	}
}

static int compare_waits(const void *left, const void *right)
{
	const struct device_wait *a = left, *b = right;

	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	return (a->end_ns > b->end_ns) - (a->end_ns < b->end_ns);
}

static void learn_waits(struct bodies *bodies)
{
	const struct raw_list *list = &bodies->load->raw.lists[RECORD_CUDA_SYNC];

	for (uint32_t i = 0; i < list->count; i++) {
		const struct record_cuda_sync *sync = list->rows[i].record;

		if (sync->header.tag == RECORD_CUDA_SYNC_CONTEXT && sync->result == 0 &&
		    sync->end > sync->start)
			bodies->waits[bodies->waits_count++] = (struct device_wait){
				cuda_host_ns(&bodies->load->cuda, sync->start),
				cuda_host_ns(&bodies->load->cuda, sync->end),
			};
	}
	qsort(bodies->waits, bodies->waits_count, sizeof(*bodies->waits), compare_waits);
}

/* Whether all work that was launched before BEGIN_NS had ended at NS, because a wait of the host
 * for the device began after BEGIN_NS and returned before NS. */
static bool was_over(const struct bodies *bodies, int64_t begin_ns, int64_t ns)
{
	uint32_t low = 0, high = bodies->waits_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (bodies->waits[middle].begin_ns < begin_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low < bodies->waits_count && bodies->waits[low].end_ns <= ns;
}

/* ---- which launch ---- */

/* The outermost conditional node around a node of a body. has_before, has_after: an edge leads to
 * it, or from it, or to or from a child node around it. */
struct holder {
	bool is_known, has_before, has_after;
};

static struct holder find_holder(const struct bodies *bodies, uint32_t exec, uint32_t node)
{
	const struct process_load *load = bodies->load;
	const struct trace *trace = load->trace;
	struct holder holder = {0};

	for (int depth = 0; depth < HOLDERS_MOST; depth++) {
		const struct trace_graph *graph = &trace->graphs[trace->nodes[node].graph];

		if (trace->nodes[node].graph == trace->execs[exec].graph)
			return holder;
		if (graph->parent == TRACE_NONE ||
		    graph->parent_node >= trace->graphs[graph->parent].node_count)
			break;
		node = trace->graphs[graph->parent].node_first + graph->parent_node;
		/* Edges inside a body tell nothing of the order outside it, so start again. */
		if (trace->nodes[node].type == RECORD_NODE_CONDITIONAL)
			holder = (struct holder){.is_known = true};
		holder.has_before |= bodies->is_after[node - load->first.nodes];
		holder.has_after |= bodies->is_before[node - load->first.nodes];
	}
	return (struct holder){0};
}

/* The launches of EXEC are [returned row, *RET_STOP): launches are sorted by exec. */
static uint32_t exec_launches(const struct process_load *load, uint32_t exec, uint32_t *ret_stop)
{
	const struct trace *trace = load->trace;
	uint32_t low = load->first.launches, high = trace->launches_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (trace->launches[middle].exec < exec)
			low = middle + 1;
		else
			high = middle;
	}
	*ret_stop = low + trace->execs[exec].launch_count;
	return low;
}

/* Whether the call of LAUNCH is known and had begun at NS. */
static bool had_begun(const struct trace *trace, uint32_t launch, int64_t ns)
{
	uint32_t call = trace->launches[launch].call;

	return call != TRACE_NONE && trace->calls[call].begin_ns <= ns;
}

static bool has_span(const struct bodies *bodies, uint32_t launch)
{
	return bodies->spans[launch - bodies->load->first.launches].first_ns != INT64_MAX;
}

/* Returns the last of the launches [FIRST, STOP) whose call had begun at NS, if the launch before
 * it certainly had ended; else TRACE_NONE. Launches of an exec are sorted by time. */
static uint32_t launch_by_calls(const struct bodies *bodies, uint32_t first, uint32_t stop,
				int64_t ns)
{
	const struct trace *trace = bodies->load->trace;
	uint32_t last = TRACE_NONE, before = TRACE_NONE;

	for (uint32_t i = first; i < stop && had_begun(trace, i, ns); i++) {
		before = last;
		last = i;
	}
	if (before == TRACE_NONE ||
	    was_over(bodies, trace->calls[trace->launches[before].call].end_ns, ns))
		return last;
	return TRACE_NONE;
}

/* If nodes run before the conditional node (HAS_BEFORE): returns the last launch whose own nodes
 * had begun at NS. Else: the first launch whose own nodes had not all ended at NS. */
static uint32_t launch_by_spans(const struct bodies *bodies, uint32_t first, uint32_t stop,
				int64_t ns, bool has_before)
{
	const struct trace *trace = bodies->load->trace;
	const struct span *spans = bodies->spans - bodies->load->first.launches;
	uint32_t low = first, high = stop;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (has_before ? spans[middle].first_ns <= ns : spans[middle].last_ns <= ns)
			low = middle + 1;
		else
			high = middle;
	}
	if (has_before)
		return low > first ? low - 1 : TRACE_NONE;
	return low < stop && had_begun(trace, low, ns) ? low : TRACE_NONE;
}

/* The launch of EXEC that ran NODE, which is in a body, at NS; or TRACE_NONE. Uses the spans if
 * every launch of the exec has one. */
static uint32_t find_launch(const struct bodies *bodies, uint32_t exec, uint32_t node, int64_t ns)
{
	struct holder holder = find_holder(bodies, exec, node);
	uint32_t stop, first = exec_launches(bodies->load, exec, &stop);
	bool have_spans = holder.has_before || holder.has_after;

	if (!holder.is_known)
		return TRACE_NONE;
	for (uint32_t i = first; i < stop && have_spans; i++)
		have_spans = has_span(bodies, i);
	return have_spans ? launch_by_spans(bodies, first, stop, ns, holder.has_before)
			  : launch_by_calls(bodies, first, stop, ns);
}

static void find_all(struct bodies *bodies)
{
	struct process_load *load = bodies->load;
	struct trace *trace = load->trace;

	for (uint32_t i = bodies->orphan_first; i < trace->activities_count; i++) {
		const struct trace_activity *row = &trace->activities[i];
		uint32_t exec = may_be_body(row) ? load_find_exec(load, row->queue) : TRACE_NONE;
		uint32_t node = TRACE_NONE, launch = TRACE_NONE;

		if (exec != TRACE_NONE && row->untimed == RECORD_UNTIMED_NO)
			node = cuda_find_node(load, exec, row->id);
		if (node != TRACE_NONE)
			launch = find_launch(bodies, exec, node, row->start_ns);
		if (launch != TRACE_NONE)
			bodies->added[trace->launches[launch].call - load->first.calls]++;
		bodies->launches[i - bodies->orphan_first] = launch;
	}
}

/* ---- to their places ---- */

static int compare_starts(const void *left, const void *right)
{
	const struct trace_activity *a = left, *b = right;

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return (a->id > b->id) - (a->id < b->id);
}

/* Sets the fields that join_load sets for an activity with a cid. */
static void join_row(const struct trace_call *call, uint32_t index, struct trace_activity *row)
{
	row->cid = call->cid;
	row->call = index;
	row->submit_ns = call->begin_ns;
	row->thread = call->thread;
	row->scope = call->scope;
	row->confidence = TRACE_CONFIDENCE_TIME;
}

/* Computes the first row of each call in the new order, from first.activities, with room for the
 * added rows. The calls themselves keep their old rows until settle_calls. Returns where the
 * orphans that stay orphans begin. */
static uint32_t find_places(const struct bodies *bodies, uint32_t *places)
{
	const struct process_load *load = bodies->load;
	uint32_t next = 0;

	for (uint32_t i = load->first.calls; i < load->trace->calls_count; i++) {
		places[i - load->first.calls] = next;
		next += load->trace->calls[i].activity_count + bodies->added[i - load->first.calls];
	}
	return next;
}

/* Copies a row and its ticks. Only HIP's rows have ticks; they keep their order. */
static void copy_row(const struct trace *trace, uint32_t from, struct trace_activity *rows,
		     struct trace_ticks *ticks, uint32_t to)
{
	rows[to] = trace->activities[from];
	if (trace->ticks)
		ticks[to] = trace->ticks[from];
}

static void lay_out(const struct bodies *bodies, uint32_t *places, uint32_t orphans,
		    struct trace_activity *rows, struct trace_ticks *ticks)
{
	const struct process_load *load = bodies->load;
	const struct trace *trace = load->trace;

	for (uint32_t i = load->first.calls; i < trace->calls_count; i++) {
		for (uint32_t k = 0; k < trace->calls[i].activity_count; k++)
			copy_row(trace, trace->calls[i].activity_first + k, rows, ticks,
				 places[i - load->first.calls]++);
	}
	for (uint32_t i = bodies->orphan_first; i < trace->activities_count; i++) {
		uint32_t launch = bodies->launches[i - bodies->orphan_first];
		uint32_t call = launch == TRACE_NONE ? TRACE_NONE : trace->launches[launch].call;
		uint32_t to = call == TRACE_NONE ? orphans++ : places[call - load->first.calls]++;

		copy_row(trace, i, rows, ticks, to);
		if (call != TRACE_NONE)
			join_row(&trace->calls[call], call, &rows[to]);
	}
}

/* Sets the new row ranges of the calls and orders the added rows of each by start. */
static void settle_calls(const struct bodies *bodies, const uint32_t *places)
{
	const struct process_load *load = bodies->load;
	struct trace *trace = load->trace;

	for (uint32_t i = load->first.calls; i < trace->calls_count; i++) {
		uint32_t added = bodies->added[i - load->first.calls];
		struct trace_call *call = &trace->calls[i];
		struct trace_activity *rows;

		call->activity_count += added;
		/* lay_out has advanced the place of each call to the end of its rows. */
		call->activity_first = load->first.activities + places[i - load->first.calls] -
				       call->activity_count;
		if (!added)
			continue;
		rows = &trace->activities[call->activity_first];
		qsort(rows + call->activity_count - added, added, sizeof(*rows), compare_starts);
		for (uint32_t k = 0; k < call->activity_count; k++)
			rows[k].ordinal = k;
		if (call->stream == TRACE_NONE && call->activity_count == added)
			call->stream = rows[0].stream;
	}
}

static int place_all(struct bodies *bodies)
{
	struct process_load *load = bodies->load;
	struct trace *trace = load->trace;
	uint32_t count = trace->activities_count - load->first.activities;
	struct trace_activity *rows = table_alloc(count, sizeof(*rows));
	struct trace_ticks *ticks = table_alloc(trace->ticks ? count : 0, sizeof(*ticks));
	uint32_t *places = table_alloc(load->raw.cids.count, sizeof(*places));
	int err = rows && ticks && places ? 0 : -ENOMEM;

	if (err == 0) {
		lay_out(bodies, places, find_places(bodies, places), rows, ticks);
		memcpy(trace->activities + load->first.activities, rows, count * sizeof(*rows));
		if (trace->ticks)
			memcpy(trace->ticks + load->first.activities, ticks,
			       count * sizeof(*ticks));
		settle_calls(bodies, places);
	}
	free(rows);
	free(ticks);
	free(places);
	return err;
}

static void release(struct bodies *bodies)
{
	free(bodies->launches);
	free(bodies->added);
	free(bodies->spans);
	free(bodies->is_after);
	free(bodies->is_before);
	free(bodies->waits);
}

static int init(struct bodies *bodies)
{
	const struct process_load *load = bodies->load;
	const struct trace *trace = load->trace;
	uint32_t nodes = trace->nodes_count - load->first.nodes;

	bodies->launches = table_alloc(trace->activities_count - bodies->orphan_first,
				       sizeof(*bodies->launches));
	bodies->added = table_zeroed(load->raw.cids.count, sizeof(*bodies->added));
	bodies->spans =
		table_alloc(trace->launches_count - load->first.launches, sizeof(*bodies->spans));
	bodies->is_after = table_zeroed(nodes, sizeof(*bodies->is_after));
	bodies->is_before = table_zeroed(nodes, sizeof(*bodies->is_before));
	bodies->waits =
		table_alloc(load->raw.lists[RECORD_CUDA_SYNC].count, sizeof(*bodies->waits));
	return bodies->launches && bodies->added && bodies->spans && bodies->is_after &&
			       bodies->is_before && bodies->waits
		       ? 0
		       : -ENOMEM;
}

int cuda_bodies_load(struct process_load *load)
{
	struct bodies bodies = {.load = load, .orphan_first = first_orphan(load)};
	bool is_any = false;
	int err;

	for (uint32_t i = bodies.orphan_first; i < load->trace->activities_count && !is_any; i++)
		is_any = may_be_body(&load->trace->activities[i]);
	if (!is_any || !cuda_is_there(&load->cuda))
		return 0;
	err = init(&bodies);
	if (err == 0) {
		learn_spans(&bodies);
		learn_edges(&bodies);
		learn_waits(&bodies);
		find_all(&bodies);
		err = place_all(&bodies);
	}
	release(&bodies);
	return err;
}

/* Puts activities of conditional nodes' bodies behind the others of their launch. With CUPTI of
 * CUDA 13.4 and 13.5 they name the launch's call (H100); before, their time tells the launch
 * (cuda_body_launches.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/graph/cuda_body_launches.h"
#include "trace/process_load.h"
#include "trace/row_table.h"

#define HOLDERS_MOST 64 /* limit of nested graphs; damaged files may have cycles */

struct bodies {
	struct process_load *load;
	uint32_t orphan_first; /* activities from here on have no call (orphans) */
	uint32_t *launches;    /* by orphan: index into trace.launches, or TRACE_NONE */
	uint32_t *added;       /* by call, from first.calls: orphans that it gets */
	/* By activity with a call, from first.activities: it is of a body. */
	bool *is_inside;
	uint32_t *inside; /* by call, from first.calls: its activities that are */
	bool has_moves;	  /* a call has any of both */
	struct body_launches by_time;
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
			launch = body_launches_find(&bodies->by_time, exec, node, row->start_ns);
		if (launch != TRACE_NONE) {
			bodies->added[trace->launches[launch].call - load->first.calls]++;
			bodies->has_moves = true;
		}
		bodies->launches[i - bodies->orphan_first] = launch;
	}
}

/* Finds the activities of LAUNCH's call that are of bodies. Damage may give a call two launches. */
static void find_inside(struct bodies *bodies, const struct trace_launch *launch)
{
	struct process_load *load = bodies->load;
	const struct trace *trace = load->trace;
	const struct trace_call *call = &trace->calls[launch->call];

	for (uint32_t i = call->activity_first; i < call->activity_first + call->activity_count;
	     i++) {
		uint32_t node = cuda_find_node(load, launch->exec, trace->activities[i].id);

		if (node == TRACE_NONE || !trace->graphs[trace->nodes[node].graph].is_body ||
		    bodies->is_inside[i - load->first.activities])
			continue;
		bodies->is_inside[i - load->first.activities] = true;
		bodies->inside[launch->call - load->first.calls]++;
		bodies->has_moves = true;
	}
}

/* The same of all launches whose graph has bodies. */
static int find_all_inside(struct bodies *bodies)
{
	const struct process_load *load = bodies->load;
	const struct trace *trace = load->trace;
	bool *holds = table_zeroed(trace->graphs_count - load->first.graphs, sizeof(*holds));

	if (!holds)
		return -ENOMEM;
	for (uint32_t i = load->first.graphs; i < trace->graphs_count; i++) {
		uint32_t graph = trace->graphs[i].is_body ? i : TRACE_NONE;

		for (int depth = 0; depth < HOLDERS_MOST && graph != TRACE_NONE; depth++) {
			holds[graph - load->first.graphs] = true;
			graph = trace->graphs[graph].parent;
		}
	}
	for (uint32_t i = load->first.launches; i < trace->launches_count; i++) {
		const struct trace_launch *launch = &trace->launches[i];
		uint32_t graph = trace->execs[launch->exec].graph;

		if (launch->call != TRACE_NONE && graph != TRACE_NONE &&
		    holds[graph - load->first.graphs])
			find_inside(bodies, launch);
	}
	free(holds);
	return 0;
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
		const struct trace_call *call = &trace->calls[i];
		uint32_t *place = &places[i - load->first.calls];
		uint32_t inside =
			*place + call->activity_count - bodies->inside[i - load->first.calls];

		for (uint32_t k = call->activity_first;
		     k < call->activity_first + call->activity_count; k++)
			copy_row(trace, k, rows, ticks,
				 bodies->is_inside[k - load->first.activities] ? inside++
									       : (*place)++);
		*place = inside;
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

/* Sets the new row ranges of the calls and orders the rows of bodies of each by start. */
static void settle_calls(const struct bodies *bodies, const uint32_t *places)
{
	const struct process_load *load = bodies->load;
	struct trace *trace = load->trace;

	for (uint32_t i = load->first.calls; i < trace->calls_count; i++) {
		uint32_t added = bodies->added[i - load->first.calls];
		uint32_t of_bodies = added + bodies->inside[i - load->first.calls];
		struct trace_call *call = &trace->calls[i];
		struct trace_activity *rows;

		call->activity_count += added;
		/* lay_out has advanced the place of each call to the end of its rows. */
		call->activity_first = load->first.activities + places[i - load->first.calls] -
				       call->activity_count;
		if (!of_bodies)
			continue;
		rows = &trace->activities[call->activity_first];
		qsort(rows + call->activity_count - of_bodies, of_bodies, sizeof(*rows),
		      compare_starts);
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
	free(bodies->is_inside);
	free(bodies->inside);
	body_launches_release(&bodies->by_time);
}

static int init(struct bodies *bodies)
{
	const struct process_load *load = bodies->load;
	const struct trace *trace = load->trace;

	bodies->launches = table_alloc(trace->activities_count - bodies->orphan_first,
				       sizeof(*bodies->launches));
	bodies->added = table_zeroed(load->raw.cids.count, sizeof(*bodies->added));
	bodies->is_inside = table_zeroed(bodies->orphan_first - load->first.activities,
					 sizeof(*bodies->is_inside));
	bodies->inside = table_zeroed(load->raw.cids.count, sizeof(*bodies->inside));
	return bodies->launches && bodies->added && bodies->is_inside && bodies->inside
		       ? body_launches_init(&bodies->by_time, bodies->load)
		       : -ENOMEM;
}

int cuda_bodies_load(struct process_load *load)
{
	struct bodies bodies = {.load = load, .orphan_first = first_orphan(load)};
	bool is_any = false;
	int err;

	for (uint32_t i = load->first.graphs; i < load->trace->graphs_count && !is_any; i++)
		is_any = load->trace->graphs[i].is_body;
	if (!is_any || !cuda_is_there(&load->cuda))
		return 0;
	err = init(&bodies);
	if (err == 0) {
		find_all(&bodies);
		err = find_all_inside(&bodies);
	}
	if (err == 0 && bodies.has_moves)
		err = place_all(&bodies);
	release(&bodies);
	return err;
}

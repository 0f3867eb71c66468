/* Divides the gaps of streams and GPUs by cause (idle.h). */
#include "analyze/idle.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/tally.h"
#include "trace/row_table.h"

/* A resource during the walk through a window. Activities come by start, so the union of intervals
 * needs only the end of what it covers so far (grow_union). */
struct idle_sweep {
	uint32_t stamp;	     /* index + 1 of the window for which the struct is valid */
	int64_t busy_end_ns; /* end of the union of all activities so far */
	/* Ends of the unions of communication, of other kernels, and of both. */
	int64_t communication_end_ns, compute_end_ns, both_end_ns;
	/* Time of kernels that are not collective, and of these or communication. The difference is
	 * the communication during which no other kernel ran. */
	int64_t compute_ns, both_ns;
};

int idle_init(struct idle *idle, const struct dependencies *deps)
{
	const struct trace *trace = deps->trace;
	size_t count = (size_t)trace->streams_count + trace->agents_count;

	*idle = (struct idle){
		.deps = deps,
		.resources = calloc(count + 1, sizeof(*idle->resources)),
		.resources_count = (uint32_t)count,
		.sweeps = calloc(count + 1, sizeof(*idle->sweeps)),
	};
	return idle->resources && idle->sweeps ? 0 : -ENOMEM;
}

void idle_release(struct idle *idle)
{
	free(idle->resources);
	free(idle->waits);
	numbers_release(&idle->wait_keys);
	free(idle->sweeps);
}

/* ---- causes of gaps ---- */

static enum idle_cause cause_of(const struct trace *trace, const struct dependency_source *source)
{
	const struct trace_activity *row = &trace->activities[source->activity];

	if (trace_work_of(trace, row)->kind == TRACE_COPY)
		return IDLE_COPY;
	switch (source->kind) {
	case DEPENDENCY_LEGACY:
		return IDLE_LEGACY;
	case DEPENDENCY_EVENT:
		return IDLE_EVENT;
	case DEPENDENCY_QUEUE:
		return IDLE_QUEUE;
	case DEPENDENCY_STREAM:
	case DEPENDENCY_GRAPH:
	case DEPENDENCY_PROGRAMMATIC:
	case DEPENDENCY_REPLAY:
		return IDLE_GRAPH;
	default:
		return IDLE_UNKNOWN;
	}
}

static int add_wait(struct idle *idle, uint32_t stream, const struct dependency_source *source,
		    int64_t ns)
{
	const struct trace *trace = idle->deps->trace;
	const struct trace_activity *from = &trace->activities[source->activity];
	uint32_t number = numbers_get(&idle->wait_keys, (uint64_t)stream << 32 | from->stream,
				      (uint64_t)from->work << 8 | (uint64_t)source->kind);
	struct idle_wait *row;

	if (number == NUMBERS_NONE)
		return -ENOMEM;
	if (number == idle->waits_count) {
		row = table_add((void **)&idle->waits, &idle->waits_count, sizeof(*row));
		if (!row)
			return -ENOMEM;
		*row = (struct idle_wait){
			.stream = stream,
			.from = source->activity,
			.via = source->via,
			.cause = (uint8_t)cause_of(trace, source),
			.kind = (uint8_t)source->kind,
		};
	}
	row = &idle->waits[number];
	row->count++;
	row->total_ns = tally_sum(row->total_ns, ns);
	return 0;
}

/* The activity that ends a gap, and what it waited for; computed once for its stream and its
 * GPU. */
struct gap_end {
	uint32_t activity;
	bool is_known; /* the fields below are set */
	/* When the host had submitted it, if it has a call. */
	int64_t release_ns;
	struct dependency_source source; /* kind DEPENDENCY_NONE: it waited for nothing */
};

static void find_gap_end(const struct dependencies *deps, struct gap_end *end)
{
	const struct trace_activity *row = &deps->trace->activities[end->activity];
	struct dependency_list list = dependencies_of_activity(deps, end->activity);

	if (end->is_known)
		return;
	end->is_known = true;
	if (row->call != TRACE_NONE)
		end->release_ns = dependencies_release_ns(deps->trace, row);
	end->source = dependencies_choose(deps, list, row->start_ns).source;
}

/* Gives the time from *BEGIN_NS to END_NS to CAUSE and moves *BEGIN_NS. */
static void take_cause(int64_t *cause_ns, enum idle_cause cause, int64_t *begin_ns, int64_t end_ns)
{
	if (end_ns <= *begin_ns)
		return;
	cause_ns[cause] = tally_sum(cause_ns[cause], tally_span(*begin_ns, end_ns));
	*begin_ns = end_ns;
}

/* Divides the gap from BEGIN_NS to the start of END's activity. Returns the part of it in which the
 * activity waited for END's source. */
static int64_t divide(const struct dependencies *deps, int64_t begin_ns, struct gap_end *end,
		      int64_t *cause_ns)
{
	const struct trace_activity *row = &deps->trace->activities[end->activity];
	bool is_sure = row->call != TRACE_NONE && !dependencies_is_blind(deps, end->activity);
	int64_t waited_ns = 0;

	find_gap_end(deps, end);
	if (row->call != TRACE_NONE)
		take_cause(cause_ns, IDLE_HOST, &begin_ns, end->release_ns);
	if (end->source.kind != DEPENDENCY_NONE && end->source.end_ns > begin_ns) {
		waited_ns = tally_span(begin_ns, end->source.end_ns);
		take_cause(cause_ns, cause_of(deps->trace, &end->source), &begin_ns,
			   end->source.end_ns);
	}
	take_cause(cause_ns, is_sure ? IDLE_LAUNCH : IDLE_UNKNOWN, &begin_ns, row->start_ns);
	return waited_ns;
}

void idle_divide(const struct dependencies *deps, uint32_t activity, int64_t begin_ns,
		 int64_t *cause_ns)
{
	divide(deps, begin_ns, &(struct gap_end){.activity = activity}, cause_ns);
}

/* Divides the gap of resource AT from BEGIN_NS to the start of END's activity. */
static int explain(struct idle *idle, uint32_t at, int64_t begin_ns, struct gap_end *end)
{
	int64_t waited_ns = divide(idle->deps, begin_ns, end, idle->resources[at].cause_ns);

	if (waited_ns == 0 || at >= idle->deps->trace->streams_count)
		return 0;
	return add_wait(idle, at, &end->source, waited_ns);
}

/* ---- the walk through a window ---- */

/* Adds [START_NS, STOP_NS) to a union that ends at *END_NS. Returns how much it grew. */
static int64_t grow_union(int64_t *end_ns, int64_t start_ns, int64_t stop_ns)
{
	int64_t from_ns = start_ns > *end_ns ? start_ns : *end_ns;

	if (stop_ns <= from_ns)
		return 0;
	*end_ns = stop_ns;
	return tally_span(from_ns, stop_ns);
}

static void take_communication(struct idle *idle, struct idle_sweep *sweep, uint32_t at,
			       const struct trace_activity *row, int64_t stop_ns)
{
	const struct trace_work *work = trace_work_of(idle->deps->trace, row);
	struct idle_resource *resource = &idle->resources[at];
	bool is_communication =
		work->direction == TRACE_P2P || dependencies_is_collective(idle->deps, row);

	if (is_communication)
		resource->communication_ns =
			tally_sum(resource->communication_ns,
				  grow_union(&sweep->communication_end_ns, row->start_ns, stop_ns));
	else if (work->kind == TRACE_KERNEL)
		sweep->compute_ns =
			tally_sum(sweep->compute_ns,
				  grow_union(&sweep->compute_end_ns, row->start_ns, stop_ns));
	if (is_communication || work->kind == TRACE_KERNEL)
		sweep->both_ns = tally_sum(sweep->both_ns,
					   grow_union(&sweep->both_end_ns, row->start_ns, stop_ns));
}

static int take_row(struct idle *idle, uint32_t at, struct gap_end *end,
		    const struct path_window *window)
{
	const struct trace_activity *row = &idle->deps->trace->activities[end->activity];
	struct idle_sweep *sweep = &idle->sweeps[at];
	int64_t stop_ns = row->end_ns < window->end_ns ? row->end_ns : window->end_ns;

	if (row->start_ns > sweep->busy_end_ns && explain(idle, at, sweep->busy_end_ns, end) < 0)
		return -ENOMEM;
	if (sweep->busy_end_ns < row->start_ns)
		sweep->busy_end_ns = row->start_ns;
	idle->resources[at].busy_ns =
		tally_sum(idle->resources[at].busy_ns,
			  grow_union(&sweep->busy_end_ns, row->start_ns, stop_ns));
	if (at >= idle->deps->trace->streams_count)
		take_communication(idle, sweep, at, row, stop_ns);
	return 0;
}

/* Whether the activity belongs to the scope or replay of window AT. */
static bool is_meant(const struct path_windows *windows, uint32_t at,
		     const struct trace_activity *row)
{
	const struct path_window *window = &windows->rows[at];

	if (window->launch != TRACE_NONE)
		return row->launch == window->launch;
	return row->scope != TRACE_NONE && windows->of_scope[row->scope] == at;
}

/* The resources of an activity: of its stream and of its GPU. Returns how many. */
static int resources_of(const struct idle *idle, uint32_t activity, uint32_t ret_resources[2])
{
	const struct trace *trace = idle->deps->trace;
	const struct trace_activity *row = &trace->activities[activity];
	int count = 0;

	if (row->stream != TRACE_NONE)
		ret_resources[count++] = row->stream;
	if (row->agent != TRACE_NONE)
		ret_resources[count++] = trace->streams_count + row->agent;
	return count;
}

static void open_resource(struct idle *idle, uint32_t resource, const struct path_window *window,
			  uint32_t at)
{
	idle->sweeps[resource] = (struct idle_sweep){
		.stamp = at + 1,
		.busy_end_ns = window->begin_ns,
		.communication_end_ns = window->begin_ns,
		.compute_end_ns = window->begin_ns,
		.both_end_ns = window->begin_ns,
	};
}

/* Opens the resources on which work of the window's scope or replay runs. */
static void open_meant(struct idle *idle, const struct path_windows *windows, uint32_t at)
{
	const struct path_window *window = &windows->rows[at];
	const struct starts *starts = &idle->deps->starts;
	uint32_t first, stop, resources[2];

	starts_find(starts, window->begin_ns, window->end_ns, &first, &stop);
	for (uint32_t i = first; i < stop; i++) {
		uint32_t activity = starts->order[i];
		const struct trace_activity *row = &idle->deps->trace->activities[activity];

		if (row->end_ns <= window->begin_ns || !is_meant(windows, at, row))
			continue;
		for (int resource = resources_of(idle, activity, resources); resource--;)
			open_resource(idle, resources[resource], window, at);
	}
}

/* Adds the time after the last activity, and the sums of the window. */
static void leave_window(struct idle *idle, const struct path_window *window, uint32_t at)
{
	int64_t window_ns = tally_span(window->begin_ns, window->end_ns);

	for (uint32_t i = 0; i < idle->resources_count; i++) {
		struct idle_sweep *sweep = &idle->sweeps[i];
		struct idle_resource *resource = &idle->resources[i];

		if (sweep->stamp != at + 1)
			continue;
		take_cause(resource->cause_ns, IDLE_END, &sweep->busy_end_ns, window->end_ns);
		resource->window_ns = tally_sum(resource->window_ns, window_ns);
		resource->exposed_ns = tally_sum(resource->exposed_ns,
						 tally_span(sweep->compute_ns, sweep->both_ns));
	}
}

int idle_add(struct idle *idle, const struct path_windows *windows, uint32_t at)
{
	const struct path_window *window = &windows->rows[at];
	bool is_all = window->scope == TRACE_NONE && window->launch == TRACE_NONE;
	const struct starts *starts = &idle->deps->starts;
	uint32_t first, stop, resources[2];

	if (!is_all)
		open_meant(idle, windows, at);
	starts_find(starts, window->begin_ns, window->end_ns, &first, &stop);
	for (uint32_t i = first; i < stop; i++) {
		struct gap_end end = {.activity = starts->order[i]};

		if (idle->deps->trace->activities[end.activity].end_ns <= window->begin_ns)
			continue;
		for (int resource = resources_of(idle, end.activity, resources); resource--;) {
			if (is_all && idle->sweeps[resources[resource]].stamp != at + 1)
				open_resource(idle, resources[resource], window, at);
			if (idle->sweeps[resources[resource]].stamp == at + 1 &&
			    take_row(idle, resources[resource], &end, window) < 0)
				return -ENOMEM;
		}
	}
	leave_window(idle, window, at);
	return 0;
}

static int compare_waits(const void *left, const void *right)
{
	const struct idle_wait *a = left, *b = right;

	if (a->total_ns != b->total_ns)
		return a->total_ns > b->total_ns ? -1 : 1;
	return (a->from > b->from) - (a->from < b->from);
}

void idle_finish(struct idle *idle)
{
	if (idle->waits_count)
		qsort(idle->waits, idle->waits_count, sizeof(*idle->waits), compare_waits);
}

const char *idle_cause_key(enum idle_cause cause)
{
	static const char *const keys[] = {
#define X(name, key, text) [IDLE_##name] = key,
		IDLE_CAUSES(X)
#undef X
	};

	return keys[cause];
}

const char *idle_cause_text(enum idle_cause cause)
{
	static const char *const texts[] = {
#define X(name, key, text) [IDLE_##name] = text,
		IDLE_CAUSES(X)
#undef X
	};

	return texts[cause];
}

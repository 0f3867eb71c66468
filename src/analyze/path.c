/* Follows the critical path of a window from its end to its begin (path.h). */
#include "analyze/path.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/path_jumps.h"
#include "analyze/tally.h"
#include "trace/row_table.h"

/* The state of the walk: the path from NOW_NS to the end of the window is done. At most one of
 * ACTIVITY and CALL is set: the row that the path is at. If neither is, nothing is known before
 * NOW_NS. */
struct walk {
	const struct dependencies *deps;
	const struct trace *trace;
	const struct path_jumps *jumps; /* NULL: the path stays on its rank */
	struct path path;
	int64_t begin_ns, now_ns;
	uint32_t activity;
	/* NOW_NS is inside this call, or after it and before its thread's next call */
	uint32_t call;
	int error;
};

/* Adds the step [BEGIN_NS, now), cut to the window, and moves now to its begin. Returns the step;
 * if it is empty or memory ran out, a dummy that the caller may write to. */
static struct path_step *put(struct walk *walk, enum path_kind kind, int64_t begin_ns)
{
	static struct path_step unused;
	struct path_step *step;

	if (begin_ns < walk->begin_ns)
		begin_ns = walk->begin_ns;
	if (begin_ns >= walk->now_ns)
		return &unused;
	step = table_add((void **)&walk->path.steps, &walk->path.count, sizeof(*step));
	if (!step) {
		walk->error = -ENOMEM;
		walk->now_ns = walk->begin_ns;
		return &unused;
	}
	*step = (struct path_step){
		.begin_ns = begin_ns,
		.end_ns = walk->now_ns,
		.activity = walk->activity,
		.call = walk->call,
		.from = TRACE_NONE,
		.via = TRACE_NONE,
		.kind = (uint8_t)kind,
		.cause = DEPENDENCY_NONE,
	};
	walk->now_ns = begin_ns;
	return step;
}

/* ---- what came last ---- */

/* The lead_ns of a step (path.h). */
static int64_t lead_of(const struct dependency_choice *choice)
{
	return choice->next_ns == INT64_MIN ? INT64_MAX
					    : tally_span(choice->next_ns, choice->source.end_ns);
}

static enum path_kind gap_kind(enum dependency_kind cause)
{
	if (cause == DEPENDENCY_NONE)
		return PATH_UNKNOWN;
	if (cause == DEPENDENCY_LAUNCH)
		return PATH_LAUNCH;
	return cause == DEPENDENCY_EVENT || cause == DEPENDENCY_LEGACY ? PATH_WAIT : PATH_DISPATCH;
}

static enum path_kind work_kind(const struct trace *trace, const struct trace_activity *row)
{
	switch (trace_work_of(trace, row)->kind) {
	case TRACE_COPY:
		return PATH_COPY;
	case TRACE_MEMSET:
		return PATH_MEMSET;
	case TRACE_KERNEL:
		break;
	}
	return PATH_KERNEL;
}

static void go_to(struct walk *walk, uint32_t activity, uint32_t call)
{
	walk->activity = activity;
	walk->call = call;
}

static void tell_cause(struct path_step *step, const struct dependency_choice *choice)
{
	bool is_activity =
		choice->source.kind != DEPENDENCY_NONE && choice->source.kind != DEPENDENCY_LAUNCH;

	step->cause = (uint8_t)choice->source.kind;
	step->from = is_activity ? choice->source.activity : TRACE_NONE;
	step->via = is_activity ? choice->source.via : TRACE_NONE;
	step->lead_ns = lead_of(choice);
}

/* If the activity is of a collective whose last rank began it later, adds the time since then and
 * goes to that rank. Later, so that a walk through several jumps ends. Returns whether it did. */
static bool jump(struct walk *walk)
{
	const struct path_jump *jump = path_jumps_get(walk->jumps, walk->activity);
	const struct trace_activity *row = &walk->trace->activities[walk->activity], *last;
	struct path_step *step;

	if (!jump)
		return false;
	last = &walk->trace->activities[jump->to];
	if (last->start_ns <= row->start_ns || last->start_ns > walk->now_ns)
		return false;
	step = put(walk, PATH_KERNEL, last->start_ns);
	step->cause = DEPENDENCY_COLLECTIVE;
	step->from = jump->to;
	step->lead_ns = jump->lead_ns;
	go_to(walk, jump->to, TRACE_NONE);
	return true;
}

static void walk_activity(struct walk *walk)
{
	const struct trace_activity *row = &walk->trace->activities[walk->activity];
	struct dependency_choice choice = dependencies_choose(
		walk->deps, dependencies_of_activity(walk->deps, walk->activity), row->start_ns);

	if (row->call != TRACE_NONE) {
		struct dependency_source launch = {
			.end_ns = dependencies_release_ns(walk->trace, row),
			.kind = DEPENDENCY_LAUNCH,
			.via = TRACE_NONE,
		};

		/* Offered after the edges, because of equal ends the first offer wins, and an edge
		 * tells more than the launch. */
		dependency_offer(&choice, &launch);
	}
	tell_cause(put(walk, work_kind(walk->trace, row), row->start_ns), &choice);
	if (choice.source.kind == DEPENDENCY_NONE) {
		go_to(walk, TRACE_NONE, TRACE_NONE);
		return;
	}
	tell_cause(put(walk,
		       dependencies_is_blind(walk->deps, walk->activity)
			       ? PATH_UNKNOWN
			       : gap_kind(choice.source.kind),
		       choice.source.end_ns),
		   &choice);
	if (choice.source.kind == DEPENDENCY_LAUNCH)
		go_to(walk, TRACE_NONE, row->call);
	else
		go_to(walk, choice.source.activity, TRACE_NONE);
}

/* ---- the host ---- */

/* The last call of CALL's thread that began before NS, from CALL on: mostly CALL itself or a call
 * inside it. */
static uint32_t last_begun(const struct dependencies *deps, uint32_t call, int64_t ns)
{
	const struct trace_call *calls = deps->trace->calls;
	uint32_t after = deps->call_after[call];

	while (after != TRACE_NONE && calls[after].begin_ns < ns) {
		call = after;
		after = deps->call_after[call];
	}
	return call;
}

/* CALL is the last call that began before now. Returns the innermost call that the thread was in
 * directly before now, or TRACE_NONE if it was between calls. *RET_FLOOR_NS: since when. */
static uint32_t owner_of(const struct walk *walk, uint32_t call, int64_t *ret_floor_ns)
{
	const struct trace_call *calls = walk->trace->calls;

	if (calls[call].end_ns >= walk->now_ns) {
		*ret_floor_ns = calls[call].begin_ns;
		return call;
	}
	for (int depth = 0; depth < TRACE_PARENTS_MOST; depth++) {
		uint32_t parent = calls[call].parent;

		if (parent == TRACE_NONE || calls[parent].end_ns >= walk->now_ns)
			break;
		call = parent;
	}
	*ret_floor_ns = calls[call].end_ns;
	return calls[call].parent;
}

/* Whether the call has an unresolved wait of the host. */
static bool waits_blindly(const struct walk *walk, uint32_t call)
{
	const struct trace *trace = walk->trace;

	for (uint32_t low = 0, high = walk->deps->unresolved_count; low < high;) {
		uint32_t middle = low + (high - low) / 2;
		const struct trace_wait *wait = &trace->waits[walk->deps->unresolved[middle].wait];

		if (wait->call == call)
			return wait->type != TRACE_WAIT_STREAM_EVENT;
		if (wait->process < trace->calls[call].process ||
		    (wait->process == trace->calls[call].process &&
		     wait->cid < trace->calls[call].cid))
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

/* Adds the time inside CALL since FLOOR_NS. If the call waited for work that ended after FLOOR_NS,
 * adds only the time since that end and goes to that work. */
static void walk_call(struct walk *walk, uint32_t call, int64_t floor_ns)
{
	struct dependency_choice choice = dependencies_choose(
		walk->deps, dependencies_of_call(walk->deps, call), walk->now_ns);
	struct path_step *step;

	walk->call = call;
	if (choice.source.kind == DEPENDENCY_NONE || choice.source.end_ns <= floor_ns) {
		put(walk, waits_blindly(walk, call) ? PATH_WAIT : PATH_CALL, floor_ns);
		return;
	}
	if (choice.next_ns < walk->trace->calls[call].begin_ns)
		choice.next_ns = walk->trace->calls[call].begin_ns;
	step = put(walk, PATH_CALL, choice.source.end_ns);
	tell_cause(step, &choice);
	go_to(walk, choice.source.activity, TRACE_NONE);
}

static void walk_host(struct walk *walk)
{
	const struct trace_call *calls = walk->trace->calls;
	uint32_t call = last_begun(walk->deps, walk->call, walk->now_ns), owner;
	int64_t floor_ns;

	while (call != TRACE_NONE && calls[call].begin_ns >= walk->now_ns)
		call = walk->deps->call_before[call];
	walk->call = call;
	if (call == TRACE_NONE) {
		put(walk, PATH_HOST, walk->begin_ns);
		return;
	}
	owner = owner_of(walk, call, &floor_ns);
	if (owner == TRACE_NONE)
		put(walk, PATH_HOST, floor_ns);
	else
		walk_call(walk, owner, floor_ns);
	/* walk_call has set walk->call to OWNER. Unless the path left the thread for an activity,
	 * it continues from CALL. */
	if (walk->activity == TRACE_NONE)
		walk->call = call;
}

/* ---- all of it ---- */

static void reverse(struct path *path)
{
	for (uint32_t low = 0, high = path->count; low + 1 < high; low++) {
		struct path_step swap = path->steps[low];

		path->steps[low] = path->steps[--high];
		path->steps[high] = swap;
	}
}

/* Sets where the path starts. If the activity or call that ends the window ended before the window
 * did, adds a step for the time between. */
static void put_tail(struct walk *walk, const struct path_window *window)
{
	int64_t end_ns = INT64_MIN;

	if (window->activity != TRACE_NONE)
		end_ns = walk->trace->activities[window->activity].end_ns;
	else if (window->call != TRACE_NONE)
		end_ns = walk->trace->calls[window->call].end_ns;
	/* A scope that ends with a call: its thread goes on after its last call, so the time until
	 * the end of the scope is the host's. */
	if (end_ns < walk->now_ns && (window->scope == TRACE_NONE || window->call == TRACE_NONE))
		put(walk, PATH_UNKNOWN, end_ns);
	go_to(walk, window->activity, window->activity == TRACE_NONE ? window->call : TRACE_NONE);
}

int path_find(const struct dependencies *deps, const struct path_window *window,
	      struct path *ret_path)
{
	return path_find_across(deps, NULL, window, ret_path);
}

int path_find_across(const struct dependencies *deps, const struct path_jumps *jumps,
		     const struct path_window *window, struct path *ret_path)
{
	struct walk walk = {
		.deps = deps,
		.trace = deps->trace,
		.jumps = jumps,
		.begin_ns = window->begin_ns,
		.now_ns = window->end_ns,
		.activity = TRACE_NONE,
		.call = TRACE_NONE,
	};

	put_tail(&walk, window);
	while (walk.now_ns > walk.begin_ns) {
		if (walk.activity != TRACE_NONE && jump(&walk))
			continue;
		if (walk.activity != TRACE_NONE)
			walk_activity(&walk);
		else if (walk.call != TRACE_NONE)
			walk_host(&walk);
		else
			put(&walk, PATH_UNKNOWN, walk.begin_ns);
	}
	if (walk.error < 0) {
		path_release(&walk.path);
		return walk.error;
	}
	reverse(&walk.path);
	*ret_path = walk.path;
	return 0;
}

void path_release(struct path *path)
{
	free(path->steps);
	*path = (struct path){0};
}

const char *path_kind_key(enum path_kind kind)
{
	static const char *const keys[] = {
#define X(name, key, text) [PATH_##name] = key,
		PATH_KINDS(X)
#undef X
	};

	return keys[kind];
}

const char *path_kind_text(enum path_kind kind)
{
	static const char *const texts[] = {
#define X(name, key, text) [PATH_##name] = text,
		PATH_KINDS(X)
#undef X
	};

	return texts[kind];
}

/* Finds the gaps of GPUs (gaps.h). */
#include "analyze/gaps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/scope_instances.h"
#include "analyze/scope_match.h"
#include "trace/row_table.h"

struct finding {
	const struct trace *trace;
	struct gaps *gaps;
	uint32_t *by_gpu; /* gaps by GPU, then by begin: those of one GPU do not overlap */
	uint32_t *first;  /* by agent: where its part of by_gpu begins; one more for the end */
	struct numbers call_keys, scope_keys; /* of (gap, name): index into calls, scopes */
};

/* ---- gaps ---- */

/* The state of a GPU in the walk through the activities. */
struct gpu_state {
	int64_t end_ns;
	uint32_t last; /* activity that ended last; TRACE_NONE: it had none yet */
};

static int take_activity(struct finding *finding, struct gpu_state *gpu, uint32_t activity,
			 bool is_selected)
{
	const struct trace_activity *row = &finding->trace->activities[activity];
	struct gap *gap;

	if (gpu->last != TRACE_NONE && row->start_ns > gpu->end_ns && is_selected) {
		gap = table_add((void **)&finding->gaps->rows, &finding->gaps->count, sizeof(*gap));
		if (!gap)
			return -ENOMEM;
		*gap = (struct gap){
			.agent = row->agent,
			.before = gpu->last,
			.after = activity,
			.begin_ns = gpu->end_ns,
			.end_ns = row->start_ns,
			.scope = TRACE_NONE,
		};
	}
	if (gpu->last == TRACE_NONE || row->end_ns > gpu->end_ns)
		*gpu = (struct gpu_state){row->end_ns, activity};
	return 0;
}

static int find_gaps(struct finding *finding, const struct starts *starts, const bool *is_selected)
{
	const struct trace *trace = finding->trace;
	struct gpu_state *gpus = table_alloc(trace->agents_count, sizeof(*gpus));
	int err = gpus ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < trace->agents_count && gpus; i++)
		gpus[i].last = TRACE_NONE;
	for (uint32_t i = 0; i < starts->count && err == 0; i++) {
		uint32_t activity = starts->order[i];
		uint32_t agent = trace->activities[activity].agent;

		if (agent != TRACE_NONE)
			err = take_activity(finding, &gpus[agent], activity,
					    !is_selected || is_selected[activity]);
	}
	free(gpus);
	return err;
}

static int by_length(const void *left, const void *right)
{
	const struct gap *a = left, *b = right;

	if (gap_ns(a) != gap_ns(b))
		return gap_ns(a) > gap_ns(b) ? -1 : 1;
	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	return a->agent < b->agent ? -1 : a->agent > b->agent;
}

static void keep_longest(struct gaps *gaps, uint32_t limit)
{
	gaps->found = gaps->count;
	for (uint32_t i = 0; i < gaps->count; i++)
		gaps->total_ns = tally_sum(gaps->total_ns, gap_ns(&gaps->rows[i]));
	if (gaps->count)
		qsort(gaps->rows, gaps->count, sizeof(*gaps->rows), by_length);
	if (limit && limit < gaps->count)
		gaps->count = limit;
}

/* ---- what the host did in them ---- */

static int by_gpu_and_time(const void *left, const void *right, void *rows)
{
	const struct gap *a = (struct gap *)rows + *(const uint32_t *)left;
	const struct gap *b = (struct gap *)rows + *(const uint32_t *)right;

	if (a->agent != b->agent)
		return a->agent < b->agent ? -1 : 1;
	return a->begin_ns < b->begin_ns ? -1 : a->begin_ns > b->begin_ns;
}

static int index_gaps(struct finding *finding)
{
	const struct gaps *gaps = finding->gaps;
	uint32_t agents = finding->trace->agents_count, at = 0;

	finding->by_gpu = table_alloc(gaps->count, sizeof(*finding->by_gpu));
	finding->first = table_alloc((uint64_t)agents + 1, sizeof(*finding->first));
	if (!finding->by_gpu || !finding->first)
		return -ENOMEM;
	for (uint32_t i = 0; i < gaps->count; i++)
		finding->by_gpu[i] = i;
	qsort_r(finding->by_gpu, gaps->count, sizeof(*finding->by_gpu), by_gpu_and_time,
		gaps->rows);
	for (uint32_t agent = 0; agent <= agents; agent++) {
		while (at < gaps->count && gaps->rows[finding->by_gpu[at]].agent < agent)
			at++;
		finding->first[agent] = at;
	}
	return 0;
}

/* The first of the gaps of AGENT, in by_gpu, that ends after NS. */
static uint32_t first_after(const struct finding *finding, uint32_t agent, int64_t ns)
{
	uint32_t low = finding->first[agent], high = finding->first[agent + 1];

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (finding->gaps->rows[finding->by_gpu[middle]].end_ns > ns)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* A call or a scope. */
struct host_interval {
	uint32_t process, thread;
	int64_t begin_ns, end_ns;
	trace_string name;
	uint32_t scope; /* TRACE_NONE: it is a call */
	uint32_t depth; /* number of scopes around it */
};

/* Names the gap after SCOPE if that says more than the scope that it is named after. */
static void take_scope(const struct finding *finding, struct gap *gap,
		       const struct host_interval *scope, int64_t overlap_ns)
{
	uint32_t submitter = finding->trace->activities[gap->after].thread;
	bool is_of_submitter = submitter != TRACE_NONE && submitter == scope->thread;

	if (overlap_ns < gap_ns(gap) - overlap_ns ||
	    (gap->scope != TRACE_NONE && gap->is_of_submitter > is_of_submitter))
		return;
	if (gap->scope != TRACE_NONE && gap->is_of_submitter == is_of_submitter &&
	    gap->scope_depth >= scope->depth)
		return;
	gap->scope = scope->scope;
	gap->scope_depth = scope->depth;
	gap->is_of_submitter = is_of_submitter;
}

static int take_overlap(struct finding *finding, uint32_t at, const struct host_interval *interval)
{
	struct gap *gap = &finding->gaps->rows[at];
	bool is_call = interval->scope == TRACE_NONE;
	struct gap_parts *parts = is_call ? &finding->gaps->calls : &finding->gaps->scopes;
	int64_t begin_ns = interval->begin_ns > gap->begin_ns ? interval->begin_ns : gap->begin_ns;
	int64_t end_ns = interval->end_ns < gap->end_ns ? interval->end_ns : gap->end_ns;
	int64_t overlap_ns = tally_span(begin_ns, end_ns);
	struct gap_part *added;
	int64_t number = numbers_row(is_call ? &finding->call_keys : &finding->scope_keys, at,
				     interval->name, (void **)&parts->rows, &parts->count,
				     sizeof(*parts->rows), (void **)&added);

	if (number < 0)
		return -ENOMEM;
	if (added)
		*added = (struct gap_part){.gap = at, .name = interval->name};
	parts->rows[number].count++;
	parts->rows[number].ns = tally_sum(parts->rows[number].ns, overlap_ns);
	if (!is_call)
		take_scope(finding, gap, interval, overlap_ns);
	return 0;
}

/* Adds INTERVAL to the gaps that it overlaps, of the GPUs of its process. */
static int take_interval(struct finding *finding, const struct host_interval *interval)
{
	const struct trace *trace = finding->trace;

	for (uint32_t agent = 0; agent < trace->agents_count; agent++) {
		if (trace->agents[agent].process != interval->process)
			continue;
		for (uint32_t i = first_after(finding, agent, interval->begin_ns);
		     i < finding->first[agent + 1]; i++) {
			uint32_t at = finding->by_gpu[i];

			if (finding->gaps->rows[at].begin_ns >= interval->end_ns)
				break;
			if (take_overlap(finding, at, interval) < 0)
				return -ENOMEM;
		}
	}
	return 0;
}

static int take_calls(struct finding *finding)
{
	const struct trace *trace = finding->trace;
	int err = 0;

	for (uint32_t i = 0; i < trace->calls_count && err == 0; i++) {
		const struct trace_call *call = &trace->calls[i];

		if (call->parent == TRACE_NONE)
			err = take_interval(finding, &(struct host_interval){
							     .process = call->process,
							     .thread = call->thread,
							     .begin_ns = call->begin_ns,
							     .end_ns = call->end_ns,
							     .name = trace->apis[call->api].name,
							     .scope = TRACE_NONE,
						     });
	}
	return err;
}

static uint32_t depth_of(const struct trace *trace, uint32_t scope)
{
	uint32_t depth = 0;

	while (trace->scopes[scope].parent != TRACE_NONE && depth < SCOPE_DEPTH_MAX) {
		scope = trace->scopes[scope].parent;
		depth++;
	}
	return depth;
}

static int take_scopes(struct finding *finding)
{
	const struct trace *trace = finding->trace;
	int err = 0;

	for (uint32_t i = 0; i < trace->scopes_count && err == 0; i++) {
		const struct trace_scope *scope = &trace->scopes[i];

		if (scope_is_interval(scope))
			err = take_interval(finding, &(struct host_interval){
							     .process = scope->process,
							     .thread = scope->thread,
							     .begin_ns = scope->begin_ns,
							     .end_ns = scope->end_ns,
							     .name = trace_scope_label(trace, i),
							     .scope = i,
							     .depth = depth_of(trace, i),
						     });
	}
	return err;
}

static int by_gap(const void *left, const void *right, void *trace)
{
	const struct gap_part *a = left, *b = right;

	if (a->gap != b->gap)
		return a->gap < b->gap ? -1 : 1;
	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return strcmp(trace_text(trace, a->name), trace_text(trace, b->name));
}

static void sort_parts(const struct trace *trace, struct gap_parts *parts)
{
	if (parts->count)
		qsort_r(parts->rows, parts->count, sizeof(*parts->rows), by_gap, (void *)trace);
}

/* Sorts the parts, and sets the ranges of the gaps. */
static void arrange_parts(struct finding *finding)
{
	struct gaps *gaps = finding->gaps;
	uint32_t call = 0, scope = 0;

	sort_parts(finding->trace, &gaps->calls);
	sort_parts(finding->trace, &gaps->scopes);
	for (uint32_t i = 0; i < gaps->count; i++) {
		struct gap *gap = &gaps->rows[i];

		gap->first_call = call;
		gap->first_scope = scope;
		while (call < gaps->calls.count && gaps->calls.rows[call].gap == i)
			call++;
		while (scope < gaps->scopes.count && gaps->scopes.rows[scope].gap == i)
			scope++;
		gap->calls = call - gap->first_call;
		gap->scopes = scope - gap->first_scope;
	}
}

/* ---- all of it ---- */

enum idle_cause gap_cause(const struct gap *gap)
{
	int longest = 0;

	for (int cause = 1; cause < IDLE_CAUSE_COUNT; cause++) {
		if (gap->cause_ns[cause] > gap->cause_ns[longest])
			longest = cause;
	}
	return (enum idle_cause)longest;
}

int gaps_find(const struct dependencies *deps, const bool *is_selected, uint32_t limit,
	      struct gaps *ret_gaps)
{
	struct gaps gaps = {0};
	struct finding finding = {.trace = deps->trace, .gaps = &gaps};
	int err = find_gaps(&finding, &deps->starts, is_selected);

	keep_longest(&gaps, limit);
	for (uint32_t i = 0; i < gaps.count && err == 0; i++)
		idle_divide(deps, gaps.rows[i].after, gaps.rows[i].begin_ns, gaps.rows[i].cause_ns);
	if (err == 0)
		err = index_gaps(&finding);
	if (err == 0)
		err = take_calls(&finding);
	if (err == 0)
		err = take_scopes(&finding);
	if (err == 0)
		arrange_parts(&finding);
	free(finding.by_gpu);
	free(finding.first);
	numbers_release(&finding.call_keys);
	numbers_release(&finding.scope_keys);
	if (err < 0)
		gaps_release(&gaps);
	else
		*ret_gaps = gaps;
	return err;
}

void gaps_release(struct gaps *gaps)
{
	free(gaps->rows);
	free(gaps->calls.rows);
	free(gaps->scopes.rows);
	*gaps = (struct gaps){0};
}

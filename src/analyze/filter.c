/* Selects rows of a trace (filter.h). */
#include "analyze/filter.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/path_window.h"
#include "analyze/scope_instances.h"
#include "analyze/scope_match.h"
#include "analyze/tally.h"
#include "base/table.h"

/* The filter, with what its conditions mean in this trace. */
struct matching {
	const struct trace *trace;
	const struct filter *filter;
	int64_t from_ns, to_ns;
	bool *is_kernel; /* by work: its name matches; NULL: any work is wanted */
	bool *is_inside; /* by scope: it matches or is in one that does; NULL: any */
};

bool filter_is_given(const struct filter *filter)
{
	return filter->kernel || filter->scope || filter->from.is_given || filter->to.is_given ||
	       filter->stream != FILTER_ANY || filter->device != FILTER_ANY;
}

static int find_kernels(struct matching *matching)
{
	const struct trace *trace = matching->trace;
	const char *pattern = matching->filter->kernel;

	if (!pattern)
		return 0;
	matching->is_kernel = table_zeroed(trace->works_count, sizeof(*matching->is_kernel));
	if (!matching->is_kernel)
		return -ENOMEM;
	for (uint32_t i = 0; i < trace->works_count; i++) {
		const char *name = trace_text(trace, trace->works[i].name);

		matching->is_kernel[i] = trace->works[i].kind == TRACE_KERNEL &&
					 (!strcmp(name, pattern) || fnmatch(pattern, name, 0) == 0);
	}
	return 0;
}

static int find_scopes(struct matching *matching)
{
	const struct trace *trace = matching->trace;
	struct scope_instances instances = {0};
	bool *is_meant;
	int err;

	if (!matching->filter->scope)
		return 0;
	is_meant = table_zeroed(trace->scopes_count, sizeof(*is_meant));
	if (!is_meant)
		return -ENOMEM;
	for (uint32_t i = 0; i < trace->scopes_count; i++)
		is_meant[i] = scope_matches(trace, &trace->scopes[i], matching->filter->scope);
	err = scope_instances_find(trace, is_meant, &instances);
	for (uint32_t i = 0; i < trace->scopes_count && err == 0; i++)
		is_meant[i] = instances.of_scope[i] != TRACE_NONE;
	scope_instances_release(&instances);
	matching->is_inside = is_meant;
	return err;
}

int64_t filter_moment(const struct filter_time *time, int64_t begin_ns, int64_t otherwise)
{
	if (!time->is_given)
		return otherwise;
	return time->is_relative ? tally_sum(begin_ns, time->ns) : time->ns;
}

static int init(struct matching *matching)
{
	const struct filter *filter = matching->filter;
	int64_t begin_ns = 0, end_ns;

	if (filter->from.is_relative || filter->to.is_relative)
		path_bounds(matching->trace, &begin_ns, &end_ns);
	matching->from_ns = filter_moment(&filter->from, begin_ns, INT64_MIN);
	matching->to_ns = filter_moment(&filter->to, begin_ns, INT64_MAX);
	if (find_kernels(matching) < 0)
		return -ENOMEM;
	return find_scopes(matching);
}

/* Whether [BEGIN_NS, END_NS) is in the wanted time. */
static bool is_in_time(const struct matching *matching, int64_t begin_ns, int64_t end_ns)
{
	return begin_ns < matching->to_ns &&
	       (end_ns > matching->from_ns || (end_ns == begin_ns && end_ns == matching->from_ns));
}

static bool is_in_scope(const struct matching *matching, uint32_t scope)
{
	return !matching->is_inside || (scope != TRACE_NONE && matching->is_inside[scope]);
}

static bool is_on_stream(const struct matching *matching, uint32_t stream)
{
	return matching->filter->stream == FILTER_ANY ||
	       (stream != TRACE_NONE &&
		matching->trace->streams[stream].ordinal == matching->filter->stream);
}

static bool is_of_device(const struct matching *matching, uint32_t agent)
{
	const struct trace_agent *agents = matching->trace->agents;

	return matching->filter->device == FILTER_ANY ||
	       (agent != TRACE_NONE && agents[agent].is_gpu &&
		agents[agent].gpu_ordinal == matching->filter->device);
}

static bool has_time(const struct filter *filter)
{
	return filter->from.is_given || filter->to.is_given;
}

static bool selects_activity(const struct matching *matching, const struct trace_activity *row)
{
	const struct trace *trace = matching->trace;
	const struct filter *filter = matching->filter;

	if (matching->is_kernel && !matching->is_kernel[row->work])
		return false;
	if (!is_on_stream(matching, row->stream) || !is_of_device(matching, row->agent))
		return false;
	if (has_time(filter) && (row->untimed != RECORD_UNTIMED_NO ||
				 !is_in_time(matching, row->start_ns, row->end_ns)))
		return false;
	return is_in_scope(matching, row->scope) ||
	       is_in_scope(matching, trace_scope_of(trace, row));
}

static void mark(const struct matching *matching, struct selection *selection)
{
	const struct trace *trace = matching->trace;
	const struct filter *filter = matching->filter;
	bool by_work =
		filter->kernel || filter->stream != FILTER_ANY || filter->device != FILTER_ANY;

	for (uint32_t i = 0; i < trace->calls_count; i++) {
		const struct trace_call *call = &trace->calls[i];

		selection->calls[i] = !by_work && is_in_scope(matching, call->scope) &&
				      is_in_time(matching, call->begin_ns, call->end_ns);
	}
	for (uint32_t i = 0; i < trace->activities_count; i++) {
		const struct trace_activity *row = &trace->activities[i];

		if (!selects_activity(matching, row))
			continue;
		selection->activities[i] = true;
		selection->activities_count++;
		if (row->call != TRACE_NONE)
			selection->calls[row->call] = true;
	}
	for (uint32_t i = 0; i < trace->calls_count; i++)
		selection->calls_count += selection->calls[i];
}

int filter_select(const struct trace *trace, const struct filter *filter,
		  struct selection *ret_selection)
{
	struct matching matching = {.trace = trace, .filter = filter};
	struct selection selection = {
		.activities = table_zeroed(trace->activities_count, sizeof(bool)),
		.calls = table_zeroed(trace->calls_count, sizeof(bool)),
	};
	int err = selection.activities && selection.calls ? init(&matching) : -ENOMEM;

	if (err == 0) {
		mark(&matching, &selection);
		*ret_selection = selection;
	} else {
		selection_release(&selection);
	}
	free(matching.is_kernel);
	free(matching.is_inside);
	return err;
}

int filter_select_blocks(const struct trace *trace, const struct filter *filter,
			 const struct memory_blocks *blocks, bool *is_selected, uint32_t *ret_count)
{
	struct matching matching = {.trace = trace, .filter = filter};
	int err = init(&matching);
	uint32_t count = 0;

	for (uint32_t i = 0; i < blocks->count && err == 0; i++) {
		const struct memory_block *block = &blocks->rows[i];

		is_selected[i] = is_on_stream(&matching, block->stream) &&
				 is_of_device(&matching, block->agent) &&
				 is_in_scope(&matching, block->scope) &&
				 is_in_time(&matching, block->begin_ns, block->end_ns);
		count += is_selected[i];
	}
	free(matching.is_kernel);
	free(matching.is_inside);
	if (err == 0)
		*ret_count = count;
	return err;
}

void selection_release(struct selection *selection)
{
	free(selection->activities);
	free(selection->calls);
	*selection = (struct selection){0};
}

/* Names in the outputs of `dagtap scopes` (cmd_scopes.h). */
#include "cli/cmd_scopes.h"
#include "cli/path_names.h"

const char *scopes_figure_key(enum scope_figure figure)
{
	static const char *const keys[] = {
		[SCOPE_HOST] = "host",
		[SCOPE_PROJECTION] = "projection",
		[SCOPE_BUSY] = "busy",
		[SCOPE_IDLE] = "idle",
	};

	return keys[figure];
}

const char *scopes_figure_text(enum scope_figure figure)
{
	static const char *const texts[] = {
		[SCOPE_HOST] = "host",
		[SCOPE_PROJECTION] = "GPU projection",
		[SCOPE_BUSY] = "GPU busy",
		[SCOPE_IDLE] = "GPU idle",
	};

	return texts[figure];
}

const char *scopes_part_name(const struct trace *trace, const struct scope_part *part, bool is_node)
{
	const struct trace_activity *row;

	if (part->kind == SCOPE_PART_IDLE)
		return idle_cause_text(part->cause);
	row = &trace->activities[part->activity];
	if (is_node && *trace_text(trace, trace->nodes[row->node].name))
		return trace_text(trace, trace->nodes[row->node].name);
	return path_activity_text(trace, part->activity);
}

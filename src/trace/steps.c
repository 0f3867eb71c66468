/* Makes steps of scopes and of graph launches (steps.h). */
#include "trace/steps.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/create.h"
#include "trace/row_table.h"

/* How many attributes the scopes have, those of several scopes counted for each. */
static uint64_t count_attributes(const struct trace *trace, const uint32_t *scopes, uint32_t count)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < count; i++)
		sum += trace->scopes[scopes[i]].attribute_count;
	return sum;
}

int trace_make_steps(struct trace *trace, const uint32_t *scopes, uint32_t count)
{
	trace_string key = strtab_intern_z(trace_strings(trace), RECORD_STEP_KEY);
	uint64_t more = count + count_attributes(trace, scopes, count);
	struct trace_scope_attribute *rows;

	if (trace_seal(trace) < 0)
		return -ENOMEM;
	rows = trace_append(trace, scope_attributes, more);
	if (!rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		struct trace_scope *scope = &trace->scopes[scopes[i]];

		*rows = (struct trace_scope_attribute){
			.key = key, .kind = RECORD_ATTRIBUTE_INT64, .value.int64 = i};
		memcpy(rows + 1, &trace->scope_attributes[scope->attribute_first],
		       scope->attribute_count * sizeof(*rows));
		scope->attribute_first = (uint32_t)(rows - trace->scope_attributes);
		scope->attribute_count++;
		scope->kind = RECORD_SCOPE_STEP;
		rows += scope->attribute_count;
	}
	return 0;
}

/* ---- graph launches ---- */

/* Where the scopes of a process go when steps are added behind them. */
struct place {
	uint32_t shift; /* by which the indices of its scopes grow: the steps of processes before */
	uint32_t next;	/* index of its next step */
	uint64_t next_id;
};

static uint32_t shifted(const struct place *places, uint32_t process, uint32_t scope)
{
	return scope == TRACE_NONE ? TRACE_NONE : scope + places[process].shift;
}

/* Counts the steps of each process, and finds where its first one goes. SCOPES_COUNT: without the
 * steps. */
static void find_places(const struct trace *trace, uint32_t scopes_count, const uint32_t *launches,
			uint32_t count, struct place *places)
{
	uint32_t shift = 0, scope = 0;

	for (uint32_t i = 0; i < count; i++)
		places[trace->launches[launches[i]].process].next++;
	for (uint32_t i = 0; i < trace->processes_count; i++) {
		uint32_t steps = places[i].next;

		places[i] = (struct place){.shift = shift, .next_id = 1};
		for (; scope < scopes_count && trace->scopes[scope].process == i; scope++)
			places[i].next_id = trace->scopes[scope].id + 1;
		places[i].next = scope + shift;
		shift += steps;
	}
}

/* Moves the scopes of each process behind the steps of those before it, the last one first. */
static void move_scopes(struct trace *trace, uint32_t scopes_count, const struct place *places)
{
	for (uint32_t i = scopes_count; i-- > 0;) {
		struct trace_scope row = trace->scopes[i];

		row.parent = shifted(places, row.process, row.parent);
		trace->scopes[i + places[row.process].shift] = row;
	}
}

/* Updates all references to scopes. */
static void shift_scopes(struct trace *trace, const struct place *places)
{
	for (uint32_t i = 0; i < trace->calls_count; i++)
		trace->calls[i].scope =
			shifted(places, trace->calls[i].process, trace->calls[i].scope);
	for (uint32_t i = 0; i < trace->activities_count; i++)
		trace->activities[i].scope =
			shifted(places, trace->activities[i].process, trace->activities[i].scope);
	for (uint32_t i = 0; i < trace->nodes_count; i++)
		trace->nodes[i].scope =
			shifted(places, trace->graphs[trace->nodes[i].graph].process,
				trace->nodes[i].scope);
	for (uint32_t i = 0; i < trace->memory_operations_count; i++)
		trace->memory_operations[i].scope =
			shifted(places, trace->memory_operations[i].process,
				trace->memory_operations[i].scope);
}

/* Sets the step's text, and its name, which is the text without the number: XProf appends it. */
static void name_step(struct trace *trace, uint32_t launch, uint32_t number,
		      struct trace_scope *step)
{
	uint32_t graph = trace->execs[trace->launches[launch].exec].graph;
	char text[64], id[24] = "*";
	int length;

	if (graph != TRACE_NONE)
		snprintf(id, sizeof(id), "%" PRIu64, trace->graphs[graph].id);
	length = snprintf(text, sizeof(text), "graph %s step", id);
	step->name = strtab_intern_z(trace_strings(trace), text);
	snprintf(text + length, sizeof(text) - (size_t)length, " %" PRIu32, number);
	step->text = strtab_intern_z(trace_strings(trace), text);
}

/* Writes the scope of the step, without a name, and puts the call into it. Returns its index. */
static uint32_t put_step(struct trace *trace, struct place *place, uint32_t launch)
{
	struct trace_call *call = &trace->calls[trace->launches[launch].call];

	trace->scopes[place->next] = (struct trace_scope){
		.process = call->process,
		.id = place->next_id++,
		.parent = call->scope,
		.thread = call->thread,
		.begin_ns = call->begin_ns,
		.end_ns = call->end_ns,
	};
	call->scope = place->next++;
	return call->scope;
}

/* Puts what the calls with a step caused into it: the calls inside them, which follow them in the
 * table, and the activities of all. IS_IN_STEP, by call, marks the calls with a step. */
static void fill_steps(struct trace *trace, bool *is_in_step)
{
	for (uint32_t i = 0; i < trace->calls_count; i++) {
		struct trace_call *call = &trace->calls[i];

		if (!is_in_step[i] && call->parent != TRACE_NONE && is_in_step[call->parent]) {
			is_in_step[i] = true;
			call->scope = trace->calls[call->parent].scope;
		}
		for (uint32_t j = 0; j < call->activity_count && is_in_step[i]; j++)
			trace->activities[call->activity_first + j].scope = call->scope;
	}
}

/* STEPS has room for COUNT indices, IS_IN_STEP for all calls. */
static int add_steps(struct trace *trace, const uint32_t *launches, uint32_t count,
		     struct place *places, uint32_t *steps, bool *is_in_step)
{
	uint32_t scopes_count = trace->scopes_count;

	if (!trace_append(trace, scopes, count))
		return -ENOMEM;
	find_places(trace, scopes_count, launches, count, places);
	move_scopes(trace, scopes_count, places);
	shift_scopes(trace, places);
	for (uint32_t i = 0; i < count; i++) {
		const struct trace_launch *launch = &trace->launches[launches[i]];

		steps[i] = put_step(trace, &places[launch->process], launches[i]);
		name_step(trace, launches[i], i, &trace->scopes[steps[i]]);
		is_in_step[launch->call] = true;
	}
	fill_steps(trace, is_in_step);
	return trace_make_steps(trace, steps, count);
}

int trace_add_steps(struct trace *trace, const uint32_t *launches, uint32_t count)
{
	struct place *places = table_zeroed(trace->processes_count, sizeof(*places));
	uint32_t *steps = table_alloc(count, sizeof(*steps));
	bool *is_in_step = table_zeroed(trace->calls_count, sizeof(*is_in_step));
	int err = -ENOMEM;

	if (places && steps && is_in_step)
		err = add_steps(trace, launches, count, places, steps, is_in_step);
	free(places);
	free(steps);
	free(is_in_step);
	return err;
}

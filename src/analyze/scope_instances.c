/* Finds the instances of a scope (scope_instances.h). */
#include "analyze/scope_instances.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "trace/row_table.h"

/* Of SCOPE and the scopes around it, the outermost that IS_MEANT marks; or TRACE_NONE. */
static uint32_t outermost(const struct trace *trace, const bool *is_meant, uint32_t scope)
{
	uint32_t found = TRACE_NONE;

	for (int depth = 0; scope != TRACE_NONE && depth < SCOPE_DEPTH_MAX; depth++) {
		if (is_meant[scope])
			found = scope;
		scope = trace->scopes[scope].parent;
	}
	return found;
}

/* Sets INSTANCES->scopes to the rows of ORDER, by begin. */
static int take_in_order(struct scope_instances *instances, struct sort_row *order, uint32_t count)
{
	if (sort_rows(order, count) < 0)
		return -ENOMEM;
	instances->scopes = table_alloc(count, sizeof(*instances->scopes));
	if (!instances->scopes)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		instances->scopes[i] = order[i].index;
	instances->count = count;
	return 0;
}

/* Replaces in of_scope each outermost scope by the number of its instance. NUMBER_OF has room for
 * a number by scope. A file whose scopes contain each other has scopes without an instance. */
static void number_instances(struct scope_instances *instances, uint32_t scopes_count,
			     uint32_t *number_of)
{
	memset(number_of, 0xff, scopes_count * sizeof(*number_of));
	for (uint32_t i = 0; i < instances->count; i++)
		number_of[instances->scopes[i]] = i;
	for (uint32_t i = 0; i < scopes_count; i++) {
		if (instances->of_scope[i] != TRACE_NONE)
			instances->of_scope[i] = number_of[instances->of_scope[i]];
	}
}

static int find(const struct trace *trace, const bool *is_meant, struct scope_instances *instances,
		struct sort_row *order, uint32_t *number_of)
{
	uint32_t count = 0;
	int err;

	for (uint32_t i = 0; i < trace->scopes_count; i++) {
		uint32_t top = outermost(trace, is_meant, i);

		instances->of_scope[i] = top;
		if (top == i)
			/* The sign bit is inverted, so that negative times come first. */
			order[count++] = (struct sort_row){
				(uint64_t)trace->scopes[i].begin_ns ^ (uint64_t)INT64_MIN, i};
	}
	err = take_in_order(instances, order, count);
	if (err == 0)
		number_instances(instances, trace->scopes_count, number_of);
	return err;
}

int scope_instances_find(const struct trace *trace, const bool *is_meant,
			 struct scope_instances *ret_instances)
{
	struct scope_instances instances = {
		.of_scope = table_alloc(trace->scopes_count, sizeof(*instances.of_scope)),
	};
	struct sort_row *order = table_alloc(trace->scopes_count, sizeof(*order));
	uint32_t *number_of = table_alloc(trace->scopes_count, sizeof(*number_of));
	int err = -ENOMEM;

	if (instances.of_scope && order && number_of)
		err = find(trace, is_meant, &instances, order, number_of);
	free(order);
	free(number_of);
	if (err < 0)
		scope_instances_release(&instances);
	else
		*ret_instances = instances;
	return err;
}

void scope_instances_release(struct scope_instances *instances)
{
	free(instances->scopes);
	free(instances->of_scope);
	*instances = (struct scope_instances){0};
}

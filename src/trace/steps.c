/* Makes steps of scopes (steps.h). */
#include "trace/steps.h"

#include <errno.h>
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

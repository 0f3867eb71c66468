/* Keeps traces and looks up rows of them: read_case.h. */
#include "read_case.h"

#include <string.h>

#include "trace/load.h"

static void close_trace(void *trace)
{
	trace_close(trace);
}

struct trace *read_keep(struct trace *trace)
{
	return keep(trace, close_trace);
}

void read_expect_text(const struct trace *trace, trace_string string, const char *expected)
{
	assert_string_equal(trace_text(trace, string), expected);
}

bool read_has_message(const struct trace *trace, const char *part, bool damage)
{
	for (uint32_t i = 0; i < trace->messages_count; i++) {
		if (strstr(trace_text(trace, trace->messages[i].text), part) &&
		    trace->messages[i].damage == damage)
			return true;
	}
	return false;
}

const struct trace_scope_attribute *read_attribute_in(const struct trace *trace, uint32_t first,
						      uint32_t count, const char *key)
{
	for (uint32_t i = first; i < first + count; i++) {
		if (!strcmp(trace_text(trace, trace->scope_attributes[i].key), key))
			return &trace->scope_attributes[i];
	}
	return NULL;
}

const struct trace_scope_attribute *read_attribute(const struct trace *trace, uint32_t set,
						   const char *key)
{
	const struct trace_attribute_set *row = &trace->attribute_sets[set];

	return read_attribute_in(trace, row->first, row->count, key);
}

/* The names of streams, scopes and activities in the output of `dagtap path`. */
#include "cli/path_names.h"

#include <stdio.h>

#include "format/words.h"

const char *path_stream_text(const struct trace *trace, uint32_t stream, uint32_t agent,
			     char *buffer)
{
	const char *null = "";
	uint32_t process = 0;
	int used = 0;

	if (stream != TRACE_NONE) {
		process = trace->streams[stream].process;
		if (agent == TRACE_NONE)
			agent = trace->streams[stream].agent;
		if (trace->streams[stream].kind == TRACE_STREAM_NULL)
			null = " (null)";
	} else if (agent != TRACE_NONE) {
		process = trace->agents[agent].process;
	}
	if (trace->processes_count > 1)
		used = snprintf(buffer, PATH_TEXT_CHARS, "process %u ",
				trace->processes[process].pid);
	if (agent != TRACE_NONE)
		used += snprintf(buffer + used, PATH_TEXT_CHARS - (size_t)used, "GPU %u",
				 trace->agents[agent].gpu_ordinal);
	else
		used += snprintf(buffer + used, PATH_TEXT_CHARS - (size_t)used, "GPU ?");
	if (stream != TRACE_NONE)
		snprintf(buffer + used, PATH_TEXT_CHARS - (size_t)used, " stream %u%s",
			 trace->streams[stream].ordinal, null);
	return buffer;
}

const char *path_scope_text(const struct trace *trace, uint32_t scope)
{
	return scope == TRACE_NONE ? "" : trace_text(trace, trace_scope_label(trace, scope));
}

const char *path_activity_text(const struct trace *trace, uint32_t activity)
{
	const char *text = words_work(trace, trace_work_of(trace, &trace->activities[activity]));

	return *text ? text : "(unknown kernel)";
}

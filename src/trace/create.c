/* Making and freeing the model (see create.h). */
#include "trace/create.h"

#include <errno.h>
#include <stdlib.h>

#include "trace/load.h"

int trace_create(struct trace **ret_trace)
{
	struct trace *trace = calloc(1, sizeof(*trace));
	struct strtab *strings = malloc(sizeof(*strings));

	if (!trace || !strings || strtab_init(strings) < 0) {
		free(trace);
		free(strings);
		return -ENOMEM;
	}
	trace->arena = strings;
	trace->exit_status = -1;
	*ret_trace = trace;
	return 0;
}

int trace_seal(struct trace *trace)
{
	const struct strtab *strings = trace_strings(trace);

	trace->strings = strings->strings;
	trace->strings_count = strings->count;
	return strings->failed ? -ENOMEM : 0;
}

void trace_close(struct trace *trace)
{
	if (!trace)
		return;
	free(trace->clocks);
	free(trace->processes);
	free(trace->threads);
	free(trace->agents);
	free(trace->queues);
	free(trace->streams);
	free(trace->scopes);
	free(trace->scope_attributes);
	free(trace->apis);
	free(trace->api_args);
	free(trace->calls);
	free(trace->works);
	free(trace->activities);
	free(trace->graphs);
	free(trace->nodes);
	free(trace->edges);
	free(trace->execs);
	free(trace->launches);
	free(trace->barriers);
	free(trace->events);
	free(trace->event_records);
	free(trace->waits);
	free(trace->memory_operations);
	free(trace->overheads);
	free(trace->sources);
	free(trace->drops);
	free(trace->messages);
	free(trace->ticks);
	free(trace->words);
	free(trace->attribute_sets);
	free(trace->activity_attributes);
	free(trace->call_attributes);
	free(trace->xspace_planes);
	strtab_release(trace->arena);
	free(trace->arena);
	free(trace);
}

/* Times of the processes, the ledger's lines and messages (see import.h). */
#include <errno.h>

#include "format/import/import.h"
#include "trace/row_table.h"

static void widen(struct trace_process *row, int64_t begin_ns, int64_t end_ns)
{
	if (row->start_ns == 0 || begin_ns < row->start_ns)
		row->start_ns = begin_ns;
	if (end_ns > row->end_ns)
		row->end_ns = end_ns;
}

void import_process_times(struct import *import)
{
	struct trace *trace = import->trace;

	for (uint32_t i = 0; i < trace->activities_count; i++) {
		const struct trace_activity *row = &trace->activities[i];

		if (row->untimed == RECORD_UNTIMED_NO)
			widen(&trace->processes[row->process], row->start_ns, row->end_ns);
	}
	for (uint32_t i = 0; i < trace->calls_count; i++)
		widen(&trace->processes[trace->calls[i].process], trace->calls[i].begin_ns,
		      trace->calls[i].end_ns);
	for (uint32_t i = 0; i < trace->scopes_count; i++) {
		if (!trace->scopes[i].untimed)
			widen(&trace->processes[trace->scopes[i].process],
			      trace->scopes[i].begin_ns, trace->scopes[i].end_ns);
	}
}

/* Adds a line without counts for each process. */
static int add_sources(struct import *import, const char *name, const char *text)
{
	for (uint32_t i = 0; i < import->trace->processes_count; i++) {
		struct trace_source *row = trace_add(import->trace, sources);

		if (!row)
			return -ENOMEM;
		row->process = i;
		row->name = strtab_intern_z(import->strings, name);
		row->state = strtab_intern_z(import->strings, "partial");
		row->text = strtab_intern_z(import->strings, text);
	}
	return 0;
}

int import_sources(struct import *import, const char *name, const char *text)
{
	const struct trace *trace = import->trace;
	uint32_t first = trace->sources_count; /* the file may have lines of its own */

	if (add_sources(import, name, text) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < trace->activities_count; i++) {
		const struct trace_activity *activity = &trace->activities[i];
		struct trace_source *row = &trace->sources[first + activity->process];

		row->received++;
		row->joined += activity->call != TRACE_NONE;
		row->orphan_activities += activity->call == TRACE_NONE;
	}
	return 0;
}

int import_tell(struct import *import, bool is_damage, trace_string text)
{
	struct trace_message *row = trace_add(import->trace, messages);

	if (!row)
		return -ENOMEM;
	*row = (struct trace_message){.process = TRACE_NONE, .damage = is_damage, .text = text};
	return 0;
}

int import_tell_left_out(struct import *import, const uint64_t *left_out, const char *const *texts,
			 int count)
{
	int err = 0;

	for (int i = 0; i < count && err == 0; i++) {
		if (left_out[i])
			err = import_tell(import, false,
					  strtab_format(import->strings, "left out: %llu %s",
							(unsigned long long)left_out[i], texts[i]));
	}
	return err;
}

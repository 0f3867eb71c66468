/* Finishes the trace: wall clock, the ledger's source, messages. */
#include <errno.h>

#include "format/read_times.h"
#include "format/xspace/xspace_reader_load.h"
#include "trace/row_table.h"

/* Sets the wall clock of each process's start. Lines count from the profile's start, or from
 * 1970. */
static void date_processes(const struct xread_load *load)
{
	for (uint32_t i = 0; i < load->trace->processes_count; i++) {
		struct trace_process *row = &load->trace->processes[i];
		uint64_t since = (uint64_t)row->start_ns - (uint64_t)load->clock_origin;

		row->start_realtime_ns = since;
		if (since < load->start_time)
			row->start_realtime_ns += load->start_time;
	}
}

/* In dagtap's files the recording's ledger is kept, but it describes the recording, not this
 * file. */
#define OURS_TEXT                                                                                  \
	"the ledger is the recording's, from before it was exported: nothing says whether rows "   \
	"are missing in this file"
#define OTHERS_TEXT                                                                                \
	"the file has no count of what should be in it: nothing says whether rows are missing"

static int add_source(struct xread_load *load, uint32_t process)
{
	struct trace *trace = load->trace;
	struct trace_source *row = trace_add(trace, sources);

	if (!row)
		return -ENOMEM;
	*row = (struct trace_source){
		.process = process,
		.name = strtab_intern_z(load->strings, "xspace"),
		.state = strtab_intern_z(load->strings, "partial"),
		.text = strtab_intern_z(load->strings, load->is_ours ? OURS_TEXT : OTHERS_TEXT),
	};
	for (uint32_t i = 0; i < trace->activities_count; i++) {
		if (trace->activities[i].process != process)
			continue;
		row->received++;
		row->joined += trace->activities[i].call != TRACE_NONE;
	}
	row->orphan_activities = row->received - row->joined;
	return 0;
}

static const char *const left_out_texts[] = {
#define X(name, text) [XREAD_LEFT_OUT_##name] = (text),
	XREAD_LEFT_OUT(X)
#undef X
};

static int tell_left_out(struct xread_load *load)
{
	for (int i = 0; i < XREAD_LEFT_OUT_COUNT; i++) {
		struct trace_message *row;

		if (load->left_out[i] == 0)
			continue;
		row = trace_add(load->trace, messages);
		if (!row)
			return -ENOMEM;
		row->process = TRACE_NONE;
		row->text = strtab_format(load->strings, "left out: %llu %s",
					  (unsigned long long)load->left_out[i], left_out_texts[i]);
	}
	return 0;
}

int xread_conclude(struct xread_load *load)
{
	struct trace *trace = load->trace;
	int err = 0;

	if (!load->is_ours)
		read_process_times(load->trace);
	if (load->start_time)
		date_processes(load);
	trace->activity_attributes = load->activity_sets.rows;
	trace->call_attributes = load->call_sets.rows;
	load->activity_sets.rows = load->call_sets.rows = NULL;
	trace->has_xspace_stats = trace->attribute_sets_count > 0;
	for (uint32_t i = 0; i < trace->processes_count && err == 0; i++)
		err = add_source(load, i);
	return err == 0 ? tell_left_out(load) : err;
}

/* Finishes the trace: wall clock, the ledger's source, messages. */
#include "format/xspace/xspace_reader_load.h"

/* Sets the wall clock of each process's start. Lines count from the profile's start, or from
 * 1970. */
static void date_processes(const struct xread_load *load)
{
	for (uint32_t i = 0; i < load->import.trace->processes_count; i++) {
		struct trace_process *row = &load->import.trace->processes[i];
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

static const char *const left_out_texts[] = {
#define X(name, text) [XREAD_LEFT_OUT_##name] = (text),
	XREAD_LEFT_OUT(X)
#undef X
};

int xread_conclude(struct xread_load *load)
{
	struct trace *trace = load->import.trace;
	int err;

	if (!load->is_ours)
		import_process_times(&load->import);
	if (load->start_time)
		date_processes(load);
	trace->has_xspace_stats = trace->attribute_sets_count > 0;
	err = import_sources(&load->import, "xspace", load->is_ours ? OURS_TEXT : OTHERS_TEXT);
	if (err == 0)
		err = import_tell_left_out(&load->import, load->left_out, left_out_texts,
					   XREAD_LEFT_OUT_COUNT);
	return err;
}

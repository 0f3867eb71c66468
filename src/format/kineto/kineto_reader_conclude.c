/* Finishes the trace: absolute times, processes, the ledger's source, messages. */
#include <errno.h>

#include "format/kineto/kineto_reader_load.h"

/* ---- times ---- */

/* Adds the file's base to all times, which count from it. */
static void add_base(const struct kread_load *load)
{
	struct trace *trace = load->import.trace;
	int64_t base = load->base_ns;

	for (uint32_t i = 0; i < trace->calls_count; i++) {
		trace->calls[i].begin_ns += base;
		trace->calls[i].end_ns += base;
	}
	for (uint32_t i = 0; i < trace->scopes_count; i++) {
		trace->scopes[i].begin_ns += base;
		trace->scopes[i].end_ns += base;
	}
	for (uint32_t i = 0; i < trace->activities_count; i++) {
		trace->activities[i].start_ns += base;
		trace->activities[i].end_ns += base;
		trace->activities[i].submit_ns += base;
	}
	for (uint32_t i = 0; i < trace->waits_count; i++) {
		trace->waits[i].begin_ns += base;
		trace->waits[i].end_ns += base;
	}
	for (uint32_t i = 0; i < trace->event_records_count; i++) {
		if (trace->event_records[i].device_ns)
			trace->event_records[i].device_ns += base;
	}
	for (uint32_t i = 0; i < trace->overheads_count; i++) {
		trace->overheads[i].begin_ns += base;
		trace->overheads[i].end_ns += base;
	}
}

/* Sets times and state of the processes from their rows; the file states nothing else about
 * them. */
static void describe_processes(struct kread_load *load)
{
	struct trace *trace = load->import.trace;

	import_process_times(&load->import);
	for (uint32_t i = 0; i < trace->processes_count; i++) {
		struct trace_process *row = &trace->processes[i];

		row->host = load->host;
		if (load->has_base)
			row->start_realtime_ns = (uint64_t)row->start_ns;
		if (load->is_cut_off)
			row->state = TRACE_TRUNCATED;
	}
	trace->truncated = load->is_cut_off;
}

/* ---- messages about what is not known ---- */

/* Adds the note "COUNT of OF TEXT", unless COUNT is 0. */
static int tell_some(struct kread_load *load, uint64_t count, uint64_t of, const char *text)
{
	if (count == 0)
		return 0;
	return import_tell(&load->import, false,
			   strtab_format(load->import.strings, "%llu of %llu %s",
					 (unsigned long long)count, (unsigned long long)of, text));
}

static int tell_waits(struct kread_load *load)
{
	const struct trace *trace = load->import.trace;
	uint64_t waits = 0, unresolved = 0;

	for (uint32_t i = 0; i < trace->waits_count; i++) {
		const struct trace_wait *row = &trace->waits[i];

		if (row->type != TRACE_WAIT_EVENT && row->type != TRACE_WAIT_STREAM_EVENT)
			continue;
		waits++;
		unresolved += row->known == TRACE_KNOWN_NOT;
	}
	return tell_some(load, unresolved, waits,
			 "waits for events are unresolved: the file does not say which record of "
			 "the event they wait for");
}

static int tell_kernels(struct kread_load *load)
{
	const struct trace *trace = load->import.trace;
	uint64_t kernels = 0, shapeless = 0;

	for (uint32_t i = 0; i < trace->activities_count; i++) {
		const struct trace_work *work = trace_work_of(trace, &trace->activities[i]);

		if (work->kind != TRACE_KERNEL)
			continue;
		kernels++;
		shapeless += work->workgroup[0] == 0;
	}
	return tell_some(load, shapeless, kernels,
			 "kernels: the file does not say their grid and block");
}

static int tell_launches(struct kread_load *load)
{
	const struct trace *trace = load->import.trace;
	uint64_t unknown = 0;

	for (uint32_t i = 0; i < trace->launches_count; i++)
		unknown += trace->execs[trace->launches[i].exec].graph == TRACE_NONE;
	return tell_some(load, unknown, trace->launches_count,
			 "graph launches: the file does not say of which graph, nor which nodes "
			 "their work is; together they are graph exec 0");
}

static const char *const left_out_texts[] = {
#define X(name, text) [KREAD_LEFT_OUT_##name] = (text),
	KREAD_LEFT_OUT(X)
#undef X
};

static int tell_file(struct kread_load *load)
{
	int err = 0;

	if (load->is_cut_off)
		err = import_tell(
			&load->import, true,
			strtab_format(load->import.strings,
				      "the file is cut off at byte %llu%s: what is before it "
				      "was read",
				      (unsigned long long)load->bytes,
				      load->is_gzip ? " of what it inflates to" : ""));
	if (err == 0 && !load->has_base)
		err = import_tell(
			&load->import, false,
			strtab_intern_z(load->import.strings,
					"no baseTimeNanoseconds: times count from an origin "
					"that the file does not tell"));
	if (err == 0 && load->backwards)
		err = import_tell(&load->import, false,
				  strtab_format(load->import.strings,
						"%llu rows end before they begin",
						(unsigned long long)load->backwards));
	return err;
}

int kread_conclude(struct kread_load *load)
{
	int err;

	if (load->has_base)
		add_base(load);
	describe_processes(load);
	import_number_scopes(&load->import);
	err = import_sources(&load->import, "kineto",
			     "the file has no count of what should be in it: nothing says whether "
			     "rows are missing");
	if (err == 0)
		err = tell_file(load);
	if (err == 0)
		err = tell_launches(load);
	if (err == 0)
		err = tell_kernels(load);
	if (err == 0)
		err = tell_waits(load);
	if (err == 0)
		err = import_tell_left_out(&load->import, load->left_out, left_out_texts,
					   KREAD_LEFT_OUT_COUNT);
	return err;
}

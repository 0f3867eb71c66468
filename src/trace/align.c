/* The last stage of loading a process of a merged recording: converts the times of its rows to the
 * clock of the reference. Times of 0 mean "none" and stay. */
#include "trace/process_load.h"
#include "trace/rank_clock.h"

static void align(const struct rank_clock *clock, int64_t *ns)
{
	if (*ns)
		*ns = rank_clock_map(clock, *ns);
}

/* Runs the statement for each row of the process in a table, whose last rows they are. */
#define FOR_ROWS(load, type, name, statement)                                                      \
	do {                                                                                       \
		struct type *rows_ = (load)->trace->name;                                          \
		uint32_t i_ = (load)->trace->name##_count;                                         \
                                                                                                   \
		while (i_ && rows_[i_ - 1].process == (load)->process) {                           \
			struct type *row = &rows_[--i_];                                           \
                                                                                                   \
			statement;                                                                 \
		}                                                                                  \
	} while (0)

static void align_calls(const struct process_load *load, const struct rank_clock *clock)
{
	FOR_ROWS(load, trace_scope, scopes, {
		align(clock, &row->begin_ns);
		align(clock, &row->end_ns);
	});
	FOR_ROWS(load, trace_call, calls, {
		align(clock, &row->begin_ns);
		align(clock, &row->end_ns);
	});
	FOR_ROWS(load, trace_memory_operation, memory_operations, align(clock, &row->ns));
	FOR_ROWS(load, trace_overhead, overheads, {
		align(clock, &row->begin_ns);
		align(clock, &row->end_ns);
	});
}

static void align_activities(const struct process_load *load, const struct rank_clock *clock)
{
	FOR_ROWS(load, trace_activity, activities, {
		align(clock, &row->submit_ns);
		align(clock, &row->start_ns);
		align(clock, &row->end_ns);
	});
	FOR_ROWS(load, trace_barrier, barriers, align(clock, &row->submit_ns));
	FOR_ROWS(load, trace_event_record, event_records, align(clock, &row->device_ns));
	FOR_ROWS(load, trace_wait, waits, {
		align(clock, &row->begin_ns);
		align(clock, &row->end_ns);
	});
}

int align_load(struct process_load *load)
{
	const struct rank_clock *clock = load->raw.origin->clock;
	struct trace_process *process = &load->trace->processes[load->process];
	int64_t wall_ns = load->raw.origin->wall_ns;

	if (!clock)
		return 0;
	align_calls(load, clock);
	align_activities(load, clock);
	align(clock, &process->start_ns);
	align(clock, &process->end_ns);
	/* All processes get one wall clock, the reference's, as they have one host clock.
	 * Unsigned: a damaged record may start at any time. */
	if (wall_ns)
		process->start_realtime_ns = (uint64_t)process->start_ns + (uint64_t)wall_ns;
	return 0;
}

/* Reads the plane in which dagtap's files describe the recording: processes and the ledger. */
#include <errno.h>
#include <string.h>

#include "format/xspace/xspace_reader_load.h"
#include "trace/row_table.h"

#define LEDGER_LINE "ledger"
#define TRUNCATED   "truncated"

static int add_process(struct xread_load *load, const struct xread_event *event)
{
	struct trace_process *row = trace_add(load->import.trace, processes);
	struct xread_origin *origin =
		table_add((void **)&load->origins, &load->origins_count, sizeof(*origin));
	const char *state = xread_string(load, xread_text_of(event, XSPACE_STAT_STATE));

	if (!row || !origin)
		return -ENOMEM;
	*row = (struct trace_process){
		.pid = (uint32_t)xread_number_of(event, XSPACE_STAT_PROCESS_ID),
		.parent_pid = (uint32_t)xread_number_of(event, XSPACE_STAT_PARENT_PROCESS_ID),
		.start_ns = event->begin_ns,
		.end_ns = event->end_ns,
		.exe = event->name,
		.command = xread_text_of(event, XSPACE_STAT_COMMAND),
		.state = strcmp(state, TRUNCATED) ? TRACE_COMPLETE : TRACE_TRUNCATED,
	};
	load->import.trace->truncated |= row->state == TRACE_TRUNCATED;
	origin->base = xread_number_of(event, XSPACE_STAT_CORRELATION_BASE);
	origin->last = xread_number_of(event, XSPACE_STAT_CORRELATION_LAST);
	return 0;
}

static uint32_t find_process(const struct xread_load *load, uint64_t pid)
{
	for (uint32_t i = 0; i < load->import.trace->processes_count; i++) {
		if (load->import.trace->processes[i].pid == pid)
			return i;
	}
	return 0;
}

static int add_drop(struct xread_load *load, struct trace_source *row, uint64_t count)
{
	struct trace_drop *drop = trace_add(load->import.trace, drops);

	if (!drop)
		return -ENOMEM;
	drop->cause = strtab_intern_z(load->import.strings, "when it was recorded");
	drop->count = count;
	row->drop_first = load->import.trace->drops_count - 1;
	row->drop_count = 1;
	return 0;
}

static int add_source(struct xread_load *load, const struct xread_event *event)
{
	struct trace_source *row = trace_add(load->import.trace, sources);
	uint64_t dropped = xread_number_of(event, XSPACE_STAT_DROPPED);

	if (!row)
		return -ENOMEM;
	*row = (struct trace_source){
		.process = find_process(load, xread_number_of(event, XSPACE_STAT_PROCESS_ID)),
		.name = event->name,
		.witness = xread_text_of(event, XSPACE_STAT_WITNESS),
		.has_expected = xread_has_number(event, XSPACE_STAT_EXPECTED),
		.expected = xread_number_of(event, XSPACE_STAT_EXPECTED),
		.received = xread_number_of(event, XSPACE_STAT_RECEIVED),
		.joined = xread_number_of(event, XSPACE_STAT_JOINED),
		.orphan_calls = xread_number_of(event, XSPACE_STAT_ORPHAN_CALLS),
		.orphan_activities = xread_number_of(event, XSPACE_STAT_ORPHAN_ACTIVITIES),
		.untimed = xread_number_of(event, XSPACE_STAT_UNTIMED),
		.unexplained = xread_number_of(event, XSPACE_STAT_UNEXPLAINED),
		.state = xread_text_of(event, XSPACE_STAT_STATE),
	};
	return dropped ? add_drop(load, row, dropped) : 0;
}

static int read_line(struct xread_load *load, struct xread_line *line)
{
	bool is_ledger = !strcmp(xread_string(load, line->name), LEDGER_LINE);
	struct xread_event event;
	int got;

	while ((got = xread_event_next(load, line, &event)) > 0) {
		int err = is_ledger ? add_source(load, &event) : add_process(load, &event);

		if (err < 0)
			return err;
	}
	return got;
}

int xread_recording(struct xread_load *load, struct xread_plane *plane)
{
	struct xread_event facts;
	struct xread_line line;
	int result = xread_facts(load, plane, &facts);
	int got;

	if (result < 0)
		return result;
	load->clock_origin = (int64_t)xread_number_of(&facts, XSPACE_STAT_CLOCK_ORIGIN);
	load->import.trace->command = xread_text_of(&facts, XSPACE_STAT_COMMAND);
	plane->rest = plane->body;
	while ((got = xread_line_next(load, plane, &line)) > 0) {
		result = read_line(load, &line);
		if (result < 0)
			return result;
	}
	return got;
}

/* Finds which thread of a recording a line of a joined profile is, and which operation of HLO XLA
 * was running when it made a call. xspace_with.h has the contracts. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "format/xspace/xspace_with.h"
#include "format/xspace/xspace_writer.h"
#include "trace/row_table.h"

/* XLA's event around the operations of a module: "jit_step:XLA GPU module". */
#define MODULE_END ":XLA GPU module"

/* Names of threads are cut off at this length by the kernel. */
#define THREAD_NAME_CHARS 15

/* The most time between the starts of a profile and of a recording: a month. */
#define PROFILE_NS_MAX (UINT64_C(31) * 24 * 3600 * 1000000000)

/* The most events around a call that are looked at. */
#define DEPTH_MAX 256

/* An event that is open at the moment that is looked at. */
struct open_event {
	uint64_t end_ps;
	uint32_t name; /* index into texts.strings */
};

int xspace_with_fits(const struct xspace_with *with, const struct trace *trace,
		     struct dagtap_error *error)
{
	const char *name = with->file->name;
	uint64_t begin_ns = UINT64_MAX, end_ns = 0;

	for (uint32_t i = 0; i < trace->processes_count; i++) {
		const struct trace_process *process = &trace->processes[i];
		uint64_t start_ns = process->start_realtime_ns;

		begin_ns = start_ns < begin_ns ? start_ns : begin_ns;
		start_ns += (uint64_t)(process->end_ns - process->start_ns);
		end_ns = start_ns > end_ns ? start_ns : end_ns;
	}
	if (xspace_is_foreign(trace) || trace->processes_count == 0 || begin_ns == 0)
		return dagtap_error_set(error, -EINVAL,
					"%s: cannot be joined: what is exported is no recording of "
					"dagtap with wall-clock times",
					name);
	if (with->start_ns > end_ns || (with->stop_ns && with->stop_ns < begin_ns) ||
	    (with->start_ns < begin_ns && begin_ns - with->start_ns > PROFILE_NS_MAX))
		return dagtap_error_set(
			error, -EINVAL,
			"%s: cannot be joined: the profile and the recording are of "
			"different times",
			name);
	return 0;
}

static uint64_t begin_of(const struct xspace_with *with, const struct with_event *event)
{
	return event->begin_ps + with->shift_ps;
}

/* Brings the origin of the file before the profile's start. */
static void place(struct xspace_with *with, struct xspace_writer *writer)
{
	uint64_t origin_ns = xspace_origin_realtime_ns(writer);

	if (with->start_ns < origin_ns) {
		writer->origin_ns -= (int64_t)(origin_ns - with->start_ns);
		origin_ns = with->start_ns;
	}
	with->shift_ps = (with->start_ns - origin_ns) * 1000;
}

/* Whether a line's name is that of a thread: XLA may append "/" and a number. */
static bool is_named(const char *line, const char *thread)
{
	const char *slash = strrchr(line, '/');
	size_t chars = slash ? (size_t)(slash - line) : strlen(line);

	if (chars > THREAD_NAME_CHARS)
		chars = THREAD_NAME_CHARS;
	return chars > 0 && strncmp(line, thread, chars) == 0 && thread[chars] == '\0';
}

/* Calls in the order of their thread, then of their begin. */
struct calls {
	struct sort_row *rows; /* owned */
	uint32_t count;
};

static int sort_calls(struct calls *calls, const struct trace *trace)
{
	int err;

	calls->count = trace->calls_count;
	calls->rows = table_alloc(calls->count, sizeof(*calls->rows));
	if (!calls->rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < calls->count; i++)
		calls->rows[i] = (struct sort_row){
			(uint64_t)trace->calls[i].begin_ns ^ (UINT64_C(1) << 63), i};
	err = sort_rows(calls->rows, calls->count);
	for (uint32_t i = 0; i < calls->count && !err; i++)
		calls->rows[i].key = trace->calls[calls->rows[i].index].thread;
	return err ? err : sort_rows(calls->rows, calls->count);
}

/* The first of the calls of THREAD or of a later one. */
static uint32_t first_call(const struct calls *calls, uint32_t thread)
{
	uint32_t low = 0, high = calls->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (calls->rows[middle].key < thread)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* A walk over the calls of a thread, and over the events of a line that are around them. */
struct around {
	const struct xspace_writer *writer;
	const struct xspace_with *with;
	const struct with_line *line;
	uint32_t next; /* event that is not open yet */
	struct open_event open[DEPTH_MAX];
	uint32_t depth;
};

/* Opens the events that begin before the call, and closes those that end before its end. */
static void advance(struct around *around, const struct trace_call *call)
{
	const struct with_line *line = around->line;
	uint64_t begin_ps = xspace_offset_ps(around->writer, call->begin_ns);
	uint64_t end_ps = xspace_offset_ps(around->writer, call->end_ns);
	uint32_t kept = 0;

	for (; around->next < line->first + line->count; around->next++) {
		const struct with_event *event = &around->with->events[around->next];
		uint64_t event_ps = begin_of(around->with, event);

		if (event_ps > begin_ps)
			break;
		while (around->depth && around->open[around->depth - 1].end_ps <= event_ps)
			around->depth--;
		if (around->depth < DEPTH_MAX)
			around->open[around->depth++] = (struct open_event){
				event_ps + event->duration_ps,
				around->with->event_metadata[event->metadata].name};
	}
	for (uint32_t i = 0; i < around->depth; i++) {
		if (around->open[i].end_ps >= end_ps)
			around->open[kept++] = around->open[i];
	}
	around->depth = kept;
}

/* Whether the text is that of an event of XLA itself, not of a frame of Python. */
static bool is_of_xla(const char *text)
{
	return text[0] != '$';
}

/* How many calls of THREAD are inside of events of LINE. */
static uint32_t count_inside(const struct xspace_writer *writer, const struct xspace_with *with,
			     const struct calls *calls, const struct with_line *line,
			     uint32_t thread)
{
	struct around around = {.writer = writer, .with = with, .line = line, .next = line->first};
	uint32_t count = 0;

	for (uint32_t i = first_call(calls, thread);
	     i < calls->count && calls->rows[i].key == thread; i++) {
		bool is_inside = false;

		advance(&around, &writer->trace->calls[calls->rows[i].index]);
		for (uint32_t j = 0; j < around.depth && !is_inside; j++)
			is_inside = is_of_xla(xspace_with_text(with, around.open[j].name));
		count += is_inside;
	}
	return count;
}

/* The thread with the line's name that has the most calls inside of the line's events. */
static uint32_t find_thread(const struct xspace_writer *writer, const struct xspace_with *with,
			    const struct calls *calls, const struct with_line *line)
{
	const struct trace *trace = writer->trace;
	uint32_t best = TRACE_NONE, most = 0;

	for (uint32_t i = 0; i < trace->threads_count; i++) {
		uint32_t count;

		if (!is_named(xspace_with_text(with, line->name),
			      trace_text(trace, trace->threads[i].name)) ||
		    xspace_with_find_line(with, i))
			continue;
		count = count_inside(writer, with, calls, line, i);
		if (count > most) {
			most = count;
			best = i;
		}
	}
	return best;
}

/* ---- operations ---- */

/* Whether the text may be the name of an instruction of HLO. */
static bool is_instruction(const char *text)
{
	return text[0] != '\0' &&
	       text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				 "_.-")] == '\0';
}

/* The number of the module's program: that of the only "module(number)" among the profile's HLO
 * protos; -1 if there is none, or more than one. */
static int64_t find_program(const struct xspace_with *with, const char *module)
{
	size_t chars = strlen(module);
	int64_t found = -1;

	for (uint32_t i = 0; i < with->programs_count; i++) {
		const char *text = xspace_with_text(with, with->programs[i].name);
		char *end;
		long long number;

		if (strncmp(text, module, chars) != 0 || text[chars] != '(')
			continue;
		number = strtoll(text + chars + 1, &end, 10);
		if (strcmp(end, ")") != 0 || end == text + chars + 1)
			continue;
		if (found >= 0)
			return -1;
		found = number;
	}
	return found;
}

/* The index of the operation NAME of the module whose event's name is MODULE_EVENT; or -ENOMEM. */
static int64_t add_operation(struct xspace_with *with, uint32_t name, uint32_t module_event)
{
	const char *text = xspace_with_text(with, module_event);
	uint32_t module = strtab_intern(&with->texts, text, strlen(text) - strlen(MODULE_END));
	struct with_operation *row;

	for (uint32_t i = 1; i < with->operations_count; i++) {
		if (with->operations[i].name == name && with->operations[i].module == module)
			return i;
	}
	row = trace_add(with, operations);
	if (!row || with->texts.failed)
		return -ENOMEM;
	*row = (struct with_operation){
		.name = name,
		.module = module,
		.program = find_program(with, xspace_with_text(with, module)),
	};
	return with->operations_count - 1;
}

static bool is_module(const char *text)
{
	size_t chars = strlen(text), end = strlen(MODULE_END);

	return chars > end && strcmp(text + chars - end, MODULE_END) == 0;
}

/* The operation around a call: the innermost instruction inside of a module; 0: none. */
static int64_t find_operation(struct xspace_with *with, const struct around *around)
{
	uint32_t module = 0, name = 0;

	for (uint32_t i = 0; i < around->depth; i++) {
		const char *text = xspace_with_text(with, around->open[i].name);

		if (is_module(text)) {
			module = around->open[i].name;
			name = 0;
		} else if (module && is_instruction(text)) {
			name = around->open[i].name;
		}
	}
	return name ? add_operation(with, name, module) : 0;
}

static int find_operations(struct xspace_with *with, const struct xspace_writer *writer,
			   const struct calls *calls, const struct with_line *line)
{
	struct around around = {.writer = writer, .with = with, .line = line, .next = line->first};

	for (uint32_t i = first_call(calls, line->thread);
	     i < calls->count && calls->rows[i].key == line->thread; i++) {
		uint32_t call = calls->rows[i].index;
		int64_t operation;

		advance(&around, &writer->trace->calls[call]);
		operation = find_operation(with, &around);
		if (operation < 0)
			return (int)operation;
		with->operation_of_call[call] = (uint32_t)operation;
	}
	return 0;
}

int xspace_with_join(struct xspace_with *with, struct xspace_writer *writer)
{
	struct calls calls = {0};
	int err;

	place(with, writer);
	with->operation_of_call = table_zeroed(writer->trace->calls_count, sizeof(uint32_t));
	err = with->operation_of_call && trace_add(with, operations) ? 0 : -ENOMEM;
	if (!err)
		err = sort_calls(&calls, writer->trace);
	for (uint32_t i = 0; i < with->lines_count && !err; i++) {
		with->lines[i].thread = find_thread(writer, with, &calls, &with->lines[i]);
		if (with->lines[i].thread != TRACE_NONE)
			err = find_operations(with, writer, &calls, &with->lines[i]);
	}
	free(calls.rows);
	return err;
}

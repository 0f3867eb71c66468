/* Writes the planes and fields around the events: the scope tree, when and by what it was
 * recorded, and what is missing. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "format/words.h"
#include "format/xspace/xspace_event.h"
#include "format/xspace/xspace_writer.h"

static void put_parent(struct xspace_out *out, int64_t child, int64_t parent)
{
	uint8_t *stat = xspace_out_room(out), *at = stat;

	*at++ = XSPACE_KEY_BYTES(XPLANE_STATS);
	at++; /* the length is less than 128 */
	*at++ = XSPACE_KEY_VARINT(XSTAT_METADATA_ID);
	at = varint_put(at, (uint64_t)child);
	*at++ = XSPACE_KEY_VARINT(XSTAT_INT64);
	at = varint_put(at, (uint64_t)parent);
	stat[1] = (uint8_t)(at - stat - 2);
	out->used += (size_t)(at - stat);
}

/* Writes each scope that has a parent as a stat: its metadata id is the child, its value the
 * parent. Only the greatest id gets metadata, without a name: a tool that extends the plane
 * numbers its own stats after the greatest id with metadata, and so does not collide with a
 * scope's id. */
static void put_tree(struct xspace_writer *writer, struct xspace_plane *plane)
{
	const struct trace *trace = writer->trace;
	struct proto *stat = &plane->scratch;
	int64_t greatest = INT64_MIN;
	size_t mark;

	for (uint32_t i = 0; i < trace->scopes_count; i++) {
		int64_t child, parent;

		if (!xspace_scope_in_tree(trace, &trace->scopes[i]))
			continue;
		child = (int64_t)xspace_scope_id(writer, i);
		parent = (int64_t)xspace_scope_id(writer, trace->scopes[i].parent);
		greatest = child > greatest ? child : greatest;
		greatest = parent > greatest ? parent : greatest;
		put_parent(&writer->out, child, parent);
	}
	proto_reset(stat);
	proto_put_i64(stat, XMAP_KEY, greatest);
	mark = proto_begin(stat, XMAP_VALUE);
	proto_put_i64(stat, XSTAT_METADATA_KEY, greatest);
	proto_end(stat, mark);
	xspace_out_put_message(&writer->out, XPLANE_STAT_METADATA, stat);
}

int xspace_put_scope_tree(struct xspace_writer *writer)
{
	const struct trace *trace = writer->trace;
	struct xspace_plane plane;
	bool is_empty = true;
	int err;

	for (uint32_t i = 0; i < trace->scopes_count && is_empty; i++)
		is_empty = !xspace_scope_in_tree(trace, &trace->scopes[i]);
	if (is_empty)
		return 0;
	err = xspace_plane_begin(&plane, &writer->out, 0, XSPACE_PLANE_SCOPES);
	if (err)
		return err;
	put_tree(writer, &plane);
	return xspace_plane_end(&plane);
}

static int64_t last_moment(const struct trace *trace)
{
	int64_t end_ns = INT64_MIN;

	for (uint32_t i = 0; i < trace->processes_count; i++) {
		if (trace->processes[i].end_ns > end_ns)
			end_ns = trace->processes[i].end_ns;
	}
	return end_ns;
}

int xspace_put_environment(struct xspace_writer *writer)
{
	const struct trace *trace = writer->trace;
	struct xspace_stats stats = {.field = XPLANE_STATS};
	struct xspace_plane plane;
	uint64_t start_ns;
	int err;

	start_ns = xspace_origin_realtime_ns(writer);
	if (start_ns == 0)
		return 0;
	err = xspace_plane_begin(&plane, &writer->out, 0, XSPACE_PLANE_ENVIRONMENT);
	if (err)
		return err;
	stats.plane = &plane;
	xspace_put_u64(&stats, XSPACE_STAT_START_TIME, start_ns);
	xspace_put_u64(&stats, XSPACE_STAT_STOP_TIME,
		       start_ns + (uint64_t)(last_moment(trace) - writer->origin_ns));
	xspace_out_put_fields(&writer->out, &stats.bytes);
	proto_release(&stats.bytes);
	return xspace_plane_end(&plane);
}

/* Writes a process as an event on a line of its own, because processes may overlap in any way. */
static void put_process(struct xspace_writer *writer, struct xspace_plane *plane, uint32_t number,
			struct xspace_stats *stats)
{
	struct xspace_line line = {.id = (uint64_t)number + 1, .name = "process"};
	const struct trace *trace = writer->trace;
	const struct trace_process *process = &trace->processes[number];
	const struct timeline_ids *ids = &writer->timeline.ids[number];
	const char *exe = trace_text(trace, process->exe);
	struct xspace_span span = {.offset_ps = xspace_offset_ps(writer, process->start_ns)};

	if (process->end_ns > process->start_ns)
		span.duration_ps = (uint64_t)(process->end_ns - process->start_ns) * 1000;
	proto_reset(&stats->bytes);
	xspace_put_u64(stats, XSPACE_STAT_PROCESS_ID, process->pid);
	xspace_put_u64(stats, XSPACE_STAT_PARENT_PROCESS_ID, process->parent_pid);
	xspace_put_ref(stats, XSPACE_STAT_COMMAND, trace_text(trace, process->command));
	xspace_put_ref(stats, XSPACE_STAT_STATE,
		       process->state == TRACE_TRUNCATED ? "truncated" : "complete");
	if (ids->base)
		xspace_put_u64(stats, XSPACE_STAT_CORRELATION_BASE, ids->base);
	if (ids->cid_min <= ids->cid_max)
		xspace_put_u64(stats, XSPACE_STAT_CORRELATION_LAST, ids->cid_max + ids->base);
	xspace_line_begin(plane, &line);
	xspace_event_put(plane, exe[0] ? exe : "(no name)", span, stats);
	xspace_line_end(plane, &line);
}

static void put_source(struct xspace_writer *writer, struct xspace_plane *plane,
		       const struct trace_source *source, struct xspace_stats *stats)
{
	const struct trace *trace = writer->trace;
	const char *name = trace_text(trace, source->name);
	uint64_t dropped = 0;

	for (uint32_t i = 0; i < source->drop_count; i++)
		dropped += trace->drops[source->drop_first + i].count;
	proto_reset(&stats->bytes);
	if (source->process < trace->processes_count)
		xspace_put_u64(stats, XSPACE_STAT_PROCESS_ID,
			       trace->processes[source->process].pid);
	if (source->has_expected)
		xspace_put_u64(stats, XSPACE_STAT_EXPECTED, source->expected);
	xspace_put_u64(stats, XSPACE_STAT_RECEIVED, source->received);
	xspace_put_u64(stats, XSPACE_STAT_JOINED, source->joined);
	xspace_put_u64(stats, XSPACE_STAT_ORPHAN_CALLS, source->orphan_calls);
	xspace_put_u64(stats, XSPACE_STAT_ORPHAN_ACTIVITIES, source->orphan_activities);
	xspace_put_u64(stats, XSPACE_STAT_UNTIMED, source->untimed);
	xspace_put_u64(stats, XSPACE_STAT_DROPPED, dropped);
	xspace_put_u64(stats, XSPACE_STAT_UNEXPLAINED, source->unexplained);
	xspace_put_ref(stats, XSPACE_STAT_WITNESS, trace_text(trace, source->witness));
	xspace_put_ref(stats, XSPACE_STAT_STATE, trace_text(trace, source->state));
	xspace_event_put(plane, name[0] ? name : "(no name)", (struct xspace_span){0}, stats);
}

int xspace_put_recording(struct xspace_writer *writer)
{
	const struct trace *trace = writer->trace;
	struct xspace_line ledger = {.id = (uint64_t)trace->processes_count + 1, .name = "ledger"};
	struct xspace_stats stats = {.field = XEVENT_STATS};
	struct xspace_plane plane;
	int err;

	if (xspace_is_foreign(trace))
		return 0;
	err = xspace_plane_begin(&plane, &writer->out, 0, XSPACE_PLANE_RECORDING);
	if (err)
		return err;
	stats.plane = &plane;
	for (uint32_t i = 0; i < trace->processes_count; i++)
		put_process(writer, &plane, i, &stats);
	xspace_line_begin(&plane, &ledger);
	for (uint32_t i = 0; i < trace->sources_count; i++)
		put_source(writer, &plane, &trace->sources[i], &stats);
	xspace_line_end(&plane, &ledger);
	proto_reset(&stats.bytes);
	stats.field = XPLANE_STATS;
	xspace_put_text(&stats, XSPACE_STAT_WRITER, "dagtap " DAGTAP_VERSION);
	xspace_put_text(&stats, XSPACE_STAT_COMMAND, trace_text(trace, trace->command));
	xspace_put_i64(&stats, XSPACE_STAT_CLOCK_ORIGIN, writer->origin_ns);
	xspace_out_put_fields(&writer->out, &stats.bytes);
	proto_release(&stats.bytes);
	return xspace_plane_end(&plane);
}

/* Where errors and warnings go: fields of the XSpace, or with `plane` events of its line. */
struct messages {
	struct xspace_writer *writer;
	struct xspace_plane *plane; /* or NULL */
	struct xspace_span
		span; /* of the events: the recording; XProf hides those without length */
};

__attribute__((format(printf, 3, 4))) static void
put_line(struct messages *messages, enum xspace_field field, const char *format, ...)
{
	struct proto line = {0};
	char text[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (messages->plane) {
		const struct xspace_stats none = {.plane = messages->plane, .field = XEVENT_STATS};

		xspace_event_put(messages->plane, text, messages->span, &none);
		return;
	}
	proto_put_text(&line, field, text);
	xspace_out_put_fields(&messages->writer->out, &line);
	proto_release(&line);
}

static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

/* Writes warnings about a ledger source: one for each cause of drops, and for missing or unjoined
 * rows. */
static void warn_of_source(struct messages *messages, const struct trace_source *source)
{
	const struct trace *trace = messages->writer->trace;
	const char *name = trace_text(trace, source->name);

	for (uint32_t i = 0; i < source->drop_count; i++) {
		const struct trace_drop *drop = &trace->drops[source->drop_first + i];

		if (drop->count)
			put_line(messages, XSPACE_WARNINGS, "%s: %" PRIu64 " event%s dropped: %s",
				 name, drop->count, plural(drop->count),
				 trace_text(trace, drop->cause));
	}
	if (source->unexplained)
		put_line(messages, XSPACE_WARNINGS,
			 "%s: %" PRIu64 " event%s missing, cause unknown", name,
			 source->unexplained, plural(source->unexplained));
	if (source->orphan_calls)
		put_line(messages, XSPACE_WARNINGS,
			 "%s: %" PRIu64 " call%s without the work submitted", name,
			 source->orphan_calls, plural(source->orphan_calls));
	if (source->orphan_activities)
		put_line(messages, XSPACE_WARNINGS,
			 "%s: %" PRIu64 " device event%s without the call that submitted", name,
			 source->orphan_activities, plural(source->orphan_activities));
}

static void warn_of_left_out(struct messages *messages)
{
	const struct xspace_left_out *left_out = &messages->writer->left_out;

	for (unsigned cause = 0; cause < RECORD_UNTIMED_COUNT; cause++) {
		if (left_out->untimed[cause])
			put_line(messages, XSPACE_WARNINGS,
				 "%" PRIu64 " device event%s left out, as without a time: %s",
				 left_out->untimed[cause], plural(left_out->untimed[cause]),
				 words_untimed(cause));
	}
	if (left_out->activities_out_of_range)
		put_line(messages, XSPACE_WARNINGS,
			 "%" PRIu64 " device event%s left out: the time is out of XSpace's range",
			 left_out->activities_out_of_range,
			 plural(left_out->activities_out_of_range));
	if (left_out->calls_out_of_range)
		put_line(messages, XSPACE_WARNINGS,
			 "%" PRIu64 " host event%s left out: the time is out of XSpace's range",
			 left_out->calls_out_of_range, plural(left_out->calls_out_of_range));
	if (left_out->backwards)
		put_line(messages, XSPACE_WARNINGS,
			 "%" PRIu64 " event%s ending before the begin, shown without length",
			 left_out->backwards, plural(left_out->backwards));
}

/* Writes the name of each machine once. */
static void put_hosts(struct messages *messages)
{
	const struct trace *trace = messages->writer->trace;
	const struct trace_process *processes = trace->processes;

	for (uint32_t i = 0; i < trace->processes_count; i++) {
		bool is_new = processes[i].host != 0;

		for (uint32_t j = 0; j < i && is_new; j++)
			is_new = processes[j].host != processes[i].host;
		if (is_new)
			put_line(messages, XSPACE_HOSTNAMES, "%s",
				 trace_text(trace, processes[i].host));
	}
}

static void put_messages(struct messages *messages)
{
	const struct xspace_writer *writer = messages->writer;
	const struct trace *trace = writer->trace;

	for (uint32_t i = 0; i < trace->messages_count; i++) {
		if (trace->messages[i].damage)
			put_line(messages, XSPACE_ERRORS, "%s",
				 trace_text(trace, trace->messages[i].text));
	}
	if (writer->window.count > 1)
		put_line(messages, XSPACE_WARNINGS,
			 "part %" PRIu32 " of %" PRIu32
			 ": the trace is longer than the 2 GiB that one XSpace can have",
			 writer->window.number, writer->window.count);
	for (uint32_t i = 0; i < trace->messages_count; i++) {
		if (!trace->messages[i].damage)
			put_line(messages, XSPACE_WARNINGS, "%s",
				 trace_text(trace, trace->messages[i].text));
	}
	for (uint32_t i = 0; i < trace->sources_count && !xspace_is_foreign(trace); i++)
		warn_of_source(messages, &trace->sources[i]);
	warn_of_left_out(messages);
}

void xspace_put_warnings(struct xspace_writer *writer)
{
	struct messages messages = {.writer = writer};

	put_messages(&messages);
	put_hosts(&messages);
}

void xspace_put_message_line(struct xspace_writer *writer, struct xspace_plane *plane)
{
	struct xspace_line line = {.id = XSPACE_LINE_MESSAGES, .name = XSPACE_LINE_MESSAGES_NAME};
	const struct trace_process *first = writer->trace->processes;
	struct messages messages = {.writer = writer, .plane = plane};

	if (writer->trace->processes_count > 0 && last_moment(writer->trace) > first->start_ns) {
		messages.span.offset_ps = xspace_offset_ps(writer, first->start_ns);
		messages.span.duration_ps = xspace_offset_ps(writer, last_moment(writer->trace)) -
					    messages.span.offset_ps;
	}
	xspace_line_begin(plane, &line);
	put_messages(&messages);
	xspace_line_end(plane, &line);
}

/* Writes the host's plane: threads as lines; API calls, scopes and steps as events that nest.
 *
 * XProf assigns to a step what lies within its time on its line, so scopes and calls share a
 * thread's line. Ranges need not nest, so they have lines of their own. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "format/words.h"
#include "format/xspace/xspace_host_rows.h"
#include "format/xspace/xspace_writer.h"

struct host {
	struct xspace_writer *writer;
	const struct trace *trace;
	struct xspace_plane plane;
	struct xspace_host_rows rows;
	struct xspace_stats *stats; /* the rows' buffer for stats that are being encoded */
	uint64_t *line_ids;	    /* by thread; the last one is for no thread */
	uint64_t next_line_id;
	struct rows_nest nest;
	uint32_t joined_next; /* event of the joined line that is written next */
};

static void fail(struct host *host, int err)
{
	if (err < 0 && !host->rows.error)
		host->rows.error = err;
}

static struct xspace_span span_of(const struct host *host, struct rows_time time)
{
	return (struct xspace_span){
		.offset_ps = xspace_offset_ps(host->writer, time.begin_ns),
		.duration_ps = (uint64_t)(time.end_ns - time.begin_ns) * 1000,
	};
}

static void put_foreign_call(struct host *host, uint32_t row)
{
	const struct trace *trace = host->trace;
	const struct trace_call *call = &trace->calls[row];
	const struct xspace_foreign_row foreign = {
		.correlation_id =
			timeline_correlation(&host->writer->timeline, call->process, call->cid),
		.scope = call->scope,
		.set = trace->call_attributes ? trace->call_attributes[row] : 0,
	};

	xspace_put_foreign(host->writer, &foreign, host->stats);
	xspace_event_put(&host->plane, trace_text(trace, trace->apis[call->api].name),
			 span_of(host, timeline_call_time(trace->calls, row)), host->stats);
}

/* True for kinds that neither a length of 0 nor a stat of the event itself shows. */
static bool is_said(enum record_scope_kind kind)
{
	return kind == RECORD_SCOPE_ROCTX || kind == RECORD_SCOPE_RANGE ||
	       kind == RECORD_SCOPE_NVTX;
}

static void put_foreign_scope(struct host *host, uint32_t row)
{
	const struct trace *trace = host->trace;
	const struct trace_scope *scope = &trace->scopes[row];
	struct xspace_stats *stats = host->stats;

	proto_reset(&stats->bytes);
	if (!xspace_scope_is_numbered(scope->id))
		xspace_put_i64(stats, XSPACE_STAT_SCOPE_RANGE_ID,
			       (int64_t)xspace_scope_id(host->writer, row));
	if (is_said(scope->kind))
		xspace_put_ref(stats, XSPACE_STAT_SCOPE_KIND, words_scope_kind(scope->kind));
	if (scope->kind == RECORD_SCOPE_STEP)
		xspace_put_i64(stats, XSPACE_STAT_ROOT, 1);
	for (uint32_t i = 0; i < scope->attribute_count; i++)
		xspace_put_attribute(stats, trace,
				     &trace->scope_attributes[scope->attribute_first + i]);
	xspace_event_put(&host->plane, trace_text(trace, scope->text),
			 span_of(host, timeline_scope_time(trace->scopes, row)), stats);
}

/* Writes a thread's name; another tool's names stay unchanged. */
static int name_thread(const struct host *host, const struct trace_thread *row, char *name,
		       size_t size)
{
	const char *text = trace_text(host->trace, row->name);

	if (text[0] && xspace_is_foreign(host->trace))
		return snprintf(name, size, "%.64s", text);
	return snprintf(name, size, "%.64s/%" PRIu32, xspace_name_or(text, "Host Threads"),
			row->tid);
}

static void name_line(const struct host *host, uint32_t thread, const char *kind, unsigned track,
		      char *name, size_t size)
{
	const struct trace *trace = host->trace;
	const struct trace_thread *row = &trace->threads[thread];
	size_t used = 0;

	if (thread == trace->threads_count) {
		used = (size_t)snprintf(name, size, "No thread");
	} else {
		if (trace->processes_count > 1) {
			const struct trace_process *process = &trace->processes[row->process];
			const char *exe = trace_text(trace, process->exe);
			const char *slash = strrchr(exe, '/');

			used = (size_t)snprintf(name, size, "%.64s pid %" PRIu32 ": ",
						slash ? slash + 1 : exe, process->pid);
		}
		used += (size_t)name_thread(host, row, name + used, size - used);
	}
	used += (size_t)snprintf(name + used, size - used, "%s", kind);
	if (track > 1)
		snprintf(name + used, size - used, " lane %u", track);
}

/* Writes the rows of a track of another tool's trace. */
static void put_foreign_track(struct host *host, struct tracks *tracks)
{
	while (tracks_next(tracks)) {
		if (tracks->table == TRACK_CALLS)
			put_foreign_call(host, tracks->row);
		else
			put_foreign_scope(host, tracks->row);
	}
}

/* The line of a joined profile whose events are written on the thread's line; or NULL. */
static const struct with_line *begin_joined(struct host *host, uint32_t thread)
{
	const struct with_line *line =
		host->writer->with ? xspace_with_find_line(host->writer->with, thread) : NULL;

	if (line)
		host->joined_next = line->first;
	return line;
}

static void put_joined_before(struct host *host, const struct with_line *line,
			      const struct tracks *tracks)
{
	struct rows_time time = tracks->table == TRACK_CALLS
					? timeline_call_time(host->trace->calls, tracks->row)
					: timeline_scope_time(host->trace->scopes, tracks->row);

	xspace_with_put_before(host->writer->with, &host->plane, line, &host->joined_next,
			       xspace_offset_ps(host->writer, time.begin_ns),
			       (uint64_t)(time.end_ns - time.begin_ns) * 1000);
}

/* Writes the rows of a track between the events of a joined profile. */
static void put_joined_track(struct host *host, const struct with_line *line, struct tracks *tracks)
{
	while (!host->rows.error && tracks_next(tracks)) {
		put_joined_before(host, line, tracks);
		xspace_host_rows_put_one(&host->rows, tracks);
	}
	xspace_with_put_before(host->writer->with, &host->plane, line, &host->joined_next,
			       UINT64_MAX, 0);
}

static void put_track(struct host *host, const struct with_line *joined, struct tracks *tracks)
{
	if (xspace_is_foreign(host->trace))
		put_foreign_track(host, tracks);
	else if (joined)
		put_joined_track(host, joined, tracks);
	else
		xspace_host_rows_put(&host->rows, tracks);
}

/* Another tool's rows stay on one line, also where they overlap: XProf joins the rows of a line. */
static void put_thread(struct host *host, uint32_t thread, bool ranges)
{
	struct tracks tracks =
		timeline_thread_open(&host->writer->timeline, thread, ranges,
				     xspace_is_foreign(host->trace) ? NULL : &host->nest);
	const struct with_line *joined;
	char name[256];

	while (!host->rows.error && tracks_begin(&tracks)) {
		struct xspace_line line = {.name = name, .id = host->line_ids[thread]};

		name_line(host, thread, ranges ? " ranges" : "", tracks.number, name, sizeof(name));
		if (tracks.number > 1 || ranges)
			line.id = host->next_line_id++;
		xspace_line_begin(&host->plane, &line);
		joined = tracks.number == 1 && !ranges ? begin_joined(host, thread) : NULL;
		put_track(host, joined, &tracks);
		xspace_line_end(&host->plane, &line);
	}
	fail(host, tracks.error);
}

static void put_threads(struct host *host)
{
	const struct timeline *timeline = &host->writer->timeline;

	xspace_plane_use(&host->plane, XSPACE_STAT_CORRELATION_ID);
	xspace_plane_use(&host->plane, XSPACE_STAT_SCOPE_RANGE_ID);
	xspace_plane_use(&host->plane, XSPACE_STAT_DEVICE_ID);
	for (uint32_t i = 0; i < timeline->threads && i <= host->trace->threads_count; i++) {
		put_thread(host, i, false);
		put_thread(host, i, true);
	}
}

/* Chooses the lines' ids: a thread's tid, or a new number if another thread has the same tid,
 * because systems reuse tids. */
static int number_lines(struct host *host)
{
	const struct trace *trace = host->trace;
	uint32_t count = trace->threads_count;
	struct sort_row *order = malloc(((size_t)count + 1) * sizeof(*order));
	int err = -ENOMEM;

	host->line_ids = calloc((size_t)count + 1, sizeof(*host->line_ids));
	if (order && host->line_ids) {
		for (uint32_t i = 0; i < count; i++)
			order[i] = (struct sort_row){trace->threads[i].tid, i};
		err = sort_rows(order, count);
		host->next_line_id = count ? order[count - 1].key + 1 : 0;
		for (uint32_t i = 0; i < count && !err; i++)
			host->line_ids[order[i].index] = i > 0 && order[i].key == order[i - 1].key
								 ? host->next_line_id++
								 : order[i].key;
		host->line_ids[count] = host->next_line_id++;
	}
	free(order);
	return err;
}

/* Gives the lines of known threads the ids that XLA's host tracer gives its own lines. */
static void take_reader_ids(struct host *host, const struct format_options *options)
{
	const struct trace *trace = host->trace;

	for (size_t i = 0; i < options->threads_count; i++) {
		for (uint32_t j = 0; j < trace->threads_count; j++) {
			if (trace->threads[j].tid == options->threads[i].tid &&
			    host->line_ids[j] == trace->threads[j].tid)
				host->line_ids[j] = options->threads[i].id;
		}
	}
}

int xspace_put_host(struct xspace_writer *writer)
{
	const struct trace *trace = writer->trace;
	struct host host = {.writer = writer, .trace = trace};
	int err = xspace_plane_begin(&host.plane, &writer->out, 0,
				     writer->pjrt ? XSPACE_PLANE_ROCTRACER : XSPACE_PLANE_HOST);

	if (err)
		return err;
	host.plane.lines_ns = xspace_lines_ns(writer);
	xspace_host_rows_init(&host.rows, writer, &host.plane);
	host.stats = &host.rows.stats;
	if (!host.rows.error)
		fail(&host, number_lines(&host));
	if (!host.rows.error && writer->pjrt)
		take_reader_ids(&host, writer->pjrt);
	if (!host.rows.error)
		put_threads(&host);
	if (!host.rows.error && writer->with)
		xspace_with_put_lines(writer->with, &host.plane);
	if (!host.rows.error && writer->pjrt)
		xspace_put_message_line(writer, &host.plane);
	err = xspace_plane_end(&host.plane);
	fail(&host, host.rows.stats.bytes.error);
	free(host.line_ids);
	xspace_host_rows_release(&host.rows);
	rows_nest_release(&host.nest);
	return host.rows.error ? host.rows.error : err;
}

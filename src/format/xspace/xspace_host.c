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
#include "format/timeline/pieces.h"
#include "format/words.h"
#include "format/xspace/xspace_event.h"
#include "format/xspace/xspace_writer.h"
#include "trace/row_table.h"

struct named_piece {
	uint32_t event; /* id of its name's metadata; 0 = not encoded yet */
	struct piece stats;
};

struct api_entry {
	uint32_t event; /* id of its name's metadata; 0 = not encoded yet */
	bool allocates;
};

struct host {
	struct xspace_writer *writer;
	const struct trace *trace;
	struct xspace_plane plane;
	struct xspace_stats stats; /* buffer for stats that are being encoded */
	struct pieces pieces;
	struct api_entry *apis;
	struct named_piece *chains; /* by chain: name and attributes of the innermost scope */
	uint64_t *line_ids;	    /* by thread; the last one is for no thread */
	uint64_t next_line_id;
	struct rows_nest nest;
	uint32_t joined_next; /* event of the joined line that is written next */
	int error;
};

static void fail(struct host *host, int err)
{
	if (err < 0 && !host->error)
		host->error = err;
}

static const char *name_or(const char *name, const char *other)
{
	return name[0] == '\0' ? other : name;
}

/* Adds the details of an allocation, if the call's arguments were recorded: its size is the
 * argument of that name. */
static void put_allocation(struct host *host, const struct trace_call *call)
{
	const char *api = trace_text(host->trace, host->trace->apis[call->api].name);
	struct words_arg arg;
	char details[64];

	for (uint32_t i = 0; words_call_arg(host->trace, call, i, &arg); i++) {
		if (strcmp(arg.name, "size") != 0 && strcmp(arg.name, "sizeBytes") != 0)
			continue;
		snprintf(details, sizeof(details), "kind:%s num_bytes:%" PRIu64,
			 strstr(api, "Host") ? "pinned" : "device", arg.words[0]);
		xspace_put_ref(&host->stats, XSPACE_STAT_MEMALLOC_DETAILS, details);
		return;
	}
}

static void put_graph_launch(struct host *host, const struct trace_call *call)
{
	const struct trace_launch *launch = &host->trace->launches[call->launch];
	const struct trace_exec *exec = &host->trace->execs[launch->exec];

	if (exec->graph != TRACE_NONE)
		xspace_put_u64(&host->stats, XSPACE_STAT_GRAPH_ID,
			       host->trace->graphs[exec->graph].id);
	xspace_put_u64(&host->stats, XSPACE_STAT_GRAPH_EXEC_ID, exec->id);
	xspace_put_u64(&host->stats, XSPACE_STAT_REPLAY, launch->replay);
}

/* True if the call must have caused activities but none is in the trace. */
static bool lacks_activities(const struct trace_call *call)
{
	return call->activity_count == 0 && call->activities_expected > 0 &&
	       call->activities_expected != TRACE_NONE;
}

/* Encodes the stats that few calls have. */
static void put_rarities(struct host *host, const struct trace_call *call)
{
	proto_reset(&host->stats.bytes);
	if (call->launch != TRACE_NONE)
		put_graph_launch(host, call);
	if (call->result)
		xspace_put_i64(&host->stats, XSPACE_STAT_RESULT, call->result);
	if (lacks_activities(call))
		xspace_put_ref(&host->stats, XSPACE_STAT_ORPHAN, "no activity");
	if (host->apis[call->api].allocates)
		put_allocation(host, call);
	if (host->stats.bytes.used > XSPACE_OUT_PIECE / 2)
		fail(host, -EFBIG);
}

static bool has_rarities(const struct trace_call *call, const struct api_entry *api)
{
	return call->launch != TRACE_NONE || call->result || api->allocates ||
	       lacks_activities(call);
}

static const struct api_entry *find_api(struct host *host, uint32_t number)
{
	struct api_entry *api = &host->apis[number];
	const char *name;

	if (api->event == 0) {
		name = trace_text(host->trace, host->trace->apis[number].name);
		api->event = xspace_plane_event(&host->plane, name_or(name, "(no name)"));
		api->allocates = strstr(name, "Malloc") != NULL;
	}
	return api;
}

static struct xspace_event event_of(const struct host *host, uint32_t metadata_id,
				    struct rows_time time)
{
	return (struct xspace_event){
		.metadata_id = metadata_id,
		.offset_ps = xspace_offset_ps(host->writer, time.begin_ns),
		.duration_ps = (uint64_t)(time.end_ns - time.begin_ns) * 1000,
	};
}

static void put_call(struct host *host, uint32_t row)
{
	struct xspace_writer *writer = host->writer;
	const struct trace_call *call = &host->trace->calls[row];
	const struct api_entry *api = find_api(host, call->api);
	struct xspace_event event =
		event_of(host, api->event, timeline_call_time(host->trace->calls, row));
	uint64_t correlation_id = timeline_correlation(&writer->timeline, call->process, call->cid);
	uint64_t scope_id = 0;
	uint32_t gpu = writer->gpu_of_call[row];
	size_t bytes = xspace_event_bytes(&event) + xspace_number_bytes(correlation_id);
	uint8_t *room, *at;

	host->stats.bytes.used = 0;
	if (call->scope != TRACE_NONE) {
		scope_id = xspace_scope_id(writer, call->scope);
		bytes += xspace_number_bytes(scope_id);
	}
	if (gpu < writer->timeline.gpus.count)
		bytes += xspace_number_bytes(gpu);
	if (has_rarities(call, api))
		put_rarities(host, call);
	bytes += host->stats.bytes.used;
	if (host->error)
		return;
	room = xspace_out_room(&writer->out);
	at = xspace_event_head(room, &event, bytes);
	at = xspace_number_put(at, XSPACE_STAT_CORRELATION_ID, XSTAT_UINT64, correlation_id);
	if (call->scope != TRACE_NONE)
		at = xspace_number_put(at, XSPACE_STAT_SCOPE_RANGE_ID, XSTAT_INT64, scope_id);
	if (gpu < writer->timeline.gpus.count)
		at = xspace_number_put(at, XSPACE_STAT_DEVICE_ID, XSTAT_UINT64, gpu);
	if (host->stats.bytes.used)
		memcpy(at, host->stats.bytes.bytes, host->stats.bytes.used);
	at += host->stats.bytes.used;
	writer->out.used += (size_t)(at - room);
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

	xspace_put_foreign(host->writer, &foreign, &host->stats);
	xspace_event_put(&host->plane, trace_text(trace, trace->apis[call->api].name),
			 span_of(host, timeline_call_time(trace->calls, row)), &host->stats);
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
	struct xspace_stats *stats = &host->stats;

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

/* Encodes a scope's name and attributes into host->stats and returns the id of its name. */
static uint32_t describe_scope(struct host *host, const struct trace_scope *scope)
{
	const struct trace *trace = host->trace;
	struct xspace_stats *stats = &host->stats;

	proto_reset(&stats->bytes);
	if (scope->kind != RECORD_SCOPE_DAGTAP)
		xspace_put_ref(stats, XSPACE_STAT_SCOPE_KIND, words_scope_kind(scope->kind));
	if (scope->kind == RECORD_SCOPE_STEP)
		xspace_put_i64(stats, XSPACE_STAT_ROOT, 1);
	for (uint32_t i = 0; i < scope->attribute_count && i < XSPACE_KEYS_MAX; i++) {
		const struct trace_scope_attribute *attribute =
			&trace->scope_attributes[scope->attribute_first + i];

		if (xspace_chains_allow(&host->writer->chains, attribute->key))
			xspace_put_attribute(stats, trace, attribute);
	}
	return xspace_plane_event(&host->plane,
				  name_or(trace_text(trace, scope->name), "(no name)"));
}

/* The same, encoded once for each chain, which many scopes share. */
static const struct named_piece *find_description(struct host *host, uint32_t row)
{
	struct named_piece *found = &host->chains[xspace_chains_find(&host->writer->chains, row)];

	if (found->event == 0) {
		found->event = describe_scope(host, &host->trace->scopes[row]);
		fail(host, host->stats.bytes.error);
		found->stats =
			pieces_add(&host->pieces, host->stats.bytes.bytes, host->stats.bytes.used);
		fail(host, host->pieces.error);
	}
	return found;
}

static void put_scope(struct host *host, uint32_t row)
{
	const struct trace *trace = host->trace;
	struct xspace_writer *writer = host->writer;
	const struct trace_scope *scope = &trace->scopes[row];
	struct rows_time time = timeline_scope_time(trace->scopes, row);
	uint64_t id = xspace_scope_id(writer, row);
	const struct named_piece *shared = NULL;
	struct xspace_event event;
	size_t bytes;
	uint8_t *room, *at;

	if (xspace_scope_annotates(scope)) {
		shared = find_description(host, row);
		host->stats.bytes.used = 0;
		event = event_of(host, shared->event, time);
	} else {
		event = event_of(host, describe_scope(host, scope), time);
	}
	if (scope->open)
		xspace_put_i64(&host->stats, XSPACE_STAT_SCOPE_OPEN, 1);
	if (scope->parent != TRACE_NONE && !xspace_scope_in_tree(trace, scope))
		xspace_put_i64(&host->stats, XSPACE_STAT_SCOPE_PARENT,
			       (int64_t)xspace_scope_id(writer, scope->parent));
	if (host->stats.bytes.used > XSPACE_OUT_PIECE / 4 ||
	    (shared && shared->stats.bytes > XSPACE_OUT_PIECE / 4))
		fail(host, -EFBIG);
	if (host->error)
		return;
	bytes = xspace_event_bytes(&event) + xspace_number_bytes(id) + host->stats.bytes.used;
	room = xspace_out_room(&writer->out);
	at = xspace_event_head(room, &event, bytes + (shared ? shared->stats.bytes : 0));
	at = xspace_number_put(at, XSPACE_STAT_SCOPE_RANGE_ID, XSTAT_INT64, id);
	if (shared)
		at = pieces_copy(at, &host->pieces, shared->stats);
	if (host->stats.bytes.used)
		memcpy(at, host->stats.bytes.bytes, host->stats.bytes.used);
	at += host->stats.bytes.used;
	writer->out.used += (size_t)(at - room);
}

/* Writes a thread's name; another tool's names stay unchanged. */
static int name_thread(const struct host *host, const struct trace_thread *row, char *name,
		       size_t size)
{
	const char *text = trace_text(host->trace, row->name);

	if (text[0] && xspace_is_foreign(host->trace))
		return snprintf(name, size, "%.64s", text);
	return snprintf(name, size, "%.64s/%" PRIu32, name_or(text, "Host Threads"), row->tid);
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

static void put_row(struct host *host, enum track_table table, uint32_t row)
{
	bool is_foreign = xspace_is_foreign(host->trace);

	if (table == TRACK_CALLS && is_foreign)
		put_foreign_call(host, row);
	else if (table == TRACK_CALLS)
		put_call(host, row);
	else if (is_foreign)
		put_foreign_scope(host, row);
	else
		put_scope(host, row);
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

/* Another tool's rows stay on one line, also where they overlap: XProf joins the rows of a line. */
static void put_thread(struct host *host, uint32_t thread, bool ranges)
{
	struct tracks tracks =
		timeline_thread_open(&host->writer->timeline, thread, ranges,
				     xspace_is_foreign(host->trace) ? NULL : &host->nest);
	const struct with_line *joined;
	char name[256];

	while (!host->error && tracks_begin(&tracks)) {
		struct xspace_line line = {.name = name, .id = host->line_ids[thread]};

		name_line(host, thread, ranges ? " ranges" : "", tracks.number, name, sizeof(name));
		if (tracks.number > 1 || ranges)
			line.id = host->next_line_id++;
		xspace_line_begin(&host->plane, &line);
		joined = tracks.number == 1 && !ranges ? begin_joined(host, thread) : NULL;
		while (!host->error && tracks_next(&tracks)) {
			if (joined)
				put_joined_before(host, joined, &tracks);
			put_row(host, tracks.table, tracks.row);
		}
		if (joined)
			xspace_with_put_before(host->writer->with, &host->plane, joined,
					       &host->joined_next, UINT64_MAX, 0);
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
	host.stats = (struct xspace_stats){.plane = &host.plane, .field = XEVENT_STATS};
	host.apis = calloc((size_t)trace->apis_count + 1, sizeof(*host.apis));
	host.chains = table_zeroed(writer->chains.rows_count, sizeof(*host.chains));
	host.error = host.apis && host.chains ? number_lines(&host) : -ENOMEM;
	if (!host.error && writer->pjrt)
		take_reader_ids(&host, writer->pjrt);
	if (!host.error)
		put_threads(&host);
	if (!host.error && writer->with)
		xspace_with_put_lines(writer->with, &host.plane);
	if (!host.error && writer->pjrt)
		xspace_put_message_line(writer, &host.plane);
	err = xspace_plane_end(&host.plane);
	free(host.apis);
	free(host.chains);
	free(host.line_ids);
	pieces_release(&host.pieces);
	rows_nest_release(&host.nest);
	fail(&host, host.stats.bytes.error);
	proto_release(&host.stats.bytes);
	return host.error ? host.error : err;
}

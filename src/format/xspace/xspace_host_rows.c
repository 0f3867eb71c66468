/* Encodes the calls and scopes of the host's plane. */
#include "format/xspace/xspace_host_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/words.h"
#include "trace/row_table.h"

static void fail(struct xspace_host_rows *rows, int err)
{
	if (err < 0 && !rows->error)
		rows->error = err;
}

/* Keeps the stats in the buffer as a piece of PIECES. */
static const struct xspace_piece *keep_stats(struct xspace_host_rows *rows,
					     struct xspace_pieces *pieces)
{
	const struct xspace_piece *piece = xspace_pieces_keep(pieces, &rows->stats.bytes);

	fail(rows, pieces->error);
	return piece;
}

/* Adds the details of an allocation, if the call's arguments were recorded: its size is the
 * argument of that name. */
static void put_allocation(struct xspace_host_rows *rows, const struct trace_call *call)
{
	const char *api = trace_text(rows->trace, rows->trace->apis[call->api].name);
	struct words_arg arg;
	char details[64];

	for (uint32_t i = 0; words_call_arg(rows->trace, call, i, &arg); i++) {
		if (strcmp(arg.name, "size") != 0 && strcmp(arg.name, "sizeBytes") != 0)
			continue;
		snprintf(details, sizeof(details), "kind:%s num_bytes:%" PRIu64,
			 strstr(api, "Host") ? "pinned" : "device", arg.words[0]);
		xspace_put_ref(&rows->stats, XSPACE_STAT_MEMALLOC_DETAILS, details);
		return;
	}
}

static void put_graph_launch(struct xspace_host_rows *rows, const struct trace_call *call)
{
	const struct trace_launch *launch = &rows->trace->launches[call->launch];
	const struct trace_exec *exec = &rows->trace->execs[launch->exec];

	if (exec->graph != TRACE_NONE)
		xspace_put_u64(&rows->stats, XSPACE_STAT_GRAPH_ID,
			       rows->trace->graphs[exec->graph].id);
	xspace_put_u64(&rows->stats, XSPACE_STAT_GRAPH_EXEC_ID, exec->id);
	xspace_put_u64(&rows->stats, XSPACE_STAT_REPLAY, launch->replay);
}

/* True if the call must have caused activities but none is in the trace. */
static bool lacks_activities(const struct trace_call *call)
{
	return call->activity_count == 0 && call->activities_expected > 0 &&
	       call->activities_expected != TRACE_NONE;
}

/* Encodes the stats that few calls have. */
static void put_rarities(struct xspace_host_rows *rows, const struct trace_call *call)
{
	proto_reset(&rows->stats.bytes);
	if (call->launch != TRACE_NONE)
		put_graph_launch(rows, call);
	if (call->result)
		xspace_put_i64(&rows->stats, XSPACE_STAT_RESULT, call->result);
	if (lacks_activities(call))
		xspace_put_ref(&rows->stats, XSPACE_STAT_ORPHAN, "no activity");
	if (rows->apis[call->api].allocates)
		put_allocation(rows, call);
	if (rows->stats.bytes.used > XSPACE_OUT_PIECE / 2)
		fail(rows, -EFBIG);
}

static bool has_rarities(const struct trace_call *call, const struct xspace_api_entry *api)
{
	return call->launch != TRACE_NONE || call->result || api->allocates ||
	       lacks_activities(call);
}

static const struct xspace_api_entry *find_api(struct xspace_host_rows *rows, uint32_t number)
{
	struct xspace_api_entry *api = &rows->apis[number];
	const char *name;

	if (api->event == 0) {
		name = trace_text(rows->trace, rows->trace->apis[number].name);
		api->event = xspace_plane_event(rows->plane, xspace_name_or(name, "(no name)"));
		api->allocates = strstr(name, "Malloc") != NULL;
	}
	return api;
}

/* Encodes a scope's name and attributes into rows->stats and returns the id of its name. */
static uint32_t describe_scope(struct xspace_host_rows *rows, const struct trace_scope *scope)
{
	const struct trace *trace = rows->trace;
	struct xspace_stats *stats = &rows->stats;

	proto_reset(&stats->bytes);
	if (scope->kind != RECORD_SCOPE_DAGTAP)
		xspace_put_ref(stats, XSPACE_STAT_SCOPE_KIND, words_scope_kind(scope->kind));
	if (scope->kind == RECORD_SCOPE_STEP)
		xspace_put_i64(stats, XSPACE_STAT_ROOT, 1);
	for (uint32_t i = 0; i < scope->attribute_count && i < XSPACE_KEYS_MAX; i++) {
		const struct trace_scope_attribute *attribute =
			&trace->scope_attributes[scope->attribute_first + i];

		if (xspace_chains_allow(&rows->writer->chains, attribute->key))
			xspace_put_attribute(stats, trace, attribute);
	}
	return xspace_plane_event(rows->plane,
				  xspace_name_or(trace_text(trace, scope->name), "(no name)"));
}

/* The same, encoded once for each chain, which many scopes share. */
static const struct xspace_scope_entry *find_description(struct xspace_host_rows *rows,
							 uint32_t row)
{
	struct xspace_scope_entry *found =
		&rows->chains[xspace_chains_find(&rows->writer->chains, row)];

	if (found->event == 0) {
		found->event = describe_scope(rows, &rows->trace->scopes[row]);
		found->stats = keep_stats(rows, &rows->pieces);
	}
	return found;
}

static struct xspace_event event_of(const struct xspace_host_rows *rows, uint32_t metadata_id,
				    struct rows_time time)
{
	return (struct xspace_event){
		.metadata_id = metadata_id,
		.offset_ps = xspace_offset_ps(rows->writer, time.begin_ns),
		.duration_ps = (uint64_t)(time.end_ns - time.begin_ns) * 1000,
	};
}

static void add_call(struct xspace_host_rows *rows, struct xspace_batch *batch, uint32_t row)
{
	const struct xspace_writer *writer = rows->writer;
	const struct trace_call *call = &rows->trace->calls[row];
	const struct xspace_api_entry *api = find_api(rows, call->api);
	uint32_t gpu = writer->gpu_of_call[row];
	struct xspace_batch_event *event = xspace_batch_add(batch);

	event->head = event_of(rows, api->event, timeline_call_time(rows->trace->calls, row));
	event->has_correlation = true;
	event->correlation_id = timeline_correlation(&writer->timeline, call->process, call->cid);
	event->has_scope = call->scope != TRACE_NONE;
	event->scope_id = event->has_scope ? xspace_scope_id(writer, call->scope) : 0;
	event->stats[0] = gpu < writer->timeline.gpus.count ? rows->gpus[gpu] : &xspace_no_piece;
	event->stats[1] = event->stats[2] = event->stats[3] = &xspace_no_piece;
	if (has_rarities(call, api)) {
		put_rarities(rows, call);
		event->stats[1] = keep_stats(rows, &batch->pieces);
	}
}

static void add_scope(struct xspace_host_rows *rows, struct xspace_batch *batch, uint32_t row)
{
	const struct trace *trace = rows->trace;
	const struct trace_scope *scope = &trace->scopes[row];
	struct xspace_scope_entry shared = {0, &xspace_no_piece};
	struct xspace_batch_event *event = xspace_batch_add(batch);

	if (xspace_scope_annotates(scope)) {
		shared = *find_description(rows, row);
		rows->stats.bytes.used = 0;
	} else {
		shared.event = describe_scope(rows, scope);
	}
	if (scope->open)
		xspace_put_i64(&rows->stats, XSPACE_STAT_SCOPE_OPEN, 1);
	if (scope->parent != TRACE_NONE && !xspace_scope_in_tree(trace, scope))
		xspace_put_i64(&rows->stats, XSPACE_STAT_SCOPE_PARENT,
			       (int64_t)xspace_scope_id(rows->writer, scope->parent));
	if (rows->stats.bytes.used > XSPACE_OUT_PIECE / 4 ||
	    shared.stats->count > XSPACE_OUT_PIECE / 4)
		fail(rows, -EFBIG);
	event->head = event_of(rows, shared.event, timeline_scope_time(trace->scopes, row));
	event->has_correlation = false;
	event->has_scope = true;
	event->scope_id = xspace_scope_id(rows->writer, row);
	event->stats[0] = shared.stats;
	event->stats[1] = keep_stats(rows, &batch->pieces);
	event->stats[2] = event->stats[3] = &xspace_no_piece;
}

/* Adds the row that TRACKS has taken. An event that cannot be written is taken back. */
static void add_row(struct xspace_host_rows *rows, struct xspace_batch *batch,
		    const struct tracks *tracks)
{
	if (tracks->table == TRACK_CALLS)
		add_call(rows, batch, tracks->row);
	else
		add_scope(rows, batch, tracks->row);
	if (rows->error)
		batch->count--;
}

static void gather(void *context, struct xspace_batch *batch)
{
	struct xspace_host_rows *rows = context;

	while (!xspace_batch_is_full(batch) && !rows->error && tracks_next(rows->tracks))
		add_row(rows, batch, rows->tracks);
}

void xspace_host_rows_put(struct xspace_host_rows *rows, struct tracks *tracks)
{
	rows->tracks = tracks;
	xspace_batches_put(&rows->writer->batches, &rows->writer->out, gather, rows);
}

void xspace_host_rows_put_one(struct xspace_host_rows *rows, const struct tracks *tracks)
{
	add_row(rows, xspace_batches_begin_one(&rows->writer->batches), tracks);
	xspace_batches_put_one(&rows->writer->batches, &rows->writer->out);
}

static void make_gpus(struct xspace_host_rows *rows)
{
	for (uint32_t gpu = 0; gpu < rows->writer->timeline.gpus.count; gpu++) {
		proto_reset(&rows->stats.bytes);
		xspace_put_u64(&rows->stats, XSPACE_STAT_DEVICE_ID, gpu);
		rows->gpus[gpu] = keep_stats(rows, &rows->pieces);
	}
}

void xspace_host_rows_init(struct xspace_host_rows *rows, struct xspace_writer *writer,
			   struct xspace_plane *plane)
{
	*rows = (struct xspace_host_rows){
		.writer = writer,
		.trace = writer->trace,
		.plane = plane,
		.stats = {.plane = plane, .field = XEVENT_STATS},
		.apis = calloc((size_t)writer->trace->apis_count + 1, sizeof(*rows->apis)),
		.chains = table_zeroed(writer->chains.rows_count, sizeof(*rows->chains)),
		.gpus = calloc((size_t)writer->timeline.gpus.count + 1, sizeof(*rows->gpus)),
	};
	if (rows->apis && rows->chains && rows->gpus)
		make_gpus(rows);
	else
		fail(rows, -ENOMEM);
}

void xspace_host_rows_release(struct xspace_host_rows *rows)
{
	free(rows->apis);
	free(rows->chains);
	free(rows->gpus);
	xspace_pieces_release(&rows->pieces);
	proto_release(&rows->stats.bytes);
}

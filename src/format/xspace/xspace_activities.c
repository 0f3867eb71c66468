/* Encodes the activities of a GPU's plane. */
#include "format/xspace/xspace_activities.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/words.h"
#include "trace/occupancy.h"
#include "trace/row_table.h"

#define DETAILS_CHARS 320

static void fail(struct xspace_activities *activities, int err)
{
	if (err < 0 && !activities->error)
		activities->error = err;
}

/* Keeps the stats in the buffer as a piece of PIECES. */
static const struct xspace_piece *keep_piece(struct xspace_activities *activities,
					     struct xspace_pieces *pieces)
{
	const struct xspace_piece *piece = xspace_pieces_keep(pieces, &activities->stats.bytes);

	fail(activities, pieces->error);
	return piece;
}

static const char *name_of(const struct xspace_activities *activities,
			   const struct trace_work *work)
{
	const char *name;

	if (work->kind != TRACE_KERNEL)
		return xspace_word_text(xspace_word_of(work));
	name = trace_text(activities->trace, work->name);
	return name[0] == '\0' ? "(unknown kernel)" : name;
}

static void put_kernel(struct xspace_activities *activities, const struct trace_work *work)
{
	const struct trace_agent *agent = activities->agent;
	struct occupancy occupancy = {0};
	char details[DETAILS_CHARS];
	double value = 0;

	if (agent)
		occupancy = occupancy_of(trace_text(activities->trace, agent->name), work);
	if (occupancy.waves_most)
		value = occupancy_value(&occupancy);
	xspace_kernel_details(work, occupancy.waves_most ? &value : NULL, details, sizeof(details));
	xspace_put_ref(&activities->stats, XSPACE_STAT_KERNEL_DETAILS, details);
	if (occupancy.waves_most)
		xspace_put_double(&activities->stats, XSPACE_STAT_OCCUPANCY, 100 * value);
}

static void put_work(struct xspace_activities *activities, uint32_t number)
{
	const struct trace_work *work = &activities->trace->works[number];
	struct xspace_work_entry *entry = &activities->works[number];
	struct xspace_stats *stats = &activities->stats;
	char details[DETAILS_CHARS];

	proto_reset(&stats->bytes);
	if (work->kind == TRACE_KERNEL) {
		put_kernel(activities, work);
	} else if (work->kind == TRACE_COPY) {
		xspace_copy_details(activities->writer, work, details, sizeof(details));
		xspace_put_ref(stats, XSPACE_STAT_MEMCPY_DETAILS, details);
	} else {
		xspace_memset_details(work, details, sizeof(details));
		xspace_put_ref(stats, XSPACE_STAT_MEMSET_DETAILS, details);
	}
	if (work->blit)
		xspace_put_ref(stats, XSPACE_STAT_BLIT_KERNEL,
			       trace_text(activities->trace, work->name));
	entry->stats = keep_piece(activities, &activities->pieces);
	entry->event = xspace_plane_event(activities->plane, name_of(activities, work));
	entry->is_kernel = work->kind == TRACE_KERNEL;
}

static const struct xspace_piece *find_chain(struct xspace_activities *activities, uint32_t chain)
{
	const struct xspace_piece **piece = &activities->chains[chain];

	if (!*piece) {
		proto_reset(&activities->stats.bytes);
		xspace_chains_put(&activities->writer->chains, chain, &activities->stats);
		*piece = keep_piece(activities, &activities->pieces);
	}
	return *piece;
}

static void put_node(struct xspace_activities *activities, uint32_t number)
{
	const struct trace_node *node = &activities->trace->nodes[number];
	struct xspace_node_entry *entry = &activities->nodes[number];

	proto_reset(&activities->stats.bytes);
	xspace_put_u64(&activities->stats, XSPACE_STAT_GRAPH_ID,
		       activities->trace->graphs[node->graph].id);
	xspace_put_u64(&activities->stats, XSPACE_STAT_GRAPH_NODE_ID, (uint64_t)node->index + 1);
	entry->stats = keep_piece(activities, &activities->pieces);
	entry->chain = node->scope == TRACE_NONE
			       ? TRACE_NONE
			       : xspace_chains_find(&activities->writer->chains, node->scope);
}

/* Adds the stats of a launch. Only kernels get the exec's id, because XProf takes every event with
 * one for a kernel. */
static void put_launch(struct xspace_activities *activities, const struct xspace_extra_key *key)
{
	const struct trace *trace = activities->trace;
	const struct trace_exec *exec = &trace->execs[trace->launches[key->launch].exec];

	if (!key->has_node && exec->graph != TRACE_NONE)
		xspace_put_u64(&activities->stats, XSPACE_STAT_GRAPH_ID,
			       trace->graphs[exec->graph].id);
	if (key->is_kernel)
		xspace_put_u64(&activities->stats, XSPACE_STAT_GRAPH_EXEC_ID, exec->id);
	if (key->confidence != TRACE_CONFIDENCE_EXACT && key->confidence != TRACE_CONFIDENCE_NONE)
		xspace_put_ref(&activities->stats, XSPACE_STAT_CONFIDENCE,
			       words_confidence(key->confidence));
}

static void put_extra(struct xspace_activities *activities, struct xspace_batch *batch,
		      const struct xspace_extra_key *key)
{
	struct xspace_stats *stats = &activities->stats;

	proto_reset(&stats->bytes);
	if (key->launch != TRACE_NONE)
		put_launch(activities, key);
	if (key->operation)
		xspace_with_put_operation(activities->writer->with, key->operation, stats);
	if (key->is_orphan)
		xspace_put_ref(stats, XSPACE_STAT_ORPHAN, "no call");
	activities->extra_key = *key;
	activities->extra = keep_piece(activities, &batch->pieces);
}

/* Without branches: of "a != b || c != d" about adjacent bytes GCC 12 makes one comparison of two
 * bytes, which waits for the stores of both. */
static bool differ(const struct xspace_extra_key *a, const struct xspace_extra_key *b)
{
	return (a->launch ^ b->launch) | (a->operation ^ b->operation) |
	       (a->confidence ^ b->confidence) | (a->is_kernel ^ b->is_kernel) |
	       (a->has_node ^ b->has_node) | (a->is_orphan ^ b->is_orphan);
}

/* Encodes the extra stats anew if they differ from those of the last activity of the batch. */
static const struct xspace_piece *find_extra(struct xspace_activities *activities,
					     struct xspace_batch *batch,
					     const struct trace_activity *activity)
{
	const struct xspace_extra_key key = {
		.launch = activity->launch,
		.operation = xspace_with_operation_of(activities->writer->with, activity),
		.confidence = activity->confidence,
		.is_kernel = activities->works[activity->work].is_kernel,
		.has_node = activity->node != TRACE_NONE,
		.is_orphan = activity->call == TRACE_NONE,
	};

	if (!activities->extra || differ(&key, &activities->extra_key))
		put_extra(activities, batch, &key);
	return activities->extra;
}

static const struct xspace_node_entry *find_node(struct xspace_activities *activities,
						 uint32_t number)
{
	static const struct xspace_node_entry none = {&xspace_no_piece, TRACE_NONE};

	if (number == TRACE_NONE)
		return &none;
	if (!activities->nodes[number].stats)
		put_node(activities, number);
	return &activities->nodes[number];
}

/* The chain of an activity. For a graph's node it is the scope that was open when the node was
 * recorded, because the launch's scope is the same for every node; the launch's is used if there
 * is none. */
static uint32_t chain_of(const struct xspace_activities *activities,
			 const struct xspace_node_entry *node, uint32_t launch_scope)
{
	return node->chain != TRACE_NONE
		       ? node->chain
		       : xspace_chains_find(&activities->writer->chains, launch_scope);
}

/* What activities share is made in this order, by which the file gives ids. */
static void add_activity(struct xspace_activities *activities, struct xspace_batch *batch,
			 const struct trace_activity *activity)
{
	const struct xspace_writer *writer = activities->writer;
	const struct xspace_work_entry *work = &activities->works[activity->work];
	const struct xspace_node_entry *node = find_node(activities, activity->node);
	const struct xspace_piece *chain =
		find_chain(activities, chain_of(activities, node, activity->scope));
	struct xspace_batch_event *event = xspace_batch_add(batch);

	if (work->event == 0)
		put_work(activities, activity->work);
	event->head.metadata_id = work->event;
	event->head.offset_ps = xspace_offset_ps(writer, activity->start_ns);
	event->head.duration_ps = activity->end_ns > activity->start_ns
					  ? (uint64_t)(activity->end_ns - activity->start_ns) * 1000
					  : 0;
	event->has_correlation = activity->cid != 0;
	event->correlation_id =
		timeline_correlation(&writer->timeline, activity->process, activity->cid);
	event->has_scope = activity->scope != TRACE_NONE;
	event->scope_id = event->has_scope ? xspace_scope_id(writer, activity->scope) : 0;
	event->stats[0] = work->stats;
	event->stats[1] = node->stats;
	event->stats[2] = find_extra(activities, batch, activity);
	event->stats[3] = chain;
}

static void gather(void *context, struct xspace_batch *batch)
{
	struct xspace_activities *activities = context;
	struct timeline_stream *stream = activities->stream;

	activities->extra = NULL;
	while (!xspace_batch_is_full(batch) && !activities->error && timeline_stream_next(stream))
		add_activity(activities, batch, &activities->trace->activities[stream->row]);
}

void xspace_activities_put(struct xspace_activities *activities, struct timeline_stream *stream)
{
	activities->stream = stream;
	xspace_batches_put(&activities->writer->batches, &activities->writer->out, gather,
			   activities);
}

void xspace_activities_init(struct xspace_activities *activities, struct xspace_writer *writer,
			    struct xspace_plane *plane, const struct trace_agent *agent)
{
	const struct trace *trace = writer->trace;

	*activities = (struct xspace_activities){
		.writer = writer,
		.trace = trace,
		.agent = agent,
		.plane = plane,
		.stats = {.plane = plane, .field = XEVENT_STATS},
		.works = calloc((size_t)trace->works_count + 1, sizeof(*activities->works)),
		.nodes = calloc((size_t)trace->nodes_count + 1, sizeof(*activities->nodes)),
		.chains = table_zeroed(writer->chains.rows_count, sizeof(*activities->chains)),
	};
	if (!activities->works || !activities->nodes || !activities->chains)
		fail(activities, -ENOMEM);
}

void xspace_activities_release(struct xspace_activities *activities)
{
	free(activities->works);
	free(activities->nodes);
	free(activities->chains);
	xspace_pieces_release(&activities->pieces);
	proto_release(&activities->stats.bytes);
}

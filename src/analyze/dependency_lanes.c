/* Lanes: the last work and the pending waits of each stream (dependency_lanes.h). */
#include "analyze/dependency_lanes.h"

#include <errno.h>
#include <stdlib.h>

#include "trace/table.h"

int lanes_init(struct lanes *lanes, struct dependencies *deps)
{
	const struct trace *trace = deps->trace;
	size_t count = (size_t)trace->streams_count + trace->agents_count;

	*lanes = (struct lanes){.deps = deps};
	if (count >= TRACE_NONE)
		return -E2BIG;
	lanes->count = (uint32_t)count;
	lanes->rows = calloc(count + 1, sizeof(*lanes->rows));
	lanes->dirty = calloc((size_t)trace->agents_count + 1, sizeof(*lanes->dirty));
	if (!lanes->rows || !lanes->dirty)
		return -ENOMEM;
	for (uint32_t i = 0; i < lanes->count; i++) {
		bool is_stream = i < trace->streams_count;

		lanes->rows[i] = (struct lane){
			.last = STORE_NOTHING,
			.agent = is_stream ? trace->streams[i].agent : i - trace->streams_count,
			.kind = is_stream ? trace->streams[i].kind : TRACE_STREAM_NULL,
		};
	}
	return 0;
}

void lanes_release(struct lanes *lanes)
{
	free(lanes->rows);
	free(lanes->dirty);
	free(lanes->pending);
	free(lanes->sources);
}

uint32_t lanes_find(const struct lanes *lanes, uint32_t stream, uint32_t agent)
{
	const struct trace *trace = lanes->deps->trace;

	if (stream == TRACE_NONE || trace->streams[stream].kind != TRACE_STREAM_NULL)
		return stream;
	if (agent == TRACE_NONE)
		agent = trace->streams[stream].agent;
	return agent == TRACE_NONE ? TRACE_NONE : trace->streams_count + agent;
}

static void add_source(struct lanes *lanes, struct dependency edge)
{
	struct dependency *row =
		table_add((void **)&lanes->sources, &lanes->sources_count, sizeof(*row));

	if (row)
		*row = edge;
	else
		lanes->deps->error = -ENOMEM;
}

static void add_legacy(struct lanes *lanes, uint32_t from)
{
	if (from != STORE_NOTHING)
		add_source(lanes, dependency_on(from, TRACE_NONE, DEPENDENCY_LEGACY));
}

/* Whether the stream synchronizes with the legacy default stream. */
static bool is_blocking(const struct lane *lane)
{
	return lane->kind == TRACE_STREAM_BLOCKING || lane->kind == TRACE_STREAM_PER_THREAD;
}

/* Adds a blocking lane to the lanes that the legacy lane of its device must join. */
static void mark_dirty(struct lanes *lanes, uint32_t at)
{
	struct lane *lane = &lanes->rows[at];

	if (!is_blocking(lane) || lane->is_dirty || lane->agent == TRACE_NONE)
		return;
	lane->is_dirty = true;
	lane->dirty = lanes->dirty[lane->agent];
	lanes->dirty[lane->agent] = at + 1;
}

/* Turns the pending waits of dirty lanes into joins: the legacy lane waits for the waits of other
 * streams as for their work. */
static void settle_dirty(struct lanes *lanes, uint32_t agent)
{
	for (uint32_t next = lanes->dirty[agent]; next; next = lanes->rows[next - 1].dirty) {
		if (lanes->rows[next - 1].pending)
			lanes_settle(lanes, next - 1);
	}
}

/* The legacy lane takes the last work of each blocking lane that got work since it joined them
 * last. */
static void join_dirty(struct lanes *lanes, uint32_t agent)
{
	uint32_t next = lanes->dirty[agent];

	while (next) {
		struct lane *other = &lanes->rows[next - 1];

		add_legacy(lanes, other->last);
		other->is_dirty = false;
		next = other->dirty;
	}
	lanes->dirty[agent] = 0;
}

void lanes_take(struct lanes *lanes, uint32_t at, uint32_t agent)
{
	const struct trace *trace = lanes->deps->trace;
	struct lane *lane = &lanes->rows[at];

	if (agent != TRACE_NONE)
		lane->agent = agent;
	if (lane->kind == TRACE_STREAM_NULL && lane->agent != TRACE_NONE)
		settle_dirty(lanes, lane->agent);
	lanes->sources_count = 0;
	lanes->is_blind = lane->is_blind;
	lane->is_blind = false;
	if (lane->last != STORE_NOTHING)
		add_source(lanes, dependency_on(lane->last, TRACE_NONE, DEPENDENCY_STREAM));
	for (; lane->pending; lane->pending = lanes->pending[lane->pending - 1].next)
		add_source(lanes, lanes->pending[lane->pending - 1].edge);
	if (lane->agent == TRACE_NONE)
		return;
	if (lane->kind == TRACE_STREAM_NULL) {
		join_dirty(lanes, lane->agent);
	} else if (is_blocking(lane)) {
		const struct lane *legacy = &lanes->rows[trace->streams_count + lane->agent];

		if (legacy->turn > lane->turn)
			add_legacy(lanes, legacy->last);
	}
}

void lanes_give(struct lanes *lanes, uint32_t at, uint32_t ref)
{
	struct lane *lane = &lanes->rows[at];

	lane->last = ref;
	lane->turn = ++lanes->turn;
	mark_dirty(lanes, at);
}

uint32_t lanes_settle(struct lanes *lanes, uint32_t at)
{
	uint32_t opened, ref;

	lanes_take(lanes, at, TRACE_NONE);
	lanes->rows[at].is_blind = lanes->is_blind;
	if (lanes->sources_count == 0)
		return STORE_NOTHING;
	if (lanes->sources_count == 1 && lanes->sources[0].kind == DEPENDENCY_STREAM)
		return lanes->sources[0].from;
	opened = store_open(lanes->deps);
	for (uint32_t i = 0; i < lanes->sources_count; i++)
		store_push(lanes->deps, lanes->sources[i]);
	ref = store_close_join(lanes->deps, opened);
	lanes_give(lanes, at, ref);
	return ref;
}

void lanes_add_pending(struct lanes *lanes, uint32_t at, struct dependency edge)
{
	struct lane_pending *row =
		table_add((void **)&lanes->pending, &lanes->pending_count, sizeof(*row));

	if (!row) {
		lanes->deps->error = -ENOMEM;
		return;
	}
	*row = (struct lane_pending){edge, lanes->rows[at].pending};
	lanes->rows[at].pending = lanes->pending_count;
	mark_dirty(lanes, at);
}

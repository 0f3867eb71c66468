/* Lanes: the last work and the pending waits of each stream (dependency_order.h). */
#include "analyze/dependency_order.h"

#include <errno.h>
#include <stdlib.h>

#include "trace/row_table.h"

int orders_init(struct orders *orders, struct dependencies *deps)
{
	const struct trace *trace = deps->trace;
	size_t count = (size_t)trace->streams_count + trace->agents_count;

	*orders = (struct orders){.deps = deps};
	if (count >= TRACE_NONE)
		return -E2BIG;
	orders->count = (uint32_t)count;
	orders->rows = calloc(count + 1, sizeof(*orders->rows));
	orders->dirty = calloc((size_t)trace->agents_count + 1, sizeof(*orders->dirty));
	if (!orders->rows || !orders->dirty)
		return -ENOMEM;
	for (uint32_t i = 0; i < orders->count; i++) {
		bool is_stream = i < trace->streams_count;

		orders->rows[i] = (struct stream_order){
			.last = STORE_NOTHING,
			.agent = is_stream ? trace->streams[i].agent : i - trace->streams_count,
			.kind = is_stream ? trace->streams[i].kind : TRACE_STREAM_NULL,
		};
	}
	return 0;
}

void orders_release(struct orders *orders)
{
	free(orders->rows);
	free(orders->dirty);
	free(orders->pending);
	free(orders->sources);
}

uint32_t orders_find(const struct orders *orders, uint32_t stream, uint32_t agent)
{
	const struct trace *trace = orders->deps->trace;

	if (stream == TRACE_NONE || trace->streams[stream].kind != TRACE_STREAM_NULL)
		return stream;
	if (agent == TRACE_NONE)
		agent = trace->streams[stream].agent;
	return agent == TRACE_NONE ? TRACE_NONE : trace->streams_count + agent;
}

static void add_source(struct orders *orders, struct dependency edge)
{
	struct dependency *row =
		table_add((void **)&orders->sources, &orders->sources_count, sizeof(*row));

	if (row)
		*row = edge;
	else
		orders->deps->error = -ENOMEM;
}

static void add_legacy(struct orders *orders, uint32_t from)
{
	if (from != STORE_NOTHING)
		add_source(orders, dependency_on(from, TRACE_NONE, DEPENDENCY_LEGACY));
}

/* Whether the stream synchronizes with the legacy default stream. */
static bool is_blocking(const struct stream_order *stream_order)
{
	return stream_order->kind == TRACE_STREAM_BLOCKING ||
	       stream_order->kind == TRACE_STREAM_PER_THREAD;
}

/* Adds a blocking stream to the streams that the legacy stream of its device must join. */
static void mark_dirty(struct orders *orders, uint32_t at)
{
	struct stream_order *stream_order = &orders->rows[at];

	if (!is_blocking(stream_order) || stream_order->is_dirty ||
	    stream_order->agent == TRACE_NONE)
		return;
	stream_order->is_dirty = true;
	stream_order->dirty = orders->dirty[stream_order->agent];
	orders->dirty[stream_order->agent] = at + 1;
}

/* Turns the pending waits of dirty streams into joins: the legacy stream waits for the waits of
 * other streams as for their work. */
static void settle_dirty(struct orders *orders, uint32_t agent)
{
	for (uint32_t next = orders->dirty[agent]; next; next = orders->rows[next - 1].dirty) {
		if (orders->rows[next - 1].pending)
			orders_settle(orders, next - 1);
	}
}

/* The legacy stream takes the last work of each blocking stream that got work since it joined them
 * last. */
static void join_dirty(struct orders *orders, uint32_t agent)
{
	uint32_t next = orders->dirty[agent];

	while (next) {
		struct stream_order *other = &orders->rows[next - 1];

		add_legacy(orders, other->last);
		other->is_dirty = false;
		next = other->dirty;
	}
	orders->dirty[agent] = 0;
}

void orders_take(struct orders *orders, uint32_t at, uint32_t agent)
{
	const struct trace *trace = orders->deps->trace;
	struct stream_order *stream_order = &orders->rows[at];

	if (agent != TRACE_NONE)
		stream_order->agent = agent;
	if (stream_order->kind == TRACE_STREAM_NULL && stream_order->agent != TRACE_NONE)
		settle_dirty(orders, stream_order->agent);
	orders->sources_count = 0;
	orders->is_blind = stream_order->is_blind;
	stream_order->is_blind = false;
	if (stream_order->last != STORE_NOTHING)
		add_source(orders,
			   dependency_on(stream_order->last, TRACE_NONE, DEPENDENCY_STREAM));
	for (; stream_order->pending;
	     stream_order->pending = orders->pending[stream_order->pending - 1].next)
		add_source(orders, orders->pending[stream_order->pending - 1].edge);
	if (stream_order->agent == TRACE_NONE)
		return;
	if (stream_order->kind == TRACE_STREAM_NULL) {
		join_dirty(orders, stream_order->agent);
	} else if (is_blocking(stream_order)) {
		const struct stream_order *legacy =
			&orders->rows[trace->streams_count + stream_order->agent];

		if (legacy->turn > stream_order->turn)
			add_legacy(orders, legacy->last);
	}
}

void orders_give(struct orders *orders, uint32_t at, uint32_t ref)
{
	struct stream_order *stream_order = &orders->rows[at];

	stream_order->last = ref;
	stream_order->turn = ++orders->turn;
	mark_dirty(orders, at);
}

uint32_t orders_settle(struct orders *orders, uint32_t at)
{
	uint32_t opened, ref;

	orders_take(orders, at, TRACE_NONE);
	orders->rows[at].is_blind = orders->is_blind;
	if (orders->sources_count == 0)
		return STORE_NOTHING;
	if (orders->sources_count == 1 && orders->sources[0].kind == DEPENDENCY_STREAM)
		return orders->sources[0].from;
	opened = store_open(orders->deps);
	for (uint32_t i = 0; i < orders->sources_count; i++)
		store_push(orders->deps, orders->sources[i]);
	ref = store_close_join(orders->deps, opened);
	orders_give(orders, at, ref);
	return ref;
}

void orders_add_pending(struct orders *orders, uint32_t at, struct dependency edge)
{
	struct stream_pending *row =
		table_add((void **)&orders->pending, &orders->pending_count, sizeof(*row));

	if (!row) {
		orders->deps->error = -ENOMEM;
		return;
	}
	*row = (struct stream_pending){edge, orders->rows[at].pending};
	orders->rows[at].pending = orders->pending_count;
	mark_dirty(orders, at);
}

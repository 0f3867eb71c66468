/* Implements dagtap/trace.h, which has the contracts: copies rows of the model
 * (trace/trace_model.h) to the structs of the public interface. */
#include <dagtap/trace.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/trace_holders.h"
#include "base/error_text.h"
#include "format/read.h"
#include "format/words.h"
#include "trace/ledger/ledger.h"

#define EXPORT __attribute__((visibility("default")))

static const struct trace *model(const struct dagtap_trace *trace)
{
	return trace->model;
}

struct dagtap_trace *trace_hold(const struct dagtap_trace *trace)
{
	/* The trace does not change, its count of holders does. */
	struct dagtap_trace *held = (struct dagtap_trace *)trace;

	/* Relaxed: the caller is a holder, so the trace cannot be closed meanwhile. */
	atomic_fetch_add_explicit(&held->holders, 1, memory_order_relaxed);
	return held;
}

void trace_drop(struct dagtap_trace *trace)
{
	/* Release and acquire: what the other holders read is read before it is freed. */
	if (atomic_fetch_sub_explicit(&trace->holders, 1, memory_order_acq_rel) > 1)
		return;
	trace_close(trace->model);
	free(trace->path);
	free(trace);
}

EXPORT int dagtap_trace_open(const char *path, struct dagtap_trace **ret_trace,
			     struct dagtap_error *error)
{
	struct dagtap_trace *trace = calloc(1, sizeof(*trace));
	int result;

	if (!trace)
		return dagtap_error_set(error, -ENOMEM, "%s: out of memory", path);
	trace->path = realpath(path, NULL);
	/* Before it is read: the file may get another name at any time. */
	trace->has_input = trace->path && keep_input_find(trace->path, &trace->input);
	result = !trace->path && errno == ENOMEM
			 ? dagtap_error_set(error, -ENOMEM, "%s: out of memory", path)
			 : read_open(path, NULL, &trace->model, error);
	if (result < 0) {
		free(trace->path);
		free(trace);
		return result;
	}
	atomic_init(&trace->holders, 1);
	*ret_trace = trace;
	return 0;
}

EXPORT void dagtap_trace_close(struct dagtap_trace *trace)
{
	if (trace)
		trace_drop(trace);
}

EXPORT int dagtap_trace_is_accounted_for(const struct dagtap_trace *trace)
{
	return ledger_is_closed(model(trace));
}

EXPORT uint32_t dagtap_trace_count(const struct dagtap_trace *trace, enum dagtap_trace_array array)
{
	const struct trace *m = model(trace);

	switch (array) {
	case DAGTAP_TRACE_PROCESS:
		return m->processes_count;
	case DAGTAP_TRACE_THREAD:
		return m->threads_count;
	case DAGTAP_TRACE_DEVICE:
		return m->agents_count;
	case DAGTAP_TRACE_STREAM:
		return m->streams_count;
	case DAGTAP_TRACE_SCOPE:
		return m->scopes_count;
	case DAGTAP_TRACE_ATTRIBUTE:
		return m->scope_attributes_count;
	case DAGTAP_TRACE_CALL:
		return m->calls_count;
	case DAGTAP_TRACE_ACTIVITY:
		return m->activities_count;
	case DAGTAP_TRACE_GRAPH:
		return m->graphs_count;
	case DAGTAP_TRACE_NODE:
		return m->nodes_count;
	case DAGTAP_TRACE_EDGE:
		return m->edges_count;
	case DAGTAP_TRACE_LAUNCH:
		return m->launches_count;
	case DAGTAP_TRACE_SOURCE:
		return m->sources_count;
	case DAGTAP_TRACE_MESSAGE:
		return m->messages_count;
	}
	return 0;
}

/* Copies a row to the caller's struct. A caller that was built with an older header has a shorter
 * struct, one with a newer header a longer struct, whose additional fields become 0. */
static int give(void *row, size_t size, const void *whole, size_t whole_size)
{
	memcpy(row, whole, size < whole_size ? size : whole_size);
	if (size > whole_size)
		memset((char *)row + whole_size, 0, size - whole_size);
	return 0;
}

/* Defines the public function for rows of ARRAY. fill_NAME converts a row. */
#define GETTER(name, array)                                                                        \
	EXPORT int dagtap_trace_get_##name##_sized(const struct dagtap_trace *trace,               \
						   uint32_t index,                                 \
						   struct dagtap_trace_##name *row, size_t size)   \
	{                                                                                          \
		const struct trace *m = model(trace);                                              \
		struct dagtap_trace_##name view;                                                   \
                                                                                                   \
		if (index >= m->array##_count)                                                     \
			return -ERANGE;                                                            \
		fill_##name(m, index, &view);                                                      \
		return give(row, size, &view, sizeof(view));                                       \
	}

static void fill_process(const struct trace *m, uint32_t index, struct dagtap_trace_process *view)
{
	const struct trace_process *at = &m->processes[index];

	*view = (struct dagtap_trace_process){
		.pid = at->pid,
		.parent_pid = at->parent_pid,
		.start_ns = at->start_ns,
		.end_ns = at->end_ns,
		.start_realtime_ns = at->start_realtime_ns,
		.exe = trace_text(m, at->exe),
		.command = trace_text(m, at->command),
		.is_complete = at->state == TRACE_COMPLETE,
	};
}
GETTER(process, processes)

static void fill_thread(const struct trace *m, uint32_t index, struct dagtap_trace_thread *view)
{
	const struct trace_thread *at = &m->threads[index];

	*view = (struct dagtap_trace_thread){
		.process = at->process,
		.tid = at->tid,
		.name = trace_text(m, at->name),
	};
}
GETTER(thread, threads)

static void fill_device(const struct trace *m, uint32_t index, struct dagtap_trace_device *view)
{
	const struct trace_agent *at = &m->agents[index];

	*view = (struct dagtap_trace_device){
		.process = at->process,
		.index = at->index,
		.is_gpu = at->is_gpu,
		.gpu_ordinal = at->gpu_ordinal,
		.name = trace_text(m, at->name),
		.product = trace_text(m, at->product),
		.uuid = trace_text(m, at->uuid),
		.memory_bytes = at->memory_bytes,
		.compute_units = at->compute_units,
		.wave_size = at->wave_size,
		.clock_error_ns = at->fit_error_ns,
	};
}
GETTER(device, agents)

static void fill_stream(const struct trace *m, uint32_t index, struct dagtap_trace_stream *view)
{
	const struct trace_stream *at = &m->streams[index];

	*view = (struct dagtap_trace_stream){
		.process = at->process,
		.ordinal = at->ordinal,
		.handle = at->handle,
		.device = at->agent,
	};
}
GETTER(stream, streams)

static void fill_scope(const struct trace *m, uint32_t index, struct dagtap_trace_scope *view)
{
	const struct trace_scope *at = &m->scopes[index];

	*view = (struct dagtap_trace_scope){
		.process = at->process,
		.thread = at->thread,
		.id = at->id,
		.parent = at->parent,
		.kind = (int)at->kind,
		.text = trace_text(m, at->text),
		.name = trace_text(m, at->name),
		.begin_ns = at->begin_ns,
		.end_ns = at->end_ns,
		.is_open = at->open,
		.attribute_first = at->attribute_first,
		.attribute_count = at->attribute_count,
	};
}
GETTER(scope, scopes)

_Static_assert((int)DAGTAP_TRACE_SCOPE_STEP == RECORD_SCOPE_STEP &&
		       (int)DAGTAP_TRACE_SCOPE_NVTX == RECORD_SCOPE_NVTX,
	       "scope kinds");

static void fill_attribute(const struct trace *m, uint32_t index,
			   struct dagtap_trace_attribute *view)
{
	const struct trace_scope_attribute *at = &m->scope_attributes[index];

	*view = (struct dagtap_trace_attribute){
		.key = trace_text(m, at->key),
		.kind = (int)at->kind,
		.text = "",
	};
	switch (at->kind) {
	case RECORD_ATTRIBUTE_INT64:
		view->int64 = at->value.int64;
		break;
	case RECORD_ATTRIBUTE_UINT64:
		view->uint64 = at->value.uint64;
		break;
	case RECORD_ATTRIBUTE_DOUBLE:
		view->float64 = at->value.float64;
		break;
	default:
		view->text = trace_text(m, at->value.text);
	}
}
GETTER(attribute, scope_attributes)

_Static_assert((int)DAGTAP_TRACE_INT64 == RECORD_ATTRIBUTE_INT64, "attribute kinds");
_Static_assert((int)DAGTAP_TRACE_TEXT == RECORD_ATTRIBUTE_TEXT, "attribute kinds");

static void fill_call(const struct trace *m, uint32_t index, struct dagtap_trace_call *view)
{
	const struct trace_call *at = &m->calls[index];

	*view = (struct dagtap_trace_call){
		.cid = at->cid,
		.process = at->process,
		.thread = at->thread,
		.name = trace_text(m, m->apis[at->api].name),
		.begin_ns = at->begin_ns,
		.end_ns = at->end_ns,
		.result = at->result,
		.parent = at->parent,
		.scope = at->scope,
		.stream = at->stream,
		.launch = at->launch,
		.activity_first = at->activity_first,
		.activity_count = at->activity_count,
		.activities_expected = at->activities_expected,
	};
}
GETTER(call, calls)

_Static_assert((int)DAGTAP_TRACE_MEMSET == TRACE_MEMSET, "event kinds");
_Static_assert((int)DAGTAP_TRACE_P2P == TRACE_P2P, "copy directions");
_Static_assert((int)DAGTAP_TRACE_NODE_EXACT == TRACE_CONFIDENCE_EXACT, "confidence");

static void fill_work(const struct trace *m, const struct trace_work *work,
		      struct dagtap_trace_activity *view)
{
	view->kind = (int)work->kind;
	view->name = trace_text(m, work->name);
	memcpy(view->grid, work->grid, sizeof(view->grid));
	memcpy(view->workgroup, work->workgroup, sizeof(view->workgroup));
	view->private_bytes = work->private_bytes;
	view->group_bytes = work->group_bytes;
	view->direction = (int)work->direction;
	view->bytes = work->bytes;
	view->dst = work->dst;
	view->src = work->src;
}

static void fill_activity(const struct trace *m, uint32_t index, struct dagtap_trace_activity *view)
{
	const struct trace_activity *at = &m->activities[index];

	*view = (struct dagtap_trace_activity){
		.process = at->process,
		.device = at->agent,
		.stream = at->stream,
		.thread = at->thread,
		.call = at->call,
		.cid = at->cid,
		.ordinal = at->ordinal,
		.scope = at->scope,
		.launch = at->launch,
		.node = at->node,
		.confidence = at->confidence,
		.is_timed = at->untimed == RECORD_UNTIMED_NO,
		.untimed = words_untimed(at->untimed),
		.submit_ns = at->submit_ns,
		.start_ns = at->start_ns,
		.end_ns = at->end_ns,
	};
	if (m->ticks) {
		view->start_tick = m->ticks[index].start;
		view->end_tick = m->ticks[index].end;
	}
	fill_work(m, trace_work_of(m, at), view);
}
GETTER(activity, activities)

static void fill_graph(const struct trace *m, uint32_t index, struct dagtap_trace_graph *view)
{
	const struct trace_graph *at = &m->graphs[index];

	*view = (struct dagtap_trace_graph){
		.process = at->process,
		.id = at->id,
		.node_first = at->node_first,
		.node_count = at->node_count,
		.edge_first = at->edge_first,
		.edge_count = at->edge_count,
		.parent = at->parent,
	};
}
GETTER(graph, graphs)

static void fill_node(const struct trace *m, uint32_t index, struct dagtap_trace_node *view)
{
	const struct trace_node *at = &m->nodes[index];

	*view = (struct dagtap_trace_node){
		.graph = at->graph,
		.index = at->index,
		.type = words_node_type(at->type),
		.name = trace_text(m, at->name),
		.bytes = at->bytes,
		.scope = at->scope,
		.child = at->child,
	};
	memcpy(view->grid, at->grid, sizeof(view->grid));
	memcpy(view->workgroup, at->workgroup, sizeof(view->workgroup));
}
GETTER(node, nodes)

static void fill_edge(const struct trace *m, uint32_t index, struct dagtap_trace_edge *view)
{
	*view = (struct dagtap_trace_edge){m->edges[index].from, m->edges[index].to};
}
GETTER(edge, edges)

static void fill_launch(const struct trace *m, uint32_t index, struct dagtap_trace_launch *view)
{
	const struct trace_launch *at = &m->launches[index];

	*view = (struct dagtap_trace_launch){
		.process = at->process,
		.exec_id = m->execs[at->exec].id,
		.graph = m->execs[at->exec].graph,
		.replay = at->replay,
		.call = at->call,
		.stream = at->stream,
		.activities_expected = at->activities_expected,
		.activity_count = at->activity_count,
		.is_exact = at->exact,
	};
}
GETTER(launch, launches)

static void fill_source(const struct trace *m, uint32_t index, struct dagtap_trace_source *view)
{
	const struct trace_source *at = &m->sources[index];

	*view = (struct dagtap_trace_source){
		.process = at->process,
		.name = trace_text(m, at->name),
		.witness = trace_text(m, at->witness),
		.has_expected = at->has_expected,
		.expected = at->expected,
		.received = at->received,
		.dropped = ledger_dropped(m, at),
		.joined = at->joined,
		.orphan_calls = at->orphan_calls,
		.orphan_activities = at->orphan_activities,
		.untimed = at->untimed,
		.unexplained = at->unexplained,
		.state = trace_text(m, at->state),
		.text = trace_text(m, at->text),
	};
}
GETTER(source, sources)

static void fill_message(const struct trace *m, uint32_t index, struct dagtap_trace_message *view)
{
	const struct trace_message *at = &m->messages[index];

	*view = (struct dagtap_trace_message){
		.process = at->process,
		.is_damage = at->damage,
		.text = trace_text(m, at->text),
	};
}
GETTER(message, messages)

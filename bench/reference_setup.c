/*
 * Functions that all threads of the reference run share, and what each submitting thread does once:
 * create its streams, load its module, make its graphs.
 */
#include <stdio.h>
#include <string.h>

#include "reference_run.h"

#define SET_DEVICE	 1
#define LOAD_MODULE	 1
#define BEFORE_FUNCTIONS (SET_DEVICE + REFERENCE_QUEUES + LOAD_MODULE)
#define BEFORE_GRAPHS	 (BEFORE_FUNCTIONS + REFERENCE_KERNELS)

uint64_t reference_now_ns(const struct reference_run *run, const struct reference_worker *worker)
{
	return run->next_ns[worker->index];
}

uint64_t reference_stream_handle(uint32_t gpu, uint32_t queue)
{
	return reference_handle(0x55d3a8000000, (uint64_t)gpu * REFERENCE_QUEUES + queue, 0x2c0);
}

/* ---- scopes ---- */

void reference_scope_push(struct reference_run *run, struct reference_worker *worker,
			  const char *text)
{
	struct record_scope record = {
		.id = worker->stream->thread.scope_number << 48 | ++worker->scope_counter,
		.parent = worker->depth ? worker->scopes[worker->depth - 1] : 0,
		.ns = reference_now_ns(run, worker),
		.text_bytes = strlen(text),
	};

	worker->stream->now_ns = record.ns;
	spool_stream_put_text(worker->stream, RECORD_SCOPE, RECORD_SCOPE_DAGTAP, &record,
			      sizeof(record), text);
	worker->scopes[worker->depth++] = record.id;
	run->next_ns[worker->index] += 90;
}

void reference_scope_pop(struct reference_run *run, struct reference_worker *worker)
{
	struct record_scope_end *record =
		spool_stream_put(worker->stream, RECORD_SCOPE_END, sizeof(*record), 0);

	record->id = worker->scopes[--worker->depth];
	record->ns = reference_now_ns(run, worker);
	run->next_ns[worker->index] += 60;
}

/* ---- calls ---- */

struct reference_frame reference_call_begin(struct reference_run *run,
					    struct reference_worker *worker,
					    enum reference_call_id id)
{
	struct reference_frame frame = {
		.worker = worker,
		.id = id,
		.begin_ns = reference_now_ns(run, worker),
		.by =
			{
				.stream = worker->stream,
				.cid = ++run->last_cid,
				.scope = worker->depth ? worker->scopes[worker->depth - 1] : 0,
			},
	};

	frame.by.ns = frame.begin_ns + 500;
	worker->stream->now_ns = frame.begin_ns;
	memcpy(frame.args, run->calls[id].args, sizeof(frame.args));
	return frame;
}

void reference_call_end(struct reference_run *run, struct reference_frame *frame, uint32_t cost_ns)
{
	const struct reference_call *call = &run->calls[frame->id];
	struct reference_worker *worker = frame->worker;
	size_t args_bytes = call->words * sizeof(*frame->args);
	struct record_api *record = spool_stream_put(worker->stream, RECORD_API,
						     sizeof(*record) + args_bytes, call->function);
	uint64_t end_ns = frame->begin_ns + cost_ns + reference_random(&worker->random) % 256;

	if (end_ns < frame->by.ns)
		end_ns = frame->by.ns;
	record->cid = frame->by.cid;
	record->scope = frame->by.scope;
	record->begin_ns = frame->begin_ns;
	record->end_ns = end_ns;
	record->activities = frame->by.ordinal;
	memcpy(record->args, frame->args, args_bytes);
	if (end_ns > run->latest_ns)
		run->latest_ns = end_ns;
	run->next_ns[worker->index] = end_ns + 100 + reference_random(&worker->random) % 512;
}

/* ---- preamble ---- */

uint32_t reference_preamble_calls(const struct reference_run *run)
{
	uint32_t calls = BEFORE_GRAPHS;

	/* Each graph is created, its nodes are added, and it is instantiated. */
	for (uint32_t i = 0; i < REFERENCE_GRAPHS; i++)
		calls += run->graphs[i].node_count + 2;
	return calls;
}

static void create_stream(struct reference_run *run, struct reference_worker *worker,
			  uint32_t queue)
{
	struct reference_frame frame =
		reference_call_begin(run, worker, CALL_hipStreamCreateWithFlags);

	reference_put_queue(worker->stream, worker->index, queue);
	reference_call_set(&frame, run->calls[frame.id].stream,
			   reference_stream_handle(worker->index, queue));
	reference_call_end(run, &frame, 180000);
}

static void load_module(struct reference_run *run, struct reference_worker *worker)
{
	struct reference_frame frame = reference_call_begin(run, worker, CALL_hipModuleLoadData);

	reference_put_kernels(run->machine, worker->stream, worker->index);
	reference_call_end(run, &frame, 1500000);
}

static void get_function(struct reference_run *run, struct reference_worker *worker,
			 uint32_t kernel)
{
	struct reference_frame frame = reference_call_begin(run, worker, CALL_hipModuleGetFunction);
	const char *name = run->kernels[kernel].name;
	struct record_function record = {
		.ns = frame.begin_ns + 700,
		.handle = reference_function_handle(worker->index, kernel),
	};

	spool_stream_put_text(worker->stream, RECORD_FUNCTION, (uint32_t)strlen(name), &record,
			      sizeof(record), name);
	reference_call_set(&frame, run->calls[frame.id].subject, record.handle);
	reference_call_end(run, &frame, 900);
}

static void add_node(struct reference_run *run, struct reference_worker *worker, uint32_t graph,
		     uint32_t index)
{
	static const enum reference_call_id calls[] = {
		[RECORD_NODE_KERNEL] = CALL_hipGraphAddKernelNode,
		[RECORD_NODE_MEMCPY] = CALL_hipGraphAddMemcpyNode1D,
		[RECORD_NODE_MEMSET] = CALL_hipGraphAddMemsetNode,
		[RECORD_NODE_EMPTY] = CALL_hipGraphAddEmptyNode,
	};
	struct reference_frame frame;
	struct record_node_recorded *record;
	char function[64], text[96];

	reference_instruction_name(graph * REFERENCE_NODES_MOST + index, function,
				   sizeof(function));
	snprintf(text, sizeof(text), "Thunk:#hlo_op=%s#", function);
	reference_scope_push(run, worker, text);
	frame = reference_call_begin(run, worker, calls[run->graphs[graph].nodes[index].type]);
	record = spool_stream_put(worker->stream, RECORD_NODE_RECORDED, sizeof(*record), 0);
	record->node = reference_node_handle(worker->index, graph, index);
	record->graph = reference_graph_handle(worker->index, graph);
	record->cid = frame.by.cid;
	record->scope = frame.by.scope;
	record->ns = frame.begin_ns;
	reference_call_set(&frame, run->calls[frame.id].subject, record->graph);
	reference_call_end(run, &frame, 2600);
	reference_scope_pop(run, worker);
}

static void instantiate(struct reference_run *run, struct reference_worker *worker, uint32_t graph)
{
	struct reference_frame frame = reference_call_begin(run, worker, CALL_hipGraphInstantiate);

	reference_put_graph(worker->stream, run->graphs, worker->index, graph, frame.by.cid);
	reference_call_set(&frame, run->calls[frame.id].subject,
			   reference_graph_handle(worker->index, graph));
	reference_call_end(run, &frame, 900000);
}

static void build_graph(struct reference_run *run, struct reference_worker *worker, uint32_t graph,
			uint32_t n)
{
	struct reference_frame frame;

	if (n > run->graphs[graph].node_count) {
		instantiate(run, worker, graph);
	} else if (n) {
		add_node(run, worker, graph, n - 1);
	} else {
		frame = reference_call_begin(run, worker, CALL_hipGraphCreate);
		reference_call_set(&frame, run->calls[frame.id].subject,
				   reference_graph_handle(worker->index, graph));
		reference_call_end(run, &frame, 1200);
	}
}

void reference_preamble_call(struct reference_run *run, struct reference_worker *worker, uint32_t n)
{
	struct reference_frame frame;
	uint32_t graph = 0;

	if (n < SET_DEVICE) {
		frame = reference_call_begin(run, worker, CALL_hipSetDevice);
		frame.args[0] = worker->index;
		reference_call_end(run, &frame, 400000);
	} else if (n < SET_DEVICE + REFERENCE_QUEUES) {
		create_stream(run, worker, n - SET_DEVICE);
	} else if (n < BEFORE_FUNCTIONS) {
		load_module(run, worker);
	} else if (n < BEFORE_GRAPHS) {
		get_function(run, worker, n - BEFORE_FUNCTIONS);
	} else {
		for (n -= BEFORE_GRAPHS; n >= run->graphs[graph].node_count + 2; graph++)
			n -= run->graphs[graph].node_count + 2;
		build_graph(run, worker, graph, n);
	}
}

/* Takes records into the rows of launches: see cuda_launches.h. */
#include "live/cuda_launches.h"

#include <errno.h>
#include <string.h>

#include "live/cuda_launch_rows.h"
#include "record/stream_handles.h"
#include "trace/trace_model.h"

#define DEEPEST 16 /* child graphs inside child graphs; damage may make a circle */

/* What a call does, as far as it is of use here. */
enum called {
	CALLED_UNKNOWN, /* its name has not come: it may be a launch */
	CALLED_OTHER,
	CALLED_STREAM_WAIT,
	CALLED_CONTEXT_WAIT,
	CALLED_LAUNCH
};

int cuda_launches_add_step(struct cuda_launches *launches, const struct record_cuda_graph *step)
{
	bool is_gone = step->header.tag == RECORD_CUDA_EXEC_GONE;
	struct launched_exec *exec;
	int err;

	if (!is_gone && step->header.tag != RECORD_CUDA_NODE_SWITCHED)
		return 0;
	launches->is_any_switched |= !is_gone && !step->exec;
	if (!step->exec)
		return 0;
	/* The steps of graphs may be read before earlier launches and activities. */
	err = launched_exec_get(launches, step->exec, &exec);
	if (exec && is_gone)
		launched_exec_gone(launches, exec, step->cid);
	else if (exec)
		exec->is_uncompared = true;
	return err;
}

/* Replays are numbered, so the launches before this one are known, too. */
int cuda_launches_add_launch(struct cuda_launches *launches,
			     const struct record_graph_launch *launch)
{
	struct launched_exec *exec;
	uint64_t count;
	int err = launched_exec_get(launches, launch->exec_id, &exec);

	if (!exec)
		return err;
	/* The launches before it may have been added to the sums. */
	exec->is_uncompared |= launches->has_folded && !exec->launches && launch->replay > 0 &&
			       launch->replay != RECORD_REPLAY_UNCOUNTED;
	exec->open++;
	count = launch->replay == RECORD_REPLAY_UNCOUNTED ? exec->launches + 1 : launch->replay + 1;
	if (count > exec->launches) {
		launches->launches += count - exec->launches;
		exec->launches = count;
	}
	return 0;
}

struct came {
	enum delivery_kind kind;
	uint64_t cid, node, exec, context;
};

/* Notes that an activity came of the node for the first time in LAUNCH, which may be NULL. */
static void note_launch(struct launched_exec *exec, const struct record_graph_launch *launch)
{
	if (!launch || launch->exec_id != exec->id || launch->replay == RECORD_REPLAY_UNCOUNTED ||
	    launch->replay < exec->ended)
		return;
	if (launch->replay > exec->ended)
		exec->ended_came = 0;
	exec->ended = launch->replay;
	exec->ended_came++;
}

/* Whether it is the first activity of a copy or memset node in its launch. Returns 1, 0, or
 * -ENOMEM; 1 also if there is no room for the node, and then the exec is not compared. A piece that
 * comes after those of a later launch counts as a first one: it may be. */
static int is_first_piece(struct cuda_launches *launches, struct launched_exec *exec,
			  const struct came *came)
{
	bool is_first;
	int64_t number;
	void *added;

	if (launches->nodes_count == CUDA_LAUNCHES_NODES_MOST &&
	    numbers_find(&exec->nodes, 0, came->node) == NUMBERS_NONE) {
		exec->is_uncompared = true;
		return 1;
	}
	number = numbers_row(&exec->nodes, 0, came->node, (void **)&exec->node_rows,
			     &exec->node_rows_count, sizeof(*exec->node_rows), &added);
	if (number < 0)
		return -ENOMEM;
	launches->nodes_count += added != NULL;
	is_first = exec->node_rows[number].cid != came->cid;
	if (exec->node_rows[number].cid < came->cid)
		exec->node_rows[number].cid = came->cid;
	return is_first;
}

static uint64_t sum_of(const uint32_t nodes[DELIVERY_KIND_COUNT])
{
	uint64_t sum = 0;

	for (int kind = 0; kind < DELIVERY_KIND_COUNT; kind++)
		sum += nodes[kind];
	return sum;
}

/* Follows how many nodes came of each launch. One whose activities come after those of a later
 * launch is not counted to its end; others tell the number. A kernel node that comes again tells
 * that several launches have this correlation id. */
static void follow_newest(struct cuda_launches *launches, struct launched_exec *exec,
			  const struct came *came)
{
	if (came->cid < exec->newest_cid)
		return;
	if (came->cid > exec->newest_cid) {
		memset(exec->newest, 0, sizeof(exec->newest));
		exec->newest_kernel = 0;
	}
	exec->newest_cid = came->cid;
	if (came->kind == DELIVERY_KERNELS) {
		exec->is_uncompared |= exec->newest_kernel == came->node;
		exec->newest_kernel = exec->newest_kernel ? exec->newest_kernel : came->node;
	}
	exec->newest[came->kind]++;
	if (sum_of(exec->newest) <= sum_of(exec->most))
		return;
	memcpy(exec->most, exec->newest, sizeof(exec->most));
	if (launched_exec_nodes(exec) > launches->nodes_most)
		launches->nodes_most = launched_exec_nodes(exec);
}

static int add_node(struct cuda_launches *launches, struct launched_exec *exec,
		    const struct came *came, const struct record_graph_launch *launch)
{
	/* A kernel is never split. */
	int is_first = came->kind == DELIVERY_KERNELS ? 1 : is_first_piece(launches, exec, came);

	if (is_first <= 0)
		return is_first;
	exec->came[came->kind]++;
	follow_newest(launches, exec, came);
	note_launch(exec, launch);
	return 0;
}

/* CUPTI may know an executable graph by another id than its activities name (before CUDA 12.3,
 * where it has no function for these ids): then neither id is compared. */
static void note_other_id(struct cuda_launches *launches, struct launched_exec *exec,
			  const struct record_graph_launch *launch)
{
	struct launched_exec *launched;

	if (!launch || launch->exec_id == exec->id)
		return;
	exec->is_uncompared = true;
	launched = launched_exec_find(launches, launch->exec_id);
	if (launched)
		launched->is_uncompared = true;
}

static void note_context(struct cuda_launches *launches, uint64_t context)
{
	if (!context)
		return;
	if (!launches->contexts[0])
		launches->contexts[0] = context;
	else if (launches->contexts[0] != context)
		launches->contexts[LAUNCHED_OTHER_CONTEXT] = context;
}

static struct came read_activity(const struct record_header *record)
{
	const void *at = record;
	const struct record_cuda_kernel *kernel = at;
	const struct record_cuda_copy *copy = at;

	if (record->type == RECORD_CUDA_KERNEL)
		return (struct came){DELIVERY_KERNELS, kernel->cid, kernel->node, kernel->graph,
				     kernel->context};
	return (struct came){record->tag == RECORD_CUDA_COPY_MEMSET ? DELIVERY_MEMSETS
								    : DELIVERY_COPIES,
			     copy->cid, copy->node, copy->graph, copy->context};
}

int cuda_launches_add_activity(struct cuda_launches *launches, const struct record_header *record,
			       const struct record_graph_launch *launch)
{
	const struct came came = read_activity(record);
	struct launched_exec *exec = NULL;
	int err;

	err = launched_pass(launches, came.cid);
	if (err == 0 && came.exec)
		err = launched_exec_get(launches, came.exec, &exec);
	if (err < 0)
		return err;
	note_context(launches, came.context);
	if (exec)
		note_other_id(launches, exec, launch);
	if (exec && came.cid && came.node)
		return add_node(launches, exec, &came, launch);
	if (came.kind == DELIVERY_KERNELS && came.cid && !came.exec && !came.node) {
		launches->eager++;
		return 0;
	}
	/* It may be one of those that are absent. */
	if (exec)
		exec->unnamed++;
	else if (!came.exec && (came.kind == DELIVERY_KERNELS || came.node))
		launches->unnamed++;
	launches->sums.uncompared_activities++;
	return 0;
}

/* ---- calls ---- */

/* A thread's own default stream has the same handle in every thread. */
static uint64_t stream_of(uint64_t handle, uint32_t tid)
{
	return handle == STREAM_HANDLE_PER_THREAD ? (uint64_t)tid << 32 | handle : handle;
}

static uint64_t argument(const struct record_api *api, uint32_t place)
{
	return api->header.words * 8u >= sizeof(*api) + (place + 1) * sizeof(uint64_t)
		       ? api->args[place]
		       : 0;
}

/* If CUPTI has lost count of a thread, its calls have one id from then on (docs/cuda.md). Returns
 * whether CID is that of the thread's last call, too; or -ENOMEM. */
static int is_id_repeated(struct cuda_launches *launches, uint64_t cid, uint32_t tid)
{
	uint64_t last;
	void *added;
	int64_t number =
		numbers_row(&launches->threads, 0, tid, (void **)&launches->last_calls,
			    &launches->last_calls_count, sizeof(*launches->last_calls), &added);

	if (number < 0)
		return -ENOMEM;
	last = launches->last_calls[number];
	launches->last_calls[number] = cid;
	return cid && cid == last;
}

/* A launch is numbered before its call begins, so the numbers of calls that overlap tell no order.
 * Calls of different threads are read in any order: one that is read late is before the newest
 * launch if it returned before that began, but need not be before the others: what showed that it
 * has ended may be of one beside it. */
static void note_order(struct launched_exec *exec, uint64_t replay, const struct record_api *api)
{
	int64_t begin_ns = (int64_t)api->begin_ns, end_ns = (int64_t)api->end_ns;
	bool is_newest = replay >= exec->last_count;
	bool is_late = !is_newest && end_ns <= exec->last_begin_ns;

	if (is_newest) {
		exec->last_count = replay + 1;
		exec->last_begin_ns = begin_ns;
	} else if (exec->ended > replay) {
		exec->ended = replay;
		exec->ended_came = 0;
	}
	if (is_late && exec->unordered < exec->last_count - 1)
		exec->unordered = exec->last_count - 1;
	else if (!is_late && (!is_newest || begin_ns < exec->last_end_ns))
		exec->unordered = exec->last_count;
	if (end_ns > exec->last_end_ns)
		exec->last_end_ns = end_ns;
}

static void add_graph_launch(struct cuda_launches *launches, struct launched_exec *exec,
			     const struct record_api *api, const struct record_graph_launch *launch,
			     uint32_t tid)
{
	uint64_t ended;

	exec->open -= exec->open > 0;
	if (api->result) {
		exec->failed++;
		launches->failed++;
		return;
	}
	if (launch->replay == RECORD_REPLAY_UNCOUNTED)
		return;
	ended = launched_exec_ended(launches, exec);
	if (ended > exec->ended) {
		exec->ended = ended;
		exec->ended_came = 0;
	}
	if (launch->replay >= exec->last_count) {
		exec->last_stream = stream_of(argument(api, 0), tid);
		exec->last_context = argument(api, 1);
	}
	note_order(exec, launch->replay, api);
}

static bool is_cudas(uint32_t function)
{
	return function >= RECORD_CUDA_FUNCTION_FIRST && function < RECORD_CUDA_FUNCTION_END;
}

void cuda_launches_add_name(struct cuda_launches *launches, const struct record_api_name *name)
{
	static const struct {
		const char *part;
		enum called called;
	} parts[] = {
		{"StreamSynchronize", CALLED_STREAM_WAIT},
		{"DeviceSynchronize", CALLED_CONTEXT_WAIT},
		{"CtxSynchronize", CALLED_CONTEXT_WAIT},
		{"ThreadSynchronize", CALLED_CONTEXT_WAIT},
		{"Launch", CALLED_LAUNCH},
	};
	uint32_t function = name->header.tag;
	enum called called = CALLED_OTHER;

	if (!is_cudas(function))
		return;
	for (size_t i = 0; called == CALLED_OTHER && i < sizeof(parts) / sizeof(*parts); i++) {
		if (memmem(name->text, name->text_bytes, parts[i].part, strlen(parts[i].part)))
			called = parts[i].called;
	}
	launches->called[function - RECORD_CUDA_FUNCTION_FIRST] = (uint8_t)called;
}

static int note_wait(struct cuda_launches *launches, uint64_t context, uint64_t stream,
		     const struct record_api *api)
{
	note_context(launches, context);
	return context ? launched_wait_note(launches, context, stream, (int64_t)api->begin_ns) : 0;
}

static int add_other_call(struct cuda_launches *launches, const struct record_api *api,
			  uint32_t tid)
{
	if (api->result)
		return 0;
	switch (launches->called[api->header.tag - RECORD_CUDA_FUNCTION_FIRST]) {
	case CALLED_STREAM_WAIT:
		return note_wait(launches, argument(api, 1), stream_of(argument(api, 0), tid), api);
	case CALLED_CONTEXT_WAIT:
		return note_wait(launches, argument(api, 0), LAUNCHED_IN_CONTEXT, api);
	case CALLED_UNKNOWN:
	case CALLED_LAUNCH:
		if ((int64_t)api->end_ns > launches->eager_end_ns)
			launches->eager_end_ns = (int64_t)api->end_ns;
		return 0;
	default:
		return 0;
	}
}

/* The activities of launches that share an id cannot be told apart: their exec is not compared. */
int cuda_launches_add_call(struct cuda_launches *launches, const struct record_api *api,
			   const struct record_graph_launch *launch, uint32_t tid)
{
	struct launched_exec *exec;
	int is_repeated;

	if (!is_cudas(api->header.tag))
		return 0;
	is_repeated = is_id_repeated(launches, api->cid, tid);
	if (is_repeated < 0)
		return is_repeated;
	if (!launch)
		return add_other_call(launches, api, tid);
	exec = launched_exec_find(launches, launch->exec_id);
	if (!exec)
		return 0;
	exec->is_uncompared |= is_repeated;
	add_graph_launch(launches, exec, api, launch, tid);
	return 0;
}

/* ---- windows ---- */

/* Counts the kernel nodes of a graph and its child graphs, which an exec takes in, and sets
 * *RET_HAS_BODIES if one of the nodes is conditional. */
static uint32_t count_kernels(const struct trace *window, uint32_t graph, int depth,
			      bool *ret_has_bodies)
{
	const struct trace_graph *row = &window->graphs[graph];
	uint32_t count = 0;

	for (uint32_t i = 0; i < row->node_count; i++) {
		const struct trace_node *node = &window->nodes[row->node_first + i];

		count += node->type == RECORD_NODE_KERNEL;
		*ret_has_bodies |= node->type == RECORD_NODE_CONDITIONAL;
		if (node->type == RECORD_NODE_CHILD && depth < DEEPEST &&
		    trace_is_child_of(window, node->child, graph, i))
			count += count_kernels(window, node->child, depth + 1, ret_has_bodies);
	}
	return count;
}

void cuda_launches_learn(struct cuda_launches *launches, const struct trace *window)
{
	for (uint32_t i = 0; i < window->execs_count; i++) {
		const struct trace_exec *row = &window->execs[i];
		struct launched_exec *exec =
			row->graph == TRACE_NONE ? NULL : launched_exec_find(launches, row->id);

		if (!exec)
			continue;
		exec->kernels = count_kernels(window, row->graph, 0, &exec->has_bodies);
		if (launched_exec_nodes(exec) > launches->nodes_most)
			launches->nodes_most = launched_exec_nodes(exec);
	}
}

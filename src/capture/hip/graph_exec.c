/* Executable graphs: instantiation, launches, updates and destruction; see graph_exec.h. */
#include "capture/hip/graph_exec.h"

#include <stdio.h>
#include <stdlib.h>

#include "capture/capture_session.h"
#include "capture/handle_map.h"
#include "capture/hip/function.h"
#include "capture/hip/graph_copy.h"
#include "capture/hip/graph_describe.h"
#include "capture/hip/graph_template.h"
#include "capture/hip/hip_functions.h"
#include "capture/paced.h"
#include "vendor/hip_types.h"

/* Never freed but used again, since a launch may read one without the lock while it is
 * destroyed. */
struct graph_exec {
	struct graph_exec *next_free;
	uint64_t id;		   /* unique in the process */
	uint64_t handle;	   /* hipGraphExec_t */
	uint64_t cid;		   /* the call that instantiated it */
	bool frees_on_launch;	   /* with hipGraphInstantiateFlagAutoFreeOnLaunch */
	_Atomic uint64_t launches; /* replays so far, those that failed included */
	/* The number of the session whose trace has its GRAPH_EXEC; 0: none. */
	_Atomic uint32_t announced_in;
	struct graph_template *template; /* owned; NULL: the graph could not be read */
};

static struct handle_map execs = HANDLE_MAP_INIT;	 /* hipGraphExec_t -> struct graph_exec */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* over free_execs */
static struct graph_exec *free_execs;
static _Atomic uint64_t exec_ids;
static _Atomic bool has_switched;

static struct graph_exec *take_exec(void)
{
	struct graph_exec *exec;

	pthread_mutex_lock(&lock);
	exec = free_execs;
	if (exec)
		free_execs = exec->next_free;
	pthread_mutex_unlock(&lock);
	if (!exec)
		exec = calloc(1, sizeof(*exec));
	if (!exec)
		return NULL;
	exec->id = atomic_fetch_add_explicit(&exec_ids, 1, memory_order_relaxed) + 1;
	atomic_store_explicit(&exec->launches, 0, memory_order_relaxed);
	atomic_store_explicit(&exec->announced_in, 0, memory_order_relaxed);
	exec->template = NULL;
	return exec;
}

static void give_exec(struct graph_exec *exec)
{
	graph_template_destroy(exec->template);
	exec->template = NULL;
	pthread_mutex_lock(&lock);
	exec->next_free = free_execs;
	free_execs = exec;
	pthread_mutex_unlock(&lock);
}

/* Writes the exec into the session's trace, once: when the exec is made or first used in that
 * session. No other thread changes the exec meanwhile: HIP does not allow that either. */
static void tell(struct graph_exec *exec)
{
	uint32_t session = session_current_number();
	struct record_graph_exec record = {
		.exec_id = exec->id, .handle = exec->handle, .cid = exec->cid};

	if (!session_is_on() ||
	    atomic_exchange_explicit(&exec->announced_in, session, memory_order_relaxed) == session)
		return;
	if (exec->template) {
		graph_template_write(exec->template);
		record.graph_id = exec->template->graph_id;
	}
	record.ns = session_now_ns();
	writer_put(session_writer(), RECORD_GRAPH_EXEC,
		   exec->frees_on_launch ? RECORD_GRAPH_EXEC_FREES_ON_LAUNCH : 0, &record,
		   sizeof(record));
}

/* Whether a call that instantiated a graph has asked for automatic frees. */
static bool asks_for_frees(uint32_t function, const uint64_t *args)
{
	const struct hip_instantiate_params *params;
	uint64_t flags = 0;

	if (function == HIP_hipGraphInstantiateWithFlags) {
		flags = args[ARG_hipGraphInstantiateWithFlags_flags];
	} else if (function == HIP_hipGraphInstantiateWithParams) {
		params = (const void *)args[ARG_hipGraphInstantiateWithParams_instantiateParams];
		flags = params->flags;
	}
	return flags & HIP_GRAPH_FREE_ON_LAUNCH;
}

void graph_exec_instantiated(struct hip_call *call, int result, const uint64_t *args)
{
	struct graph_exec *exec, *before;

	if (result != HIP_OK || !args[0])
		return;
	exec = take_exec();
	if (!exec)
		return;
	exec->handle = args[0];
	exec->cid = call->frame.cid;
	exec->frees_on_launch = asks_for_frees(call->frame.function, args);
	if (graph_template_read(args[1], &exec->template) == 0)
		graph_template_number(exec->template);
	tell(exec);
	/* An entry is there when the destruction of an earlier exec with this handle was not
	 * seen. */
	before = (struct graph_exec *)handle_map_get(&execs, args[0]);
	if (handle_map_put(&execs, args[0], (uintptr_t)exec))
		before = exec;
	if (before)
		give_exec(before);
}

/* Runs before the call, so that the activities of a launch have their exec also when the process
 * is killed during the call. A launch that fails has been counted as a replay, too; its API
 * record shows the failure. Exec 0: the instantiation was not seen. */
void graph_exec_launching(struct hip_call *call, const uint64_t *args)
{
	struct graph_exec *exec =
		(struct graph_exec *)handle_map_get(&execs, args[ARG_hipGraphLaunch_graphExec]);
	struct record_graph_launch record = {
		.cid = call->frame.cid,
		.stream = args[ARG_hipGraphLaunch_stream],
	};

	if (exec) {
		tell(exec);
		record.exec_id = exec->id;
		record.replay = atomic_fetch_add_explicit(&exec->launches, 1, memory_order_relaxed);
	}
	writer_put(session_writer(), RECORD_GRAPH_LAUNCH, 0, &record, sizeof(record));
}

/* One call that changes an exec. Needs no lock: in a program that destroys an exec while another
 * thread changes it, HIP itself would crash. */
struct exec_update {
	uint64_t cid;
	struct graph_exec *exec;
	struct pace pace;
};

/* RECORD describes the new parameters of the node at POSITION in GRAPH, which is the exec's own
 * template or one of its children. Writes them if they differ. */
static void write_update(struct exec_update *update, struct graph_template *graph,
			 uint32_t position, struct record_graph_node *record)
{
	const struct graph_exec *exec = update->exec;

	/* hipGraphExecUpdate returns success, and the exec keeps its memory (6.4.3, 7.2.4). */
	if (record->type == RECORD_NODE_MEM_ALLOC || record->type == RECORD_NODE_MEM_FREE)
		return;
	/* A whole graph is mostly updated for new kernel arguments, which are not recorded. */
	if (graph_describe_is_same(record, &graph->records[position]))
		return;
	graph->records[position] = *record;
	graph->records[position].handle = graph->nodes[position];
	if (record->type == RECORD_NODE_KERNEL)
		function_use(record->function);
	record->graph_id = exec->id;
	record->child_graph_id = graph == exec->template ? 0 : graph->graph_id;
	record->handle = graph->nodes[position];
	record->cid = update->cid;
	record->ns = session_now_ns();
	paced_put(&update->pace, RECORD_GRAPH_EXEC_UPDATE, position, record, sizeof(*record));
}

/* Returns false when the exec or its template is not known. */
static bool begin_update(const struct hip_call *call, uint64_t handle,
			 struct exec_update *ret_update)
{
	struct graph_exec *exec = (struct graph_exec *)handle_map_get(&execs, handle);

	*ret_update = (struct exec_update){call->frame.cid, exec, {0}};
	if (!exec || !exec->template)
		return false;
	tell(exec);
	return true;
}

/* Returns the template that has NODE: GRAPH or one of its children; NULL: none. */
static struct graph_template *find_graph(struct graph_template *graph, uint64_t node)
{
	struct graph_template *found = NULL;

	if (graph_template_find(graph, node) != GRAPH_TEMPLATE_NONE)
		return graph;
	for (size_t i = 0; !found && i < graph->child_count; i++)
		found = find_graph(graph->children[i].template, node);
	return found;
}

static void describe_event(uint32_t function, uint64_t event, struct record_graph_node *record)
{
	record->type = function == HIP_hipGraphExecEventRecordNodeSetEvent
			       ? RECORD_NODE_EVENT_RECORD
			       : RECORD_NODE_EVENT_WAIT;
	record->event = event;
}

static void describe_set_call(uint32_t function, const uint64_t *args,
			      struct record_graph_node *record)
{
	struct graph_copy copy;

	if (graph_copy_of_call(function, args, &copy))
		graph_describe_copy_1d(&copy, record);
	else if (function == HIP_hipGraphExecKernelNodeSetParams)
		graph_describe_kernel((const struct hip_kernel_params *)args[2], record);
	else if (function == HIP_hipGraphExecMemcpyNodeSetParams)
		graph_describe_copy((const struct hip_copy_params *)args[2], record);
	else if (function == HIP_hipGraphExecMemsetNodeSetParams)
		graph_describe_memset((const struct hip_memset_params *)args[2], record);
	else if (function == HIP_hipGraphExecHostNodeSetParams)
		record->type = RECORD_NODE_HOST;
	else
		describe_event(function, args[2], record);
}

void graph_exec_params_set(struct hip_call *call, int result, const uint64_t *args)
{
	struct graph_template *graph;
	struct record_graph_node record = {0};
	struct exec_update update;

	if (result != HIP_OK || !begin_update(call, args[0], &update))
		return;
	describe_set_call(call->frame.function, args, &record);
	graph = find_graph(update.exec->template, args[1]);
	if (graph)
		write_update(&update, graph, graph_template_find(graph, args[1]), &record);
}

static bool is_same_shape(const struct graph_template *old, const uint32_t *to,
			  const struct graph_template *new, const uint32_t *from)
{
	if (old->node_count != new->node_count)
		return false;
	for (uint32_t i = 0; i < old->node_count; i++)
		if (old->records[to ? to[i] : i].type != new->records[from ? from[i] : i].type)
			return false;
	return true;
}

static void note_unknown(const struct exec_update *update, const char *why)
{
	char text[128];

	snprintf(text, sizeof(text), "graph exec %llu: %s, some nodes may have been updated",
		 (unsigned long long)update->exec->id, why);
	session_note(text);
}

/* The node at position from[i] of NEW has replaced the parameters of the exec's node at position
 * to[i] of OLD. Without the two orders, the positions are equal. A graph of another shape cannot
 * replace OLD; what HIP did with it is unknown even if it returned success. */
static void write_replaced(struct exec_update *update, struct graph_template *old,
			   const uint32_t *to, const struct graph_template *new,
			   const uint32_t *from)
{
	if (!is_same_shape(old, to, new, from)) {
		note_unknown(update, "a graph of another shape was given");
		return;
	}
	for (uint32_t i = 0; i < old->node_count; i++) {
		uint32_t target = to ? to[i] : i, source = from ? from[i] : i;
		struct graph_template *old_child = graph_template_child(old, target);
		struct graph_template *new_child = graph_template_child(new, source);
		struct record_graph_node record = new->records[source];

		write_update(update, old, target, &record);
		/* HIP updates the nodes of a child graph in the order in which they were added. */
		if (old_child && new_child)
			write_replaced(update, old_child, NULL, new_child, NULL);
	}
}

static void replace_all(struct exec_update *update, const struct graph_template *new)
{
	struct graph_template *old = update->exec->template;
	uint32_t *orders = calloc(2 * old->node_count + 1, sizeof(*orders));

	if (orders && new->node_count == old->node_count &&
	    !graph_template_level_order(old, orders) &&
	    !graph_template_level_order(new, orders + old->node_count))
		write_replaced(update, old, orders, new, orders + old->node_count);
	free(orders);
}

void graph_exec_updated(struct hip_call *call, int result, const uint64_t *args)
{
	struct exec_update update;
	struct graph_template *new;

	if (!begin_update(call, args[ARG_hipGraphExecUpdate_hGraphExec], &update))
		return;
	if (result == HIP_OK && !graph_template_read(args[ARG_hipGraphExecUpdate_hGraph], &new)) {
		replace_all(&update, new);
		graph_template_destroy(new);
	}
	/* HIP stops at a node that it cannot update, and keeps the updates that it has made
	 * before. */
	if (result != HIP_OK)
		note_unknown(&update, "hipGraphExecUpdate failed");
}

void graph_exec_child_set(struct hip_call *call, int result, const uint64_t *args)
{
	struct exec_update update;
	struct graph_template *graph, *old = NULL, *new;
	uint64_t node = args[ARG_hipGraphExecChildGraphNodeSetParams_node];

	if (result != HIP_OK ||
	    !begin_update(call, args[ARG_hipGraphExecChildGraphNodeSetParams_hGraphExec],
			  &update) ||
	    graph_template_read(args[ARG_hipGraphExecChildGraphNodeSetParams_childGraph], &new))
		return;
	graph = find_graph(update.exec->template, node);
	if (graph)
		old = graph_template_child(graph, graph_template_find(graph, node));
	if (old)
		write_replaced(&update, old, NULL, new, NULL);
	graph_template_destroy(new);
}

/* Before the call: once the exec is destroyed, another thread may get an exec at the same
 * address. */
void graph_exec_going(struct hip_call *call, const uint64_t *args)
{
	call->saved = (const void *)handle_map_take(&execs, args[0]);
}

void graph_exec_gone(struct hip_call *call, int result, const uint64_t *args)
{
	struct graph_exec *exec = (struct graph_exec *)call->saved;
	struct record_graph_exec_gone record;

	if (!exec)
		return;
	if (result != HIP_OK && !handle_map_put(&execs, args[0], (uintptr_t)exec))
		return;
	record = (struct record_graph_exec_gone){.exec_id = exec->id, .ns = session_now_ns()};
	writer_put(session_writer(), RECORD_GRAPH_EXEC_GONE, 0, &record, sizeof(record));
	give_exec(exec);
}

void graph_exec_node_switched(struct hip_call *call, int result, const uint64_t *args)
{
	if (result == HIP_OK)
		atomic_store_explicit(&has_switched, true, memory_order_relaxed);
}

bool graph_exec_has_switched(void)
{
	return atomic_load_explicit(&has_switched, memory_order_relaxed);
}

void graph_exec_reset(void)
{
	atomic_store_explicit(&has_switched, false, memory_order_relaxed);
	handle_map_reset(&execs);
	pthread_mutex_init(&lock, NULL);
	free_execs = NULL;
}

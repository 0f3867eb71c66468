/* The life of CUDA graphs: ids, steps, updates and launches; see cuda_graph_capture.h. */
#include "capture/cuda/cuda_graph_capture.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "capture/capture_session.h"
#include "capture/cuda/cuda_current.h"
#include "capture/cuda/cuda_graph_notes.h"
#include "capture/cuda/cuda_node_ids.h"
#include "capture/cuda/cupti.h"
#include "capture/scope.h"

/* The launches of each exec are counted here, since the records that a ring keeps may begin with
 * any launch. CUPTI never uses the id of an exec again; an exec that is destroyed frees its
 * slot. Launches of an exec that finds no slot are counted by src/trace. */
enum { EXEC_SLOTS = 1 << 14, EXEC_PROBES = 32, EXEC_GONE = 1 };

static struct exec {
	_Atomic uint64_t key;	   /* id << 1, or EXEC_GONE for a free slot that was used, or 0 */
	_Atomic uint64_t launches; /* 0 in a free slot */
	_Atomic bool is_switched;  /* a node was enabled or disabled, and the record is written */
} execs[EXEC_SLOTS];

static _Atomic uint64_t failed_launches;

/* Counts instantiations and destructions of execs. CUDA uses handles again, so with each of them
 * the handle that a thread remembers is out of date. */
static _Atomic uint32_t exec_changes;

static __thread struct {
	void *exec;
	uint32_t changes;
	uint32_t id;
} last_exec __attribute__((tls_model("initial-exec")));

static uint32_t graph_id(void *graph)
{
	uint32_t id = 0, result = graph ? cupti.get_graph_id(graph, &id) : CUPTI_OK;

	cupti_note(CUPTI_FAILURE_GRAPH_IDS, result);
	return result == CUPTI_OK ? id : 0;
}

/* A CUPTI without a function for execs gives them ids as graphs. */
static uint32_t ask_exec_id(void *exec)
{
	uint32_t id = 0;

	if (exec && cupti.get_exec_id && cupti.get_exec_id(exec, &id) == CUPTI_OK)
		return id;
	return graph_id(exec);
}

static uint32_t exec_id(void *exec)
{
	uint32_t changes = atomic_load_explicit(&exec_changes, memory_order_acquire);

	if (exec != last_exec.exec || changes != last_exec.changes) {
		last_exec.id = ask_exec_id(exec);
		last_exec.exec = exec;
		last_exec.changes = changes;
	}
	return last_exec.id;
}

static uint32_t exec_slot(uint32_t id, uint32_t probe)
{
	return (id * 2654435761u + probe) % EXEC_SLOTS;
}

/* Returns the slot of ID, which is taken if need be; NULL: there is no room. */
static struct exec *find_exec(uint32_t id)
{
	uint64_t key = (uint64_t)id << 1;

	for (uint32_t probe = 0; probe < EXEC_PROBES; probe++) {
		uint32_t at = exec_slot(id, probe);

		if (atomic_load_explicit(&execs[at].key, memory_order_acquire) == key)
			return &execs[at];
	}
	for (uint32_t probe = 0; probe < EXEC_PROBES; probe++) {
		uint32_t at = exec_slot(id, probe);
		uint64_t seen = atomic_load_explicit(&execs[at].key, memory_order_relaxed);

		if (seen > EXEC_GONE && seen != key)
			continue;
		/* The thread that freed the slot has set its count to 0. Of two threads with a
		 * first launch at the same time, the one that does not get the slot finds that
		 * the other has taken it for ID. */
		if (seen == key || atomic_compare_exchange_strong(&execs[at].key, &seen, key) ||
		    seen == key)
			return &execs[at];
	}
	return NULL;
}

static uint64_t count_launch(uint32_t id)
{
	struct exec *exec = find_exec(id);

	return exec ? atomic_fetch_add_explicit(&exec->launches, 1, memory_order_relaxed)
		    : RECORD_REPLAY_UNCOUNTED;
}

static void forget_launches(uint32_t id)
{
	for (uint32_t probe = 0; probe < EXEC_PROBES; probe++) {
		uint32_t at = exec_slot(id, probe);
		uint64_t key = (uint64_t)id << 1;

		if (atomic_load_explicit(&execs[at].key, memory_order_relaxed) != key)
			continue;
		atomic_store_explicit(&execs[at].launches, 0, memory_order_relaxed);
		atomic_store_explicit(&execs[at].is_switched, false, memory_order_relaxed);
		atomic_compare_exchange_strong(&execs[at].key, &key, EXEC_GONE);
		return;
	}
}

void cuda_graphs_begin(void)
{
	for (uint32_t i = 0; i < EXEC_SLOTS; i++) {
		atomic_store_explicit(&execs[i].launches, 0, memory_order_relaxed);
		atomic_store_explicit(&execs[i].is_switched, false, memory_order_relaxed);
		atomic_store_explicit(&execs[i].key, 0, memory_order_relaxed);
	}
	atomic_store_explicit(&failed_launches, 0, memory_order_relaxed);
	atomic_fetch_add(&exec_changes, 1);
	cuda_node_ids_forget();
}

/* The node that this thread has last begun to make, and its type as CUPTI then reported it. */
static __thread struct {
	void *node;
	uint32_t type;
} starting __attribute__((tls_model("initial-exec")));

/* Returns the node's type. CUPTI reports it before the node is made, and leaves it out afterwards:
 * then it is 0, which would be a kernel (H100, H200, CUDA 13.0). The call that adds a child node
 * makes other nodes in between; that call may have the type, too. Otherwise src/trace derives it
 * from the call's name or from what the node runs. */
static int type_of_edge(const struct cupti_graph_data *data)
{
	struct cuda_added added;

	if (data->nodeType)
		return (int)data->nodeType;
	if (data->node && starting.node == data->node)
		return (int)starting.type;
	return cuda_params_added(cuda_current_innermost(), &added) ? (int)added.params->type
								   : CUDA_NODE_UNTOLD;
}

static enum record_node_type type_of(const struct cupti_graph_data *data)
{
	static const enum record_node_type types[] = {
		[CUDA_NODE_KERNEL] = RECORD_NODE_KERNEL,
		[CUDA_NODE_MEMCPY] = RECORD_NODE_MEMCPY,
		[CUDA_NODE_MEMSET] = RECORD_NODE_MEMSET,
		[CUDA_NODE_HOST] = RECORD_NODE_HOST,
		[CUDA_NODE_GRAPH] = RECORD_NODE_CHILD,
		[CUDA_NODE_EMPTY] = RECORD_NODE_EMPTY,
		[CUDA_NODE_WAIT_EVENT] = RECORD_NODE_EVENT_WAIT,
		[CUDA_NODE_EVENT_RECORD] = RECORD_NODE_EVENT_RECORD,
		[8] = RECORD_NODE_OTHER, /* signal and wait of external semaphores */
		[9] = RECORD_NODE_OTHER,
		[CUDA_NODE_MEM_ALLOC] = RECORD_NODE_MEM_ALLOC,
		[CUDA_NODE_MEM_FREE] = RECORD_NODE_MEM_FREE,
		[12] = RECORD_NODE_OTHER, /* a batch of memory operations */
		[CUDA_NODE_CONDITIONAL] = RECORD_NODE_CONDITIONAL,
	};
	int type = type_of_edge(data);

	if (type == CUDA_NODE_UNTOLD)
		return RECORD_NODE_UNTOLD;
	return (size_t)type < sizeof(types) / sizeof(*types) ? types[type] : RECORD_NODE_OTHER;
}

/* Returns the step of a callback; 0: not recorded. */
static enum record_cuda_graph_step step_of(enum cupti_resource step)
{
	switch (step) {
	case CUPTI_GRAPH_CREATED:
		return RECORD_CUDA_GRAPH_CREATED;
	case CUPTI_GRAPH_CLONED:
		return RECORD_CUDA_GRAPH_CLONED;
	case CUPTI_GRAPH_DESTROY_STARTING:
		return RECORD_CUDA_GRAPH_GONE;
	case CUPTI_GRAPHNODE_CREATED:
		return RECORD_CUDA_NODE_CREATED;
	case CUPTI_GRAPHNODE_CLONED:
		return RECORD_CUDA_NODE_CLONED;
	case CUPTI_GRAPHNODE_DESTROY_STARTING:
		return RECORD_CUDA_NODE_GONE;
	case CUPTI_GRAPHNODE_DEPENDENCY_CREATED:
		return RECORD_CUDA_EDGE_CREATED;
	case CUPTI_GRAPHNODE_DEPENDENCY_DESTROY_STARTING:
		return RECORD_CUDA_EDGE_GONE;
	case CUPTI_GRAPHEXEC_CREATED:
		return RECORD_CUDA_EXEC_CREATED;
	case CUPTI_GRAPHEXEC_DESTROY_STARTING:
		return RECORD_CUDA_EXEC_GONE;
	default:
		return 0;
	}
}

/* Returns the data of the edge, packed as RECORD_CUDA_EDGE_ says. */
static uint32_t edge_of(const struct cupti_graph_data *data)
{
	struct cuda_edge_data edge = cuda_params_edge(cuda_current_innermost(), data->dependency,
						      data->node, &cuda_current.edge_place);

	return (uint32_t)edge.type << RECORD_CUDA_EDGE_TYPE |
	       (uint32_t)edge.from_port << RECORD_CUDA_EDGE_FROM |
	       (uint32_t)edge.to_port << RECORD_CUDA_EDGE_TO;
}

/* Writes that the node holds the graph HELD. */
static void put_held(const struct cuda_added *added, cuda_graph held)
{
	struct record_cuda_graph record = {
		.cid = cuda_current_step_cid(),
		.scope = scope_current(),
		.ns = session_now_ns(),
		.node = cuda_node_id(*added->node),
		.graph = graph_id(added->graph),
		.other_graph = graph_id(held),
	};

	cuda_notes_step(RECORD_CUDA_NODE_HOLDS, &record);
}

/* CUPTI reports the cloning of a child graph in steps of its own. A child graph that is moved
 * into the node, and the bodies of a conditional node, are known from the call's parameters
 * alone (H200, CUDA 13.0). */
void cuda_graphs_added(const struct cuda_added *added)
{
	const struct cuda_child_node_params *child = &added->params->u.child;
	const struct cuda_conditional_node_params *conditional = &added->params->u.conditional;

	if (!added->node)
		return;
	if (added->params->type == CUDA_NODE_GRAPH && child->ownership == CUDA_CHILD_MOVE) {
		cuda_node_ids_forget();
		put_held(added, child->graph);
	}
	if (added->params->type != CUDA_NODE_CONDITIONAL || !conditional->phGraph_out)
		return;
	for (uint32_t i = 0; i < conditional->size; i++)
		put_held(added, conditional->phGraph_out[i]);
}

/* The call of which this thread has last written an update. */
static __thread uint64_t updating_cid __attribute__((tls_model("initial-exec")));

/* The time is that of the begin of the call: programs update a thousand nodes before each
 * launch, and reading the clock costs a tenth of an update. */
static void put_update(void *node, void *exec, bool is_source)
{
	struct record_cuda_update record = {
		.is_source = is_source,
		.cid = cuda_current_cid(),
		.ns = cuda_current_begin_ns(),
		.node = cuda_node_id_kept(node),
		.exec = exec_id(exec),
	};

	updating_cid = record.cid;
	writer_put(session_writer(), RECORD_CUDA_UPDATE, 0, &record, sizeof(record));
}

/* CUPTI reports no update for these calls (H100, CUDA 13.0). */
void cuda_graphs_event_set(const struct cupti_set_event_params *params)
{
	if (updating_cid != cuda_current_cid())
		put_update(params->node, params->graphExec, false);
}

/* Asks only for the ids that STEP concerns: CUPTI need not set the other fields. */
static void describe_step(enum record_cuda_graph_step step, const struct cupti_graph_data *data,
			  struct record_cuda_graph *record)
{
	if (step < RECORD_CUDA_EXEC_GONE)
		record->graph = graph_id(data->graph);
	if (step == RECORD_CUDA_GRAPH_CLONED || step == RECORD_CUDA_NODE_CLONED)
		record->other_graph = graph_id(data->originalGraph);
	if (step >= RECORD_CUDA_NODE_CREATED && step <= RECORD_CUDA_EDGE_GONE) {
		record->node = cuda_node_id(data->node);
		record->type = type_of(data);
	}
	if (step == RECORD_CUDA_NODE_CLONED)
		record->other_node = cuda_node_id(data->originalNode);
	if (step == RECORD_CUDA_EDGE_CREATED || step == RECORD_CUDA_EDGE_GONE)
		record->other_node = cuda_node_id(data->dependency);
	if (step == RECORD_CUDA_EDGE_CREATED)
		record->other_graph = edge_of(data);
	if (step >= RECORD_CUDA_EXEC_CREATED)
		record->exec = exec_id(data->graphExec);
}

void cuda_graphs_told(enum cupti_resource callback, const struct cupti_graph_data *data)
{
	enum record_cuda_graph_step step = step_of(callback);
	struct record_cuda_graph record;

	if (step >= RECORD_CUDA_NODE_CREATED && step <= RECORD_CUDA_NODE_GONE)
		cuda_node_ids_forget();
	if (step == RECORD_CUDA_NODE_CREATED || step == RECORD_CUDA_NODE_CLONED)
		cuda_current.has_made_node = true;
	if (!data)
		return;
	if (callback == CUPTI_GRAPHNODE_CREATE_STARTING) {
		starting.node = data->node;
		starting.type = data->nodeType;
	}
	if (session_is_on() &&
	    (callback == CUPTI_GRAPH_NODE_UPDATED || callback == CUPTI_GRAPH_NODE_SET_PARAMS))
		put_update(data->node, data->graphExec, callback == CUPTI_GRAPH_NODE_UPDATED);
	if (!step ||
	    (!session_is_on() && !atomic_load_explicit(&cuda_notes_are_kept, memory_order_relaxed)))
		return;
	record = (struct record_cuda_graph){
		.cid = cuda_current_step_cid(),
		.scope = scope_current(),
		.ns = session_now_ns(),
	};
	if (step == RECORD_CUDA_EXEC_CREATED || step == RECORD_CUDA_EXEC_GONE)
		atomic_fetch_add_explicit(&exec_changes, 1, memory_order_release);
	describe_step(step, data, &record);
	if (step == RECORD_CUDA_EXEC_GONE)
		forget_launches(record.exec);
	if (step <= RECORD_CUDA_EDGE_GONE && session_is_on())
		scope_keep_open();
	cuda_notes_step(step, &record);
}

/* CUPTI has no callback for it. One record for each exec is enough; a ring keeps this record,
 * unlike those of calls. */
void cuda_graphs_switched(uint64_t cid, const struct cupti_set_enabled_params *params)
{
	uint32_t id = exec_id(params->graphExec);
	struct exec *exec = id ? find_exec(id) : NULL;
	struct record_cuda_graph record;

	if (exec && atomic_load_explicit(&exec->is_switched, memory_order_relaxed))
		return;
	record = (struct record_cuda_graph){
		.cid = cid,
		.scope = scope_current(),
		.ns = session_now_ns(),
		.node = cuda_node_id(params->node),
		.exec = id,
	};
	if (cuda_notes_step(RECORD_CUDA_NODE_SWITCHED, &record) && exec)
		atomic_store_explicit(&exec->is_switched, true, memory_order_relaxed);
}

/* The launch is counted between reserve and commit: closing the spool waits for records that are
 * being written, so that no launch of this session is counted in the next one. */
void cuda_graphs_launch(uint64_t cid, const struct cupti_graph_launch_params *params)
{
	uint32_t exec = exec_id(params->graphExec);
	struct writer *writer = session_writer();
	struct record_graph_launch *record;
	uint64_t replay;

	if (!exec || !session_is_on() || cuda_current_cid() != cid)
		return;
	cuda_notes_tell();
	record = writer_reserve(writer, RECORD_GRAPH_LAUNCH, sizeof(*record));
	if (!record && (!session_is_on() || cuda_current_cid() != cid))
		return;
	replay = count_launch(exec);
	if (!record)
		return;
	record->exec_id = exec;
	record->cid = cid;
	record->stream = (uintptr_t)params->stream;
	record->replay = replay;
	writer_commit(writer, record, RECORD_GRAPH_LAUNCH, sizeof(*record), 0);
}

void cuda_graphs_launch_failed(void)
{
	atomic_fetch_add_explicit(&failed_launches, 1, memory_order_relaxed);
}

uint64_t cuda_graphs_failed_launches(void)
{
	return atomic_load_explicit(&failed_launches, memory_order_relaxed);
}

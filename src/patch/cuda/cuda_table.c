/* The table from which a graph's kernel nodes take their addresses; the other half is in
 * cuda_kernels.cu. The nodes are made device-updatable, and the updater kernel sets their
 * parameters.
 *
 * Bound addresses go into a log, one entry for each changed slot. ends[] has, for each run of the
 * updater, the position that the log had reached when the run was launched. Both are rings in
 * pinned memory that the device reads; the host writes them by plain stores before the launch. A
 * run applies the entries up to its own end, so a replay in flight never sees what was bound for a
 * later one. progress->runs says which entries may be overwritten.
 *
 * The updater is a kernel node before all roots of the graph. CUDA runs the launches of one
 * executable graph one after the other, whatever their streams are. But a graph in which the
 * updater runs takes 3 to 10 % longer (H200, driver 580). So the node is disabled where that
 * helps, and the same kernel is launched into the stream before the graph, if something has
 * changed and the previous launch was in the same stream; only then the kernel runs after all
 * replays. Disabling helps in a graph that was instantiated for launches from the device: there,
 * device-updatable nodes are as fast as others. */
#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "patch/cuda/cuda_driver.h"
#include "patch/cuda/cuda_kernels.h"

#define LOG_LEAST  4096
#define ENDS_LEAST 16

/* The progress word has a cache line of its own, because the device writes it. */
#define HEAD_BYTES  128
#define STATE_BYTES 64

_Static_assert(sizeof(struct updater_progress) <= HEAD_BYTES &&
		       sizeof(struct updater_state) <= STATE_BYTES,
	       "each comes before what is sized by the plan");

struct slot_state {
	uint64_t address;  /* bound last */
	uint64_t position; /* of its last entry in the log, plus 1; 0: never bound */
};

struct driver_table {
	struct driver_table *next; /* in the list of the device */
	/* the graph that the table is made for, until it is instantiated */
	cuda_graph graph;
	cuda_exec exec; /* set when the graph is instantiated */
	cuda_node updater;
	cuda_function function;
	struct updater_plan plan;
	unsigned int threads;
	cuda_stream stream;		   /* for uploads, and to query whether the device works */
	struct updater_progress *progress; /* in host memory, followed by the two rings */
	uint64_t *ends;
	struct updater_entry *log;
	cuda_address on_device; /* state, first[], relocations */
	void *contents;		/* what is copied there; NULL when it is known to be there */
	size_t device_bytes;
	uint64_t end_count; /* counts of the rings: powers of two */
	uint64_t log_count;
	uint64_t runs;	  /* runs of the updater that were launched */
	uint64_t written; /* entries written to the log */
	/* entries that belong to a launched run; later entries may still be overwritten */
	uint64_t launched;
	uint64_t last_stream;
	bool has_last_stream; /* false: it is unknown which launches the updater would run after */
	bool is_apart;	      /* the node is disabled where the updater can run before the graph */
	bool is_stale;	      /* the host has set a node of the graph since the last launch */
	uint32_t slot_count;
	struct slot_state slots[];
};

/* ---- progress of the device ---- */

static uint64_t runs_done(const struct driver_table *table)
{
	/* Pairs with the device's store, which follows its last read of the log. */
	return __atomic_load_n(&table->progress->runs, __ATOMIC_ACQUIRE);
}

/* Waits until RUNS runs have read their entries. */
static int wait_for(struct cuda_driver *cuda, struct driver_table *table, uint64_t runs)
{
	while (runs_done(table) < runs) {
		int result;

		cuda_relax(cuda);
		result = cuda_unrelax(cuda, cuda->call.cuStreamQuery(table->stream));
		if (result != CUDA_OK && result != CUDA_NOT_READY)
			return cuda_check(cuda, "cuStreamQuery", result);
		sched_yield();
	}
	return 0;
}

/* The position up to which the device has read the log. */
static uint64_t log_begin(const struct driver_table *table)
{
	uint64_t runs = runs_done(table);

	return runs ? table->ends[(runs - 1) & (table->end_count - 1)] : 0;
}

static int make_room(struct cuda_driver *cuda, struct driver_table *table, uint64_t count)
{
	while (table->written + count - log_begin(table) > table->log_count) {
		int err = wait_for(cuda, table, runs_done(table) + 1);

		if (err)
			return err;
	}
	return 0;
}

static int check_device(const struct driver_table *table)
{
	uint64_t error = __atomic_load_n(&table->progress->error, __ATOMIC_RELAXED);

	return error ? patch_fault(-EIO, "cudaGraphKernelNodeSetParam", (int)error,
				   "a node on the device was not updated")
		     : 0;
}

/* ---- binding and launching ---- */

static void put_entry(struct driver_table *table, uint32_t slot, uint64_t address)
{
	struct slot_state *state = &table->slots[slot];
	uint64_t at = state->position > table->launched ? state->position - 1 : table->written++;

	table->log[at & (table->log_count - 1)] = (struct updater_entry){address, slot};
	state->address = address;
	state->position = at + 1;
}

int cuda_table_bind(struct patch_device *device, struct driver_table *table, const uint32_t *slots,
		    const uint64_t *addresses, uint32_t count)
{
	uint32_t fresh = count < table->slot_count ? count : table->slot_count;
	int err = check_device(table);

	if (!err)
		err = make_room(cuda_of(device), table, fresh);
	if (err)
		return err;
	for (uint32_t i = 0; i < count; i++)
		put_entry(table, slots[i], addresses[i]);
	return 0;
}

/* What the host has set reaches the device with the next upload, after the replays in flight, and
 * overwrites what the device had set: so everything that was bound must be applied again. The
 * updater node does this, because only launches of the graph itself are ordered after the
 * upload. */
static int renew(struct cuda_driver *cuda, struct driver_table *table, cuda_exec exec)
{
	int err = CUDA_CALL(cuda, cuGraphUpload, exec, table->stream);

	if (err)
		return err;
	for (uint32_t i = 0; i < table->slot_count; i++) {
		if (table->slots[i].position)
			put_entry(table, i, table->slots[i].address);
	}
	table->is_stale = false;
	table->has_last_stream = false;
	return 0;
}

/* Writes the end of the log for the updater's next run, before it is launched. */
static int announce(struct cuda_driver *cuda, struct driver_table *table)
{
	int err = 0;

	/* One fewer than there are entries: log_begin reads the end of the last completed run. */
	if (table->runs - runs_done(table) >= table->end_count - 1)
		err = wait_for(cuda, table, table->runs + 2 - table->end_count);
	if (!err)
		__atomic_store_n(&table->ends[table->runs & (table->end_count - 1)], table->written,
				 __ATOMIC_RELEASE);
	return err;
}

static void note_run(struct driver_table *table)
{
	table->runs++;
	table->launched = table->written;
}

static int launch_with_updater(struct cuda_driver *cuda, struct driver_table *table, cuda_exec exec,
			       cuda_stream stream)
{
	int err = announce(cuda, table);

	if (!err)
		err = CUDA_CALL(cuda, cuGraphLaunch, exec, stream);
	if (!err)
		note_run(table);
	return err;
}

/* Enables the updater node for this launch, because in this stream nothing makes sure that earlier
 * replays have ended. */
static int launch_enabled(struct cuda_driver *cuda, struct driver_table *table, cuda_exec exec,
			  cuda_stream stream)
{
	int err = CUDA_CALL(cuda, cuGraphNodeSetEnabled, exec, table->updater, 1);
	int disabled;

	if (err)
		return err;
	err = launch_with_updater(cuda, table, exec, stream);
	disabled = CUDA_CALL(cuda, cuGraphNodeSetEnabled, exec, table->updater, 0);
	if (disabled)
		table->is_apart = false;
	return err;
}

static int launch_after_updater(struct cuda_driver *cuda, struct driver_table *table,
				cuda_exec exec, cuda_stream stream)
{
	void *arguments[] = {&table->plan};
	int err = announce(cuda, table);

	if (!err)
		err = CUDA_CALL(cuda, cuLaunchKernel, table->function, 1, 1, 1, table->threads, 1,
				1, 0, stream, arguments, NULL);
	if (err)
		return err;
	note_run(table);
	return CUDA_CALL(cuda, cuGraphLaunch, exec, stream);
}

static int launch_apart(struct cuda_driver *cuda, struct driver_table *table, cuda_exec exec,
			cuda_stream stream)
{
	unsigned long long id;
	int err = CUDA_CALL(cuda, cuStreamGetId, stream, &id);

	if (err)
		return err;
	if (table->written == table->launched)
		err = CUDA_CALL(cuda, cuGraphLaunch, exec, stream);
	else if (table->has_last_stream && id == table->last_stream)
		err = launch_after_updater(cuda, table, exec, stream);
	else
		err = launch_enabled(cuda, table, exec, stream);
	table->has_last_stream = !err;
	table->last_stream = id;
	return err;
}

int cuda_table_launch(struct cuda_driver *cuda, struct driver_table *table, cuda_exec exec,
		      cuda_stream stream)
{
	int err = check_device(table);

	if (!err && table->is_stale)
		err = renew(cuda, table, exec);
	if (err)
		return err;
	return table->is_apart ? launch_apart(cuda, table, exec, stream)
			       : launch_with_updater(cuda, table, exec, stream);
}

int cuda_table_give_way(struct cuda_driver *cuda, cuda_exec exec)
{
	struct driver_table *table;
	int err;

	pthread_mutex_lock(&cuda->lock);
	for (table = cuda->tables; table && table->exec != exec; table = table->next)
		;
	pthread_mutex_unlock(&cuda->lock);
	if (!table)
		return 0;
	/* The host must not set a node while the device updates it. */
	err = wait_for(cuda, table, table->runs);
	if (!err)
		table->is_stale = true;
	return err;
}

/* ---- creation ---- */

/* A relocation and its node's handle on the device. Sorted by node, so that each handle is asked
 * for once. */
struct target {
	const struct patch_table_relocation *relocation;
	cuda_device_node handle;
};

static int compare_targets(const void *a, const void *b)
{
	uintptr_t left = (uintptr_t)((const struct target *)a)->relocation->node;
	uintptr_t right = (uintptr_t)((const struct target *)b)->relocation->node;

	return left < right ? -1 : left > right;
}

static int make_updatable(struct cuda_driver *cuda, cuda_node node, cuda_device_node *ret_handle)
{
	union cuda_attribute_value value;
	int err;

	memset(&value, 0, sizeof(value));
	value.deviceUpdatableKernelNode.deviceUpdatable = 1;
	err = CUDA_CALL(cuda, cuGraphKernelNodeSetAttribute, node, CUDA_ATTRIBUTE_DEVICE_UPDATABLE,
			&value);
	if (!err)
		*ret_handle = value.deviceUpdatableKernelNode.devNode;
	return err;
}

static int find_handles(struct cuda_driver *cuda, const struct patch_table_plan *plan,
			struct target *targets)
{
	for (uint32_t i = 0; i < plan->relocation_count; i++)
		targets[i].relocation = &plan->relocations[i];
	qsort(targets, plan->relocation_count, sizeof(*targets), compare_targets);
	for (uint32_t i = 0; i < plan->relocation_count; i++) {
		struct target *target = &targets[i];
		int err = 0;

		if (i && target->relocation->node == target[-1].relocation->node)
			target->handle = target[-1].handle;
		else
			err = make_updatable(cuda, (cuda_node)target->relocation->node,
					     &target->handle);
		if (err)
			return err;
	}
	return 0;
}

static size_t relocations_at(const struct patch_table_plan *plan)
{
	return STATE_BYTES + ((plan->slot_count + 1) * sizeof(unsigned int) + 7) / 8 * 8;
}

static size_t device_bytes(const struct patch_table_plan *plan)
{
	return relocations_at(plan) + plan->relocation_count * sizeof(struct updater_relocation);
}

/* The initial contents of the device memory: no runs yet, and the relocations of the slots.
 * Returns NULL if there is no memory. */
static void *make_contents(const struct patch_table_plan *plan, const struct target *targets)
{
	char *contents = calloc(1, device_bytes(plan));
	struct updater_relocation *relocations;
	unsigned int *first;

	if (!contents)
		return NULL;
	first = (unsigned int *)(contents + STATE_BYTES);
	relocations = (struct updater_relocation *)(contents + relocations_at(plan));
	for (uint32_t i = 0; i < plan->relocation_count; i++) {
		const struct patch_table_relocation *from = targets[i].relocation;

		relocations[from - plan->relocations] = (struct updater_relocation){
			(uintptr_t)targets[i].handle, from->byte, (uint64_t)from->addend};
		first[from->slot + 1]++;
	}
	for (uint32_t i = 0; i < plan->slot_count; i++)
		first[i + 1] += first[i];
	return contents;
}

static int fill_device(struct cuda_driver *cuda, struct driver_table *table,
		       const struct patch_table_plan *plan)
{
	size_t bytes = table->device_bytes = device_bytes(plan);
	int err = CUDA_RELAXED(cuda, cuMemAlloc_v2, &table->on_device, bytes);

	if (!err)
		err = CUDA_RELAXED(cuda, cuMemcpyAsync, table->on_device,
				   cuda_address_of(table->contents), bytes, table->stream);
	if (!err)
		err = CUDA_RELAXED(cuda, cuStreamSynchronize, table->stream);
	/* Otherwise the copy may still read them. */
	if (!err) {
		free(table->contents);
		table->contents = NULL;
	}
	return err;
}

static uint64_t power_of_two(uint64_t least, uint64_t wanted)
{
	while (least < wanted)
		least *= 2;
	return least;
}

static size_t ring_bytes(const struct driver_table *table)
{
	return HEAD_BYTES + table->end_count * sizeof(*table->ends) +
	       table->log_count * sizeof(*table->log);
}

static int make_rings(struct cuda_driver *cuda, struct driver_table *table)
{
	char *memory;
	int err;

	table->end_count = power_of_two(ENDS_LEAST, (uint64_t)cuda->base.table_versions + 1);
	/* Room for entries that no launch has used yet, and for as many that replays still read. */
	table->log_count = power_of_two(LOG_LEAST, 2 * (uint64_t)table->slot_count);
	err = CUDA_RELAXED(cuda, cuMemHostAlloc, (void **)&memory, ring_bytes(table),
			   CUDA_HOST_PORTABLE | CUDA_HOST_MAPPED);
	if (err)
		return err;
	table->progress = (struct updater_progress *)memory;
	table->ends = (uint64_t *)(memory + HEAD_BYTES);
	table->log = (struct updater_entry *)(table->ends + table->end_count);
	memset(table->progress, 0, HEAD_BYTES + table->end_count * sizeof(*table->ends));
	return 0;
}

/* As many threads as relocations, in whole warps, up to the size of the block. */
static unsigned int threads_for(uint32_t relocations)
{
	unsigned int threads = relocations < UPDATER_THREADS ? relocations : UPDATER_THREADS;

	return (threads + 31) / 32 * 32;
}

static int add_updater_node(struct cuda_driver *cuda, struct driver_table *table, cuda_graph graph,
			    const struct patch_table_plan *plan)
{
	void *arguments[] = {&table->plan};
	struct cuda_kernel_node_params params = {
		.gridDimX = 1,
		.gridDimY = 1,
		.gridDimZ = 1,
		.blockDimX = threads_for(plan->relocation_count),
		.blockDimY = 1,
		.blockDimZ = 1,
		.kernelParams = arguments,
	};
	int err = cuda_kernel_find(cuda, UPDATER_KERNEL, &params.func);

	table->plan = (struct updater_plan){
		.log = table->log,
		.ends = (const unsigned long long *)table->ends,
		.progress = table->progress,
		.first = (const unsigned int *)(table->on_device + STATE_BYTES),
		.relocations = (const struct updater_relocation *)(table->on_device +
								   relocations_at(plan)),
		.state = (struct updater_state *)table->on_device,
		.log_count = table->log_count,
		.end_count = table->end_count,
	};
	table->function = params.func;
	table->threads = params.blockDimX;
	if (!err)
		err = CUDA_CALL(cuda, cuGraphAddKernelNode_v2, &table->updater, graph, NULL, 0,
				&params);
	return err;
}

/* Lists the nodes of GRAPH that have no dependencies. *RET_NODES is allocated by malloc; NULL if
 * there are none. */
static int find_roots(struct cuda_driver *cuda, cuda_graph graph, cuda_node **ret_nodes,
		      size_t *ret_count)
{
	cuda_node *nodes = NULL;
	size_t count = 0;
	int err = CUDA_CALL(cuda, cuGraphGetRootNodes, graph, NULL, &count);

	if (!err && count) {
		nodes = malloc(count * sizeof(*nodes));
		if (!nodes)
			return patch_fault(-ENOMEM, "malloc", 0, "no memory for a graph's roots");
		err = CUDA_CALL(cuda, cuGraphGetRootNodes, graph, nodes, &count);
	}
	if (err) {
		free(nodes);
		return err;
	}
	*ret_nodes = nodes;
	*ret_count = count;
	return 0;
}

/* Adds the updater before all nodes without dependencies. */
static int add_updater(struct cuda_driver *cuda, struct driver_table *table, cuda_graph graph,
		       const struct patch_table_plan *plan)
{
	cuda_node *roots = NULL;
	cuda_node *from = NULL;
	size_t count = 0;
	int err = find_roots(cuda, graph, &roots, &count);

	if (!err)
		err = add_updater_node(cuda, table, graph, plan);
	if (err)
		goto out;
	from = malloc(count * sizeof(*from));
	if (!from)
		err = patch_fault(-ENOMEM, "malloc", 0, "no memory for a graph's roots");
	for (size_t i = 0; !err && i < count; i++)
		from[i] = table->updater;
	if (!err)
		err = CUDA_CALL(cuda, cuGraphAddDependencies_v2, graph, from, roots, NULL, count);
	if (err)
		cuda->call.cuGraphDestroyNode(table->updater);
out:
	free(from);
	free(roots);
	return err;
}

static int fill_table(struct cuda_driver *cuda, struct driver_table *table, cuda_graph graph,
		      const struct patch_table_plan *plan)
{
	struct target *targets = malloc(plan->relocation_count * sizeof(*targets));
	int err =
		targets ? CUDA_CALL(cuda, cuStreamCreate, &table->stream, CUDA_STREAM_NON_BLOCKING)
			: patch_fault(-ENOMEM, "malloc", 0, "no memory for a table");

	if (!err)
		err = make_rings(cuda, table);
	/* Device-updatable nodes cannot be made ordinary again. The graph works as before; but
	 * CUDA refuses to clone such a graph and to update it as a whole. */
	if (!err)
		err = find_handles(cuda, plan, targets);
	if (!err)
		table->contents = make_contents(plan, targets);
	if (!err && !table->contents)
		err = patch_fault(-ENOMEM, "calloc", 0, "no memory for a table");
	if (!err)
		err = fill_device(cuda, table, plan);
	if (!err)
		err = add_updater(cuda, table, graph, plan);
	free(targets);
	return err;
}

/* ---- functions of the driver's table ---- */

static struct driver_table *find_graph(struct cuda_driver *cuda, cuda_graph graph)
{
	struct driver_table *table;

	pthread_mutex_lock(&cuda->lock);
	for (table = cuda->tables; table && table->graph != graph; table = table->next)
		;
	pthread_mutex_unlock(&cuda->lock);
	return table;
}

unsigned long long cuda_table_flags(struct cuda_driver *cuda, cuda_graph graph)
{
	return find_graph(cuda, graph) ? CUDA_INSTANTIATE_DEVICE_LAUNCH : 0;
}

void cuda_table_refused(struct cuda_driver *cuda, cuda_graph graph)
{
	find_graph(cuda, graph)->is_apart = false;
}

void cuda_table_exec_gone(struct cuda_driver *cuda, cuda_exec exec)
{
	pthread_mutex_lock(&cuda->lock);
	for (struct driver_table *table = cuda->tables; table; table = table->next) {
		if (table->exec == exec)
			table->exec = NULL;
	}
	pthread_mutex_unlock(&cuda->lock);
}

static void join_list(struct cuda_driver *cuda, struct driver_table *table)
{
	pthread_mutex_lock(&cuda->lock);
	table->next = cuda->tables;
	__atomic_store_n(&cuda->tables, table, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&cuda->lock);
}

static void leave_list(struct cuda_driver *cuda, struct driver_table *table)
{
	struct driver_table **at = &cuda->tables;

	pthread_mutex_lock(&cuda->lock);
	while (*at && *at != table)
		at = &(*at)->next;
	if (*at)
		__atomic_store_n(at, table->next, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&cuda->lock);
}

int cuda_table_create(struct patch_device *device, struct driver_graph *graph,
		      const struct patch_table_plan *plan, struct driver_table **ret_table)
{
	struct cuda_driver *cuda = cuda_of(device);
	struct driver_table *table;
	int err;

	if (!plan->relocation_count)
		return patch_fault(-ENOTSUP, "cuGraphKernelNodeSetAttribute", 0,
				   "no kernel of the graph has an address");
	table = calloc(1, sizeof(*table) + plan->slot_count * sizeof(*table->slots));
	if (!table)
		return patch_fault(-ENOMEM, "calloc", 0, "no memory for a table");
	table->slot_count = plan->slot_count;
	table->graph = (cuda_graph)graph;
	table->is_apart = true;
	err = fill_table(cuda, table, (cuda_graph)graph, plan);
	if (err) {
		struct patch_fault fault = patch_fault_take();

		cuda_table_destroy(device, table);
		return patch_fault(err, fault.call, fault.code, fault.text);
	}
	join_list(cuda, table);
	*ret_table = table;
	return 0;
}

int cuda_table_attach(struct patch_device *device, struct driver_table *table,
		      struct driver_exec *exec)
{
	struct cuda_driver *cuda = cuda_of(device);
	int err = 0;

	/* Other recordings search the list for their tables. */
	pthread_mutex_lock(&cuda->lock);
	table->exec = (cuda_exec)exec;
	table->graph = NULL;
	pthread_mutex_unlock(&cuda->lock);
	if (table->is_apart)
		err = CUDA_CALL(cuda, cuGraphNodeSetEnabled, table->exec, table->updater, 0);
	/* CUDA requires that a graph whose nodes the device updates has been uploaded. */
	if (!err)
		err = CUDA_CALL(cuda, cuGraphUpload, table->exec, table->stream);
	if (!err)
		err = CUDA_RELAXED(cuda, cuStreamSynchronize, table->stream);
	return err;
}

bool cuda_table_is_idle(struct patch_device *device, struct driver_table *table)
{
	return runs_done(table) >= table->runs;
}

void cuda_table_bytes(const struct driver_table *table, uint64_t *ret_device_bytes,
		      uint64_t *ret_pinned_bytes)
{
	*ret_device_bytes = table->device_bytes;
	*ret_pinned_bytes = ring_bytes(table);
}

void cuda_table_destroy(struct patch_device *device, struct driver_table *table)
{
	struct cuda_driver *cuda = cuda_of(device);

	if (!table)
		return;
	leave_list(cuda, table);
	/* Runs in flight use all of the table's memory. */
	if (table->runs)
		wait_for(cuda, table, table->runs);
	if (table->stream)
		cuda->call.cuStreamDestroy_v2(table->stream);
	cuda_relax(cuda);
	if (table->progress)
		cuda->call.cuMemFreeHost(table->progress);
	if (table->on_device)
		cuda->call.cuMemFree_v2(table->on_device);
	cuda_unrelax(cuda, CUDA_OK);
	free(table->contents);
	free(table);
}

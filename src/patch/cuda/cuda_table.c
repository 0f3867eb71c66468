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

#include "patch/cuda/cuda_table.h"

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
	err = cuda_table_fill(cuda, table, (cuda_graph)graph, plan);
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
	*ret_pinned_bytes = table_ring_bytes(table);
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

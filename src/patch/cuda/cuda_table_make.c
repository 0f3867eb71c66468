/* Makes the table: its memory on both sides, the handles of the nodes, and the updater's node. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "patch/cuda/cuda_table.h"

#define LOG_LEAST  4096
#define ENDS_LEAST 16

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

static int make_rings(struct cuda_driver *cuda, struct driver_table *table)
{
	char *memory;
	int err;

	table->end_count = power_of_two(ENDS_LEAST, (uint64_t)cuda->base.table_versions + 1);
	/* Room for entries that no launch has used yet, and for as many that replays still read. */
	table->log_count = power_of_two(LOG_LEAST, 2 * (uint64_t)table->slot_count);
	err = CUDA_RELAXED(cuda, cuMemHostAlloc, (void **)&memory, table_ring_bytes(table),
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

int cuda_table_fill(struct cuda_driver *cuda, struct driver_table *table, cuda_graph graph,
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

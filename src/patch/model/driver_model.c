/* The function table of the model driver, and its functions for memory, graphs and nodes; those for
 * executable graphs, captures and marks are in model_exec.c, model_capture.c and model_event.c.
 * Every call that can fail fails when a test asks for it. */
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "patch/model/model_parts.h"

/* ---- memory and kernels ---- */

enum { ALIGNMENT = 256, MOST_BYTES = 1 << 30 };

void *dagpatch_model_alloc(uint64_t bytes)
{
	uint64_t rounded = (bytes + ALIGNMENT) & -(uint64_t)ALIGNMENT;
	void *address = bytes > MOST_BYTES ? NULL : aligned_alloc(ALIGNMENT, rounded);

	if (!address)
		return NULL;
	memset(address, 0, rounded);
	model_live.allocations++;
	return address;
}

void dagpatch_model_free(void *address)
{
	if (!address)
		return;
	free(address);
	model_live.allocations--;
}

static int kernel_name(struct patch_device *device, void *function, char *text, size_t size)
{
	const struct dagpatch_model_kernel *kernel = function;

	if (!model_is_here(device) || !kernel->name)
		return -ENOTSUP;
	snprintf(text, size, "%s", kernel->name);
	return 0;
}

/* ---- graphs ---- */

static int graph_create(struct patch_device *device, struct driver_graph **ret_graph)
{
	int err = model_begin(device, "graph_create");

	if (err < 0)
		return err;
	return model_end("graph_create",
			 model_graph_create((struct dagpatch_model_graph **)ret_graph));
}

static void graph_destroy(struct patch_device *device, struct driver_graph *graph)
{
	model_is_here(device);
	dagpatch_model_graph_destroy((struct dagpatch_model_graph *)graph);
}

static int graph_clone(struct patch_device *device, struct driver_graph *graph,
		       struct driver_graph **ret_clone)
{
	int err = model_begin(device, "graph_clone");

	if (err < 0)
		return err;
	return model_end("graph_clone",
			 model_graph_copy((struct dagpatch_model_graph *)graph,
					  (struct dagpatch_model_graph **)ret_clone));
}

static int graph_nodes(struct patch_device *device, struct driver_graph *handle,
		       struct driver_node **ret_nodes, uint32_t capacity)
{
	const struct dagpatch_model_graph *graph = (struct dagpatch_model_graph *)handle;
	int err = model_begin(device, "graph_nodes");

	if (err < 0)
		return err;
	for (uint32_t i = 0; i < graph->count && i < capacity; i++)
		ret_nodes[i] = (struct driver_node *)graph->nodes[i];
	return (int)graph->count;
}

static int graph_edges(struct patch_device *device, struct driver_graph *handle,
		       struct driver_node **ret_from, struct driver_node **ret_to,
		       uint32_t capacity)
{
	const struct dagpatch_model_graph *graph = (struct dagpatch_model_graph *)handle;
	uint32_t count = 0;
	int err = model_begin(device, "graph_edges");

	if (err < 0)
		return err;
	for (uint32_t i = 0; i < graph->count; i++) {
		for (uint32_t j = 0; j < graph->nodes[i]->after_count; j++, count++) {
			if (count >= capacity)
				continue;
			ret_from[count] = (struct driver_node *)graph->nodes[i]->after[j];
			ret_to[count] = (struct driver_node *)graph->nodes[i];
		}
	}
	return (int)count;
}

/* ---- nodes ---- */

static int kernel_parameters(struct patch_device *device, void *function,
			     struct dagpatch_parameter *ret_parameters, uint32_t capacity)
{
	const struct dagpatch_model_kernel *kernel = function;
	bool is_known =
		(device->capabilities & PATCH_HAS_LAYOUTS) || kernel == model_condition_kernel();

	model_is_here(device);
	if (!is_known)
		return -ENOTSUP;
	for (uint32_t i = 0; i < kernel->count && i < capacity; i++)
		ret_parameters[i] = kernel->parameters[i];
	return (int)kernel->count;
}

static int node_get(struct patch_device *device, struct driver_graph *graph,
		    struct driver_node *handle, struct patch_image *image)
{
	const struct model_node *node = (struct model_node *)handle;
	struct patch_child child;
	int err = model_begin(device, "node_get");

	if (err < 0)
		return err;
	switch (node->kind) {
	case PATCH_CHILD:
		child.graph = (struct driver_graph *)node->inner[0];
		return model_image_read(device, PATCH_CHILD, (const uint8_t *)&child, sizeof(child),
					image);
	case PATCH_CONDITIONAL:
		return model_image_read(device, PATCH_OPAQUE, NULL, 0, image);
	default:
		return model_image_read(device, node->kind, node->image, node->size, image);
	}
}

static int node_add(struct patch_device *device, struct driver_graph *graph,
		    const struct patch_params *params, struct driver_node *const *after,
		    uint32_t after_count, struct driver_node **ret_node)
{
	struct model_node *node;
	int err = model_begin(device, "node_add");

	if (err < 0)
		return err;
	err = model_end("node_add",
			model_node_add((struct dagpatch_model_graph *)graph, params,
				       (struct model_node *const *)after, after_count, &node));
	if (err < 0)
		return err;
	*ret_node = (struct driver_node *)node;
	return 0;
}

static int node_set(struct patch_device *device, struct driver_node *node,
		    const struct patch_params *params)
{
	int err = model_begin(device, "node_set");

	if (err < 0)
		return err;
	return model_end("node_set", model_node_set((struct model_node *)node, params));
}

static int attributes_set(struct patch_device *device, struct driver_node *handle,
			  const struct dagpatch_attributes *attributes)
{
	struct model_node *node = (struct model_node *)handle;
	int err = model_begin(device, "attributes_set");

	if (err == 0)
		node->attributes = *attributes;
	return err;
}

static int graph_has_priority(struct patch_device *device, struct driver_graph *graph)
{
	int err = model_begin(device, "graph_has_priority");

	return err < 0 ? err : model_graph_has_priority((struct dagpatch_model_graph *)graph);
}

/* Used for nodes that flattening has copied. */
static int node_inherit(struct patch_device *device, struct driver_node *from,
			struct driver_node *to)
{
	int err = model_begin(device, "node_inherit");

	if (err == 0)
		((struct model_node *)to)->attributes = ((struct model_node *)from)->attributes;
	return err;
}

static int child_graph(struct patch_device *device, struct driver_node *node,
		       struct driver_graph **ret_graph)
{
	int err = model_begin(device, "child_graph");

	if (err < 0)
		return err;
	*ret_graph = (struct driver_graph *)((struct model_node *)node)->inner[0];
	return 0;
}

static int condition_create(struct patch_device *device, struct driver_graph *graph,
			    uint64_t *ret_handle)
{
	int err = model_begin(device, "condition_create");

	if (err < 0)
		return err;
	*ret_handle = model_condition_handle();
	return 0;
}

static int condition_kernel(struct patch_device *device, void **ret_function)
{
	*ret_function = model_condition_kernel();
	return 0;
}

static int conditional_add(struct patch_device *device, struct driver_graph *graph, uint64_t handle,
			   enum dagpatch_condition condition, uint32_t body_count,
			   struct driver_node *const *after, uint32_t after_count,
			   struct driver_node **ret_node, struct driver_graph **ret_bodies)
{
	struct model_node *node;
	int err = model_begin(device, "conditional_add");

	if (err < 0)
		return err;
	err = model_conditional_add((struct dagpatch_model_graph *)graph, condition, body_count,
				    (struct model_node *const *)after, after_count, &node);
	if (err < 0)
		return model_end("conditional_add", err);
	node->handle = handle;
	for (uint32_t i = 0; i < body_count; i++)
		ret_bodies[i] = (struct driver_graph *)node->inner[i];
	*ret_node = (struct driver_node *)node;
	return 0;
}

/* ---- memory, open, close ---- */

static int memory_alloc(struct patch_device *device, uint64_t bytes, bool on_host,
			void **ret_address)
{
	void *address;
	int err = model_begin(device, "memory_alloc");

	if (err < 0)
		return err;
	address = dagpatch_model_alloc(bytes);
	if (!address)
		return model_end("memory_alloc", -ENOMEM);
	if (!on_host && model_memory_take(malloc_usable_size(address)) < 0) {
		dagpatch_model_free(address);
		return model_end("memory_alloc", -ENOMEM);
	}
	*ret_address = address;
	return 0;
}

static void memory_free(struct patch_device *device, void *address, bool on_host)
{
	model_is_here(device);
	if (!on_host)
		model_memory_give(malloc_usable_size(address));
	dagpatch_model_free(address);
}

static int copy_async(struct patch_device *device, void *dst, const void *src, uint64_t bytes,
		      struct driver_stream *stream)
{
	struct dagpatch_model_copy copy = {.dst = dst, .src = src, .width_bytes = bytes};
	int err = model_begin(device, "copy_async");

	if (err < 0)
		return err;
	return model_end("copy_async",
			 dagpatch_model_copy_async((struct dagpatch_model_stream *)stream, &copy));
}

static void wait_all(struct patch_device *device)
{
	model_is_here(device);
	model_streams_drain();
}

static int open_model(const struct dagpatch_options *options, struct patch_device **ret_device,
		      struct dagpatch_error *error)
{
	struct patch_device *device = calloc(1, sizeof(*device));
	uint32_t without = model_missing();

	if (!device)
		return -ENOMEM;
	device->driver = &patch_driver_model;
	device->ordinal = (int)dagpatch_model_device();
	device->capabilities =
		(without & DAGPATCH_MODEL_NO_TABLE ? 0 : PATCH_HAS_TABLE) |
		(without & DAGPATCH_MODEL_NO_LAYOUTS ? 0 : PATCH_HAS_LAYOUTS) |
		(without & DAGPATCH_MODEL_NO_NESTED_SETS ? 0 : PATCH_SETS_NESTED) |
		(without & DAGPATCH_MODEL_NO_CHILDREN ? PATCH_FLATTENS : 0) |
		(without & DAGPATCH_MODEL_NO_BRANCHES ? PATCH_CHAINS : 0) |
		(without & DAGPATCH_MODEL_NO_KEPT_MEMSETS ? PATCH_FORGETS_MEMSETS : 0) |
		(without & DAGPATCH_MODEL_NO_KEPT_EXECS ? 0 : PATCH_KEEPS_EXECS) |
		(without & DAGPATCH_MODEL_NO_CONDITIONALS
			 ? 0
			 : PATCH_HAS_CONDITIONALS | PATCH_HAS_CASES);
	device->attributes =
		DAGPATCH_PRIORITY | DAGPATCH_COOPERATIVE | DAGPATCH_CLUSTER | DAGPATCH_PROGRAMMATIC;
	*ret_device = device;
	return 0;
}

/* Fixed costs, so that tests always get the same choice. */
static int measure_model(struct patch_device *device, struct patch_costs *ret_costs)
{
	*ret_costs = (struct patch_costs){.set = 400, .idle = 500, .change = 1100, .build = 2500};
	return 0;
}

static void close_model(struct patch_device *device)
{
	free(device);
}

const struct patch_driver patch_driver_model = {
	.name = "model",
	.open = open_model,
	.close = close_model,
	.measure = measure_model,
	.enter = model_enter,
	.leave = model_leave,
	.settle = model_settle,
	.stream_device = model_stream_device,
	.memory_alloc = memory_alloc,
	.memory_free = memory_free,
	.copy_async = copy_async,
	.kernel_name = kernel_name,
	.mark_record = model_mark_record,
	.mark_order = model_mark_order,
	.mark_is_done = model_mark_is_done,
	.mark_wait = model_mark_wait,
	.mark_destroy = model_mark_destroy,
	.wait_all = wait_all,
	.kernel_parameters = kernel_parameters,
	.capture_begin = model_capture_begin,
	.capture_end = model_capture_end,
	.stream_is_captured = model_stream_is_captured,
	.capturing_get = model_capturing_get,
	.capturing_continue = model_capturing_continue,
	.graph_create = graph_create,
	.graph_destroy = graph_destroy,
	.graph_clone = graph_clone,
	.graph_nodes = graph_nodes,
	.graph_edges = graph_edges,
	.node_get = node_get,
	.node_add = node_add,
	.node_set = node_set,
	.node_inherit = node_inherit,
	.attributes_set = attributes_set,
	.graph_has_priority = graph_has_priority,
	.can_set = model_can_set,
	.child_graph = child_graph,
	.condition_create = condition_create,
	.condition_kernel = condition_kernel,
	.conditional_add = conditional_add,
	.instantiate = model_instantiate,
	.exec_destroy = model_exec_destroy,
	.exec_set = model_exec_set,
	.exec_update = model_exec_update,
	.exec_get = model_exec_get,
	.exec_bytes = model_exec_bytes,
	.launch = model_launch,
	.table_create = model_table_create,
	.table_attach = model_table_attach,
	.table_is_idle = model_table_is_idle,
	.table_destroy = model_table_destroy,
	.table_bytes = model_table_bytes,
	.table_bind = model_table_bind,
};

/* The function table of the model driver. Every call that can fail fails when a test asks for
 * it. */
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

/* Converts the device's image into the core's. The kernel's own offsets are those of the layout. */
static int read_image(struct patch_device *device, enum patch_kind kind, const uint8_t *bytes,
		      uint32_t size, struct patch_image *image)
{
	int err;

	image->kind = kind;
	image->layout = NULL;
	image->size = 0;
	err = patch_image_resize(image, size);
	if (err < 0)
		return err;
	if (size > 0)
		memcpy(image->bytes, bytes, size);
	if (kind != PATCH_KERNEL)
		return 0;
	err = patch_layout_find(device, ((const struct patch_kernel *)image->bytes)->function,
				&image->layout);
	if (err < 0 && err != -ENOTSUP)
		return err;
	if (!image->layout &&
	    ((const struct patch_kernel *)image->bytes)->form == PATCH_BY_POINTERS)
		return patch_fault(-ENOTSUP, "node_get", MODEL_REFUSED,
				   "kernel's parameters unknown");
	return 0;
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
		return read_image(device, PATCH_CHILD, (const uint8_t *)&child, sizeof(child),
				  image);
	case PATCH_CONDITIONAL:
		return read_image(device, PATCH_OPAQUE, NULL, 0, image);
	default:
		return read_image(device, node->kind, node->image, node->size, image);
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

/* ---- capture ---- */

static int capture_begin(struct patch_device *device, struct driver_stream **ret_stream)
{
	struct dagpatch_model_stream *stream;
	int err = model_begin(device, "capture_begin");

	if (err < 0)
		return err;
	err = dagpatch_model_stream_create(DAGPATCH_MODEL_LAZY, &stream);
	if (err < 0)
		return model_end("capture_begin", err);
	err = dagpatch_model_capture_begin(stream);
	if (err < 0) {
		dagpatch_model_stream_destroy(stream);
		return model_end("capture_begin", err);
	}
	*ret_stream = (struct driver_stream *)stream;
	return 0;
}

static int capture_end(struct patch_device *device, struct driver_stream *handle,
		       struct driver_graph **ret_graph)
{
	struct dagpatch_model_stream *stream = (struct dagpatch_model_stream *)handle;
	struct dagpatch_model_graph *graph = NULL;
	int injected = model_begin(device, "capture_end");
	int err = dagpatch_model_capture_end(stream, &graph);

	dagpatch_model_stream_destroy(stream);
	if (injected < 0) {
		dagpatch_model_graph_destroy(graph);
		graph = NULL;
	}
	*ret_graph = (struct driver_graph *)graph;
	return injected < 0 ? injected : model_end("capture_end", err);
}

static int stream_is_captured(struct patch_device *device, struct driver_stream *stream)
{
	struct model_node *const *nodes;
	uint32_t count;
	int err = model_begin(device, "stream_is_captured");

	if (err < 0)
		return err;
	return model_stream_capture((struct dagpatch_model_stream *)stream, &nodes, &count) != NULL;
}

static int capturing_get(struct patch_device *device, struct driver_stream *stream,
			 struct patch_capturing *ret_capturing)
{
	struct model_node *const *nodes;
	uint32_t count;
	int err = model_begin(device, "capturing_get");

	if (err < 0)
		return err;
	ret_capturing->graph = (struct driver_graph *)model_stream_capture(
		(struct dagpatch_model_stream *)stream, &nodes, &count);
	ret_capturing->after = calloc((size_t)count + 1, sizeof(struct driver_node *));
	if (!ret_capturing->after)
		return model_end("capturing_get", -ENOMEM);
	for (uint32_t i = 0; i < count; i++)
		ret_capturing->after[i] = (struct driver_node *)nodes[i];
	ret_capturing->after_count = count;
	return 0;
}

static int capturing_continue(struct patch_device *device, struct driver_stream *stream,
			      struct driver_node *const *nodes, uint32_t count)
{
	int err = model_begin(device, "capturing_continue");

	if (err < 0)
		return err;
	return model_end("capturing_continue",
			 model_stream_continue((struct dagpatch_model_stream *)stream,
					       (struct model_node *const *)nodes, count));
}

/* ---- executable graphs ---- */

int dagpatch_model_instantiate(struct dagpatch_model_graph *graph,
			       struct dagpatch_model_exec **ret_exec)
{
	struct dagpatch_model_exec *exec;
	int err;

	if (!graph || !ret_exec)
		return -EINVAL;
	exec = calloc(1, sizeof(*exec));
	err = exec ? 0 : -ENOMEM;
	if (err == 0)
		exec->order = calloc(1, sizeof(*exec->order));
	if (err == 0 && !exec->order)
		err = -ENOMEM;
	if (err == 0)
		err = model_plan_create(graph, &exec->plan, &exec->values);
	if (err == 0) {
		exec->device = dagpatch_model_device();
		exec->order->references = 1;
		exec->order->bytes =
			exec->plan->count * sizeof(struct plan_node) + exec->plan->value_bytes;
		err = model_memory_take(exec->order->bytes);
	}
	if (err < 0) {
		if (exec && exec->plan) {
			model_plan_release(exec->plan);
			model_values_release(exec->values);
		}
		free(exec ? exec->order : NULL);
		free(exec);
		return err;
	}
	model_live.execs++;
	*ret_exec = exec;
	return 0;
}

static int instantiate(struct patch_device *device, struct driver_graph *graph, bool by_priorities,
		       struct driver_exec **ret_exec)
{
	int err = model_begin(device, "instantiate");

	if (err < 0)
		return err;
	err = dagpatch_model_instantiate((struct dagpatch_model_graph *)graph,
					 (struct dagpatch_model_exec **)ret_exec);
	if (err == 0)
		((struct dagpatch_model_exec *)*ret_exec)->by_priorities = by_priorities;
	return model_end("instantiate", err);
}

static void destroy(struct dagpatch_model_exec *exec, bool is_kept)
{
	model_exec_order_release(exec, is_kept);
	model_plan_release(exec->plan);
	model_values_release(exec->values);
	free(exec->is_used);
	free(exec);
	model_live.execs--;
}

void dagpatch_model_exec_destroy(struct dagpatch_model_exec *exec)
{
	if (exec)
		destroy(exec, true);
}

static void exec_destroy(struct patch_device *device, struct driver_exec *exec)
{
	model_is_here(device);
	destroy((struct dagpatch_model_exec *)exec, device->capabilities & PATCH_KEEPS_EXECS);
}

static uint64_t exec_bytes(struct patch_device *device, struct driver_exec *exec)
{
	return ((struct dagpatch_model_exec *)exec)->order->bytes;
}

static bool is_other_function(const void *a, const void *b)
{
	const struct patch_kernel *from = a, *to = b;

	return from->function != to->function;
}

static bool can_set(struct patch_device *device, const struct patch_params *from,
		    const struct patch_params *to)
{
	return !(model_missing() & DAGPATCH_MODEL_NO_FUNCTIONS) || from->kind != PATCH_KERNEL ||
	       !is_other_function(from->image, to->image);
}

/* DAGPATCH_MODEL_NO_FUNCTIONS: the change to another function that is lost. */
static bool is_lost(const struct dagpatch_model_exec *exec, const struct model_node *node,
		    const struct patch_params *params)
{
	const struct plan_node *planned = model_plan_find(exec->plan, node);

	return (model_missing() & DAGPATCH_MODEL_NO_FUNCTIONS) && params->kind == PATCH_KERNEL &&
	       planned && is_other_function(exec->values->bytes + planned->image, params->image);
}

static bool cannot_be_set(enum patch_kind kind)
{
	uint32_t missing = model_missing();

	return (kind == PATCH_CHILD && (missing & DAGPATCH_MODEL_NO_CHILDREN)) ||
	       (kind == PATCH_MEMSET && (missing & DAGPATCH_MODEL_NO_MEMSET_SETS));
}

/* An injected failure is returned after the node was changed: the worst that a driver may do. */
static int exec_set(struct patch_device *device, struct driver_exec *handle,
		    struct driver_node *node, const struct patch_params *params)
{
	struct dagpatch_model_exec *exec = (struct dagpatch_model_exec *)handle;
	const struct model_node *origin = (struct model_node *)node;
	int injected = model_begin(device, "exec_set");
	int err;

	if (cannot_be_set(params->kind))
		return model_end("exec_set", -ENOTSUP);
	if (params->kind == PATCH_CHILD) {
		const struct patch_child *child = params->image;

		err = model_exec_take(exec, origin, (struct dagpatch_model_graph *)child->graph,
				      UINT32_MAX);
	} else {
		err = is_lost(exec, origin, params) ? 0 : model_exec_set(exec, origin, params);
	}
	return injected < 0 ? injected : model_end("exec_set", err);
}

/* An injected failure is returned after half of the nodes were changed, as HIP does. */
static int exec_update(struct patch_device *device, struct driver_exec *handle,
		       struct driver_graph *graph)
{
	struct dagpatch_model_exec *exec = (struct dagpatch_model_exec *)handle;
	int injected = model_begin(device, "exec_update");
	int err;

	if (model_missing() & DAGPATCH_MODEL_NO_UPDATE)
		return model_end("exec_update", -ENOTSUP);
	err = model_exec_take(exec, NULL, (struct dagpatch_model_graph *)graph,
			      injected < 0 ? exec->plan->count / 2 : UINT32_MAX);
	return injected < 0 ? injected : model_end("exec_update", err);
}

static int exec_get(struct patch_device *device, struct driver_exec *handle,
		    struct driver_node *node, struct patch_image *image)
{
	const struct dagpatch_model_exec *exec = (struct dagpatch_model_exec *)handle;
	const struct plan_node *planned =
		model_plan_find(exec->plan, (const struct model_node *)node);
	int err = model_begin(device, "exec_get");

	if (err < 0)
		return err;
	if (!planned)
		return model_end("exec_get", -EINVAL);
	return read_image(device, planned->kind, exec->values->bytes + planned->image,
			  planned->size, image);
}

static int launch(struct patch_device *device, struct driver_exec *exec, struct driver_table *table,
		  struct driver_stream *stream)
{
	struct dagpatch_model_exec *model_exec = (struct dagpatch_model_exec *)exec;
	struct plan_values *kept = NULL;
	int err = model_begin(device, "launch");

	if (err < 0)
		return err;
	if (model_missing() & DAGPATCH_MODEL_NO_KEPT_MEMSETS)
		err = model_exec_forget(model_exec, &kept);
	if (err < 0)
		return model_end("launch", err);
	if (table)
		model_table_launch(table, model_stream_of((struct dagpatch_model_stream *)stream));
	err = dagpatch_model_exec_launch(model_exec, (struct dagpatch_model_stream *)stream);
	if (kept)
		model_exec_remember(model_exec, kept);
	if (err < 0 && table)
		model_table_unlaunch(table);
	return model_end("launch", err);
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

/* ---- marks: events ---- */

static int mark_record(struct patch_device *device, struct driver_mark **mark,
		       struct driver_stream *stream)
{
	struct dagpatch_model_event *event = (struct dagpatch_model_event *)*mark;
	int err = model_begin(device, "mark_record");

	if (err == 0 && !event)
		err = model_end("mark_record", dagpatch_model_event_create(&event));
	*mark = (struct driver_mark *)event;
	if (err < 0)
		return err;
	return model_end("mark_record", dagpatch_model_event_record(
						(struct dagpatch_model_stream *)stream, event, 0));
}

static int mark_order(struct patch_device *device, struct driver_mark *mark,
		      struct driver_stream *stream)
{
	int err = model_begin(device, "mark_order");

	if (err < 0)
		return err;
	return model_end("mark_order",
			 dagpatch_model_event_wait((struct dagpatch_model_stream *)stream,
						   (struct dagpatch_model_event *)mark, 0));
}

static bool mark_is_done(struct patch_device *device, struct driver_mark *mark)
{
	model_is_here(device);
	return model_event_is_done((struct dagpatch_model_event *)mark);
}

static void mark_wait(struct patch_device *device, struct driver_mark *mark)
{
	model_is_here(device);
	model_event_await((struct dagpatch_model_event *)mark);
}

static void mark_destroy(struct patch_device *device, struct driver_mark *mark)
{
	model_is_here(device);
	dagpatch_model_event_destroy((struct dagpatch_model_event *)mark);
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
	.mark_record = mark_record,
	.mark_order = mark_order,
	.mark_is_done = mark_is_done,
	.mark_wait = mark_wait,
	.mark_destroy = mark_destroy,
	.wait_all = wait_all,
	.kernel_parameters = kernel_parameters,
	.capture_begin = capture_begin,
	.capture_end = capture_end,
	.stream_is_captured = stream_is_captured,
	.capturing_get = capturing_get,
	.capturing_continue = capturing_continue,
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
	.can_set = can_set,
	.child_graph = child_graph,
	.condition_create = condition_create,
	.condition_kernel = condition_kernel,
	.conditional_add = conditional_add,
	.instantiate = instantiate,
	.exec_destroy = exec_destroy,
	.exec_set = exec_set,
	.exec_update = exec_update,
	.exec_get = exec_get,
	.exec_bytes = exec_bytes,
	.launch = launch,
	.table_create = model_table_create,
	.table_attach = model_table_attach,
	.table_is_idle = model_table_is_idle,
	.table_destroy = model_table_destroy,
	.table_bytes = model_table_bytes,
	.table_bind = model_table_bind,
};

/* The model device as a driver: every call that can fail fails when a test says so. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "patch/model/model_parts.h"

struct model_live model_live;

/* ---- failures ---- */

enum { INJECTED = 999, REFUSED = 1, ELSEWHERE = 201 };
enum { KEPT_WAITERS = 4 };

static _Atomic uint64_t calls;
static _Atomic uint64_t fail_from, fail_to; /* of calls; empty when equal */
static _Atomic uint32_t missing;	    /* DAGPATCH_MODEL_NO_... */

uint64_t dagpatch_model_calls(void)
{
	return calls;
}

void dagpatch_model_fail(uint64_t first, uint64_t count)
{
	uint64_t now = calls;

	fail_from = count ? now + first : 0;
	fail_to = count ? now + first + count : 0;
}

void dagpatch_model_without(uint32_t features)
{
	missing = features;
}

/* Counts the call; a negative errno when it is one that is to fail. */
static int enter(const struct patch_device *device, const char *call)
{
	uint64_t number = ++calls;

	if (!model_is_here(device))
		return patch_fault(-EIO, call, ELSEWHERE, "another device is current");
	if (number >= fail_from && number < fail_to)
		return patch_fault(-EIO, call, INJECTED, "injected failure");
	return 0;
}

static int leave(const char *call, int rc)
{
	return rc < 0 ? patch_fault(rc, call, REFUSED, strerror(-rc)) : rc;
}

void dagpatch_model_live(struct dagpatch_model_live *ret_live)
{
	*ret_live = (struct dagpatch_model_live){
		.allocations = model_live.allocations,
		.streams = model_live.streams,
		.events = model_live.events,
		.graphs = model_live.graphs,
		.nodes = model_live.nodes,
		.execs = model_live.execs,
		.tables = model_live.tables,
		.kernels = model_live.kernels,
	};
}

/* ---- memory and kernels ---- */

enum { ALIGNMENT = 256 };

void *dagpatch_model_alloc(uint64_t bytes)
{
	uint64_t rounded = (bytes + ALIGNMENT) & -(uint64_t)ALIGNMENT;
	void *address = rounded < bytes ? NULL : aligned_alloc(ALIGNMENT, rounded);

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

/* ---- the table ---- */

struct table_relocation {
	uint32_t node; /* index in the plan */
	uint32_t slot;
	uint32_t byte;
	int64_t addend;
};

struct table_entry {
	uint32_t slot;
	uint64_t address;
};

/* As a real one: a log of changes, and for each replay how far the log was when it was launched. */
struct driver_table {
	struct dagpatch_model_exec *exec;
	struct patch_table_relocation *given;
	struct table_relocation *relocations; /* in ascending order of node */
	uint32_t relocation_count;
	uint64_t *addresses; /* of slots, on the device; 0: as recorded */
	struct table_entry *log;
	uint64_t log_count, written;
	uint64_t *ends;
	struct dagpatch_model_stream **streams; /* of the latest replays */
	uint64_t versions, launched;
	_Atomic uint64_t started; /* replays that have read theirs */
	_Atomic uint64_t applied; /* entries */
};

static void table_destroy(struct patch_device *device, struct driver_table *table)
{
	if (!table)
		return;
	model_is_here(device);
	free(table->given);
	free(table->relocations);
	free(table->addresses);
	free(table->log);
	free(table->ends);
	free(table->streams);
	free(table);
	model_live.tables--;
}

static int table_create(struct patch_device *device, struct driver_graph *graph,
			const struct patch_table_plan *plan, struct driver_table **ret_table)
{
	struct driver_table *table;
	int rc = enter(device, "table_create");

	if (rc < 0)
		return rc;
	table = calloc(1, sizeof(*table));
	if (!table)
		return leave("table_create", -ENOMEM);
	model_live.tables++;
	table->versions = device->table_versions;
	table->log_count = table->versions + plan->slot_count;
	table->relocation_count = plan->relocation_count;
	table->given = malloc(plan->relocation_count * sizeof(*table->given) + 1);
	table->relocations = malloc(plan->relocation_count * sizeof(*table->relocations) + 1);
	table->addresses = calloc(plan->slot_count + 1, sizeof(*table->addresses));
	table->log = calloc(table->log_count, sizeof(*table->log));
	table->ends = calloc(table->versions, sizeof(*table->ends));
	table->streams = calloc(table->versions, sizeof(struct dagpatch_model_stream *));
	if (!table->given || !table->relocations || !table->addresses || !table->log ||
	    !table->ends || !table->streams) {
		table_destroy(device, table);
		return leave("table_create", -ENOMEM);
	}
	memcpy(table->given, plan->relocations, plan->relocation_count * sizeof(*table->given));
	((struct dagpatch_model_graph *)graph)->has_table = true;
	*ret_table = table;
	return 0;
}

static int compare_nodes(const void *left, const void *right)
{
	const struct table_relocation *a = left, *b = right;

	return (a->node > b->node) - (a->node < b->node);
}

static int table_attach(struct patch_device *device, struct driver_table *table,
			struct driver_exec *handle)
{
	struct dagpatch_model_exec *exec = (struct dagpatch_model_exec *)handle;
	int rc = enter(device, "table_attach");

	if (rc < 0)
		return rc;
	for (uint32_t i = 0; i < table->relocation_count; i++) {
		const struct patch_table_relocation *given = &table->given[i];
		const struct plan_node *node =
			model_plan_find(exec->plan, (const struct model_node *)given->node);

		if (!node || node->kind != PATCH_KERNEL)
			return leave("table_attach", -EINVAL);
		table->relocations[i] =
			(struct table_relocation){(uint32_t)(node - exec->plan->nodes), given->slot,
						  given->byte, given->addend};
	}
	qsort(table->relocations, table->relocation_count, sizeof(*table->relocations),
	      compare_nodes);
	table->exec = exec;
	exec->table = table;
	return 0;
}

static void await_entries(struct driver_table *table, uint64_t count)
{
	while (table->written + count - table->applied > table->log_count)
		model_stream_await(table->streams[table->started % table->versions],
				   &table->started, table->started + 1);
}

static int table_bind(struct patch_device *device, struct driver_table *table,
		      const uint32_t *slots, const uint64_t *addresses, uint32_t count)
{
	int rc = enter(device, "table_bind");

	if (rc < 0)
		return rc;
	await_entries(table, count);
	for (uint32_t i = 0; i < count; i++)
		table->log[table->written++ % table->log_count] =
			(struct table_entry){slots[i], addresses[i]};
	return 0;
}

static void table_launch(struct driver_table *table, struct dagpatch_model_stream *stream)
{
	if (table->launched - table->started >= table->versions)
		model_stream_await(table->streams[table->started % table->versions],
				   &table->started, table->launched - table->versions + 1);
	table->ends[table->launched % table->versions] = table->written;
	table->streams[table->launched % table->versions] = stream;
	table->launched++;
}

void model_table_advance(struct driver_table *table)
{
	uint64_t end = table->ends[table->started % table->versions];

	for (uint64_t at = table->applied; at < end; at++) {
		const struct table_entry *entry = &table->log[at % table->log_count];

		table->addresses[entry->slot] = entry->address;
	}
	table->applied = end;
	table->started++;
}

void model_table_overlay(const struct driver_table *table, uint32_t index, uint8_t *arguments)
{
	uint32_t low = 0, high = table->relocation_count;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (table->relocations[middle].node < index)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < table->relocation_count && table->relocations[low].node == index; low++) {
		const struct table_relocation *relocation = &table->relocations[low];
		uint64_t address = table->addresses[relocation->slot];

		if (address == 0)
			continue;
		address += (uint64_t)relocation->addend;
		memcpy(arguments + relocation->byte, &address, sizeof(address));
	}
}

/* ---- graphs ---- */

static int graph_create(struct patch_device *device, struct driver_graph **ret_graph)
{
	int rc = enter(device, "graph_create");

	if (rc < 0)
		return rc;
	return leave("graph_create", model_graph_create((struct dagpatch_model_graph **)ret_graph));
}

static void graph_destroy(struct patch_device *device, struct driver_graph *graph)
{
	model_is_here(device);
	dagpatch_model_graph_destroy((struct dagpatch_model_graph *)graph);
}

static int graph_clone(struct patch_device *device, struct driver_graph *graph,
		       struct driver_graph **ret_clone)
{
	int rc = enter(device, "graph_clone");

	if (rc < 0)
		return rc;
	return leave("graph_clone", model_graph_copy((struct dagpatch_model_graph *)graph,
						     (struct dagpatch_model_graph **)ret_clone));
}

static int graph_nodes(struct patch_device *device, struct driver_graph *handle,
		       struct driver_node **ret_nodes, uint32_t capacity)
{
	const struct dagpatch_model_graph *graph = (struct dagpatch_model_graph *)handle;
	int rc = enter(device, "graph_nodes");

	if (rc < 0)
		return rc;
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
	int rc = enter(device, "graph_edges");

	if (rc < 0)
		return rc;
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

/* As the device keeps it, back to how the core has it: the kernel's offsets are the layout's. */
static int read_image(struct patch_device *device, enum patch_kind kind, const uint8_t *bytes,
		      uint32_t size, struct patch_image *image)
{
	int rc;

	image->kind = kind;
	image->layout = NULL;
	image->size = 0;
	rc = patch_image_resize(image, size);
	if (rc < 0)
		return rc;
	if (size > 0)
		memcpy(image->bytes, bytes, size);
	if (kind != PATCH_KERNEL)
		return 0;
	image->layout =
		patch_layout_find(device, ((const struct patch_kernel *)image->bytes)->function);
	if (!image->layout &&
	    ((const struct patch_kernel *)image->bytes)->form == PATCH_BY_POINTERS)
		return patch_fault(-ENOTSUP, "node_get", REFUSED, "kernel's parameters unknown");
	return 0;
}

static int node_get(struct patch_device *device, struct driver_graph *graph,
		    struct driver_node *handle, struct patch_image *image)
{
	const struct model_node *node = (struct model_node *)handle;
	struct patch_child child;
	int rc = enter(device, "node_get");

	if (rc < 0)
		return rc;
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

/* DAGPATCH_MODEL_NO_WIDE_FORKS */
static void lose_dependencies(struct model_node *node)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < node->after_count; i++)
		if (node->after[i]->waiters++ < KEPT_WAITERS)
			node->after[kept++] = node->after[i];
	node->after_count = kept;
}

static int node_add(struct patch_device *device, struct driver_graph *graph,
		    const struct patch_params *params, struct driver_node *const *after,
		    uint32_t after_count, struct driver_node **ret_node)
{
	struct model_node *node;
	int rc = enter(device, "node_add");

	if (rc < 0)
		return rc;
	rc = leave("node_add",
		   model_node_add((struct dagpatch_model_graph *)graph, params,
				  (struct model_node *const *)after, after_count, &node));
	if (rc < 0)
		return rc;
	if (missing & DAGPATCH_MODEL_NO_WIDE_FORKS)
		lose_dependencies(node);
	*ret_node = (struct driver_node *)node;
	return 0;
}

static int node_set(struct patch_device *device, struct driver_node *node,
		    const struct patch_params *params)
{
	int rc = enter(device, "node_set");

	if (rc < 0)
		return rc;
	return leave("node_set", model_node_set((struct model_node *)node, params));
}

static int child_graph(struct patch_device *device, struct driver_node *node,
		       struct driver_graph **ret_graph)
{
	int rc = enter(device, "child_graph");

	if (rc < 0)
		return rc;
	*ret_graph = (struct driver_graph *)((struct model_node *)node)->inner[0];
	return 0;
}

static int condition_create(struct patch_device *device, struct driver_graph *graph,
			    uint64_t *ret_handle)
{
	int rc = enter(device, "condition_create");

	if (rc < 0)
		return rc;
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
	int rc = enter(device, "conditional_add");

	if (rc < 0)
		return rc;
	rc = model_conditional_add((struct dagpatch_model_graph *)graph, condition, body_count,
				   (struct model_node *const *)after, after_count, &node);
	if (rc < 0)
		return leave("conditional_add", rc);
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
	int rc = enter(device, "capture_begin");

	if (rc < 0)
		return rc;
	rc = dagpatch_model_stream_create(DAGPATCH_MODEL_LAZY, &stream);
	if (rc < 0)
		return leave("capture_begin", rc);
	rc = dagpatch_model_capture_begin(stream);
	if (rc < 0) {
		dagpatch_model_stream_destroy(stream);
		return leave("capture_begin", rc);
	}
	*ret_stream = (struct driver_stream *)stream;
	return 0;
}

static int capture_end(struct patch_device *device, struct driver_stream *handle,
		       struct driver_graph **ret_graph)
{
	struct dagpatch_model_stream *stream = (struct dagpatch_model_stream *)handle;
	struct dagpatch_model_graph *graph = NULL;
	int injected = enter(device, "capture_end");
	int rc = dagpatch_model_capture_end(stream, &graph);

	dagpatch_model_stream_destroy(stream);
	if (injected < 0) {
		dagpatch_model_graph_destroy(graph);
		graph = NULL;
	}
	*ret_graph = (struct driver_graph *)graph;
	return injected < 0 ? injected : leave("capture_end", rc);
}

static int stream_is_captured(struct patch_device *device, struct driver_stream *stream)
{
	struct model_node *const *nodes;
	uint32_t count;
	int rc = enter(device, "stream_is_captured");

	if (rc < 0)
		return rc;
	return model_stream_capture((struct dagpatch_model_stream *)stream, &nodes, &count) != NULL;
}

static int capturing_get(struct patch_device *device, struct driver_stream *stream,
			 struct patch_capturing *ret_capturing)
{
	struct model_node *const *nodes;
	uint32_t count;
	int rc = enter(device, "capturing_get");

	if (rc < 0)
		return rc;
	ret_capturing->graph = (struct driver_graph *)model_stream_capture(
		(struct dagpatch_model_stream *)stream, &nodes, &count);
	ret_capturing->after = calloc((size_t)count + 1, sizeof(struct driver_node *));
	if (!ret_capturing->after)
		return leave("capturing_get", -ENOMEM);
	for (uint32_t i = 0; i < count; i++)
		ret_capturing->after[i] = (struct driver_node *)nodes[i];
	ret_capturing->after_count = count;
	return 0;
}

static int capturing_continue(struct patch_device *device, struct driver_stream *stream,
			      struct driver_node *const *nodes, uint32_t count)
{
	int rc = enter(device, "capturing_continue");

	if (rc < 0)
		return rc;
	return leave("capturing_continue",
		     model_stream_continue((struct dagpatch_model_stream *)stream,
					   (struct model_node *const *)nodes, count));
}

/* ---- executable graphs ---- */

int dagpatch_model_instantiate(struct dagpatch_model_graph *graph,
			       struct dagpatch_model_exec **ret_exec)
{
	struct dagpatch_model_exec *exec = calloc(1, sizeof(*exec));
	int rc = exec ? 0 : -ENOMEM;

	if (rc == 0)
		exec->order = calloc(1, sizeof(*exec->order));
	if (rc == 0 && !exec->order)
		rc = -ENOMEM;
	if (rc == 0)
		rc = model_plan_create(graph, &exec->plan, &exec->values);
	if (rc == 0)
		exec->device = dagpatch_model_device();
	if (rc < 0) {
		free(exec ? exec->order : NULL);
		free(exec);
		return rc;
	}
	model_live.execs++;
	*ret_exec = exec;
	return 0;
}

static int instantiate(struct patch_device *device, struct driver_graph *graph,
		       struct driver_exec **ret_exec)
{
	int rc = enter(device, "instantiate");

	if (rc < 0)
		return rc;
	return leave("instantiate",
		     dagpatch_model_instantiate((struct dagpatch_model_graph *)graph,
						(struct dagpatch_model_exec **)ret_exec));
}

void dagpatch_model_exec_destroy(struct dagpatch_model_exec *exec)
{
	if (!exec)
		return;
	model_exec_drain(exec);
	model_plan_release(exec->plan);
	model_values_release(exec->values);
	free(exec);
	model_live.execs--;
}

static void exec_destroy(struct patch_device *device, struct driver_exec *exec)
{
	model_is_here(device);
	dagpatch_model_exec_destroy((struct dagpatch_model_exec *)exec);
}

/* What fails has been done all the same: the worst that a driver may do. */
static int exec_set(struct patch_device *device, struct driver_exec *handle,
		    struct driver_node *node, const struct patch_params *params)
{
	struct dagpatch_model_exec *exec = (struct dagpatch_model_exec *)handle;
	const struct model_node *origin = (struct model_node *)node;
	int injected = enter(device, "exec_set");
	int rc;

	if ((missing & DAGPATCH_MODEL_NO_CHILDREN) && params->kind == PATCH_CHILD)
		return leave("exec_set", -ENOTSUP);
	if (params->kind == PATCH_CHILD) {
		const struct patch_child *child = params->image;

		rc = model_exec_take(exec, origin, (struct dagpatch_model_graph *)child->graph,
				     UINT32_MAX);
	} else {
		rc = model_exec_set(exec, origin, params);
	}
	return injected < 0 ? injected : leave("exec_set", rc);
}

/* A failure in the middle leaves half of it done, as HIP does. */
static int exec_update(struct patch_device *device, struct driver_exec *handle,
		       struct driver_graph *graph)
{
	struct dagpatch_model_exec *exec = (struct dagpatch_model_exec *)handle;
	int injected = enter(device, "exec_update");
	int rc;

	if (missing & DAGPATCH_MODEL_NO_UPDATE)
		return leave("exec_update", -ENOTSUP);
	rc = model_exec_take(exec, NULL, (struct dagpatch_model_graph *)graph,
			     injected < 0 ? exec->plan->count / 2 : UINT32_MAX);
	return injected < 0 ? injected : leave("exec_update", rc);
}

static int exec_get(struct patch_device *device, struct driver_exec *handle,
		    struct driver_node *node, struct patch_image *image)
{
	const struct dagpatch_model_exec *exec = (struct dagpatch_model_exec *)handle;
	const struct plan_node *planned =
		model_plan_find(exec->plan, (const struct model_node *)node);
	int rc = enter(device, "exec_get");

	if (rc < 0)
		return rc;
	if (!planned)
		return leave("exec_get", -EINVAL);
	return read_image(device, planned->kind, exec->values->bytes + planned->image,
			  planned->size, image);
}

static int launch(struct patch_device *device, struct driver_exec *exec, struct driver_table *table,
		  struct driver_stream *stream)
{
	int rc = enter(device, "launch");

	if (rc < 0)
		return rc;
	if (table)
		table_launch(table, model_stream_of((struct dagpatch_model_stream *)stream));
	return leave("launch", dagpatch_model_exec_launch((struct dagpatch_model_exec *)exec,
							  (struct dagpatch_model_stream *)stream));
}

/* ---- memory, open, close ---- */

static int memory_alloc(struct patch_device *device, uint64_t bytes, bool on_host,
			void **ret_address)
{
	void *address;
	int rc = enter(device, "memory_alloc");

	if (rc < 0)
		return rc;
	address = dagpatch_model_alloc(bytes);
	if (!address)
		return leave("memory_alloc", -ENOMEM);
	*ret_address = address;
	return 0;
}

static void memory_free(struct patch_device *device, void *address, bool on_host)
{
	model_is_here(device);
	dagpatch_model_free(address);
}

static int copy_async(struct patch_device *device, void *dst, const void *src, uint64_t bytes,
		      struct driver_stream *stream)
{
	struct dagpatch_model_copy copy = {.dst = dst, .src = src, .width_bytes = bytes};
	int rc = enter(device, "copy_async");

	if (rc < 0)
		return rc;
	return leave("copy_async",
		     dagpatch_model_copy_async((struct dagpatch_model_stream *)stream, &copy));
}

static int open_model(const struct dagpatch_options *options, struct patch_device **ret_device,
		      struct dagpatch_error *error)
{
	struct patch_device *device = calloc(1, sizeof(*device));
	uint32_t without = missing;

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
		(without & DAGPATCH_MODEL_NO_WIDE_FORKS ? PATCH_NARROW_FORKS | PATCH_SECOND_BRANCH
							: 0) |
		(without & DAGPATCH_MODEL_NO_CONDITIONALS
			 ? 0
			 : PATCH_HAS_CONDITIONALS | PATCH_HAS_CASES);
	*ret_device = device;
	return 0;
}

/* Nothing to measure: the same for every test. */
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
	.child_graph = child_graph,
	.condition_create = condition_create,
	.condition_kernel = condition_kernel,
	.conditional_add = conditional_add,
	.instantiate = instantiate,
	.exec_destroy = exec_destroy,
	.exec_set = exec_set,
	.exec_update = exec_update,
	.exec_get = exec_get,
	.launch = launch,
	.table_create = table_create,
	.table_attach = table_attach,
	.table_destroy = table_destroy,
	.table_bind = table_bind,
};

/* Builds the driver's graph of what was recorded: at first, when the driver can no longer patch
 * the graph that exists, and when that graph is lost. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "patch/build.h"
#include "patch/capture.h"
#include "patch/captured_graph.h"
#include "patch/context.h"
#include "patch/errors.h"
#include "patch/node.h"
#include "patch/node_attributes.h"
#include "patch/ownership.h"
#include "patch/recording.h"
#include "patch/retire.h"
#include "patch/slot_add.h"
#include "patch/strategy.h"
#include "patch/work.h"

/* ---- handles of conditionals, in the arguments of the kernels that set them ---- */

static void place_handle(struct dagpatch_recording *recording, uint32_t setter, uint64_t handle)
{
	struct patch_kernel *kernel = node_image(recording, setter);

	memcpy(kernel->arguments + offsetof(struct patch_condition_arguments, handle), &handle,
	       sizeof(handle));
}

/* Writes HANDLE into the kernels that set conditional NODE. */
static void place_handles(struct dagpatch_recording *recording, uint32_t node, uint64_t handle)
{
	struct conditional *conditional = &recording->conditionals[recording->nodes[node].detail];

	conditional->handle = handle;
	place_handle(recording, conditional->setter, handle);
	if (conditional->condition == DAGPATCH_WHILE)
		place_handle(recording, node_end(recording, node) - 1, handle);
}

/* ---- the previous graph's handles and flags, restored when building fails ---- */

static int keep(const struct dagpatch_recording *recording, struct replaced *kept)
{
	kept->handles = malloc((recording->node_count + 1) * sizeof(struct driver_node *));
	kept->flags = malloc(recording->node_count + 1);
	kept->conditions = malloc((recording->conditional_count + 1) * sizeof(*kept->conditions));
	if (!kept->handles || !kept->flags || !kept->conditions)
		return -ENOMEM;
	for (uint32_t i = 0; i < recording->node_count; i++) {
		kept->handles[i] = recording->nodes[i].handle;
		kept->flags[i] = recording->nodes[i].flags;
	}
	for (uint32_t i = 0; i < recording->conditional_count; i++)
		kept->conditions[i] = recording->conditionals[i].handle;
	return 0;
}

static void restore(struct dagpatch_recording *recording, const struct replaced *kept)
{
	for (uint32_t i = 0; i < recording->node_count; i++) {
		struct node *node = &recording->nodes[i];

		node->handle = kept->handles[i];
		node->flags = kept->flags[i];
		if (node->kind == PATCH_CONDITIONAL)
			place_handles(recording, i, kept->conditions[node->detail]);
	}
}

static void kept_release(struct replaced *kept)
{
	free(kept->handles);
	free(kept->flags);
	free(kept->conditions);
	*kept = (struct replaced){0};
}

/* ---- handles of recaptured work in a flattened graph ---- */

/* Exchanges the handles in the new graph with those in the graph that it replaces. */
static void swap_handles(struct dagpatch_recording *recording)
{
	for (uint32_t i = 0; i < recording->recapture_count; i++) {
		struct recapture *recapture = &recording->recaptures[i];
		struct driver_node **handles = recapture->handles;

		recapture->handles = recapture->made_handles;
		recapture->made_handles = handles;
	}
}

/* Frees made_handles. */
static void drop_handles(struct dagpatch_recording *recording)
{
	for (uint32_t i = 0; i < recording->recapture_count; i++) {
		free(recording->recaptures[i].made_handles);
		recording->recaptures[i].made_handles = NULL;
	}
}

/* ---- nodes ---- */

struct building {
	struct dagpatch_recording *recording;
	uint32_t at; /* the next node to add */
	struct driver_node **after;
	/* What nodes at the top wait for if they wait for no other node. */
	struct driver_node *const *outer;
	uint32_t outer_count;
};

static int fail_node(struct building *building, int err, uint32_t node, const char *what)
{
	return recording_fail_at(building->recording, err, node, DAGPATCH_NONE, "%s", what);
}

static uint32_t gather_after(struct building *building, uint32_t node)
{
	const struct dagpatch_recording *recording = building->recording;
	uint32_t begin = after_begin(recording, node);
	uint32_t count = recording->after_end[node] - begin;

	if (count == 0 && recording->nodes[node].parent == DAGPATCH_NONE) {
		for (uint32_t i = 0; i < building->outer_count; i++)
			building->after[i] = building->outer[i];
		return building->outer_count;
	}
	for (uint32_t i = 0; i < count; i++)
		building->after[i] = recording->nodes[recording->after[begin + i]].handle;
	return count;
}

static bool is_expected(const struct dagpatch_recording *recording, uint32_t node,
			const struct patch_image *image)
{
	const struct patch_kernel *there, *expected;

	if (image->kind != recording->nodes[node].kind)
		return false;
	/* The node may have been given another function since the capture. */
	if (image->kind != PATCH_KERNEL || (recording->nodes[node].flags & NODE_EDITED))
		return true;
	there = (const struct patch_kernel *)image->bytes;
	expected = node_image(recording, node);
	return there->function == expected->function &&
	       there->argument_bytes == expected->argument_bytes;
}

/* Assigns the nodes of a graph that came with a copy (of a captured or adopted graph) to the
 * recording's nodes, in order, and sets their addresses. */
static int take_level(struct building *building, uint32_t parent, struct driver_graph *graph);

static int take_node(struct building *building, uint32_t parent, struct driver_graph *graph,
		     struct driver_node *handle, struct patch_image *image)
{
	struct dagpatch_recording *recording = building->recording;
	const struct patch_driver *driver = recording->device->driver;
	uint32_t node = building->at++;
	struct patch_params params;
	int err;

	if (node >= recording->node_count || recording->nodes[node].parent != parent)
		return fail_node(building, -EIO, parent, "its copy has other nodes");
	err = driver->node_get(recording->device, graph, handle, image);
	if (err < 0)
		return fail_node(building, err, node, "reading a copied node");
	if (!is_expected(recording, node, image))
		return fail_node(building, -EIO, node, "its copy is in another order");
	recording->nodes[node].handle = handle;
	if (image->kind == PATCH_CHILD)
		return take_level(building, node,
				  ((const struct patch_child *)image->bytes)->graph);
	if (!(recording->nodes[node].flags & NODE_MOVES))
		return 0;
	params = node_params(recording, node);
	err = driver->node_set(recording->device, handle, &params);
	return err < 0 ? fail_node(building, err, node, "setting a copied node")
		       : attributes_give(recording, recording, node, handle);
}

static int take_level(struct building *building, uint32_t parent, struct driver_graph *graph)
{
	struct patch_image image = {0};
	struct node_list list;
	int err = capture_nodes(building->recording, graph, &list);

	if (err < 0)
		return err;
	for (uint32_t i = 0; err == 0 && i < list.count; i++)
		err = take_node(building, parent, graph, list.nodes[i], &image);
	patch_image_release(&image);
	free(list.nodes);
	return err;
}

static int add_level(struct building *building, uint32_t parent, uint16_t body,
		     struct driver_graph *graph);

static int add_child_node(struct building *building, uint32_t node, struct driver_graph *graph,
			  struct driver_graph *embedded)
{
	struct dagpatch_recording *recording = building->recording;
	const struct patch_driver *driver = recording->device->driver;
	struct patch_child child = {embedded};
	uint32_t after_count = gather_after(building, node);
	int err;

	pthread_mutex_lock(&recording->device->shared_graphs);
	err = driver->node_add(
		recording->device, graph,
		&(struct patch_params){.kind = PATCH_CHILD, .size = sizeof(child), .image = &child},
		building->after, after_count, &recording->nodes[node].handle);
	pthread_mutex_unlock(&recording->device->shared_graphs);
	return err < 0 ? fail_node(building, err, node, "adding a child graph") : 0;
}

static int embedded_graph(struct building *building, uint32_t node, struct driver_graph **ret_graph)
{
	struct dagpatch_recording *recording = building->recording;
	int err = recording->device->driver->child_graph(recording->device,
							 recording->nodes[node].handle, ret_graph);

	return err < 0 ? fail_node(building, err, node, "looking into a child graph") : 0;
}

/* Adds the nodes of a recorded child to the embedded graph itself, so that their handles are those
 * of the graph that is instantiated. */
static int add_recorded_child(struct building *building, uint32_t node, struct driver_graph *graph)
{
	struct dagpatch_recording *recording = building->recording;
	const struct patch_driver *driver = recording->device->driver;
	struct driver_graph *empty, *embedded;
	int err = driver->graph_create(recording->device, &empty);

	if (err < 0)
		return fail_node(building, err, node, "making a child graph");
	err = add_child_node(building, node, graph, empty);
	driver->graph_destroy(recording->device, empty);
	if (err == 0)
		err = embedded_graph(building, node, &embedded);
	return err < 0 ? err : add_level(building, node, 0, embedded);
}

static int add_child(struct building *building, uint32_t node, struct driver_graph *graph)
{
	struct dagpatch_recording *recording = building->recording;
	const struct node *record = &recording->nodes[node];
	struct driver_graph *embedded;
	int err;

	if (record->flags & NODE_RECAPTURED) {
		const struct recapture *recapture = &recording->recaptures[record->detail];

		return add_child_node(
			building, node, graph,
			(recapture->next ? recapture->next : recapture->current)->graph);
	}
	if (!(record->flags & NODE_CAPTURED))
		return add_recorded_child(building, node, graph);
	err = add_child_node(building, node, graph, recording->works[record->detail].work->graph);
	if (err == 0)
		err = embedded_graph(building, node, &embedded);
	return err < 0 ? err : take_level(building, node, embedded);
}

static int add_conditional(struct building *building, uint32_t node, struct driver_graph *graph)
{
	struct dagpatch_recording *recording = building->recording;
	const struct patch_driver *driver = recording->device->driver;
	const struct conditional *conditional =
		&recording->conditionals[recording->nodes[node].detail];
	struct driver_graph **bodies =
		calloc(conditional->body_count, sizeof(struct driver_graph *));
	uint32_t after_count = gather_after(building, node);
	int err;

	if (!bodies)
		return fail_node(building, -ENOMEM, node, "no memory for bodies");
	err = driver->conditional_add(recording->device, graph, conditional->handle,
				      conditional->condition, conditional->body_count,
				      building->after, after_count, &recording->nodes[node].handle,
				      bodies);
	if (err < 0)
		err = fail_node(building, err, node, "adding a conditional");
	for (uint16_t i = 0; err == 0 && i < conditional->body_count; i++)
		err = add_level(building, node, i, bodies[i]);
	free(bodies);
	return err;
}

/* The kernel that sets a conditional's handle comes right before the conditional and needs the
 * handle as an argument. */
static int prepare_setter(struct building *building, uint32_t node, struct driver_graph *graph)
{
	struct dagpatch_recording *recording = building->recording;
	uint32_t next = node + 1;
	uint64_t handle;
	int err;

	if (next >= recording->node_count || recording->nodes[next].kind != PATCH_CONDITIONAL ||
	    recording->conditionals[recording->nodes[next].detail].setter != node)
		return 0;
	err = recording->device->driver->condition_create(recording->device, graph, &handle);
	if (err < 0)
		return fail_node(building, err, next, "making a conditional's handle");
	place_handles(recording, next, handle);
	return 0;
}

static int add_node(struct building *building, struct driver_graph *graph)
{
	struct dagpatch_recording *recording = building->recording;
	uint32_t node = building->at++;
	uint32_t after_count;
	struct patch_params params;
	int err;

	if (recording->nodes[node].kind == PATCH_CHILD)
		return add_child(building, node, graph);
	if (recording->nodes[node].kind == PATCH_CONDITIONAL)
		return add_conditional(building, node, graph);
	err = prepare_setter(building, node, graph);
	if (err < 0)
		return err;
	params = node_params(recording, node);
	params.attributes = attributes_of(recording, node);
	after_count = gather_after(building, node);
	err = recording->device->driver->node_add(recording->device, graph, &params,
						  building->after, after_count,
						  &recording->nodes[node].handle);
	return err < 0 ? fail_node(building, err, node, "adding it to the graph")
		       : attributes_give(recording, recording, node, recording->nodes[node].handle);
}

static int add_level(struct building *building, uint32_t parent, uint16_t body,
		     struct driver_graph *graph)
{
	const struct dagpatch_recording *recording = building->recording;
	int err = 0;

	while (err == 0 && building->at < recording->node_count &&
	       recording->nodes[building->at].parent == parent &&
	       recording->nodes[building->at].body == body)
		err = add_node(building, graph);
	return err;
}

/* ---- the table ---- */

static bool can_be_in_table(const struct dagpatch_recording *recording, uint32_t slot,
			    const struct relocation *relocation)
{
	const struct patch_params params = node_params(recording, relocation->node);

	return relocation->byte != RELOCATION_RECAPTURED && !recording->slots[slot].flags &&
	       params.kind == PATCH_KERNEL &&
	       (((const struct patch_kernel *)params.image)->form == PATCH_BY_BLOCK ||
		(params.layout && params.layout->is_known));
}

static int gather_table(struct dagpatch_recording *recording, struct patch_table_plan *plan,
			struct patch_table_relocation **ret_relocations, uint32_t *ret_nodes)
{
	uint32_t total = recording->first_relocation[recording->slot_count];
	struct patch_table_relocation *relocations = malloc((total + 1) * sizeof(*relocations));
	uint32_t count = 0;

	if (!relocations)
		return recording_fail(recording, -ENOMEM, "no memory for the table");
	*ret_nodes = 0;
	for (uint32_t slot = 0; slot < recording->slot_count; slot++) {
		for (uint32_t i = recording->first_relocation[slot];
		     i < recording->first_relocation[slot + 1]; i++) {
			const struct relocation *relocation = &recording->relocations[i];
			struct node *node = &recording->nodes[relocation->node];

			if (!can_be_in_table(recording, slot, relocation))
				continue;
			*ret_nodes += !(node->flags & NODE_IN_TABLE);
			node->flags |= NODE_IN_TABLE;
			relocations[count++] = (struct patch_table_relocation){
				.node = node->handle,
				.slot = slot,
				.byte = relocation->byte - (uint32_t)sizeof(struct patch_kernel),
				.addend = (int64_t)relocation->offset,
			};
		}
	}
	*plan = (struct patch_table_plan){relocations, count, recording->slot_count};
	*ret_relocations = relocations;
	return 0;
}

static void leave_table(struct dagpatch_recording *recording)
{
	for (uint32_t i = 0; i < recording->node_count; i++)
		recording->nodes[i].flags &= (uint8_t)~NODE_IN_TABLE;
}

static bool wants_table(const struct dagpatch_recording *recording)
{
	enum dagpatch_strategy strategy = recording->context->options.strategy;

	return (recording->device->capabilities & PATCH_HAS_TABLE) && !recording->cannot_table &&
	       (strategy == DAGPATCH_AUTO || strategy == DAGPATCH_DEVICE_TABLE);
}

/* -EAGAIN: not possible for this graph. The attempt has spoilt it, so it must be built again. */
static int make_table(struct dagpatch_recording *recording, struct built *built)
{
	const struct patch_driver *driver = recording->device->driver;
	struct patch_table_relocation *relocations = NULL;
	struct patch_table_plan plan;
	uint32_t nodes = 0;
	int err = gather_table(recording, &plan, &relocations, &nodes);

	if (err < 0)
		return err;
	if (nodes > 0 && table_wanted(recording, nodes)) {
		err = driver->table_create(recording->device, built->graph, &plan, &built->table);
		if (err == -ENOTSUP) {
			patch_fault_take();
			err = -EAGAIN;
		} else if (err < 0) {
			recording_fail(recording, err, "making the table of addresses");
		}
	}
	free(relocations);
	if (!built->table)
		leave_table(recording);
	return err;
}

/* ---- building ---- */

static int build_flat(struct dagpatch_recording *recording, struct built *built)
{
	int err = recording->device->driver->graph_create(recording->device, &built->graph);

	return err < 0 ? recording_fail(recording, err, "making the graph")
		       : flatten(recording, &(struct patch_capturing){.graph = built->graph}, NULL);
}

/* Allocates room for the dependencies of any one node. */
static int building_init(struct building *building)
{
	const struct dagpatch_recording *recording = building->recording;
	uint32_t most = building->outer_count;

	for (uint32_t i = 0; i < recording->node_count; i++)
		if (recording->after_end[i] - after_begin(recording, i) > most)
			most = recording->after_end[i] - after_begin(recording, i);
	building->after = malloc(((size_t)most + 1) * sizeof(struct driver_node *));
	return building->after
		       ? 0
		       : recording_fail(building->recording, -ENOMEM, "no memory for a graph");
}

static int build_graph(struct dagpatch_recording *recording, struct built *built)
{
	const struct patch_driver *driver = recording->device->driver;
	struct building building = {.recording = recording};
	int err;

	if (recording->device->capabilities & PATCH_FLATTENS)
		return build_flat(recording, built);
	err = building_init(&building);
	if (err < 0)
		return err;
	err = recording->source
		      ? driver->graph_clone(recording->device, recording->source, &built->graph)
		      : driver->graph_create(recording->device, &built->graph);
	if (err < 0)
		recording_fail(recording, err, "making the graph");
	else if (recording->source)
		err = take_level(&building, DAGPATCH_NONE, built->graph);
	else
		err = add_level(&building, DAGPATCH_NONE, 0, built->graph);
	free(building.after);
	return err;
}

static int instantiate(struct dagpatch_recording *recording, struct built *built)
{
	const struct patch_driver *driver = recording->device->driver;
	int err = wants_table(recording) ? make_table(recording, built) : 0;

	if (err < 0)
		return err;
	err = driver->instantiate(recording->device, built->graph, recording->has_priorities,
				  &built->exec);
	if (err < 0)
		return recording_fail(recording, err, "instantiating the graph");
	built->by_priorities = recording->has_priorities;
	if (built->table && driver->table_attach) {
		err = driver->table_attach(recording->device, built->table, built->exec);
		if (err < 0)
			return recording_fail(recording, err, "attaching the table of addresses");
	}
	return 0;
}

static int attempt(struct dagpatch_recording *recording, struct built *built)
{
	int err;

	leave_table(recording);
	built->room = retired_create();
	if (!built->room)
		return recording_fail(recording, -ENOMEM, "no memory for a graph");
	err = build_graph(recording, built);
	if (err == 0)
		err = instantiate(recording, built);
	if (err < 0)
		built_release(recording->device, built);
	return err;
}

/* Builds without the table if this graph cannot have one. */
static int attempt_any(struct dagpatch_recording *recording, struct built *built)
{
	int err = attempt(recording, built);

	if (err != -EAGAIN)
		return err;
	recording->cannot_table = true;
	return attempt(recording, built);
}

/* If there was no memory, frees some and tries once more. */
static int attempt_twice(struct dagpatch_recording *recording, struct built *built)
{
	uint64_t failures = recording->stats.failures;
	int err = attempt_any(recording, built);

	if (err != -ENOMEM || !evict_for_memory(recording))
		return err;
	recording->stats.memory_retries++;
	recording->stats.failures = failures;
	return attempt_any(recording, built);
}

int build(struct dagpatch_recording *recording, struct replaced *ret_replaced)
{
	struct built built = {0};
	struct replaced kept = {.is_there = true, .built = recording->built};
	int err = keep(recording, &kept);

	if (err < 0) {
		kept_release(&kept);
		return recording_fail(recording, err, "no memory for a graph");
	}
	reap(recording->context);
	err = attempt_twice(recording, &built);
	if (err < 0) {
		restore(recording, &kept);
		drop_handles(recording);
		kept_release(&kept);
		return err;
	}
	swap_handles(recording);
	for (uint32_t i = 0; i < recording->node_count; i++)
		recording->nodes[i].flags &= (uint8_t)~NODE_STALE;
	recording->built = built;
	*ret_replaced = kept;
	return 0;
}

void build_accept(struct dagpatch_recording *recording, struct replaced *replaced)
{
	if (!replaced->is_there)
		return;
	retire_built(recording, &replaced->built);
	drop_handles(recording);
	kept_release(replaced);
	recording->launches = (struct launches){0};
	recording->updates = 0;
	recording->is_spent = false;
	recording_note_use(recording);
	atomic_store_explicit(&recording->is_built, true, memory_order_relaxed);
}

void build_undo(struct dagpatch_recording *recording, struct replaced *replaced)
{
	if (!replaced->is_there)
		return;
	built_release(recording->device, &recording->built);
	recording->built = replaced->built;
	restore(recording, replaced);
	swap_handles(recording);
	drop_handles(recording);
	kept_release(replaced);
}

/* ---- into a graph of the caller's ---- */

/* Adds an adopted graph as a child: the driver, not the recording, has the dependencies of its
 * nodes, and they come with the copy. */
static int add_source(struct building *building, struct driver_graph *graph,
		      struct driver_node **ret_node)
{
	struct dagpatch_recording *recording = building->recording;
	const struct patch_driver *driver = recording->device->driver;
	struct patch_child child = {recording->source};
	struct driver_graph *embedded;
	int err = driver->node_add(
		recording->device, graph,
		&(struct patch_params){.kind = PATCH_CHILD, .size = sizeof(child), .image = &child},
		building->outer, building->outer_count, ret_node);

	if (err == 0)
		err = driver->child_graph(recording->device, *ret_node, &embedded);
	if (err < 0)
		return recording_fail(recording, err, "adding the adopted graph");
	return take_level(building, DAGPATCH_NONE, embedded);
}

/* Lists the nodes at the top that no other node waits for. */
static int find_ends(struct dagpatch_recording *recording, struct node_list *ends)
{
	bool *is_waited_for = calloc((size_t)recording->node_count + 1, sizeof(*is_waited_for));

	if (!is_waited_for)
		return recording_fail(recording, -ENOMEM, "no memory for a graph");
	for (uint32_t i = 0; i < recording->after_count; i++)
		is_waited_for[recording->after[i]] = true;
	for (uint32_t i = 0; i < recording->node_count; i = node_end(recording, i))
		if (!is_waited_for[i])
			ends->nodes[ends->count++] = recording->nodes[i].handle;
	free(is_waited_for);
	return 0;
}

static int add_all(struct dagpatch_recording *recording, const struct patch_capturing *into,
		   struct node_list *ends)
{
	struct building building = {
		.recording = recording, .outer = into->after, .outer_count = into->after_count};
	int err;

	if (recording->device->capabilities & PATCH_FLATTENS) {
		ends->count = 1;
		return flatten(recording, into, ends->nodes);
	}
	err = building_init(&building);
	if (err < 0)
		return err;
	if (recording->source) {
		ends->count = 1;
		err = add_source(&building, into->graph, ends->nodes);
	} else {
		err = add_level(&building, DAGPATCH_NONE, 0, into->graph);
		if (err == 0)
			err = find_ends(recording, ends);
	}
	free(building.after);
	return err;
}

int build_into(struct dagpatch_recording *recording, const struct patch_capturing *into,
	       struct node_list *ret_ends)
{
	struct node_list ends = {.nodes = malloc(((size_t)recording->node_count + 1) *
						 sizeof(struct driver_node *))};
	struct replaced kept = {0};
	int err = keep(recording, &kept);

	if (err < 0 || !ends.nodes) {
		err = recording_fail(recording, -ENOMEM, "no memory for a graph");
	} else {
		err = add_all(recording, into, &ends);
		restore(recording, &kept);
		drop_handles(recording);
	}
	kept_release(&kept);
	if (err < 0)
		free(ends.nodes);
	else
		*ret_ends = ends;
	return err;
}

/* Adds what was recorded to a driver's graph, node by node, and finds the recording's nodes in a
 * copy of a captured or adopted graph. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "patch/build.h"
#include "patch/capture.h"
#include "patch/captured_graph.h"
#include "patch/errors.h"
#include "patch/node.h"
#include "patch/node_attributes.h"
#include "patch/recording.h"
#include "patch/work.h"

/* ---- handles of conditionals, in the arguments of the kernels that set them ---- */

static void place_handle(struct dagpatch_recording *recording, uint32_t setter, uint64_t handle)
{
	struct patch_kernel *kernel = node_image(recording, setter);

	memcpy(kernel->arguments + offsetof(struct patch_condition_arguments, handle), &handle,
	       sizeof(handle));
}

void build_place_condition(struct dagpatch_recording *recording, uint32_t node, uint64_t handle)
{
	struct conditional *conditional = &recording->conditionals[recording->nodes[node].detail];

	conditional->handle = handle;
	place_handle(recording, conditional->setter, handle);
	if (conditional->condition == DAGPATCH_WHILE)
		place_handle(recording, node_end(recording, node) - 1, handle);
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
	build_place_condition(recording, next, handle);
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

int build_add_nodes(struct dagpatch_recording *recording, struct driver_graph *graph,
		    struct driver_node *const *outer, uint32_t outer_count)
{
	struct building building = {
		.recording = recording, .outer = outer, .outer_count = outer_count};
	int err = building_init(&building);

	if (err == 0)
		err = add_level(&building, DAGPATCH_NONE, 0, graph);
	free(building.after);
	return err;
}

int build_take_nodes(struct dagpatch_recording *recording, struct driver_graph *graph)
{
	return take_level(&(struct building){.recording = recording}, DAGPATCH_NONE, graph);
}

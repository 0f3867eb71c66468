/* Builds one flat graph, for drivers that do not change the inside of child graphs
 * (PATCH_FLATTENS). Every node of recorded children, captured work and adopted work becomes a node
 * of the one graph, so that the driver's call for one node reaches it. The child node itself is
 * not built: its first nodes get its dependencies. A node that waits for the child waits for the
 * child's last node, or for an empty node after all of its last nodes. */
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

struct flattening {
	struct dagpatch_recording *recording;	  /* the recording that is built; receives errors */
	const struct dagpatch_recording *content; /* RECORDING, or the content of recaptured work */
	struct driver_graph *graph;
	struct driver_node **handles; /* by node of CONTENT; for a child: the node that ends it */
	/* by node of CONTENT: the captured node that it was read from; NULL: none */
	struct driver_node **origins;
	struct driver_node *const *outer; /* what CONTENT as a whole waits for */
	uint32_t outer_count;
	struct driver_node **last; /* the last node of the whole graph, for PATCH_CHAINS */
	bool *is_waited_for;
	struct driver_node **after; /* room for the dependencies of one node */
};

static int fail_flat(const struct flattening *flattening, int err, uint32_t node, const char *what)
{
	bool is_own = flattening->content == flattening->recording;

	return recording_fail_at(flattening->recording, err, is_own ? node : DAGPATCH_NONE,
				 DAGPATCH_NONE, "%s%s",
				 is_own ? "" : "a node of work captured anew: ", what);
}

/* ---- dependencies ---- */

/* True if every further node waits for the last node. */
static bool is_chained(const struct flattening *flattening)
{
	return (flattening->recording->device->capabilities & PATCH_CHAINS) && *flattening->last;
}

static bool is_ready(const struct flattening *flattening, uint32_t node)
{
	const struct dagpatch_recording *content = flattening->content;

	for (uint32_t i = after_begin(content, node); i < content->after_end[node]; i++)
		if (!flattening->handles[content->after[i]])
			return false;
	return true;
}

/* Fills AFTER with the nodes that NODE waits for (DAGPATCH_NONE: those that the content as a whole
 * waits for) and returns their number. A node without dependencies has those of the child that it
 * is in. */
static uint32_t gather_after(const struct flattening *flattening, uint32_t node)
{
	const struct dagpatch_recording *content = flattening->content;
	uint32_t begin, count = 0;

	if (is_chained(flattening)) {
		flattening->after[0] = *flattening->last;
		return 1;
	}
	while (node != DAGPATCH_NONE && after_begin(content, node) == content->after_end[node])
		node = content->nodes[node].parent;
	if (node == DAGPATCH_NONE) {
		for (uint32_t i = 0; i < flattening->outer_count; i++)
			flattening->after[i] = flattening->outer[i];
		return flattening->outer_count;
	}
	begin = after_begin(content, node);
	for (uint32_t i = begin; i < content->after_end[node]; i++)
		flattening->after[count++] = flattening->handles[content->after[i]];
	return count;
}

/* Adds a node after the first COUNT nodes of flattening->after. */
static int add_node(struct flattening *flattening, const struct patch_params *params,
		    uint32_t count, struct driver_node **ret_handle)
{
	struct patch_device *device = flattening->recording->device;
	int err = device->driver->node_add(device, flattening->graph, params, flattening->after,
					   count, ret_handle);

	if (err == 0)
		*flattening->last = *ret_handle;
	return err;
}

/* The first number that a node inside of PARENT can have. */
static uint32_t first_inside(uint32_t parent)
{
	return parent == DAGPATCH_NONE ? 0 : parent + 1;
}

static uint32_t end_inside(const struct dagpatch_recording *content, uint32_t parent)
{
	return parent == DAGPATCH_NONE ? content->node_count : node_end(content, parent);
}

/* Returns a node after which everything inside of PARENT has run. */
static int end_level(struct flattening *flattening, uint32_t parent,
		     struct driver_node **ret_handle)
{
	const struct dagpatch_recording *content = flattening->content;
	uint32_t end = end_inside(content, parent), count = 0;
	int err;

	if (is_chained(flattening)) {
		*ret_handle = *flattening->last;
		return 0;
	}
	for (uint32_t node = first_inside(parent); node < end; node = node_end(content, node))
		if (!flattening->is_waited_for[node])
			flattening->after[count++] = flattening->handles[node];
	if (count == 1) {
		*ret_handle = flattening->after[0];
		return 0;
	}
	if (count == 0)
		count = gather_after(flattening, parent);
	err = add_node(flattening, &(struct patch_params){.kind = PATCH_EMPTY}, count, ret_handle);
	return err < 0 ? fail_flat(flattening, err, parent, "adding what ends a child") : 0;
}

/* ---- nodes ---- */

static int flatten_level(struct flattening *flattening, uint32_t parent);

static int flatten_content(struct flattening *flattening);

static void release(struct flattening *flattening)
{
	free(flattening->is_waited_for);
	free(flattening->after);
	free(flattening->origins);
}

/* Adds the nodes of recaptured work that can be read. Their handles go to made_handles, beside
 * those of the existing graph. */
static int flatten_recapture(struct flattening *flattening, uint32_t node,
			     struct recapture *recapture, const struct captured_graph *captured)
{
	uint32_t outer_count = gather_after(flattening, node);
	struct driver_node **outer = malloc(((size_t)outer_count + 1) * sizeof(*outer));
	struct flattening inner = {
		.recording = flattening->recording,
		.content = captured->content,
		.graph = flattening->graph,
		.outer = outer,
		.outer_count = outer_count,
		.last = flattening->last,
	};
	int err;

	inner.handles = calloc((size_t)captured->content->node_count + 1, sizeof(*inner.handles));
	if (outer && inner.handles) {
		memcpy(outer, flattening->after, outer_count * sizeof(struct driver_node *));
		err = flatten_content(&inner);
		if (err == 0)
			err = end_level(&inner, DAGPATCH_NONE, &flattening->handles[node]);
	} else {
		err = fail_flat(flattening, -ENOMEM, node, "no memory for its nodes");
	}
	release(&inner);
	free(outer);
	recapture->made_handles = inner.handles;
	return err;
}

/* Adds recaptured work that cannot be read as a child. */
static int add_unread(struct flattening *flattening, uint32_t node,
		      const struct captured_graph *captured)
{
	struct patch_device *device = flattening->recording->device;
	struct patch_child child = {captured->graph};
	uint32_t count = gather_after(flattening, node);
	int err;

	pthread_mutex_lock(&device->shared_graphs);
	err = add_node(
		flattening,
		&(struct patch_params){.kind = PATCH_CHILD, .size = sizeof(child), .image = &child},
		count, &flattening->handles[node]);
	pthread_mutex_unlock(&device->shared_graphs);
	return err < 0 ? fail_flat(flattening, err, node, "adding a child graph") : 0;
}

static int flatten_child(struct flattening *flattening, uint32_t node)
{
	int err;

	if (flattening->content->nodes[node].flags & NODE_RECAPTURED) {
		struct recapture *recapture =
			&flattening->recording->recaptures[flattening->content->nodes[node].detail];
		const struct captured_graph *captured =
			recapture->next ? recapture->next : recapture->current;

		return captured->content ? flatten_recapture(flattening, node, recapture, captured)
					 : add_unread(flattening, node, captured);
	}
	err = flatten_level(flattening, node);
	return err < 0 ? err : end_level(flattening, node, &flattening->handles[node]);
}

static int flatten_node(struct flattening *flattening, uint32_t node)
{
	struct patch_device *device = flattening->recording->device;
	struct driver_node *origin = flattening->origins[node];
	struct patch_params params;
	uint32_t count;
	int err;

	if (flattening->content->nodes[node].kind == PATCH_CHILD)
		return flatten_child(flattening, node);
	params = node_params(flattening->content, node);
	params.attributes = attributes_of(flattening->content, node);
	count = gather_after(flattening, node);
	err = add_node(flattening, &params, count, &flattening->handles[node]);
	if (err < 0)
		return fail_flat(flattening, err, node, "adding it to the graph");
	if (origin) {
		err = device->driver->node_inherit(device, origin, flattening->handles[node]);
		if (err < 0)
			return fail_flat(flattening, err, node,
					 "taking its launch attributes over");
	}
	return attributes_give(flattening->recording, flattening->content, node,
			       flattening->handles[node]);
}

/* Adds the nodes inside of PARENT in an order that their dependencies allow. Nodes are usually
 * listed in such an order; then one round is enough. */
static int flatten_level(struct flattening *flattening, uint32_t parent)
{
	const struct dagpatch_recording *content = flattening->content;
	uint32_t end = end_inside(content, parent);
	uint32_t added, left;

	do {
		added = left = 0;
		for (uint32_t node = first_inside(parent); node < end;
		     node = node_end(content, node)) {
			int err;

			if (flattening->handles[node])
				continue;
			if (!is_ready(flattening, node)) {
				left++;
				continue;
			}
			err = flatten_node(flattening, node);
			if (err < 0)
				return err;
			added++;
		}
	} while (left > 0 && added > 0);
	return left > 0 ? fail_flat(flattening, -EIO, parent, "its nodes wait for each other") : 0;
}

/* ---- the captured nodes that nodes were read from ---- */

static int find_origins(struct flattening *flattening, uint32_t parent, struct driver_graph *graph)
{
	const struct dagpatch_recording *content = flattening->content;
	const struct patch_driver *driver = flattening->recording->device->driver;
	uint32_t node = first_inside(parent), end = end_inside(content, parent);
	struct node_list list;
	int err = capture_nodes(flattening->recording, graph, &list);

	if (err < 0)
		return err;
	for (uint32_t i = 0; err == 0 && i < list.count && node < end; i++) {
		struct driver_graph *inner;

		if (content->nodes[node].kind == PATCH_KERNEL)
			flattening->origins[node] = list.nodes[i];
		if (content->nodes[node].kind == PATCH_CHILD) {
			err = driver->child_graph(flattening->recording->device, list.nodes[i],
						  &inner);
			err = err < 0 ? fail_flat(flattening, err, node,
						  "looking into a child graph")
				      : find_origins(flattening, node, inner);
		}
		node = node_end(content, node);
	}
	free(list.nodes);
	return err;
}

static int find_all_origins(struct flattening *flattening)
{
	const struct dagpatch_recording *content = flattening->content;
	struct patch_device *device = flattening->recording->device;
	int err = 0;

	if (!device->driver->node_inherit)
		return 0;
	pthread_mutex_lock(&device->shared_graphs);
	if (content->source)
		err = find_origins(flattening, DAGPATCH_NONE, content->source);
	for (uint32_t i = 0; err == 0 && i < content->node_count; i++)
		if (content->nodes[i].flags & NODE_CAPTURED)
			err = find_origins(flattening, i,
					   content->works[content->nodes[i].detail].work->graph);
	pthread_mutex_unlock(&device->shared_graphs);
	return err;
}

/* ---- building ---- */

static int flatten_content(struct flattening *flattening)
{
	const struct dagpatch_recording *content = flattening->content;
	size_t count = (size_t)content->node_count + 1;
	size_t after = count + content->after_count + flattening->outer_count;
	int err = 0;

	flattening->is_waited_for = calloc(count, sizeof(*flattening->is_waited_for));
	flattening->after = calloc(after, sizeof(*flattening->after));
	flattening->origins = calloc(count, sizeof(*flattening->origins));
	if (!flattening->is_waited_for || !flattening->after || !flattening->origins)
		err = fail_flat(flattening, -ENOMEM, 0, "no memory for a graph");
	for (uint32_t i = 0; err == 0 && i < content->after_count; i++)
		flattening->is_waited_for[content->after[i]] = true;
	if (err == 0)
		err = find_all_origins(flattening);
	if (err == 0)
		err = flatten_level(flattening, DAGPATCH_NONE);
	return err;
}

int flatten(struct dagpatch_recording *recording, const struct patch_capturing *into,
	    struct driver_node **ret_end)
{
	struct driver_node *last = NULL;
	struct flattening flattening = {
		.recording = recording,
		.content = recording,
		.graph = into->graph,
		.outer = into->after,
		.outer_count = into->after_count,
		.last = &last,
		.handles = calloc((size_t)recording->node_count + 1, sizeof(struct driver_node *)),
	};
	int err = flattening.handles ? flatten_content(&flattening)
				     : recording_fail(recording, -ENOMEM, "no memory for a graph");

	if (err == 0 && ret_end)
		err = end_level(&flattening, DAGPATCH_NONE, ret_end);
	for (uint32_t i = 0; err == 0 && i < recording->node_count; i++)
		recording->nodes[i].handle = flattening.handles[i];
	release(&flattening);
	free(flattening.handles);
	return err;
}

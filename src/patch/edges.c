/* Reads the dependencies of a driver's graph as pairs of places in the list of its nodes. */
#include <errno.h>
#include <stdlib.h>

#include "patch/capture.h"
#include "patch/errors.h"
#include "patch/recording.h"

struct place {
	/* A node and its place in the list; sorted by node for lookups. */
	const struct driver_node *node;
	uint32_t index;
};

static int compare_places(const void *left, const void *right)
{
	const struct place *a = left, *b = right;

	return (a->node > b->node) - (a->node < b->node);
}

static int compare_edges(const void *left, const void *right)
{
	const struct edge *a = left, *b = right;

	if (a->to != b->to)
		return (a->to > b->to) - (a->to < b->to);
	return (a->from > b->from) - (a->from < b->from);
}

static uint32_t place_of(const struct place *places, uint32_t count, const struct driver_node *node)
{
	struct place key = {.node = node};
	const struct place *found = bsearch(&key, places, count, sizeof(*places), compare_places);

	return found ? found->index : DAGPATCH_NONE;
}

/* ENDS has all FROM nodes first, then all TO nodes. -EIO: one of them is not a node of the
 * graph. */
static int number_edges(struct driver_node *const *ends, const struct node_list *nodes,
			struct edge_list *edges)
{
	struct place *places = malloc(((size_t)nodes->count + 1) * sizeof(*places));
	int err = 0;

	if (!places)
		return -ENOMEM;
	for (uint32_t i = 0; i < nodes->count; i++)
		places[i] = (struct place){nodes->nodes[i], i};
	qsort(places, nodes->count, sizeof(*places), compare_places);
	for (uint32_t i = 0; i < edges->count; i++) {
		struct edge *edge = &edges->edges[i];

		edge->from = place_of(places, nodes->count, ends[i]);
		edge->to = place_of(places, nodes->count, ends[edges->count + i]);
		if (edge->from == DAGPATCH_NONE || edge->to == DAGPATCH_NONE)
			err = -EIO;
	}
	qsort(edges->edges, edges->count, sizeof(*edges->edges), compare_edges);
	free(places);
	return err;
}

int edges_read(struct dagpatch_recording *recording, struct driver_graph *graph,
	       const struct node_list *nodes, struct edge_list *ret_edges)
{
	const struct patch_driver *driver = recording->device->driver;
	int count = driver->graph_edges(recording->device, graph, NULL, NULL, 0);
	struct driver_node **ends;
	struct edge_list edges;
	int err = count;

	if (count < 0)
		return recording_fail(recording, count, "listing a graph's edges");
	ends = malloc(((size_t)count * 2 + 1) * sizeof(struct driver_node *));
	edges.edges = malloc(((size_t)count + 1) * sizeof(*edges.edges));
	edges.count = (uint32_t)count;
	if (!ends || !edges.edges)
		err = -ENOMEM;
	if (err >= 0)
		err = driver->graph_edges(recording->device, graph, ends, ends + count,
					  (uint32_t)count);
	if (err >= 0)
		err = number_edges(ends, nodes, &edges);
	free(ends);
	if (err < 0) {
		free(edges.edges);
		return recording_fail(recording, err, "listing a graph's edges");
	}
	*ret_edges = edges;
	return 0;
}

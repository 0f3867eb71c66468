#include "patch/forks.h"

#include <errno.h>
#include <stdlib.h>

enum {
	/* HIP 6.4.3 has four streams for the branches of a graph, and keeps the first four
	 * dependencies on a node whatever they are; the fourth is for the next empty node. */
	MOST = 3,
	FEWEST_PLACES = 64,
};

static struct fork *find_place(struct fork *places, uint32_t capacity,
			       const struct driver_node *node)
{
	uint64_t hash = ((uint64_t)(uintptr_t)node >> 4) * 0x9e3779b97f4a7c15u;
	uint32_t at = (uint32_t)(hash >> 32) & (capacity - 1);

	while (places[at].node && places[at].node != node)
		at = (at + 1) & (capacity - 1);
	return &places[at];
}

static int grow(struct forks *forks)
{
	uint32_t capacity = forks->capacity ? 2 * forks->capacity : FEWEST_PLACES;
	struct fork *places = calloc(capacity, sizeof(*places));

	if (!places)
		return -ENOMEM;
	for (uint32_t i = 0; i < forks->capacity; i++)
		if (forks->places[i].node)
			*find_place(places, capacity, forks->places[i].node) = forks->places[i];
	free(forks->places);
	forks->places = places;
	forks->capacity = capacity;
	return 0;
}

static int find(struct forks *forks, struct driver_node *node, struct fork **ret_fork)
{
	struct fork *fork;
	int rc = 2 * forks->count >= forks->capacity ? grow(forks) : 0;

	if (rc < 0)
		return rc;
	fork = find_place(forks->places, forks->capacity, node);
	if (!fork->node) {
		*fork = (struct fork){node, node, 0};
		forks->count++;
	}
	*ret_fork = fork;
	return 0;
}

int forks_take(struct forks *forks, struct patch_device *device, struct driver_graph *graph,
	       struct driver_node *node, struct driver_node **ret_node)
{
	const struct patch_params empty = {.kind = PATCH_EMPTY};
	struct driver_node *behind;
	struct fork *fork;
	int rc = find(forks, node, &fork);

	if (rc == 0 && fork->count == MOST) {
		rc = device->driver->node_add(device, graph, &empty, &fork->last, 1, &behind);
		if (rc == 0)
			*fork = (struct fork){node, behind, 0};
	}
	if (rc < 0)
		return rc;
	fork->count++;
	*ret_node = fork->last;
	return 0;
}

void forks_release(struct forks *forks)
{
	free(forks->places);
	*forks = (struct forks){0};
}

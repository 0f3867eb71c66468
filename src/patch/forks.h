/* How many nodes wait for each node of a graph that is being built, for drivers that keep that for
 * a few only (PATCH_NARROW_FORKS): the others wait for an empty node behind it, of which again a
 * few wait. One thread, one graph. */
#ifndef PATCH_FORKS_H
#define PATCH_FORKS_H

#include <stdint.h>

#include "patch/driver.h"

struct fork {
	struct driver_node *node; /* NULL: a free place */
	struct driver_node *last; /* it, or the last of the empty nodes behind it */
	uint32_t count;		  /* of those that wait for LAST */
};

/* Zeroed; released by forks_release. */
struct forks {
	struct fork *places; /* by the node's address; a power of two of them, half full at most */
	uint32_t capacity, count;
};

/* The node to wait for in NODE's stead, in GRAPH: it, or an empty node behind it, which may be made
 * for that. Negative errno: no memory, or what the driver says. */
int forks_take(struct forks *forks, struct patch_device *device, struct driver_graph *graph,
	       struct driver_node *node, struct driver_node **ret_node);
void forks_release(struct forks *forks);

#endif

/* Launch attributes of nodes (node_attributes.c). */
#ifndef DAGPATCH_PATCH_NODE_ATTRIBUTES_H
#define DAGPATCH_PATCH_NODE_ATTRIBUTES_H

#include "patch/driver.h"

/* Launch attributes that were given to a node; values.given 0: none. */
struct node_attributes {
	uint32_t node;
	struct dagpatch_attributes values;
};

/* Adds the launch attributes GIVEN to a kernel that is being added. -ENOTSUP: the driver lacks one
 * of them. */
int attributes_add(struct dagpatch_recording *recording, uint32_t node,
		   const struct dagpatch_attributes *given);

/* Attributes that were given to NODE; NULL: none. Valid until attributes are added. */
const struct dagpatch_attributes *attributes_of(const struct dagpatch_recording *recording,
						uint32_t node);

/* attributes_reserve makes an entry for NODE, empty at first; attributes_entry returns it, or NULL
 * if there is none. */
int attributes_reserve(struct dagpatch_recording *recording, uint32_t node);
struct dagpatch_attributes *attributes_entry(const struct dagpatch_recording *recording,
					     uint32_t node);

/* Copies all attributes of NESTED, whose node 0 is node BASE of RECORDING. */
int attributes_copy(struct dagpatch_recording *recording, const struct dagpatch_recording *nested,
		    uint32_t base);

/* Overwrites in TO the attributes that FROM gives. */
void attributes_merge(struct dagpatch_attributes *to, const struct dagpatch_attributes *from);

/* Gives HANDLE, the driver's node made of CONTENT's NODE, the attributes of that node. */
int attributes_give(struct dagpatch_recording *recording, const struct dagpatch_recording *content,
		    uint32_t node, struct driver_node *handle);

/* Finds out whether kernels of GRAPH, which dagpatch did not make, have priorities, and notes it
 * in the recording. RET_HAS may be NULL. */
int attributes_find(struct dagpatch_recording *recording, struct driver_graph *graph,
		    bool *ret_has);

#endif

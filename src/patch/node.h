/* Nodes and relocations as they are recorded, and how they are read (node.c). */
#ifndef DAGPATCH_PATCH_NODE_H
#define DAGPATCH_PATCH_NODE_H

#include "patch/recording.h"

/* Flags of struct node. */
enum node_flags {
	NODE_DIRTY = 1,	     /* is in recording.dirty */
	NODE_STALE = 2,	     /* the built graph's parameters differ from the executable graph's */
	NODE_IN_TABLE = 4,   /* a kernel whose addresses the table sets */
	NODE_RECAPTURED = 8, /* a child that is recaptured; detail: index in recording.recaptures */
	NODE_CAPTURED = 16,  /* a child of captured work; detail: index in recording.works */
	/* a node inside of captured work: it comes with the copy of the captured graph */
	NODE_INSIDE = 32,
	NODE_MOVES = 64,   /* has relocations, or was set by dagpatch_set_... */
	NODE_EDITED = 128, /* was set by dagpatch_set_...: captures do not have its values */
};

/* A node. recording.h says in which order nodes are kept. */
struct node {
	/* of the node in the graph that was built last; NULL: none */
	struct driver_node *handle;
	uint32_t image; /* offset in 8-byte words in recording.images; DAGPATCH_NONE: no image */
	/* kernels: index of the layout; conditionals: index in recording.conditionals; see
	 * NODE_RECAPTURED and NODE_CAPTURED */
	uint32_t detail;
	/* number of the node that this one is inside of; DAGPATCH_NONE at the top */
	uint32_t parent;
	uint16_t body; /* number of the body, if the parent is a conditional */
	uint8_t kind;  /* enum patch_kind */
	uint8_t flags; /* enum node_flags */
};
_Static_assert(sizeof(struct node) == 24, "with a kernel's own struct 64 bytes");

/* A conditional. The kernel that reads the predicate comes right before its node. */
struct conditional {
	enum dagpatch_condition condition;
	uint16_t body_count;
	/* number of that kernel; a WHILE has a second one as the last node of its body */
	uint32_t setter;
	uint64_t handle; /* the driver's handle in the graph that was built last */
};

/* Value of `byte` in a relocation of a recaptured child: no byte, the child must be recaptured. */
#define RELOCATION_RECAPTURED UINT32_MAX

/* A place that holds the address of a slot; the slot follows from recording.first_relocation. */
struct relocation {
	uint32_t node;
	uint32_t byte;	 /* offset in the node's image */
	uint64_t offset; /* added to the slot's address */
};
_Static_assert(sizeof(struct relocation) == 16, "as the header says");

/* A relocation before recording.relocations is sorted by slot; in any order. */
struct loose_relocation {
	uint32_t node, byte, slot;
	uint64_t offset;
};

/* Relocations of one node in ascending order of byte. The array is not owned. */
struct relocation_list {
	const struct loose_relocation *items;
	uint32_t count;
};

/* ---- node.c ---- */

/* Makes room for COUNT items of SIZE bytes in the array *ITEMS, which may move. -ENOMEM: *ITEMS is
 * unchanged. Does not fill recording->error. */
int recording_grow(void *items, uint32_t *capacity, uint64_t count, size_t size);

/* The node must have an image. The pointer is valid until a node is added or set. */
static inline void *node_image(const struct dagpatch_recording *recording, uint32_t node)
{
	return recording->images + recording->nodes[node].image;
}

/* Size of the node's image in bytes. The node must have one. */
uint32_t image_size(const struct dagpatch_recording *recording, uint32_t node);

/* The node's parameters. The image pointer is valid until a node is added or set. */
struct patch_params node_params(const struct dagpatch_recording *recording, uint32_t node);

/* As node_params for an image that no node has yet: IMAGE and DETAIL are as in struct node. */
struct patch_params image_params(const struct dagpatch_recording *recording, enum patch_kind kind,
				 uint32_t image, uint32_t detail);

/* Number of nodes that NODE is inside of. */
uint32_t node_depth(const struct dagpatch_recording *recording, uint32_t node);

/* The first node after NODE that is not inside of NODE. */
uint32_t node_end(const struct dagpatch_recording *recording, uint32_t node);

/* Where the dependencies of NODE begin in recording->after; they end at after_end[NODE]. */
static inline uint32_t after_begin(const struct dagpatch_recording *recording, uint32_t node)
{
	return node ? recording->after_end[node - 1] : 0;
}

/* Converts an offset in a node's image to the offset that callers see: a kernel's counts from its
 * first argument. DAGPATCH_NONE: the offset is before that, or is RELOCATION_RECAPTURED. */
uint32_t public_byte(const struct dagpatch_recording *recording, uint32_t node, uint32_t byte);

#endif

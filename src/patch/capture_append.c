/* The nodes of captured graphs: the same work, captured at two sets of addresses, is compared node
 * by node. Bytes that moved with a slot become a relocation. Any other difference is an error,
 * because its meaning is unknown. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "patch/capture.h"
#include "patch/compare.h"
#include "patch/context.h"
#include "patch/errors.h"
#include "patch/node.h"
#include "patch/node_append.h"
#include "patch/node_order.h"
#include "patch/recording.h"
#include "patch/slot_add.h"

int capture_nodes(struct dagpatch_recording *recording, struct driver_graph *graph,
		  struct node_list *ret_list)
{
	const struct patch_driver *driver = recording->device->driver;
	int count = driver->graph_nodes(recording->device, graph, NULL, 0);
	struct driver_node **nodes;

	if (count < 0)
		return recording_fail(recording, count, "listing a graph's nodes");
	nodes = malloc(((size_t)count + 1) * sizeof(struct driver_node *));
	if (!nodes)
		return recording_fail(recording, -ENOMEM, "no memory for a graph's nodes");
	count = driver->graph_nodes(recording->device, graph, nodes, (uint32_t)count);
	if (count < 0) {
		free(nodes);
		return recording_fail(recording, count, "listing a graph's nodes");
	}
	*ret_list = (struct node_list){nodes, (uint32_t)count};
	return 0;
}

/* The nodes of one graph, and the parameters of the node that is being compared. */
struct side {
	struct node_list list;
	struct patch_image image;
};

static void side_release(struct side *side)
{
	free(side->list.nodes);
	patch_image_release(&side->image);
}

/* ---- one node in all captures ---- */

static int explain(struct dagpatch_recording *recording, int code, uint32_t node, uint32_t byte,
		   const char *why)
{
	return recording_fail_at(recording, code, node, public_byte(recording, node, byte), "%s",
				 why);
}

/* The part of a node's image that may hold addresses: a copy has two of them, other nodes one
 * range. */
static void address_range(const struct patch_image *image, uint32_t *ret_begin, uint32_t *ret_end)
{
	*ret_begin = image->kind == PATCH_KERNEL ? (uint32_t)sizeof(struct patch_kernel) : 0;
	switch (image->kind) {
	case PATCH_KERNEL:
		*ret_end = image->size;
		break;
	case PATCH_COPY:
		*ret_end = 16;
		break;
	case PATCH_MEMSET:
		*ret_end = 8;
		break;
	default:
		*ret_end = 0;
		break;
	}
}

/* Checks an address at BYTE of the argument block against the kernel's known parameters. NULL: it
 * agrees, or they are unknown; otherwise why it does not. */
static const char *witness(const struct patch_layout *layout, uint32_t byte)
{
	if (!layout || !layout->is_known)
		return NULL;
	for (uint32_t i = 0; i < layout->count; i++) {
		const struct dagpatch_parameter *parameter = &layout->parameters[i];

		if (byte < parameter->offset || byte >= parameter->offset + parameter->bytes)
			continue;
		if (byte + 8 > parameter->offset + parameter->bytes)
			return "looks like an address, but reaches into the next parameter";
		if (parameter->kind == DAGPATCH_PARAMETER_POINTER && byte != parameter->offset)
			return "looks like an address inside of a pointer";
		return NULL;
	}
	return "looks like an address where the kernel has no parameter";
}

static int append_match(struct dagpatch_recording *recording, uint32_t node,
			const struct patch_image *image, const struct captures *captures,
			const struct compare_match *match)
{
	bool is_kernel = image->kind == PATCH_KERNEL;
	const char *doubt = is_kernel ? witness(image->layout,
						match->byte - (uint32_t)sizeof(struct patch_kernel))
				      : NULL;

	if (!is_kernel && match->byte % 8 != 0)
		doubt = "looks like an address across two fields";
	if (doubt)
		return explain(recording, -EILSEQ, node, match->byte, doubt);
	return relocation_append(recording, node, match->byte, captures->slots[match->slot],
				 match->offset);
}

/* The eight bytes that hold BYTE in each capture tell a caller what it may be. */
static int explain_difference(struct dagpatch_recording *recording, uint32_t node, uint32_t byte,
			      const struct compare_bytes *bytes, const char *why)
{
	uint64_t a = 0, b = 0;
	uint32_t word = byte & ~(uint32_t)7;
	uint32_t size = bytes->size - word < 8 ? bytes->size - word : 8;

	memcpy(&a, bytes->a + word, size);
	memcpy(&b, bytes->b + word, size);
	return recording_fail_at(recording, -EILSEQ, node, public_byte(recording, node, byte),
				 "the captures differ and %s: 0x%llx and 0x%llx", why,
				 (unsigned long long)a, (unsigned long long)b);
}

static int find_relocations(struct dagpatch_recording *recording, uint32_t node,
			    const struct patch_image *a, const struct patch_image *b,
			    const struct captures *captures, const struct compare_slots *slots)
{
	struct compare_bytes bytes = {a->bytes, b->bytes, 0};
	struct compare_match match;
	uint32_t begin, end, at;

	address_range(a, &begin, &end);
	bytes.size = end;
	at = begin;
	for (;;) {
		int err;

		switch (compare_next(&bytes, at, slots, &match)) {
		case COMPARE_SAME:
			if (begin > 0 && memcmp(a->bytes, b->bytes, begin) != 0)
				return explain(recording, -EILSEQ, node, 0,
					       "another kernel or grid in the second capture");
			if (a->size > end &&
			    memcmp(a->bytes + end, b->bytes + end, a->size - end) != 0)
				return explain(recording, -EILSEQ, node, end,
					       "the captures differ in what is no address");
			return 0;
		case COMPARE_UNEXPLAINED:
			return explain_difference(recording, node, match.byte, &bytes,
						  "no slot explains it");
		case COMPARE_AMBIGUOUS:
			return explain_difference(recording, node, match.byte, &bytes,
						  "several slots explain it");
		case COMPARE_MATCH:
			err = append_match(recording, node, a, captures, &match);
			if (err < 0)
				return err;
			at = match.byte + 8;
			break;
		}
	}
}

static int append_node(struct dagpatch_recording *recording, const struct patch_image *image,
		       uint32_t parent, uint8_t flags, uint32_t *ret_node)
{
	bool is_child = image->kind == PATCH_CHILD;
	struct node *node;
	int err = node_append(recording, image->kind, is_child ? 0 : image->size, ret_node);

	if (err < 0)
		return err;
	node = &recording->nodes[*ret_node];
	node->parent = parent;
	node->flags = flags;
	node->detail = image->layout ? image->layout->index : DAGPATCH_NONE;
	if (!is_child && image->size > 0)
		memcpy(node_image(recording, *ret_node), image->bytes, image->size);
	return 0;
}

static int read_node(struct dagpatch_recording *recording, struct driver_graph *graph,
		     struct driver_node *handle, struct patch_image *image)
{
	uint32_t node = recording->node_count;
	int err = recording->device->driver->node_get(recording->device, graph, handle, image);

	if (err < 0)
		return recording_fail_at(recording, err, node, DAGPATCH_NONE, "it cannot be read");
	if (image->kind == PATCH_OPAQUE)
		return recording_fail_at(recording, -ENOTSUP, node, DAGPATCH_NONE,
					 "it is of a kind that cannot be read: add it with "
					 "DAGPATCH_RECAPTURE");
	return 0;
}

/* The graphs that are compared side by side. */
struct sides {
	struct side of[CAPTURES_MOST];
	uint32_t count;
};

/* Size and alignment of the words that are compared: the alignment of fields that compilers leave
 * padding between. A pointer that was never set has two of these words, and one of them may be
 * equal in all captures by chance. */
#define UNSTABLE_BYTES 4

static bool is_unstable(const struct sides *sides, uint32_t byte, uint32_t size)
{
	for (uint32_t i = 2; i < sides->count; i++)
		if (memcmp(sides->of[i].image.bytes + byte, sides->of[i % 2].image.bytes + byte,
			   size) != 0)
			return true;
	return false;
}

/* Returns whether BYTE is part of an address that moved with a slot and is equal in all captures
 * at equal addresses. Addresses need no alignment, so one may share a word with padding. */
static bool is_in_address(const struct sides *sides, uint32_t byte,
			  const struct compare_slots *slots)
{
	const struct patch_image *a = &sides->of[0].image, *b = &sides->of[1].image;
	uint32_t begin, end;

	address_range(a, &begin, &end);
	begin = byte >= begin + 7 ? byte - 7 : begin;
	for (uint32_t at = begin; at <= byte && at + 8 <= end; at++)
		if (!is_unstable(sides, at, 8) &&
		    compare_is_address(a->bytes + at, b->bytes + at, slots))
			return true;
	return false;
}

/* Makes words that differ at equal addresses equal in the first two images, so that they are left
 * alone. */
static void leave_unstable(struct sides *sides, const struct compare_slots *slots)
{
	const struct patch_image *a = &sides->of[0].image;
	uint8_t *b = sides->of[1].image.bytes;
	uint32_t begin, end;

	address_range(a, &begin, &end);
	for (uint32_t word = begin; a->kind == PATCH_KERNEL && word < end; word += UNSTABLE_BYTES) {
		uint32_t size = end - word < UNSTABLE_BYTES ? end - word : UNSTABLE_BYTES;

		if (!is_unstable(sides, word, size))
			continue;
		for (uint32_t byte = word; byte < word + size; byte++)
			if (b[byte] != a->bytes[byte] && !is_in_address(sides, byte, slots))
				b[byte] = a->bytes[byte];
	}
}

/* Checks that all captures have the same node at this place. NULL: they have. */
static const char *other_node(const struct sides *sides)
{
	const struct patch_image *a = &sides->of[0].image;
	uint32_t begin, end;

	address_range(a, &begin, &end);
	for (uint32_t i = 1; i < sides->count; i++) {
		const struct patch_image *image = &sides->of[i].image;

		if (image->kind != a->kind || image->size != a->size)
			return i == 1 ? "another node in the second capture"
				      : "another node in a further capture";
		if (i > 1 && begin > 0 && memcmp(image->bytes, a->bytes, begin) != 0)
			return "another kernel or grid in a further capture";
	}
	return NULL;
}

static int append_pair(struct dagpatch_recording *recording, struct sides *sides,
		       const struct captures *captures, const struct compare_slots *slots,
		       uint32_t node)
{
	const struct side *a = &sides->of[0], *b = &sides->of[1];
	const char *other = other_node(sides);

	if (other)
		return explain(recording, -EILSEQ, node, 0, other);
	if (sides->count < 2 || a->image.kind == PATCH_CHILD)
		return 0;
	leave_unstable(sides, slots);
	return find_relocations(recording, node, &a->image, &b->image, captures, slots);
}

static struct driver_graph *embedded(const struct side *side)
{
	return side->image.kind == PATCH_CHILD
		       ? ((const struct patch_child *)side->image.bytes)->graph
		       : NULL;
}

/* The nodes of the child follow it. */
static int append_child(struct dagpatch_recording *recording, const struct sides *sides,
			const struct captures *captures, uint32_t depth)
{
	struct captures inner = *captures;
	struct capture_place place = {recording->node_count - 1, depth + 1};

	inner.inside_flag = NODE_INSIDE;
	for (uint32_t i = 0; i < sides->count; i++)
		inner.graphs[i] = embedded(&sides->of[i]);
	return capture_append(recording, &inner, &place);
}

static int check_edges(struct dagpatch_recording *recording, const struct captures *captures,
		       const struct sides *sides, const struct edge_list *first)
{
	int err = 0;

	for (uint32_t i = 1; err == 0 && i < captures->count; i++) {
		struct edge_list edges;

		err = edges_read(recording, captures->graphs[i], &sides->of[i].list, &edges);
		if (err < 0)
			break;
		if (edges.count != first->count ||
		    memcmp(edges.edges, first->edges, edges.count * sizeof(*edges.edges)) != 0)
			err = recording_fail(recording, -EILSEQ,
					     "capture 1 and capture %u have other dependencies",
					     i + 1);
		free(edges.edges);
	}
	return err;
}

/* ---- dependencies, for drivers whose graphs are flattened ---- */

#define LATER 0x80000000u

/* One of the graphs that are being appended: the top one or a child. */
struct level {
	struct edge_list edges;
	uint32_t edge;	   /* next edge to append */
	uint32_t *numbers; /* by place in the graph: number of the node in the recording */
};

/* Appends the dependencies of the node that was added last, which is at PLACE. Nodes at later
 * places have no number yet: their place is stored, marked with LATER. */
static int append_after(struct dagpatch_recording *recording, struct level *level, uint32_t place)
{
	uint32_t node = recording->node_count - 1;
	int err = 0;

	level->numbers[place] = node;
	if (!(recording->device->capabilities & PATCH_FLATTENS))
		return 0;
	for (; err == 0 && level->edge < level->edges.count &&
	       level->edges.edges[level->edge].to == place;
	     level->edge++) {
		uint32_t from = level->edges.edges[level->edge].from;
		uint32_t after = from < place ? level->numbers[from] : from | LATER;

		err = order_inner(recording, &after, 1, 0);
	}
	return err;
}

static void number_later(struct dagpatch_recording *recording, const struct level *level,
			 uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t node = level->numbers[i];

		for (uint32_t j = after_begin(recording, node); j < recording->after_end[node]; j++)
			if (recording->after[j] & LATER)
				recording->after[j] = level->numbers[recording->after[j] & ~LATER];
	}
}

static int read_sides(struct dagpatch_recording *recording, const struct captures *captures,
		      struct sides *sides, uint32_t index)
{
	int err = 0;

	for (uint32_t i = 0; err == 0 && i < sides->count; i++)
		err = read_node(recording, captures->graphs[i], sides->of[i].list.nodes[index],
				&sides->of[i].image);
	return err;
}

static int append_all(struct dagpatch_recording *recording, struct sides *sides,
		      const struct captures *captures, struct level *level,
		      const struct capture_place *place)
{
	const struct side *first = &sides->of[0];
	uint64_t *bytes = malloc((captures->slot_count + 1) * sizeof(*bytes));
	struct compare_slots slots = {captures->slot_count, bytes, captures->addresses[0],
				      captures->addresses[1]};
	int err = bytes ? 0 : recording_fail(recording, -ENOMEM, "no memory for a comparison");

	for (uint32_t i = 0; err == 0 && i < captures->slot_count; i++)
		bytes[i] = recording->slots[captures->slots[i]].bytes;
	for (uint32_t i = 0; err == 0 && i < first->list.count; i++) {
		uint32_t node = recording->node_count;

		err = read_sides(recording, captures, sides, i);
		if (err == 0)
			err = append_node(recording, &first->image, place->parent,
					  captures->inside_flag, &node);
		if (err == 0)
			err = append_after(recording, level, i);
		if (err < 0)
			break;
		if (captures->keeps_handles)
			recording->nodes[node].handle = first->list.nodes[i];
		err = append_pair(recording, sides, captures, &slots, node);
		if (err == 0 && first->image.kind == PATCH_CHILD)
			err = append_child(recording, sides, captures, place->depth);
	}
	free(bytes);
	return err;
}

static int list_sides(struct dagpatch_recording *recording, const struct captures *captures,
		      struct sides *sides)
{
	int err = 0;

	for (uint32_t i = 0; err == 0 && i < captures->count; i++) {
		struct side *side = &sides->of[sides->count++];

		err = capture_nodes(recording, captures->graphs[i], &side->list);
		if (err == 0 && side->list.count != sides->of[0].list.count)
			err = recording_fail(recording, -EILSEQ,
					     "capture 1 has %u nodes, capture %u has %u",
					     sides->of[0].list.count, i + 1, side->list.count);
	}
	return err;
}

static int append_level(struct dagpatch_recording *recording, const struct captures *captures,
			struct sides *sides, const struct capture_place *place)
{
	uint32_t count = sides->of[0].list.count;
	struct level level = {.numbers = malloc(((size_t)count + 1) * sizeof(uint32_t))};
	int err = 0;

	if (!level.numbers)
		return recording_fail(recording, -ENOMEM, "no memory for a graph's nodes");
	if (captures->count > 1 || (recording->device->capabilities & PATCH_FLATTENS))
		err = edges_read(recording, captures->graphs[0], &sides->of[0].list, &level.edges);
	if (err == 0)
		err = check_edges(recording, captures, sides, &level.edges);
	if (err == 0)
		err = append_all(recording, sides, captures, &level, place);
	if (err == 0)
		number_later(recording, &level, count);
	free(level.edges.edges);
	free(level.numbers);
	return err;
}

int capture_append(struct dagpatch_recording *recording, const struct captures *captures,
		   const struct capture_place *place)
{
	uint32_t limit = recording->context->options.child_depth;
	struct sides sides = {0};
	int err;

	if (place->depth > limit)
		return recording_fail_at(
			recording, -ELOOP, place->parent, DAGPATCH_NONE,
			"captured graphs are nested deeper than options.child_depth, %u", limit);
	err = list_sides(recording, captures, &sides);
	if (err == 0)
		err = append_level(recording, captures, &sides, place);
	for (uint32_t i = 0; i < sides.count; i++)
		side_release(&sides.of[i]);
	return err;
}

/* Nested recordings: children, and the bodies of conditionals. Their nodes are copied into the
 * outer recording. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "patch/cache.h"
#include "patch/captured_graph.h"
#include "patch/context.h"
#include "patch/describe.h"
#include "patch/errors.h"
#include "patch/node.h"
#include "patch/node_append.h"
#include "patch/node_attributes.h"
#include "patch/node_order.h"
#include "patch/ownership.h"
#include "patch/recording.h"
#include "patch/slot_add.h"
#include "patch/work.h"

/* ---- checks ---- */

static int check_mapping(struct dagpatch_recording *recording, const struct slot *inner,
			 const struct dagpatch_mapping *mapping)
{
	const struct slot *outer;
	char text[96];
	int err = slot_check(recording, mapping->slot, mapping->offset, inner->bytes,
			     "a nested recording's slot");

	if (err < 0)
		return err;
	outer = &recording->slots[mapping->slot];
	if (outer->alignment < inner->alignment || mapping->offset % inner->alignment)
		return recording_fail(
			recording, -EINVAL,
			"%s + %llu is aligned to less than the nested slot's %llu bytes",
			slot_text(recording, mapping->slot, text),
			(unsigned long long)mapping->offset, (unsigned long long)inner->alignment);
	if (outer->on_host != inner->on_host)
		return recording_fail(recording, -EINVAL,
				      "%s and the nested slot are in different memory",
				      slot_text(recording, mapping->slot, text));
	return 0;
}

static int check_child(struct dagpatch_recording *recording, const struct dagpatch_child *child)
{
	const struct dagpatch_recording *nested = child->nested;

	if (!nested || !(nested->flags & DAGPATCH_NESTED) || nested->state != DAGPATCH_READY)
		return recording_fail(recording, -EINVAL,
				      "a child is a finalized recording made with DAGPATCH_NESTED");
	if (nested->context != recording->context)
		return recording_fail(recording, -EINVAL, "a child of another context");
	if (child->mapping_count != nested->slot_count)
		return recording_fail(recording, -EINVAL, "%u mappings for a child with %u slots",
				      child->mapping_count, nested->slot_count);
	if (!child->mappings && child->mapping_count > 0)
		return recording_fail(recording, -EINVAL, "a child's mappings are missing");
	for (uint32_t i = 0; i < child->mapping_count; i++) {
		int err = check_mapping(recording, &nested->slots[i], &child->mappings[i]);

		if (err < 0)
			return err;
	}
	return 0;
}

static int check_depth(struct dagpatch_recording *recording, uint32_t first)
{
	uint32_t limit = recording->context->options.child_depth;

	for (uint32_t i = first; i < recording->node_count; i++)
		if (node_depth(recording, i) > limit)
			return recording_fail_at(
				recording, -ELOOP, i, DAGPATCH_NONE,
				"graphs are nested deeper than options.child_depth, %u", limit);
	return 0;
}

/* ---- copying a nested recording ---- */

/* Where the parts of the nested recording go in the outer one. */
struct placing {
	const struct dagpatch_child *child;
	uint32_t parent; /* parent of its nodes at the top */
	uint16_t body;
	uint32_t node, work, recapture, conditional; /* added to its numbers and indices */
};

static uint32_t moved_detail(const struct node *node, const struct placing *placing)
{
	if (node->kind == PATCH_CONDITIONAL)
		return node->detail + placing->conditional;
	if (node->flags & NODE_RECAPTURED)
		return node->detail + placing->recapture;
	if (node->flags & NODE_CAPTURED)
		return node->detail + placing->work;
	return node->detail;
}

static int copy_node(struct dagpatch_recording *recording, uint32_t index,
		     const struct placing *placing)
{
	const struct dagpatch_recording *nested = placing->child->nested;
	const struct node *from = &nested->nodes[index];
	uint32_t begin = after_begin(nested, index);
	uint32_t size = from->image == DAGPATCH_NONE ? 0 : image_size(nested, index);
	struct node *to;
	uint32_t node;
	int err = node_append(recording, from->kind, size, &node);

	if (err < 0)
		return err;
	to = &recording->nodes[node];
	to->detail = moved_detail(from, placing);
	to->flags = from->flags;
	to->parent = from->parent == DAGPATCH_NONE ? placing->parent : from->parent + placing->node;
	to->body = from->parent == DAGPATCH_NONE ? placing->body : from->body;
	if (size > 0)
		memcpy(node_image(recording, node), node_image(nested, index), size);
	if (nested->after_end[index] == begin)
		return 0; /* NESTED->after may be NULL */
	return order_inner(recording, nested->after + begin, nested->after_end[index] - begin,
			   placing->node);
}

static int copy_relocation(struct dagpatch_recording *recording,
			   const struct loose_relocation *relocation, const struct placing *placing)
{
	const struct dagpatch_mapping *mapping = &placing->child->mappings[relocation->slot];

	return relocation_append(recording, relocation->node + placing->node, relocation->byte,
				 mapping->slot, mapping->offset + relocation->offset);
}

static int map_slots(const struct placing *placing, uint32_t count, const uint32_t *slots,
		     const uint64_t *offsets, uint32_t **ret_slots, uint64_t **ret_offsets)
{
	uint32_t *to_slots = malloc((count + 1) * sizeof(*to_slots));
	uint64_t *to_offsets = malloc((count + 1) * sizeof(*to_offsets));

	if (!to_slots || !to_offsets) {
		free(to_slots);
		free(to_offsets);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < count; i++) {
		const struct dagpatch_mapping *mapping = &placing->child->mappings[slots[i]];

		to_slots[i] = mapping->slot;
		to_offsets[i] = mapping->offset + offsets[i];
	}
	*ret_slots = to_slots;
	*ret_offsets = to_offsets;
	return 0;
}

static int copy_work(struct dagpatch_recording *recording, const struct placed_work *from,
		     const struct placing *placing)
{
	struct placed_work *to;
	int err = recording_grow(&recording->works, &recording->work_capacity,
				 (uint64_t)recording->work_count + 1, sizeof(*recording->works));

	if (err < 0)
		return err;
	to = &recording->works[recording->work_count];
	err = map_slots(placing, from->work->slot_count, from->slots, from->offsets, &to->slots,
			&to->offsets);
	if (err < 0)
		return err;
	to->work = from->work;
	to->work->references++;
	recording->work_count++;
	return 0;
}

static int copy_recapture(struct dagpatch_recording *recording, const struct recapture *from,
			  const struct placing *placing)
{
	struct recapture to = *from;
	int err = recording_grow(&recording->recaptures, &recording->recapture_capacity,
				 (uint64_t)recording->recapture_count + 1,
				 sizeof(*recording->recaptures));

	if (err == 0)
		err = map_slots(placing, from->slot_count, from->slots, from->offsets, &to.slots,
				&to.offsets);
	if (err < 0)
		return err;
	to.node += placing->node;
	to.name = cache_name_copy(from->name);
	to.current = to.next = NULL;
	to.next_key = NULL;
	to.handles = to.made_handles = NULL;
	recording->recaptures[recording->recapture_count++] = to;
	return 0;
}

static int copy_conditional(struct dagpatch_recording *recording, const struct conditional *from,
			    const struct placing *placing)
{
	int err = recording_grow(&recording->conditionals, &recording->conditional_capacity,
				 (uint64_t)recording->conditional_count + 1,
				 sizeof(*recording->conditionals));

	if (err < 0)
		return err;
	recording->conditionals[recording->conditional_count] = *from;
	recording->conditionals[recording->conditional_count++].setter += placing->node;
	return 0;
}

static int copy_nested(struct dagpatch_recording *recording, const struct dagpatch_child *child,
		       uint32_t parent, uint16_t body)
{
	const struct dagpatch_recording *nested = child->nested;
	struct placing placing = {
		.child = child,
		.parent = parent,
		.body = body,
		.node = recording->node_count,
		.work = recording->work_count,
		.recapture = recording->recapture_count,
		.conditional = recording->conditional_count,
	};
	int err = 0;

	for (uint32_t i = 0; err == 0 && i < nested->work_count; i++)
		err = copy_work(recording, &nested->works[i], &placing);
	for (uint32_t i = 0; err == 0 && i < nested->recapture_count; i++)
		err = copy_recapture(recording, &nested->recaptures[i], &placing);
	for (uint32_t i = 0; err == 0 && i < nested->conditional_count; i++)
		err = copy_conditional(recording, &nested->conditionals[i], &placing);
	if (err < 0)
		return recording_fail(recording, err, "no memory for a nested recording");
	for (uint32_t i = 0; err == 0 && i < nested->node_count; i++)
		err = copy_node(recording, i, &placing);
	if (err == 0)
		err = attributes_copy(recording, nested, placing.node);
	for (uint32_t i = 0; err == 0 && i < nested->loose_count; i++)
		err = copy_relocation(recording, &nested->loose[i], &placing);
	return err;
}

/* How a nested recording uses its slots is not examined: it is assumed to write all of them. */
static int append_accesses(struct dagpatch_recording *recording, uint32_t node,
			   const struct dagpatch_child *child)
{
	for (uint32_t i = 0; i < child->mapping_count; i++) {
		const struct dagpatch_mapping *mapping = &child->mappings[i];
		uint64_t end = mapping->offset + child->nested->slots[i].bytes;
		int err = access_append(recording, &(struct access){node, mapping->slot,
								    mapping->offset, end, true});

		if (err < 0)
			return err;
	}
	return 0;
}

int dagpatch_add_child(struct dagpatch_recording *recording, const struct dagpatch_child *given,
		       const struct dagpatch_after *after, uint32_t *ret_node)
{
	struct dagpatch_child child;
	struct mark mark;
	uint32_t node;
	int err = add_begin(recording, "dagpatch_add_child", &mark);

	if (err == 0)
		err = recording_read(recording, &child, sizeof(child), given, "child");
	if (err == 0)
		err = check_child(recording, &child);
	if (err < 0)
		return err;
	err = node_append(recording, PATCH_CHILD, 0, &node);
	if (err == 0)
		err = append_accesses(recording, node, &child);
	if (err == 0)
		err = copy_nested(recording, &child, node, 0);
	if (err == 0)
		err = check_depth(recording, node);
	return add_end(recording, err, &mark, after, ret_node);
}

/* ---- conditionals ---- */

/* Appends the kernel that reads the predicate for the conditional that is added next. Its handle
 * is written when the graph is built. */
static int append_setter(struct dagpatch_recording *recording,
			 const struct dagpatch_conditional *conditional, uint32_t *ret_node)
{
	const struct patch_layout *layout;
	struct patch_condition_arguments arguments = {
		.condition = conditional->condition,
		.count = conditional->body_count,
		.is_byte = conditional->predicate_is_byte != 0,
	};
	struct patch_kernel *image;
	void *function;
	int err = recording->device->driver->condition_kernel(recording->device, &function);

	if (err < 0)
		return recording_fail(recording, err, "the kernel that sets conditions");
	err = patch_layout_find(recording->device, function, &layout);
	if (err < 0 && err != -ENOTSUP)
		return recording_fail(recording, err, "the kernel that sets conditions");
	if (!layout || layout->bytes != sizeof(arguments))
		return recording_fail(recording, -EIO,
				      "the kernel that sets conditions is another");
	err = node_append(recording, PATCH_KERNEL,
			  (uint32_t)(sizeof(struct patch_kernel) + sizeof(arguments)), ret_node);
	if (err < 0)
		return err;
	image = node_image(recording, *ret_node);
	image->function = function;
	for (uint32_t i = 0; i < 3; i++)
		image->grid[i] = image->block[i] = 1;
	image->argument_bytes = sizeof(arguments);
	memcpy(image->arguments, &arguments, sizeof(arguments));
	recording->nodes[*ret_node].detail = layout->index;
	return relocation_append(
		recording, *ret_node,
		(uint32_t)(sizeof(*image) + offsetof(struct patch_condition_arguments, predicate)),
		conditional->predicate_slot, conditional->predicate_offset);
}

/* Appends the kernel at the end of a WHILE's body; it waits for everything in the body. */
static int append_inner_setter(struct dagpatch_recording *recording,
			       const struct dagpatch_conditional *conditional, uint32_t parent)
{
	uint32_t first = parent + 1, count = 0;
	uint32_t *nodes;
	uint32_t setter;
	int err = append_setter(recording, conditional, &setter);

	if (err < 0)
		return err;
	recording->nodes[setter].parent = parent;
	nodes = malloc((setter - first + 1) * sizeof(*nodes));
	if (!nodes)
		return recording_fail(recording, -ENOMEM, "no memory for a dependency");
	for (uint32_t i = first; i < setter; i++)
		if (recording->nodes[i].parent == parent)
			nodes[count++] = i;
	err = order_inner(recording, nodes, count, 0);
	free(nodes);
	return err;
}

/* The bodies are an array of structs of the size that the caller's header has. */
static int read_body(struct dagpatch_recording *recording,
		     const struct dagpatch_conditional *conditional, uint32_t index,
		     struct dagpatch_child *ret_body)
{
	const uint8_t *first = (const uint8_t *)conditional->bodies;

	return recording_read(recording, ret_body, sizeof(*ret_body),
			      first ? first + index * conditional->bodies->size : NULL, "child");
}

static int check_conditional(struct dagpatch_recording *recording,
			     const struct dagpatch_conditional *conditional)
{
	bool is_case = conditional->condition == DAGPATCH_CASE;

	if (!(recording->device->capabilities & PATCH_HAS_CONDITIONALS))
		return recording_fail(recording, -ENOTSUP,
				      "graphs of the driver \"%s\" have no conditional nodes",
				      recording->device->driver->name);
	if (is_case && !(recording->device->capabilities & PATCH_HAS_CASES))
		return recording_fail(recording, -ENOTSUP,
				      "DAGPATCH_CASE: this CUDA driver is older than 12.8");
	if ((unsigned int)conditional->condition > DAGPATCH_WHILE)
		return recording_fail(recording, -EINVAL, "no such condition");
	if (conditional->body_count == 0 || conditional->body_count > UINT16_MAX ||
	    (!is_case && conditional->body_count != 1))
		return recording_fail(recording, -EINVAL, "a conditional with %u bodies",
				      conditional->body_count);
	if (!conditional->bodies)
		return recording_fail(recording, -EINVAL, "a conditional's bodies are missing");
	for (uint32_t i = 0; i < conditional->body_count; i++) {
		struct dagpatch_child body;
		int err = read_body(recording, conditional, i, &body);

		if (err == 0)
			err = check_child(recording, &body);
		if (err < 0)
			return err;
	}
	return slot_check(recording, conditional->predicate_slot, conditional->predicate_offset,
			  conditional->predicate_is_byte ? 1 : 4, "a predicate");
}

static int append_conditional(struct dagpatch_recording *recording,
			      const struct dagpatch_conditional *conditional, uint32_t setter,
			      uint32_t *ret_node)
{
	uint32_t node;
	int err = recording_grow(&recording->conditionals, &recording->conditional_capacity,
				 (uint64_t)recording->conditional_count + 1,
				 sizeof(*recording->conditionals));

	if (err < 0)
		return recording_fail(recording, err, "no memory for a conditional");
	err = node_append(recording, PATCH_CONDITIONAL, 0, &node);
	if (err < 0)
		return err;
	recording->nodes[node].detail = recording->conditional_count;
	recording->conditionals[recording->conditional_count++] = (struct conditional){
		.condition = conditional->condition,
		.body_count = (uint16_t)conditional->body_count,
		.setter = setter,
	};
	for (uint32_t i = 0; err == 0 && i < conditional->body_count; i++) {
		struct dagpatch_child body;

		err = read_body(recording, conditional, i, &body);
		if (err == 0)
			err = append_accesses(recording, node, &body);
		if (err == 0)
			err = copy_nested(recording, &body, node, (uint16_t)i);
	}
	if (err == 0 && conditional->condition == DAGPATCH_WHILE)
		err = append_inner_setter(recording, conditional, node);
	*ret_node = node;
	return err;
}

/* Adds two nodes: the setter, which has the dependencies, and the conditional, which waits for the
 * setter and for what the accesses of its bodies imply. */
static int add_conditional(struct dagpatch_recording *recording,
			   const struct dagpatch_conditional *given,
			   const struct dagpatch_after *after, uint32_t *ret_node)
{
	struct dagpatch_conditional conditional;
	struct mark mark, inner;
	uint32_t setter, node;
	int err = add_check(recording, "dagpatch_add_conditional", &mark);

	if (err == 0)
		err = recording_read(recording, &conditional, sizeof(conditional), given,
				     "conditional");
	if (err == 0)
		err = check_conditional(recording, &conditional);
	if (err < 0)
		return err;
	err = append_setter(recording, &conditional, &setter);
	if (err == 0)
		err = access_append(recording,
				    &(struct access){setter, conditional.predicate_slot,
						     conditional.predicate_offset,
						     conditional.predicate_offset + 4, false});
	err = add_end(recording, err, &mark, after, NULL);
	if (err < 0)
		return err;
	inner = recording_mark(recording);
	err = append_conditional(recording, &conditional, setter, &node);
	if (err == 0)
		err = check_depth(recording, setter);
	err = add_end(recording, err, &inner, &(struct dagpatch_after){&setter, 1}, ret_node);
	if (err < 0)
		recording_rewind(recording, &mark);
	return err;
}

int dagpatch_add_conditional(struct dagpatch_recording *recording,
			     const struct dagpatch_conditional *conditional,
			     const struct dagpatch_after *after, uint32_t *ret_node)
{
	int err = recording_enter(recording);

	if (err < 0)
		return err;
	err = add_conditional(recording, conditional, after, ret_node);
	recording_leave(recording);
	return err;
}

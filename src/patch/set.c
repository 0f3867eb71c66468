/* dagpatch_set_...: other parameters for nodes of a finalized recording. They are recorded once
 * more, into a scratch recording of one node that has the same slots, so that they are checked as
 * when the node was added. The image and the relocations that result become a revision of the node
 * (revise.c). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "patch/errors.h"
#include "patch/node.h"
#include "patch/node_append.h"
#include "patch/node_attributes.h"
#include "patch/ownership.h"
#include "patch/recording.h"
#include "patch/relocation_index.h"
#include "patch/revise.h"
#include "patch/work.h"

/* ---- checks ---- */

/* Kernels that set the handles of conditionals are dagpatch's own and cannot be set. Such a kernel
 * comes right before its conditional, and at the end of a WHILE's body. */
static bool is_setter(const struct dagpatch_recording *recording, uint32_t node)
{
	for (uint32_t i = 0; i < recording->conditional_count; i++) {
		const struct conditional *conditional = &recording->conditionals[i];

		if (conditional->setter == node ||
		    (conditional->condition == DAGPATCH_WHILE &&
		     node_end(recording, conditional->setter + 1) == node + 1))
			return true;
	}
	return false;
}

/* For calls that have begun with recording_enter. */
static int check_inside(struct dagpatch_recording *recording, uint32_t node, enum patch_kind kind,
			const char *what)
{
	int err = recording_expect(recording, DAGPATCH_READY, what);

	if (err < 0)
		return err;
	if (recording->flags & DAGPATCH_NESTED)
		return recording_fail(recording, -EINVAL,
				      "%s: in the recording that nests this one", what);
	if (node >= recording->node_count || recording->nodes[node].kind != kind)
		return recording_fail(recording, -EINVAL, "%s: node %u is another kind", what,
				      node);
	if (is_setter(recording, node))
		return recording_fail(recording, -EINVAL, "%s: node %u sets a condition", what,
				      node);
	return revisions_begin(recording);
}

static int check_node(struct dagpatch_recording *recording, uint32_t node, enum patch_kind kind,
		      const char *what)
{
	int err = recording_check(recording);

	return err < 0 ? err : check_inside(recording, node, kind, what);
}

/* ---- the scratch recording ---- */

/* NULL: no memory. */
static struct dagpatch_recording *take_scratch(struct dagpatch_recording *recording)
{
	struct dagpatch_recording *scratch = recording->revisions.scratch;

	if (!scratch &&
	    dagpatch_recording_create(recording->context, DAGPATCH_NESTED, &scratch) < 0) {
		recording_fail(recording, -ENOMEM, "no memory for other parameters");
		return NULL;
	}
	scratch->slots = recording->slots;
	scratch->slot_count = recording->slot_count;
	recording->revisions.scratch = scratch;
	return scratch;
}

/* Empties the scratch recording. Its slots belong to RECORDING, so they are only detached. */
static void leave_scratch(struct dagpatch_recording *scratch)
{
	recording_rewind(scratch, &(struct mark){0});
	scratch->slots = NULL;
	scratch->slot_count = 0;
}

static int pass_on(struct dagpatch_recording *recording, struct dagpatch_recording *scratch,
		   int err, uint32_t node)
{
	int driver_code = scratch->error.driver_code;

	recording_fail_at(recording, err, node, DAGPATCH_NONE, "%s", scratch->error.message);
	recording->error.driver_code = driver_code;
	leave_scratch(scratch);
	return err;
}

static void sort_scratch(struct dagpatch_recording *scratch)
{
	if (scratch->loose_count > 0)
		qsort(scratch->loose, scratch->loose_count, sizeof(*scratch->loose),
		      relocation_compare);
}

/* Makes the one node of SCRATCH the revision of NODE, and empties SCRATCH. */
static int revise_one(struct dagpatch_recording *recording, uint32_t node,
		      struct dagpatch_recording *scratch)
{
	struct patch_params params = node_params(scratch, 0);
	struct relocation_list list = {scratch->loose, scratch->loose_count};
	const struct dagpatch_attributes *attributes = attributes_of(scratch, 0);
	int err;

	sort_scratch(scratch);
	err = revision_reserve(recording, node, params.size, list.count);
	if (err == 0)
		err = revisions_reserve_index(recording, list.count);
	if (err == 0 && attributes)
		err = attributes_reserve(recording, node);
	if (err == 0)
		revision_add(recording, node, &params, scratch->nodes[0].detail, &list);
	if (err == 0 && attributes)
		revision_give(recording, node, attributes);
	leave_scratch(scratch);
	return err;
}

/* Captured nodes keep their dependencies, programmatic or not. */
static int check_programmatic(struct dagpatch_recording *scratch, bool is_captured)
{
	const struct dagpatch_attributes *attributes = attributes_of(scratch, 0);

	if (!is_captured || !attributes || !(attributes->given & DAGPATCH_PROGRAMMATIC))
		return 0;
	recording_rewind(scratch, &(struct mark){0});
	return recording_fail(scratch, -ENOTSUP,
			      "a captured kernel's dependencies stay as they were captured");
}

int dagpatch_set_kernel(struct dagpatch_recording *recording, uint32_t node,
			const struct dagpatch_kernel *kernel)
{
	struct dagpatch_recording *scratch;
	int err = check_node(recording, node, PATCH_KERNEL, "dagpatch_set_kernel");

	if (err < 0)
		return err;
	scratch = take_scratch(recording);
	if (!scratch)
		return -ENOMEM;
	err = dagpatch_add_kernel(scratch, kernel, NULL, NULL);
	if (err == 0)
		err = check_programmatic(scratch, recording->nodes[node].flags & NODE_INSIDE);
	return err < 0 ? pass_on(recording, scratch, err, node)
		       : revise_one(recording, node, scratch);
}

int dagpatch_set_copy(struct dagpatch_recording *recording, uint32_t node,
		      const struct dagpatch_copy *copy)
{
	struct dagpatch_recording *scratch;
	int err = check_node(recording, node, PATCH_COPY, "dagpatch_set_copy");

	if (err < 0)
		return err;
	scratch = take_scratch(recording);
	if (!scratch)
		return -ENOMEM;
	err = dagpatch_add_copy(scratch, copy, NULL, NULL);
	return err < 0 ? pass_on(recording, scratch, err, node)
		       : revise_one(recording, node, scratch);
}

int dagpatch_set_memset(struct dagpatch_recording *recording, uint32_t node,
			const struct dagpatch_memset *memset)
{
	struct dagpatch_recording *scratch;
	int err = check_node(recording, node, PATCH_MEMSET, "dagpatch_set_memset");

	if (err < 0)
		return err;
	scratch = take_scratch(recording);
	if (!scratch)
		return -ENOMEM;
	err = dagpatch_add_memset(scratch, memset, NULL, NULL);
	return err < 0 ? pass_on(recording, scratch, err, node)
		       : revise_one(recording, node, scratch);
}

/* ---- single values ---- */

/* Changes SIZE bytes at BYTE of NODE's wanted image, except the bytes of its addresses. */
static int revise_bytes(struct dagpatch_recording *recording, uint32_t node, uint32_t byte,
			const uint8_t *bytes, uint32_t size)
{
	struct patch_params params = revision_params(recording, node);
	struct relocation_list list = revision_relocations(recording, node);
	uint32_t detail = params.layout ? params.layout->index : DAGPATCH_NONE, at = 0;
	uint8_t *image = malloc(params.size);
	int err;

	if (!image)
		return recording_fail(recording, -ENOMEM, "no memory for other parameters");
	memcpy(image, params.image, params.size);
	for (uint32_t i = 0; i < size; i++) {
		while (at < list.count && list.items[at].byte + 8 <= byte + i)
			at++;
		if (at == list.count || byte + i < list.items[at].byte)
			image[byte + i] = bytes[i];
	}
	params.image = image;
	err = revision_reserve(recording, node, params.size, 0);
	if (err == 0)
		revision_add(recording, node, &params, detail, NULL);
	free(image);
	return err;
}

int dagpatch_set_argument(struct dagpatch_recording *recording, uint32_t node, uint32_t index,
			  const void *bytes, uint32_t size)
{
	const struct patch_layout *layout;
	int err = check_node(recording, node, PATCH_KERNEL, "dagpatch_set_argument");

	if (err < 0)
		return err;
	layout = revision_params(recording, node).layout;
	if (!bytes)
		return recording_fail(recording, -EINVAL, "dagpatch_set_argument: no bytes");
	if (!layout || index >= layout->count || layout->parameters[index].bytes != size)
		return recording_fail_at(recording, -EINVAL, node, DAGPATCH_NONE,
					 "it has no argument %u of %u bytes", index, size);
	return revise_bytes(recording, node,
			    (uint32_t)sizeof(struct patch_kernel) +
				    layout->parameters[index].offset,
			    bytes, size);
}

int dagpatch_set_memset_value(struct dagpatch_recording *recording, uint32_t node, uint32_t value)
{
	const struct patch_memset *image;
	int err = check_node(recording, node, PATCH_MEMSET, "dagpatch_set_memset_value");

	if (err < 0)
		return err;
	image = revision_params(recording, node).image;
	if (image->element_bytes < 4 && value >> (8 * image->element_bytes))
		return recording_fail_at(recording, -EINVAL, node, DAGPATCH_NONE,
					 "0x%x does not fit into %u bytes", value,
					 image->element_bytes);
	return revise_bytes(recording, node, offsetof(struct patch_memset, value),
			    (const uint8_t *)&value, sizeof(value));
}

/* ---- children ---- */

/* A child that is recorded in SCRATCH and goes into RECORDING. */
struct replacing {
	struct dagpatch_recording *recording, *scratch;
	uint32_t base; /* the child node in RECORDING; in SCRATCH it is node 0 */
};

static bool has_dependency(const struct dagpatch_recording *recording, uint32_t node,
			   uint32_t dependency)
{
	for (uint32_t i = after_begin(recording, node); i < recording->after_end[node]; i++)
		if (recording->after[i] == dependency)
			return true;
	return false;
}

/* The child node itself keeps its dependencies, so node 0 is not compared. */
static bool has_same_dependencies(const struct replacing *replacing, uint32_t node)
{
	const struct dagpatch_recording *to = replacing->recording, *from = replacing->scratch;
	uint32_t other = node + replacing->base, begin = after_begin(from, node);

	if (node == 0)
		return true;
	if (from->after_end[node] - begin != to->after_end[other] - after_begin(to, other))
		return false;
	for (uint32_t i = begin; i < from->after_end[node]; i++)
		if (!has_dependency(to, other, from->after[i] + replacing->base))
			return false;
	return true;
}

static bool is_same_condition(const struct replacing *replacing, const struct node *from,
			      const struct node *to)
{
	const struct conditional *a, *b;

	if (from->kind != PATCH_CONDITIONAL)
		return true;
	a = &replacing->scratch->conditionals[from->detail];
	b = &replacing->recording->conditionals[to->detail];
	return a->condition == b->condition && a->body_count == b->body_count &&
	       a->setter + replacing->base == b->setter;
}

static bool fits(const struct replacing *replacing, uint32_t node)
{
	static const uint8_t shape = NODE_RECAPTURED | NODE_CAPTURED | NODE_INSIDE;
	const struct node *from = &replacing->scratch->nodes[node];
	const struct node *to = &replacing->recording->nodes[node + replacing->base];

	return from->kind == to->kind && from->body == to->body &&
	       (from->flags & shape) == (to->flags & shape) &&
	       (node == 0 || from->parent + replacing->base == to->parent) &&
	       has_same_dependencies(replacing, node) && is_same_condition(replacing, from, to);
}

static int check_fits(const struct replacing *replacing)
{
	struct dagpatch_recording *recording = replacing->recording;
	uint32_t count = node_end(recording, replacing->base) - replacing->base;

	if (replacing->scratch->recapture_count > 0)
		return recording_fail_at(recording, -ENOTSUP, replacing->base, DAGPATCH_NONE,
					 "a child with work that is captured anew is not set: "
					 "bind its slots");
	if (replacing->scratch->node_count != count)
		return recording_fail_at(recording, -EINVAL, replacing->base, DAGPATCH_NONE,
					 "a child of %u nodes in place of one of %u",
					 replacing->scratch->node_count - 1, count - 1);
	for (uint32_t i = 0; i < count; i++)
		if (!fits(replacing, i))
			return recording_fail_at(
				recording, -EINVAL, replacing->base + i, DAGPATCH_NONE,
				"a child with another kind of node or other dependencies there");
	return 0;
}

/* Copies the handles of conditionals from the recording's images, because they belong to the built
 * graph. */
static void keep_handles(const struct replacing *replacing)
{
	const size_t at =
		sizeof(struct patch_kernel) + offsetof(struct patch_condition_arguments, handle);

	for (uint32_t i = 0; i < replacing->scratch->node_count; i++) {
		uint32_t node = i + replacing->base;

		if (replacing->scratch->nodes[i].kind == PATCH_KERNEL &&
		    is_setter(replacing->recording, node))
			memcpy((uint8_t *)node_image(replacing->scratch, i) + at,
			       (uint8_t *)node_image(replacing->recording, node) + at,
			       sizeof(uint64_t));
	}
}

static int reserve_works(const struct replacing *replacing)
{
	struct dagpatch_recording *recording = replacing->recording;
	int err = recording_grow(&recording->works, &recording->work_capacity,
				 (uint64_t)recording->work_count + replacing->scratch->work_count,
				 sizeof(*recording->works));

	return err < 0 ? recording_fail(recording, err, "no memory for captured work") : 0;
}

static int reserve_nodes(const struct replacing *replacing)
{
	const struct dagpatch_recording *scratch = replacing->scratch;
	int err = revisions_reserve_index(replacing->recording, scratch->loose_count);

	for (uint32_t i = 1, at = 0; err == 0 && i < scratch->node_count; i++) {
		uint32_t count = 0;

		for (; at < scratch->loose_count && scratch->loose[at].node <= i; at++)
			count += scratch->loose[at].node == i;
		err = revision_reserve(replacing->recording, i + replacing->base,
				       node_params(scratch, i).size, count);
	}
	return err;
}

/* Moves a work of SCRATCH to a free entry of the recording's works, for which there is room.
 * Returns its index. */
static uint32_t move_work(const struct replacing *replacing, uint32_t index)
{
	struct dagpatch_recording *recording = replacing->recording;
	struct placed_work *from = &replacing->scratch->works[index];
	uint32_t to = 0;

	while (to < recording->work_count && recording->works[to].work)
		to++;
	if (to == recording->work_count)
		recording->work_count++;
	recording->works[to] = *from;
	*from = (struct placed_work){0};
	return to;
}

static int reserve_attributes(const struct replacing *replacing)
{
	const struct dagpatch_recording *scratch = replacing->scratch;
	int err = 0;

	for (uint32_t i = 0; err == 0 && i < scratch->attribute_count; i++)
		err = attributes_reserve(replacing->recording,
					 scratch->attributes[i].node + replacing->base);
	return err;
}

static void add_nodes(const struct replacing *replacing)
{
	const struct dagpatch_recording *scratch = replacing->scratch;

	for (uint32_t i = 1, at = 0; i < scratch->node_count; i++) {
		struct patch_params params = node_params(scratch, i);
		struct relocation_list list = {scratch->loose + at, 0};
		uint32_t detail = scratch->nodes[i].detail;

		for (; at < scratch->loose_count && scratch->loose[at].node == i; at++)
			list.count++;
		if (scratch->nodes[i].flags & NODE_CAPTURED)
			detail = move_work(replacing, detail);
		else if (!params.image)
			continue;
		revision_add(replacing->recording, i + replacing->base, &params, detail, &list);
		if (attributes_of(scratch, i))
			revision_give(replacing->recording, i + replacing->base,
				      attributes_of(scratch, i));
	}
}

static int set_child(struct dagpatch_recording *recording, uint32_t node,
		     const struct dagpatch_child *child)
{
	struct replacing replacing = {.recording = recording, .base = node};
	int err = check_inside(recording, node, PATCH_CHILD, "dagpatch_set_child");

	if (err == 0 &&
	    (recording->nodes[node].flags & (NODE_RECAPTURED | NODE_CAPTURED | NODE_INSIDE)))
		err = recording_fail(recording, -EINVAL,
				     "dagpatch_set_child: node %u is captured work", node);
	if (err < 0)
		return err;
	replacing.scratch = take_scratch(recording);
	if (!replacing.scratch)
		return -ENOMEM;
	err = dagpatch_add_child(replacing.scratch, child, NULL, NULL);
	if (err < 0)
		return pass_on(recording, replacing.scratch, err, node);
	sort_scratch(replacing.scratch);
	err = check_fits(&replacing);
	if (err == 0)
		err = reserve_works(&replacing);
	if (err == 0)
		err = reserve_nodes(&replacing);
	if (err == 0)
		err = reserve_attributes(&replacing);
	if (err == 0 && replacing.scratch->conditional_count > 0)
		keep_handles(&replacing);
	if (err == 0)
		add_nodes(&replacing);
	leave_scratch(replacing.scratch);
	return err;
}

int dagpatch_set_child(struct dagpatch_recording *recording, uint32_t node,
		       const struct dagpatch_child *child)
{
	int err = recording_enter(recording);

	if (err < 0)
		return err;
	err = set_child(recording, node, child);
	recording_leave(recording);
	return err;
}

/* Notes calls that set nodes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "preload/virtual.h"

struct bytes *virtual_scratch(struct virtual *v)
{
	v->scratch.count = 0;
	return &v->scratch;
}

static void want(struct virtual *v, uint32_t moving, uint32_t image)
{
	v->wanted_hash +=
		image_place_hash(moving, image) - image_place_hash(moving, v->wanted[moving]);
	v->wanted[moving] = image;
}

/* Enlarges *ARRAY of uint32_t; new elements are 0. */
static bool grow(uint32_t **array, uint32_t count, uint32_t capacity)
{
	uint32_t *larger = realloc(*array, capacity * sizeof(*larger));

	if (!larger)
		return false;
	memset(larger + count, 0, (capacity - count) * sizeof(*larger));
	*array = larger;
	return true;
}

/* Fills the index of CELL among the moving ones. -ENOMEM. */
static int make_moving(struct virtual *v, uint32_t cell, uint32_t *ret_moving)
{
	uint32_t capacity = v->moving_capacity ? 2 * v->moving_capacity : 16;
	bool fits = v->moving_count < v->moving_capacity;

	if (v->moving_of_cell[cell] != CELL_NOT_MOVING) {
		*ret_moving = v->moving_of_cell[cell];
		return 0;
	}
	if (!fits) {
		fits = grow(&v->wanted, v->moving_count, capacity) &&
		       grow(&v->cell_of_moving, v->moving_count, capacity);
		for (uint32_t i = 0; fits && i < v->real_count; i++)
			fits = grow(&v->reals[i].have, v->moving_count, capacity);
		if (!fits)
			return -ENOMEM;
		v->moving_capacity = capacity;
	}
	*ret_moving = v->moving_of_cell[cell] = v->moving_count++;
	v->cell_of_moving[*ret_moving] = cell;
	return 0;
}

/* ---- nodes ---- */

static bool is_inside(const struct virtual *v, const struct node_pair *pair, const void *parent)
{
	while (pair && pair->parent && pair->parent != parent)
		pair = virtual_find_node(v, pair->parent);
	return pair && pair->parent;
}

/* Whether the driver's calls on PAIR and on a node that was set change the same parameters: one of
 * them is a child graph in which the other one is. Which call was the last one is not noted. */
static bool overlaps(const struct virtual *v, const struct node_pair *pair)
{
	for (uint32_t i = 0; i < v->moving_count; i++) {
		const struct node_pair *other = &v->nodes[v->cell_of_moving[i] / CELL_KINDS];

		if (is_inside(v, other, pair->node) || is_inside(v, pair, other->node))
			return true;
	}
	return false;
}

/* ---- noting ---- */

/* Makes the call on REAL, where the driver's own checks decide. */
static int try_image(struct virtual *v, struct real *real, uint32_t moving, uint32_t number)
{
	struct image *image = v->images[number - 1];
	int err = virtual_apply(v, image, real->handle, real_node(v, real, moving));

	if (err == 0) {
		image->is_accepted = true;
		real_set(real, moving, number);
	} else if (v->wanted[moving] && !v->sets) {
		/* The refused call may have left something behind. */
		real_set(real, moving, IMAGE_UNKNOWN);
	}
	return err;
}

/* No real has a new image, so it is tried on the one that is probably launched next. */
static int try_if_needed(struct virtual *v, uint32_t moving, uint32_t number,
			 const struct note *note)
{
	if (v->sets)
		return try_image(v, v->reals, moving, number);
	if (!v->images[number - 1]->is_accepted) {
		v->tried++;
		return try_image(v, &v->reals[v->reals[v->last].next], moving, number);
	}
	/* What the driver says in another context may be something else. */
	if (note->is_always_tried || v->vendor->device_current() != v->device)
		return try_image(v, v->reals, moving, number);
	return 0;
}

/* What is wanted goes to the first real, then this call. */
static int set_passing(struct virtual *v, _Atomic uint64_t *cause, const struct note *note,
		       void *node)
{
	int err = virtual_dissolve(v, cause, note->call);

	return err ? err : v->vendor->apply(note->data, note->child, v->reals[0].handle, node);
}

/* Programs set nodes in the same order again and again. */
static const struct node_pair *find_pair(struct virtual *v, void *node)
{
	const struct node_pair *pair = &v->nodes[v->last_node];

	if (pair->node == node)
		return pair;
	pair = &v->nodes[pair->next];
	if (pair->node != node)
		pair = virtual_find_node(v, node);
	if (!pair)
		return NULL;
	v->nodes[v->last_node].next = (uint32_t)(pair - v->nodes);
	v->last_node = (uint32_t)(pair - v->nodes);
	return pair;
}

/* Sets mostly come in the order in which they came before. */
static uint32_t guess_image(const struct virtual *v, uint32_t moving)
{
	const struct real *next = &v->reals[v->reals[v->last].next];

	return next->have[moving] == IMAGE_UNKNOWN ? 0 : next->have[moving];
}

const struct image *virtual_guess(struct virtual *v, void *node, enum cell_kind kind,
				  uint32_t *ret_number)
{
	const struct node_pair *pair = find_pair(v, node);
	uint32_t moving =
		pair ? v->moving_of_cell[v->last_node * CELL_KINDS + kind] : CELL_NOT_MOVING;

	*ret_number = moving == CELL_NOT_MOVING ? 0 : guess_image(v, moving);
	return *ret_number ? v->images[*ret_number - 1] : NULL;
}

int virtual_set_again(struct virtual *v, uint32_t number)
{
	uint32_t moving = v->moving_of_cell[v->images[number - 1]->cell];
	const struct note note = {.is_always_tried = false};
	int err = try_if_needed(v, moving, number, &note);

	v->new_sets++;
	if (err == 0)
		want(v, moving, number);
	return err;
}

int virtual_set(struct virtual *v, void *node, enum cell_kind kind, const struct note *note)
{
	const struct node_pair *pair = find_pair(v, node);
	uint32_t cell, image, moving;
	int err;

	v->new_sets++;
	if (!pair)
		return set_passing(v, &preload_stats.pass_node, note, node);
	cell = v->last_node * CELL_KINDS + kind;
	if (v->moving_of_cell[cell] == CELL_NOT_MOVING && overlaps(v, pair))
		return set_passing(v, &preload_stats.pass_child, note, node);
	if (make_moving(v, cell, &moving) < 0)
		return set_passing(v, &preload_stats.pass_memory, note, node);
	image = virtual_find_image(v, cell, guess_image(v, moving), note);
	if (!image && virtual_add_image(v, cell, note, &image) < 0)
		return set_passing(v, &preload_stats.pass_memory, note, node);
	if (note->seen)
		virtual_remember(v, note->seen, image);
	err = try_if_needed(v, moving, image, note);
	if (err == 0)
		want(v, moving, image);
	return err;
}

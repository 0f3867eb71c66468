/* Virtual executables: making and destroying them, images, and sets; launches are in
 * virtual_launch.c. */
#include "preload/virtual.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

enum {
	NOT_MOVING = UINT32_MAX,
	/* What a driver's failed call may have left behind; no image has this number. */
	UNKNOWN_IMAGE = UINT32_MAX,
	MOST_IMAGE_BYTES = 32 << 20, /* of one virtual executable */
};

uint32_t virtual_most_reals;
static _Atomic bool is_on;
static __thread uint32_t inner __attribute__((tls_model("initial-exec")));

void virtual_configure(uint32_t most_reals, bool on)
{
	virtual_most_reals = most_reals;
	is_on = on;
}

bool virtual_is_on(void)
{
	return inner == 0 && atomic_load_explicit(&is_on, memory_order_relaxed);
}

void virtual_inner_begin(void)
{
	inner++;
}

void virtual_inner_end(void)
{
	inner--;
}

/* ---- making ---- */

static int compare_pairs(const void *a, const void *b)
{
	uintptr_t left = (uintptr_t)((const struct node_pair *)a)->node;
	uintptr_t right = (uintptr_t)((const struct node_pair *)b)->node;

	return left < right ? -1 : left > right;
}

/* Fills v->nodes. False: no memory, or the driver does not list the nodes of both graphs. */
static bool read_nodes(struct virtual *v)
{
	size_t count = 0, copy_count = 0;
	bool is_read = v->vendor->graph_nodes(v->graph, NULL, &count) == 0 &&
		       v->vendor->graph_nodes(v->clone, NULL, &copy_count) == 0 &&
		       count == copy_count && count > 0 && count < UINT32_MAX / CELL_KINDS;
	void **nodes = is_read ? calloc(2 * count, sizeof(*nodes)) : NULL;

	v->nodes = nodes ? calloc(count, sizeof(*v->nodes)) : NULL;
	v->moving_of_cell = nodes ? malloc(count * CELL_KINDS * sizeof(*v->moving_of_cell)) : NULL;
	is_read = v->nodes && v->moving_of_cell &&
		  v->vendor->graph_nodes(v->graph, nodes, &count) == 0 &&
		  v->vendor->graph_nodes(v->clone, nodes + count, &copy_count) == 0 &&
		  count == copy_count;
	for (size_t i = 0; is_read && i < count; i++)
		v->nodes[i] = (struct node_pair){nodes[i], nodes[count + i]};
	free(nodes);
	if (!is_read)
		return false;
	qsort(v->nodes, count, sizeof(*v->nodes), compare_pairs);
	memset(v->moving_of_cell, 0xff, count * CELL_KINDS * sizeof(*v->moving_of_cell));
	v->node_count = (uint32_t)count;
	return true;
}

static void free_virtual(struct virtual *v)
{
	for (uint32_t i = 0; i < v->image_count; i++)
		free(v->images[i]);
	free(v->images);
	hash_map_release(&v->image_map);
	for (uint32_t i = 0; i < v->real_count; i++)
		free(v->reals[i].have);
	free(v->reals);
	free(v->nodes);
	free(v->moving_of_cell);
	free(v->cell_of_moving);
	free(v->wanted);
	free(v->missed);
	pthread_mutex_destroy(&v->lock);
	free(v);
}

/* Clones the graph, which later changes of the program's graph do not reach. Graphs that cannot be
 * cloned (with memory nodes, conditionals) are not made virtual. */
static bool open_virtual(struct virtual *v, void *exec)
{
	v->reals = calloc(virtual_most_reals, sizeof(*v->reals));
	if (!v->reals || v->vendor->graph_clone(&v->clone, v->graph) != 0) {
		v->clone = NULL;
		return false;
	}
	v->reals[0].handle = exec;
	v->real_count = 1;
	return read_nodes(v);
}

void virtual_make(const struct preload_vendor *vendor, void *exec, void *graph,
		  unsigned long long flags)
{
	struct virtual *v = calloc(1, sizeof(*v));
	int mode;
	bool is_made;

	if (!v)
		return;
	pthread_mutex_init(&v->lock, NULL);
	v->vendor = vendor;
	v->graph = graph;
	v->flags = flags;
	virtual_inner_begin();
	mode = vendor->relax();
	v->device = vendor->device_current();
	is_made = open_virtual(v, exec) && registry_add(exec, v) == 0;
	if (is_made) {
		PRELOAD_COUNT(executables);
	} else {
		if (v->clone)
			vendor->graph_destroy(v->clone);
		else if (vendor->forget_error)
			vendor->forget_error();
		free_virtual(v);
	}
	vendor->unrelax(mode);
	virtual_inner_end();
}

struct virtual *virtual_take_passing(void *exec)
{
	struct virtual *v = virtual_is_on() ? registry_find(exec) : NULL;

	if (!v)
		return NULL;
	pthread_mutex_lock(&v->lock);
	virtual_inner_begin();
	if (!v->is_passing || v->last != 0)
		return v;
	virtual_release(v);
	return NULL;
}

struct virtual *virtual_take(void *exec)
{
	struct virtual *v = virtual_is_on() ? registry_find(exec) : NULL;

	if (!v || atomic_load_explicit(&v->is_passing, memory_order_relaxed))
		return NULL;
	pthread_mutex_lock(&v->lock);
	virtual_inner_begin();
	if (!v->is_passing)
		return v;
	virtual_release(v);
	return NULL;
}

void virtual_release(struct virtual *v)
{
	virtual_inner_end();
	pthread_mutex_unlock(&v->lock);
}

/* ---- sets ---- */

uint64_t image_place_hash(uint32_t moving, uint32_t image)
{
	return image ? hash_mix(moving + 1, image) : 0;
}

void real_set(struct real *real, uint32_t moving, uint32_t image)
{
	real->hash +=
		image_place_hash(moving, image) - image_place_hash(moving, real->have[moving]);
	real->have[moving] = image;
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

	if (v->moving_of_cell[cell] != NOT_MOVING) {
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

static uint64_t cell_hash(uint32_t cell, const void *data, uint32_t bytes)
{
	return hash_mix(hash_bytes(data, bytes), cell);
}

/* Returns the number of the image, or 0. */
static uint32_t find_image(struct virtual *v, uint32_t cell, const void *data, uint32_t bytes)
{
	uint64_t hash = cell_hash(cell, data, bytes);
	struct hash_probe probe;

	if (v->image_count == 0)
		return 0;
	probe = hash_map_probe(&v->image_map, hash);
	while (hash_map_next(&v->image_map, &probe)) {
		const struct image *image = v->images[probe.row];

		if (image->hash == hash && image->cell == cell && image->bytes == bytes &&
		    memcmp(image->data, data, bytes) == 0)
			return probe.row + 1;
	}
	return 0;
}

/* Adds an image, which must not be there. -ENOMEM. */
static int add_image(struct virtual *v, uint32_t cell, const void *data, uint32_t bytes,
		     uint32_t *ret_image)
{
	uint64_t hash = cell_hash(cell, data, bytes);
	struct image *image;
	struct hash_probe probe;

	if (v->image_bytes + bytes > MOST_IMAGE_BYTES || hash_map_reserve(&v->image_map) < 0)
		return -ENOMEM;
	if (v->image_count == v->image_capacity) {
		uint32_t capacity = v->image_capacity ? 2 * v->image_capacity : 64;
		struct image **larger = realloc(v->images, capacity * sizeof(struct image *));

		if (!larger)
			return -ENOMEM;
		v->images = larger;
		v->image_capacity = capacity;
	}
	image = malloc(sizeof(*image) + bytes);
	if (!image)
		return -ENOMEM;
	*image = (struct image){.hash = hash, .cell = cell, .bytes = bytes};
	memcpy(image->data, data, bytes);
	probe = hash_map_probe(&v->image_map, hash);
	while (hash_map_next(&v->image_map, &probe))
		;
	hash_map_put(&v->image_map, &probe, v->image_count);
	v->images[v->image_count++] = image;
	v->image_bytes += sizeof(*image) + bytes;
	*ret_image = v->image_count;
	return 0;
}

static const struct node_pair *find_node(const struct virtual *v, void *node)
{
	struct node_pair key = {.node = node};
	const struct node_pair *found =
		bsearch(&key, v->nodes, v->node_count, sizeof(key), compare_pairs);

	return found && found->copy ? found : NULL;
}

/* The node of a moving cell for a call on REAL: the first real was made of the program's graph. */
static void *node_of(const struct virtual *v, const struct real *real, uint32_t moving)
{
	const struct node_pair *pair = &v->nodes[v->cell_of_moving[moving] / CELL_KINDS];

	return real == v->reals ? pair->node : pair->copy;
}

int real_settle(struct virtual *v, struct real *real)
{
	int err = 0;

	if (real->hash == v->wanted_hash &&
	    (v->moving_count == 0 ||
	     memcmp(real->have, v->wanted, v->moving_count * sizeof(*v->wanted)) == 0))
		return 0;
	for (uint32_t i = 0; err == 0 && i < v->moving_count; i++) {
		if (real->have[i] == v->wanted[i])
			continue;
		PRELOAD_COUNT(driver_sets);
		err = v->vendor->apply(v->images[v->wanted[i] - 1]->data, real->handle,
				       node_of(v, real, i));
		real_set(real, i, err == 0 ? v->wanted[i] : UNKNOWN_IMAGE);
	}
	if (err != 0)
		PRELOAD_COUNT(failures);
	return err;
}

int virtual_settle(struct virtual *v)
{
	return real_settle(v, v->reals);
}

static void drop_clone(struct virtual *v)
{
	int mode = v->vendor->relax();

	if (v->clone && v->vendor->graph_destroy(v->clone) != 0)
		PRELOAD_COUNT(failures);
	v->clone = NULL;
	v->vendor->unrelax(mode);
}

int virtual_dissolve(struct virtual *v, _Atomic uint64_t *cause)
{
	int err = v->is_passing ? 0 : virtual_settle(v);

	if (err != 0 || v->is_passing)
		return err;
	err = virtual_mark_last(v);
	if (err != 0)
		return err;
	atomic_fetch_add_explicit(cause, 1, memory_order_relaxed);
	v->is_passing = true;
	if (v->real_count == 1)
		drop_clone(v);
	return 0;
}

/* Makes the call on the first real, where the driver's own checks decide. */
static int try_image(struct virtual *v, void *node, uint32_t moving, uint32_t number)
{
	struct image *image = v->images[number - 1];
	int err = v->vendor->apply(image->data, v->reals[0].handle, node);

	PRELOAD_COUNT(driver_sets);
	if (err == 0) {
		image->is_accepted = true;
		real_set(v->reals, moving, number);
	} else if (v->wanted[moving]) {
		/* The refused call may have left something behind. */
		real_set(v->reals, moving, UNKNOWN_IMAGE);
	}
	return err;
}

/* What is wanted goes to the first real, then this call. */
static int set_passing(struct virtual *v, _Atomic uint64_t *cause, const void *data, void *node)
{
	int err = virtual_dissolve(v, cause);

	return err ? err : v->vendor->apply(data, v->reals[0].handle, node);
}

int virtual_set(struct virtual *v, void *node, enum cell_kind kind, const void *data,
		uint32_t bytes, bool always)
{
	const struct node_pair *pair = find_node(v, node);
	uint32_t cell, image, moving;
	int err;

	PRELOAD_COUNT(sets);
	if (!pair)
		return set_passing(v, &preload_stats.pass_node, data, node);
	cell = (uint32_t)(pair - v->nodes) * CELL_KINDS + kind;
	image = find_image(v, cell, data, bytes);
	if (make_moving(v, cell, &moving) < 0 ||
	    (!image && add_image(v, cell, data, bytes, &image) < 0))
		return set_passing(v, &preload_stats.pass_memory, data, node);
	/* What the driver says in another context may be something else. */
	always |= v->vendor->device_current() != v->device;
	err = always || !v->images[image - 1]->is_accepted ? try_image(v, node, moving, image) : 0;
	if (err == 0)
		want(v, moving, image);
	return err;
}

/* ---- destroying ---- */

struct virtual *virtual_forget(void *exec)
{
	return virtual_is_on() ? registry_remove(exec) : NULL;
}

int virtual_destroy(struct virtual *v, void *exec, int (*destroy)(void *exec))
{
	uintptr_t before;
	int mode, err;

	virtual_inner_begin();
	err = destroy(exec);
	if (err != 0) {
		if (registry_add(exec, v) < 0)
			PRELOAD_COUNT(failures);
		virtual_inner_end();
		return err;
	}
	mode = v->vendor->relax();
	before = v->vendor->device_enter(v->device);
	for (uint32_t i = 1; i < v->real_count; i++)
		if (v->vendor->exec_destroy(v->reals[i].handle) != 0)
			PRELOAD_COUNT(failures);
	if (v->event && v->vendor->event_destroy(v->event) != 0)
		PRELOAD_COUNT(failures);
	v->vendor->device_leave(before);
	v->vendor->unrelax(mode);
	drop_clone(v);
	virtual_inner_end();
	free_virtual(v);
	return 0;
}

/* ---- what the program destroys ---- */

static void forget_graph(struct virtual *v, void *graph)
{
	/* Unlocked: an executable is not used while the graph that it was made of is destroyed,
	 * unless the driver allows it; the pointer does not change. */
	if (v->graph != graph)
		return;
	pthread_mutex_lock(&v->lock);
	virtual_inner_begin();
	/* Its nodes can no longer be named, and their handles may be used again. */
	v->graph = NULL;
	if (virtual_dissolve(v, &preload_stats.pass_graph) != 0)
		PRELOAD_COUNT(failures);
	virtual_release(v);
}

void virtual_graph_gone(void *graph)
{
	if (virtual_is_on())
		registry_each(forget_graph, graph);
}

static void forget_node(struct virtual *v, void *node)
{
	struct node_pair key = {.node = node};
	struct node_pair *pair;

	pthread_mutex_lock(&v->lock);
	virtual_inner_begin();
	pair = bsearch(&key, v->nodes, v->node_count, sizeof(key), compare_pairs);
	/* What is noted for it goes to the first real now; later calls on it are the driver's. */
	if (pair && pair->copy) {
		if (virtual_dissolve(v, &preload_stats.pass_graph) != 0)
			PRELOAD_COUNT(failures);
		pair->copy = NULL;
	}
	virtual_release(v);
}

void virtual_node_gone(void *node)
{
	if (virtual_is_on())
		registry_each(forget_node, node);
}

static void forget_stream(struct virtual *v, void *stream)
{
	pthread_mutex_lock(&v->lock);
	virtual_inner_begin();
	if (v->last_is_open && v->last_stream.stream == stream) {
		virtual_leave_stream(v);
		v->last_is_open = false;
	}
	virtual_release(v);
}

void virtual_stream_gone(void *stream)
{
	if (virtual_is_on())
		registry_each(forget_stream, stream);
}

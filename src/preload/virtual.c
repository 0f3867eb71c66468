/* Virtual executables: making and destroying them, passing through. Images are in virtual_image.c,
 * calls that set nodes in virtual_note.c, launches in virtual_launch.c. */
#include "preload/virtual.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

enum {
	MOST_NODES = UINT32_MAX / 4 / CELL_KINDS, /* of one graph with its child graphs */
	MOST_LEVELS = 32,			  /* of child graphs */
};

static _Atomic bool is_on;
static __thread uint32_t inner __attribute__((tls_model("initial-exec")));

void virtual_configure(const struct virtual_limits *limits, bool on)
{
	virtual_limits = *limits;
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

/* Order of struct node_pair. */
static int compare_pairs(const void *a, const void *b)
{
	uintptr_t left = (uintptr_t)((const struct node_pair *)a)->node;
	uintptr_t right = (uintptr_t)((const struct node_pair *)b)->node;

	return left < right ? -1 : left > right;
}

const struct node_pair *virtual_find_node(const struct virtual *v, void *node)
{
	struct node_pair key = {.node = node};

	return bsearch(&key, v->nodes, v->node_count, sizeof(key), compare_pairs);
}

/* Lists the nodes of a graph into v->nodes, and those of its child graphs. */
static bool list_nodes(struct virtual *v, void *graph, void *clone, void *parent, uint32_t level);

static bool list_node(struct virtual *v, void *node, void *copy, void *parent, uint32_t level)
{
	uint32_t type, copy_type, capacity = v->node_capacity ? 2 * v->node_capacity : 32;
	void *child, *copy_child;

	if (v->vendor->node_type(node, &type, &child) != 0 ||
	    v->vendor->node_type(copy, &copy_type, &copy_child) != 0 || type != copy_type)
		return false;
	if (v->node_count == v->node_capacity) {
		struct node_pair *larger = realloc(v->nodes, capacity * sizeof(*larger));

		if (!larger)
			return false;
		v->nodes = larger;
		v->node_capacity = capacity;
	}
	v->nodes[v->node_count++] = (struct node_pair){node, copy, parent, 0};
	return !child || list_nodes(v, child, copy_child, node, level + 1);
}

static bool list_nodes(struct virtual *v, void *graph, void *clone, void *parent, uint32_t level)
{
	size_t count = 0, copy_count = 0;
	bool is_listed = level < MOST_LEVELS && v->vendor->graph_nodes(graph, NULL, &count) == 0 &&
			 v->vendor->graph_nodes(clone, NULL, &copy_count) == 0 &&
			 count == copy_count && count < MOST_NODES - v->node_count;
	void **nodes = is_listed ? calloc(2 * count + 1, sizeof(*nodes)) : NULL;

	is_listed = nodes && (count == 0 ||
			      (v->vendor->graph_nodes(graph, nodes, &count) == 0 &&
			       v->vendor->graph_nodes(clone, nodes + count, &copy_count) == 0 &&
			       count == copy_count));
	for (size_t i = 0; is_listed && i < count; i++)
		is_listed = list_node(v, nodes[i], nodes[count + i], parent, level);
	free(nodes);
	return is_listed;
}

/* False: no memory, or the driver does not list the same nodes of both graphs. */
static bool read_nodes(struct virtual *v)
{
	size_t bytes;

	if (!list_nodes(v, v->graph, v->clone, NULL, 0) || v->node_count == 0)
		return false;
	bytes = v->node_count * CELL_KINDS * sizeof(*v->moving_of_cell);
	v->moving_of_cell = malloc(bytes);
	if (!v->moving_of_cell)
		return false;
	memset(v->moving_of_cell, 0xff, bytes);
	qsort(v->nodes, v->node_count, sizeof(*v->nodes), compare_pairs);
	return true;
}

static void free_virtual(struct virtual *v)
{
	virtual_count_sets(v);
	virtual_free_images(v);
	for (uint32_t i = 0; i < v->real_count; i++)
		free(v->reals[i].have);
	free(v->reals);
	free(v->nodes);
	free(v->moving_of_cell);
	free(v->cell_of_moving);
	free(v->wanted);
	free(v->missed);
	free(v->seen);
	hash_map_release(&v->seen_map);
	free(v->scratch.at);
	virtual_sets_destroy(v);
	pthread_mutex_destroy(&v->lock);
	free(v);
}

/* Clones the graph, which later changes of the program's graph do not reach. Graphs that cannot be
 * cloned (with memory nodes, conditionals) are not made virtual. */
static bool open_virtual(struct virtual *v, void *exec)
{
	v->reals = calloc(virtual_limits.reals, sizeof(*v->reals));
	if (!v->reals || v->vendor->graph_clone(&v->clone, v->graph) != 0) {
		v->clone = NULL;
		return false;
	}
	if (virtual_limits.is_advising && virtual_sets_create(v) < 0)
		return false;
	v->reals[0].handle = exec;
	v->real_count = 1;
	v->most_by_chance = FIRST_REALS;
	v->costs.making_calls = virtual_limits.making_calls;
	v->costs.note_percent = virtual_limits.note_percent;
	v->costs.switch_percent = 100 * (uint64_t)virtual_limits.switch_calls;
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
	mode = vendor_relax(vendor);
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
	vendor_unrelax(vendor, mode);
	virtual_inner_end();
}

struct virtual *virtual_take_passing(void *exec)
{
	struct virtual *v = virtual_is_on() ? registry_find(exec) : NULL;

	if (!v || atomic_load_explicit(&v->is_through, memory_order_relaxed))
		return NULL;
	pthread_mutex_lock(&v->lock);
	virtual_inner_begin();
	if (!v->is_through)
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

/* ---- passing through ---- */

static void drop_clone(struct virtual *v)
{
	int mode = vendor_relax(v->vendor);

	if (v->clone && v->vendor->graph_destroy(v->clone) != 0)
		PRELOAD_COUNT(failures);
	v->clone = NULL;
	vendor_unrelax(v->vendor, mode);
}

int virtual_dissolve(struct virtual *v, _Atomic uint64_t *cause, const char *call)
{
	int err = v->is_passing ? 0 : virtual_settle(v);

	virtual_count_sets(v);
	if (err != 0 || v->is_passing)
		return err;
	err = virtual_mark_last(v);
	if (err != 0)
		return err;
	atomic_fetch_add_explicit(cause, 1, memory_order_relaxed);
	preload_stats.passed_by = call;
	v->is_passing = true;
	v->is_through = v->last == 0;
	if (v->real_count == 1)
		drop_clone(v);
	return 0;
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
	mode = vendor_relax(v->vendor);
	before = vendor_enter(v->vendor, v->device);
	for (uint32_t i = 1; i < v->real_count; i++)
		if (v->vendor->exec_destroy(v->reals[i].handle) != 0)
			PRELOAD_COUNT(failures);
	if (v->event && v->vendor->event_destroy(v->event) != 0)
		PRELOAD_COUNT(failures);
	vendor_leave(v->vendor, before);
	vendor_unrelax(v->vendor, mode);
	drop_clone(v);
	free_virtual(v);
	virtual_inner_end();
	return 0;
}

/* ---- what the program destroys ---- */

/* What virtual_functions_end was called with. */
struct ending {
	const struct preload_vendor *vendor;
	void *module;
};

static bool names_ending(const struct virtual *v, const struct ending *ending)
{
	bool is_named = !ending->module || !v->vendor->may_name;

	for (uint32_t i = 0; !is_named && i < v->node_count; i++)
		is_named = v->vendor->may_name(v->nodes[i].copy, ending->module);
	return is_named;
}

static void stop_making(struct virtual *v, void *user)
{
	const struct ending *ending = user;

	if (v->vendor != ending->vendor)
		return;
	pthread_mutex_lock(&v->lock);
	virtual_inner_begin();
	if (v->clone && !v->is_passing && !v->is_full)
		v->is_full = names_ending(v, ending);
	virtual_release(v);
}

void virtual_functions_end(const struct preload_vendor *vendor, void *module)
{
	struct ending ending = {vendor, module};

	registry_each(stop_making, &ending);
}

static void wait_for(struct virtual *v, void *unused)
{
	pthread_mutex_lock(&v->lock);
	pthread_mutex_unlock(&v->lock);
}

void virtual_synchronize(void)
{
	registry_each(wait_for, NULL);
}

struct layout_hint *virtual_hint(struct virtual *v, const void *function)
{
	return &v->hints[(uint32_t)(hash_mix((uintptr_t)function, 0) >> 32) & (LAYOUT_HINTS - 1)];
}

/* As virtual_dissolve, for a call that does not name the executable: the program may make it while
 * another device is current, or none. */
static void dissolve_elsewhere(struct virtual *v, _Atomic uint64_t *cause, const char *call)
{
	uintptr_t before = vendor_enter(v->vendor, v->device);

	if (virtual_dissolve(v, cause, call) != 0)
		PRELOAD_COUNT(failures);
	vendor_leave(v->vendor, before);
}

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
	dissolve_elsewhere(v, &preload_stats.pass_graph, "GraphDestroy");
	virtual_release(v);
}

void virtual_graph_gone(void *graph)
{
	if (virtual_is_on())
		registry_each(forget_graph, graph);
}

static void forget_node(struct virtual *v, void *node)
{
	pthread_mutex_lock(&v->lock);
	virtual_inner_begin();
	/* What is noted for it goes to the first real now; later calls on it are the driver's. */
	if (virtual_find_node(v, node))
		dissolve_elsewhere(v, &preload_stats.pass_graph, "GraphDestroyNode");
	virtual_release(v);
}

void virtual_node_gone(void *node)
{
	if (virtual_is_on())
		registry_each(forget_node, node);
}

/* What virtual_pass_all was called with. */
struct passing {
	const struct preload_vendor *vendor;
	const char *call;
};

static void pass(struct virtual *v, void *user)
{
	const struct passing *passing = user;

	if (v->vendor != passing->vendor)
		return;
	pthread_mutex_lock(&v->lock);
	virtual_inner_begin();
	if (!v->is_passing)
		dissolve_elsewhere(v, &preload_stats.pass_call, passing->call);
	virtual_release(v);
}

void virtual_pass_all(const struct preload_vendor *vendor, const char *call)
{
	struct passing passing = {vendor, call};

	registry_each(pass, &passing);
}

static void forget_stream(struct virtual *v, void *stream)
{
	pthread_mutex_lock(&v->lock);
	virtual_inner_begin();
	if (v->last_is_open && v->last_stream.stream == stream) {
		uintptr_t before = vendor_enter(v->vendor, v->device);

		virtual_leave_stream(v);
		vendor_leave(v->vendor, before);
		v->last_is_open = false;
	}
	virtual_release(v);
}

void virtual_stream_gone(void *stream)
{
	if (virtual_is_on())
		registry_each(forget_stream, stream);
}

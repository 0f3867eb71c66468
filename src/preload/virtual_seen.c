/* Child graphs that were noted. */
#include <stdlib.h>

#include "base/hash.h"
#include "preload/virtual.h"

static uint64_t seen_hash(const void *node, const void *graph)
{
	return hash_mix((uintptr_t)node, (uintptr_t)graph);
}

struct seen_child *virtual_seen(const struct virtual *v, const void *node, const void *graph)
{
	struct hash_probe probe;

	if (v->seen_count == 0)
		return NULL;
	probe = hash_map_probe(&v->seen_map, seen_hash(node, graph));
	while (hash_map_next(&v->seen_map, &probe))
		if (v->seen[probe.row].node == node && v->seen[probe.row].graph == graph)
			return &v->seen[probe.row];
	return NULL;
}

void virtual_forget_seen(struct virtual *v)
{
	hash_map_clear(&v->seen_map);
	v->seen_count = 0;
}

/* Returns a free slot, or NULL: no memory. */
static struct seen_child *add_seen(struct virtual *v, const struct seen_child *seen)
{
	uint32_t capacity = v->seen_capacity ? 2 * v->seen_capacity : 16;
	struct hash_probe probe;

	if (v->seen_count == SEEN_CHILDREN)
		virtual_forget_seen(v);
	if (v->seen_count == v->seen_capacity) {
		struct seen_child *larger = realloc(v->seen, capacity * sizeof(*larger));

		if (!larger)
			return NULL;
		v->seen = larger;
		v->seen_capacity = capacity;
	}
	if (hash_map_reserve(&v->seen_map) < 0)
		return NULL;
	probe = hash_map_probe(&v->seen_map, seen_hash(seen->node, seen->graph));
	while (hash_map_next(&v->seen_map, &probe))
		;
	hash_map_put(&v->seen_map, &probe, v->seen_count);
	return &v->seen[v->seen_count++];
}

void virtual_remember(struct virtual *v, const struct seen_child *seen, uint32_t image)
{
	struct seen_child *slot = virtual_seen(v, seen->node, seen->graph);

	if (!slot)
		slot = add_seen(v, seen);
	if (!slot)
		return;
	*slot = *seen;
	slot->image = image;
}

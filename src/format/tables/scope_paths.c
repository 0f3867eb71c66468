/* Which scopes have the same path: those with the same texts and parents of the same path. */
#include "format/tables/scope_paths.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/hash.h"

/* Of the scopes that were seen, the first of each path, at a place that follows from its hash. */
struct paths {
	const struct trace *trace;
	uint32_t *first; /* by scope */
	uint32_t *slots; /* the index of a scope + 1; 0 = free. Less than half of them are used. */
	uint64_t mask;	 /* the number of slots - 1 */
};

static uint32_t path_of_parent(const struct paths *paths, uint32_t scope)
{
	uint32_t parent = paths->trace->scopes[scope].parent;

	return parent < scope ? paths->first[parent] : parent;
}

static bool is_same(const struct paths *paths, uint32_t a, uint32_t b)
{
	const struct trace_scope *x = &paths->trace->scopes[a], *y = &paths->trace->scopes[b];

	return x->text == y->text && x->name == y->name &&
	       path_of_parent(paths, a) == path_of_parent(paths, b);
}

/* The first scope with the path of SCOPE, which may be SCOPE itself. */
static uint32_t find_first(struct paths *paths, uint32_t scope)
{
	const struct trace_scope *row = &paths->trace->scopes[scope];
	uint64_t texts = (uint64_t)row->text << 32 | row->name;
	uint64_t slot = hash_mix(texts, path_of_parent(paths, scope));

	for (;; slot++) {
		uint32_t *place = &paths->slots[slot & paths->mask];

		if (!*place)
			*place = scope + 1;
		if (is_same(paths, *place - 1, scope))
			return *place - 1;
	}
}

int scope_paths_find(const struct trace *trace, uint32_t **ret_first)
{
	struct paths paths = {.trace = trace, .mask = 1};

	while (paths.mask < 2 * (uint64_t)trace->scopes_count)
		paths.mask = 2 * paths.mask + 1;
	paths.first = malloc((trace->scopes_count + (size_t)1) * sizeof(uint32_t));
	paths.slots = calloc(paths.mask + 1, sizeof(uint32_t));
	if (!paths.first || !paths.slots) {
		free(paths.first);
		free(paths.slots);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < trace->scopes_count; i++)
		paths.first[i] = find_first(&paths, i);
	free(paths.slots);
	*ret_first = paths.first;
	return 0;
}

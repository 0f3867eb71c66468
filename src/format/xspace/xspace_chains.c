/* Groups scopes into chains with equal names and attributes, and encodes a chain's stats. */
#include "format/xspace/xspace_chains.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "trace/row_table.h"

/* The chain is being looked up. Meeting such a scope again means that parents form a cycle; the
 * chain ends there. */
#define OPEN	UINT32_MAX
/* The chain has not been looked up yet. */
#define UNKNOWN (UINT32_MAX - 1)

static const struct trace_scope_attribute *attributes_of(const struct trace *trace,
							 const struct trace_scope *scope)
{
	return scope->attribute_count ? trace->scope_attributes + scope->attribute_first : NULL;
}

static uint64_t hash_scope(const struct xspace_chains *chains, uint32_t parent,
			   const struct trace_scope *scope)
{
	const struct trace_scope_attribute *attributes = attributes_of(chains->trace, scope);
	uint64_t hash = hash_mix(hash_mix(parent, scope->name), scope->kind);

	for (uint32_t i = 0; i < scope->attribute_count; i++) {
		hash = hash_mix(hash, (uint64_t)attributes[i].kind << 32 | attributes[i].key);
		hash = hash_mix(hash, attributes[i].kind == RECORD_ATTRIBUTE_TEXT
					      ? attributes[i].value.text
					      : attributes[i].value.uint64);
	}
	return hash;
}

static bool same_value(const struct trace_scope_attribute *a, const struct trace_scope_attribute *b)
{
	if (a->kind != b->kind || a->key != b->key)
		return false;
	return a->kind == RECORD_ATTRIBUTE_TEXT ? a->value.text == b->value.text
						: a->value.uint64 == b->value.uint64;
}

static bool same_scope(const struct trace *trace, const struct trace_scope *a,
		       const struct trace_scope *b)
{
	if (a->name != b->name || a->kind != b->kind || a->attribute_count != b->attribute_count)
		return false;
	if (a->attribute_first == b->attribute_first)
		return true;
	for (uint32_t i = 0; i < a->attribute_count; i++) {
		if (!same_value(&attributes_of(trace, a)[i], &attributes_of(trace, b)[i]))
			return false;
	}
	return true;
}

/* The chain of scope NUMBER inside chain PARENT; 0 if there is no memory. */
static uint32_t intern(struct xspace_chains *chains, uint32_t parent, uint32_t number)
{
	const struct trace_scope *scope = &chains->trace->scopes[number];
	struct xspace_chain *row;
	struct hash_probe probe;

	if (hash_map_reserve(&chains->map) < 0)
		return 0;
	probe = hash_map_probe(&chains->map, hash_scope(chains, parent, scope));
	while (hash_map_next(&chains->map, &probe)) {
		row = &chains->rows[probe.row];
		if (row->parent == parent &&
		    same_scope(chains->trace, &chains->trace->scopes[row->scope], scope))
			return probe.row;
	}
	row = table_add((void **)&chains->rows, &chains->rows_count, sizeof(*row));
	if (!row)
		return 0;
	*row = chains->rows[parent];
	row->parent = parent;
	row->scope = number;
	if (parent == 0)
		row->root = number;
	if (scope->kind == RECORD_SCOPE_ROCTX)
		row->roctx = number;
	if (scope->attribute_count)
		row->attribute = chains->rows_count - 1;
	hash_map_put(&chains->map, &probe, chains->rows_count - 1);
	return chains->rows_count - 1;
}

static int resolve_one(struct xspace_chains *chains, uint32_t number, uint32_t parent)
{
	uint32_t *chain = &chains->of_scope[number];

	*chain = parent;
	if (!xspace_scope_annotates(&chains->trace->scopes[number]))
		return 0;
	*chain = intern(chains, parent, number);
	return *chain ? 0 : -ENOMEM;
}

/* Finds the chain of scope NUMBER and of all its parents. PATH is the caller's memory with room
 * for all scopes. Parents mostly have smaller indices, so PATH rarely holds more than NUMBER. */
static int resolve(struct xspace_chains *chains, uint32_t number, uint32_t *path)
{
	const struct trace_scope *scopes = chains->trace->scopes;
	uint32_t at = number;
	uint32_t depth = 0;
	int err = 0;

	while (at != TRACE_NONE && chains->of_scope[at] == UNKNOWN) {
		chains->of_scope[at] = OPEN;
		path[depth++] = at;
		at = scopes[at].parent;
	}
	if (at != TRACE_NONE && chains->of_scope[at] == OPEN)
		at = TRACE_NONE;
	while (depth > 0 && !err) {
		depth--;
		err = resolve_one(chains, path[depth], xspace_chains_find(chains, at));
		at = path[depth];
	}
	return err;
}

/* True if ids ascend over all processes, so that no two processes share one. Scopes are sorted by
 * (process, id). */
static bool have_own_ids(const struct trace *trace)
{
	for (uint32_t i = 1; i < trace->scopes_count; i++) {
		if (trace->scopes[i].process != trace->scopes[i - 1].process &&
		    trace->scopes[i].id <= trace->scopes[i - 1].id)
			return false;
	}
	return true;
}

static int resolve_all(struct xspace_chains *chains)
{
	uint32_t count = chains->trace->scopes_count;
	uint32_t *path = table_alloc(count, sizeof(*path));
	bool own_ids = have_own_ids(chains->trace);
	int err = 0;

	if (!path)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		chains->ids[i] = own_ids ? chains->trace->scopes[i].id : (uint64_t)i + 1;
		chains->of_scope[i] = UNKNOWN;
	}
	for (uint32_t i = 0; i < count && !err; i++)
		err = resolve(chains, i, path);
	free(path);
	return err;
}

static bool is_allowed(const struct trace *trace, trace_string key)
{
	static const bool of_annotations[XSPACE_STAT_END] = {
		[XSPACE_STAT_HLO_OP] = true,
		[XSPACE_STAT_HLO_MODULE] = true,
		[XSPACE_STAT_PROGRAM_ID] = true,
		[XSPACE_STAT_STEP_NUM] = true,
	};
	const char *text = trace_text(trace, key);

	if (text[0] == '\0')
		return false;
	for (unsigned stat = 1; stat <= XSPACE_STAT_SCOPE_OPEN; stat++) {
		if (!of_annotations[stat] && strcmp(text, xspace_stat_name(stat)) == 0)
			return false;
	}
	return true;
}

static int find_allowed(struct xspace_chains *chains)
{
	const struct trace *trace = chains->trace;
	bool *seen = calloc(trace->strings_count, sizeof(*seen));
	int err;

	chains->allowed = calloc(trace->strings_count, sizeof(*chains->allowed));
	err = seen && chains->allowed ? 0 : -ENOMEM;
	for (uint32_t i = 0; !err && i < trace->scope_attributes_count; i++) {
		trace_string key = trace->scope_attributes[i].key;

		if (!seen[key])
			chains->allowed[key] = is_allowed(trace, key);
		seen[key] = true;
	}
	free(seen);
	return err;
}

int xspace_chains_init(struct xspace_chains *chains, const struct trace *trace)
{
	struct xspace_chain *empty;
	int err = -ENOMEM;

	*chains = (struct xspace_chains){.trace = trace};
	chains->ids = table_alloc(trace->scopes_count, sizeof(*chains->ids));
	chains->of_scope = table_alloc(trace->scopes_count, sizeof(*chains->of_scope));
	empty = table_add((void **)&chains->rows, &chains->rows_count, sizeof(*empty));
	if (chains->ids && chains->of_scope && empty) {
		*empty = (struct xspace_chain){.roctx = TRACE_NONE};
		err = find_allowed(chains);
		if (!err)
			err = resolve_all(chains);
	}
	if (err)
		xspace_chains_release(chains);
	return err;
}

void xspace_chains_release(struct xspace_chains *chains)
{
	free(chains->ids);
	free(chains->of_scope);
	free(chains->rows);
	hash_map_release(&chains->map);
	free(chains->allowed);
	*chains = (struct xspace_chains){0};
}

struct keys {
	trace_string seen[XSPACE_KEYS_MAX];
	unsigned count;
};

static bool add_key(struct keys *keys, trace_string key)
{
	for (unsigned i = 0; i < keys->count; i++) {
		if (keys->seen[i] == key)
			return false;
	}
	if (keys->count == XSPACE_KEYS_MAX)
		return false;
	keys->seen[keys->count++] = key;
	return true;
}

/* Adds the attributes of one scope. Of equal keys the later attribute counts. */
static void put_scope(const struct xspace_chains *chains, const struct trace_scope *scope,
		      struct keys *keys, struct xspace_stats *stats)
{
	const struct trace_scope_attribute *attributes = attributes_of(chains->trace, scope);

	for (uint32_t i = scope->attribute_count; i-- > 0;) {
		if (xspace_chains_allow(chains, attributes[i].key) &&
		    add_key(keys, attributes[i].key))
			xspace_put_attribute(stats, chains->trace, &attributes[i]);
	}
}

void xspace_chains_put(const struct xspace_chains *chains, uint32_t chain,
		       struct xspace_stats *stats)
{
	const struct trace *trace = chains->trace;
	const struct xspace_chain *row = &chains->rows[chain];
	struct keys keys = {.count = 0};
	if (chain == 0)
		return;
	if (trace->scopes[row->root].name)
		xspace_put_string(stats, XSPACE_STAT_TF_OP, trace, trace->scopes[row->root].name);
	if (row->roctx != TRACE_NONE)
		xspace_put_string(stats, XSPACE_STAT_NVTX_RANGE, trace,
				  trace->scopes[row->roctx].name);
	for (chain = row->attribute; chain && keys.count < XSPACE_KEYS_MAX;
	     chain = chains->rows[chains->rows[chain].parent].attribute)
		put_scope(chains, &trace->scopes[chains->rows[chain].scope], &keys, stats);
}

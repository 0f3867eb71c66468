/* What is said about an event by the annotations around it: a chain of scopes, outermost to
 * innermost. Scopes with the same names and attributes all the way up are the same chain, so what
 * a chain comes to is worked out once for each and plane, not for each event.
 *
 * Steps, ranges and marks annotate nothing: a chain goes through them. */
#ifndef DAGTAP_FORMAT_XSPACE_CHAINS_H
#define DAGTAP_FORMAT_XSPACE_CHAINS_H

#include <stdint.h>

#include "format/xspace/xspace_plane.h"
#include "trace/model.h"

/* A stack's scopes but steps, which are marks in time and say nothing about work. */
static inline bool xspace_scope_annotates(const struct trace_scope *scope)
{
	return scope->kind == RECORD_SCOPE_DAGTAP || scope->kind == RECORD_SCOPE_ROCTX ||
	       scope->kind == RECORD_SCOPE_NVTX;
}

/* Has a parent in the scope tree. XProf takes the root's id for a module's run: were a step the
 * root, all runs within it would be one. */
static inline bool xspace_scope_in_tree(const struct trace *trace, const struct trace_scope *scope)
{
	return scope->parent != TRACE_NONE && xspace_scope_annotates(scope) &&
	       xspace_scope_annotates(&trace->scopes[scope->parent]) &&
	       !xspace_scope_is_numbered(scope->id) &&
	       !xspace_scope_is_numbered(trace->scopes[scope->parent].id);
}

/* More keys than this on one event are no annotation; the innermost ones count. */
#define XSPACE_KEYS_MAX 64

/* Chain 0 is the empty one. */
struct xspace_chain {
	uint32_t parent;
	uint32_t scope; /* one of its innermost scopes */
	uint32_t root;	/* outermost scope */
	uint32_t roctx; /* innermost scope of that kind, TRACE_NONE if there is none */
	uint32_t
		attribute; /* nearest chain, itself included, that has attributes of its own; or 0 */
	uint32_t next;	   /* in its slot of the hash table */
};

/* All that most events need to know of their scope, in a quarter of a cache line. */
struct xspace_scope_ref {
	uint64_t id; /* in the file */
	uint32_t chain;
};

struct xspace_chains {
	const struct trace *trace;
	struct xspace_scope_ref *of_scope;
	struct xspace_chain *rows;
	uint32_t rows_count;
	uint32_t *slots;
	uint32_t slots_count; /* a power of two */
	bool *allowed;	      /* by string, of keys: xspace_chains_allow */
};

/* 0 or -ENOMEM. */
int xspace_chains_init(struct xspace_chains *chains, const struct trace *trace);
void xspace_chains_release(struct xspace_chains *chains);

static inline uint32_t xspace_chains_find(const struct xspace_chains *chains, uint32_t scope)
{
	return scope == TRACE_NONE ? 0 : chains->of_scope[scope].chain;
}

/* tf_op, nvtx_range, and every key of the chain with its innermost value. */
void xspace_chains_put(const struct xspace_chains *chains, uint32_t chain,
		       struct xspace_stats *stats);

/* If annotations may say this: not if the writer says it of the event itself. */
static inline bool xspace_chains_allow(const struct xspace_chains *chains, trace_string key)
{
	return chains->allowed[key];
}

#endif

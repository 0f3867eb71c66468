/* What the scopes around an event say about it: a chain of scopes from the outermost to the
 * innermost. Two scopes whose names, kinds and attributes agree all the way up share one chain, so
 * the stats of a chain are encoded once for each plane and not for each event.
 *
 * Steps, ranges and marks do not annotate events; they are not part of a chain. Threading: one
 * thread at a time. */
#ifndef DAGTAP_FORMAT_XSPACE_CHAINS_H
#define DAGTAP_FORMAT_XSPACE_CHAINS_H

#include <stdint.h>

#include "base/hash_map.h"
#include "format/xspace/xspace_plane.h"
#include "trace/trace_model.h"

/* True for scopes of a thread's stack, except steps, which mark an interval of time and say
 * nothing about an activity. */
static inline bool xspace_scope_annotates(const struct trace_scope *scope)
{
	return scope->kind == RECORD_SCOPE_DAGTAP || scope->kind == RECORD_SCOPE_ROCTX ||
	       scope->kind == RECORD_SCOPE_NVTX;
}

/* True if the scope has a parent in the scope tree of the file. A step is never a parent there:
 * XProf takes the id of a root for one run of a module, so with a step as the root all runs inside
 * of it would be one. */
static inline bool xspace_scope_in_tree(const struct trace *trace, const struct trace_scope *scope)
{
	return scope->parent != TRACE_NONE && xspace_scope_annotates(scope) &&
	       xspace_scope_annotates(&trace->scopes[scope->parent]) &&
	       !xspace_scope_is_numbered(scope->id) &&
	       !xspace_scope_is_numbered(trace->scopes[scope->parent].id);
}

/* The most attributes that an event gets from its scopes; the innermost scopes' come first. */
#define XSPACE_KEYS_MAX 64

/* A chain. Chain 0 is the empty one. */
struct xspace_chain {
	uint32_t parent; /* the chain without the innermost scope */
	uint32_t scope;	 /* a scope that has this chain, an index into trace.scopes */
	uint32_t root;	 /* the outermost scope */
	uint32_t roctx;	 /* the innermost RECORD_SCOPE_ROCTX scope, or TRACE_NONE */
	/* the nearest chain upwards, itself included, whose innermost scope has attributes; 0 =
	 * none */
	uint32_t attribute;
};

struct xspace_chains {
	const struct trace *trace;
	/* by index into trace.scopes; owned, as all arrays here */
	uint64_t *ids;	    /* the scope's id in the file */
	uint32_t *of_scope; /* index into rows */
	struct xspace_chain *rows;
	uint32_t rows_count;
	struct hash_map map; /* of the rows but chain 0 */
	bool *allowed;	     /* by trace_string: xspace_chains_allow */
};

/* Builds the chains of all scopes of TRACE, which must outlive CHAINS. Returns 0 or -ENOMEM; then
 * nothing is left to release. A cycle among parents ends the chain. */
int xspace_chains_init(struct xspace_chains *chains, const struct trace *trace);

/* Frees the arrays. Accepts a zeroed or released struct. */
void xspace_chains_release(struct xspace_chains *chains);

/* The chain of SCOPE, an index into trace.scopes; 0 for TRACE_NONE. */
static inline uint32_t xspace_chains_find(const struct xspace_chains *chains, uint32_t scope)
{
	return scope == TRACE_NONE ? 0 : chains->of_scope[scope];
}

/* Appends the stats of a chain to STATS: tf_op, nvtx_range, and every attribute key with the value
 * of the innermost scope that has it. */
void xspace_chains_put(const struct xspace_chains *chains, uint32_t chain,
		       struct xspace_stats *stats);

/* True if a scope attribute with this key may become a stat: false for stats that the writer gives
 * to the event itself. */
static inline bool xspace_chains_allow(const struct xspace_chains *chains, trace_string key)
{
	return chains->allowed[key];
}

#endif

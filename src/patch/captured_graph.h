/* Work that is recaptured, and the graphs that were captured of it (captured_graph.c). */
#ifndef DAGPATCH_PATCH_CAPTURED_GRAPH_H
#define DAGPATCH_PATCH_CAPTURED_GRAPH_H

#include <stdatomic.h>

#include "patch/driver.h"

struct cache_key;
struct cache_name;
struct dagpatch_cache;
struct dagpatch_context;

/* A graph captured at certain addresses. Shared by a cache and recordings. */
struct captured_graph {
	_Atomic uint32_t references;
	struct patch_device *device;
	struct driver_graph *graph;
	/* Number of the vote after which it was captured: graphs that ranks captured together have
	 * the same tag. */
	uint64_t tag;
	/* Where graphs are flattened: the nodes of GRAPH, without handles. NULL: some of them
	 * cannot be read. */
	struct dagpatch_recording *content;
	bool has_priorities; /* a kernel in it has a priority other than 0 */
};

/* A child that is recaptured when its addresses change. */
struct recapture {
	dagpatch_capture_fn record;
	void *user;
	struct dagpatch_cache *cache; /* may be NULL */
	/* name of the work in CACHE; shared by copies in other recordings */
	struct cache_name *name;
	uint32_t node; /* number of the child node */
	uint32_t slot_count;
	/* slots of the recording, and offsets in them, in the callback's order */
	uint32_t *slots;
	uint64_t *offsets;
	struct captured_graph *current; /* what the executable graph contains; NULL: nothing yet */
	/* what it shall contain; set only during an apply or launch */
	struct captured_graph *next;
	struct cache_key *next_key; /* key of NEXT, if NEXT is to be put into the cache */
	/* Where graphs are flattened: handles of the nodes of CURRENT in the built graph. While a
	 * graph is built, MADE_HANDLES are those in the new graph; when build has returned, those
	 * in the replaced graph. NULL: the work is a child of the graph. */
	struct driver_node **handles, **made_handles;
};

/* Makes an empty recording for the nodes of a captured graph, to be filled by one capture_append.
 * It is not in the context's list, holds no reference to the context and cannot be built. NULL: no
 * memory. */
struct dagpatch_recording *captured_content_create(struct dagpatch_context *context);

/* Does not destroy the graph that content->source names. NULL is allowed. */
void captured_content_destroy(struct dagpatch_recording *content);

/* Releases one reference; the last one destroys the graph. NULL is allowed. */
void captured_graph_release(struct captured_graph *graph);

#endif

/* Caches of captured graphs, and the votes of ranks (cache.c). */
#ifndef DAGPATCH_PATCH_CACHE_H
#define DAGPATCH_PATCH_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include <dagpatch/dagpatch.h>

struct cache_key;
struct captured_graph;

/* Adds and releases a reference; the last one destroys the cache. The caller of
 * dagpatch_cache_create has one, and so has each name. Any thread. */
void cache_retain(struct dagpatch_cache *cache);
void cache_release(struct dagpatch_cache *cache);

/* The name of a work in a cache, without addresses: the caller's key, or a number for the call
 * that added the work. */
struct cache_name;

/* Allocated by malloc; NULL: no memory. cache_name_copy adds a reference to the same name. When
 * the last reference to a name without a key is released, its captured graphs leave the cache. */
struct cache_name *cache_name_create(struct dagpatch_cache *cache,
				     const struct dagpatch_capture *capture);
struct cache_name *cache_name_copy(struct cache_name *name); /* NULL is allowed */
void cache_name_release(struct cache_name *name);	     /* NULL is allowed */

/* A name with addresses, by malloc; the caller frees it, or cache_put takes it. NULL: no memory. */
struct cache_key *cache_key_create(const struct cache_name *name, const uint64_t *addresses,
				   uint32_t count);

/* Returns the captured graph with a new reference for the caller, or NULL. Any thread. */
struct captured_graph *cache_find(struct dagpatch_cache *cache, const struct cache_key *key);

/* Takes KEY, and adds a reference of its own to GRAPH. May release the least recently used graph.
 * Any thread. */
void cache_put(struct dagpatch_cache *cache, struct cache_key *key, struct captured_graph *graph);

/* True if the cache was created in CONTEXT. */
bool cache_is_of(const struct dagpatch_cache *cache, const struct dagpatch_context *context);

/* Counts a lookup that found a graph (IS_HIT), or a capture that is made because none was found.
 * Any thread. */
void cache_count(struct dagpatch_cache *cache, bool is_hit);

/* Whether the cache has a vote, and whether each launch uses it. Constant after creation. */
bool cache_votes(const struct dagpatch_cache *cache);
bool cache_votes_always(const struct dagpatch_cache *cache);

/* What a rank says in a vote. The smallest word of all ranks decides. */
enum vote_word {
	VOTE_FAILED,
	VOTE_MISSES,		/* first vote: something that is needed is not in the cache */
	VOTE_HAS,		/* first vote: something changes, and the cache has all of it */
	VOTE_IDLE,		/* first vote: nothing changes */
	VOTE_READY = VOTE_IDLE, /* second vote */
};

/* A rank's part in a vote. */
struct ballot {
	enum dagpatch_vote_phase phase;
	enum vote_word word;
	uint64_t tag;
	bool is_inside; /* the thread is in a visit of the device, which pauses during the vote */
};

/* The result of a vote. */
struct vote_answer {
	enum vote_word least;
	bool is_tag_equal; /* all ranks had the same tag */
};

/* Takes a vote; waits for the other ranks. -EPIPE: an earlier vote failed. -EPROTO: the ranks are
 * not at the same vote. Otherwise what the caller's function returns. After any of these errors no
 * vote is taken until dagpatch_cache_rejoin. */
int cache_vote(struct dagpatch_cache *cache, const struct ballot *ballot,
	       struct vote_answer *ret_answer);

/* Number of the last first vote: equal on all ranks, and never used again. */
uint64_t cache_tag(struct dagpatch_cache *cache);

#endif

/* Caches of captured work, and the votes in which ranks agree on changes of their graphs.
 *
 * Part of dagpatch/dagpatch.h, which says what holds for all calls. */
#ifndef DAGPATCH_CACHES_H
#define DAGPATCH_CACHES_H

#include <stddef.h>
#include <stdint.h>

#include <dagpatch/captured_work.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Votes: ranks (processes or threads that take part in the same collectives) agree on each change
 * of their graphs in two votes, so that either all launch their new graphs or all keep their old
 * ones:
 *
 *	before	what each rank has in its cache: all use what they have, or all capture
 *	after	each rank has captured, built or patched, and verified: all launch, or none does
 *
 * A rank that fails says so in the next vote and returns its own error. The others return
 * -ECANCELED, with the vote in the message, and put back what they have changed: addresses and
 * values stay pending; the graph, executable and cached, is as before the call. The next launch
 * tries again if all ranks launch; dagpatch_revert discards the change if all ranks call it.
 *
 * What is certain: a rank launches a changed graph only if every rank has said that its own graph
 * is ready. A rank whose launch returned an error has launched nothing and has its old graph; or
 * it is LOST, as without ranks, if putting back failed: then dagpatch_finalize is needed, and the
 * next launch of all ranks builds the graph.
 *
 * What no vote can make certain is that all ranks receive the answer of the last vote. If a rank
 * dies after it has said that it is ready, or its vote times out, other ranks may have received
 * the answer and have launched. Therefore, when a vote itself ends in an error (-ETIMEDOUT,
 * -EPIPE, or what the callback returns; after the captures the message says that other ranks may
 * have launched), the caller must:
 * 1. launch nothing more with this communicator, and abort it on all ranks (ncclCommAbort),
 *    because a collective on the ranks that did launch waits for the others on the GPU;
 * 2. make sure by other means which ranks are left, and that all of them have come to this point;
 * 3. have all of these ranks call dagpatch_cache_rejoin, with recordings of the new communicator
 *    if there is one.
 *
 * Until then every vote of this cache fails at once with -EPIPE, without calling the callback, so
 * that a late answer is never taken for the answer to another vote; launches that need a vote fail
 * the same way. -EPROTO: the ranks were not at the same vote because they did not launch the same
 * recordings in the same order; the same steps are needed. The driver's launch itself comes after
 * the votes: if it fails on one rank, the other ranks have launched. */

/* Which of the two votes. */
enum dagpatch_vote_phase {
	DAGPATCH_VOTE_BEFORE,
	DAGPATCH_VOTE_AFTER,
};

/* What one rank says in a vote. */
struct dagpatch_vote {
	size_t size; /* sizeof(struct dagpatch_vote) */
	enum dagpatch_vote_phase phase;
	uint32_t count; /* number of values; the same on all ranks */
	/* this rank's values; opaque to the callback; valid during the call */
	const int64_t *values;
	/* how long the callback may wait, from dagpatch_cache_options.vote_timeout_ns */
	uint64_t timeout_ns;
};

/* The callback that carries out a vote, supplied by the caller. It sets RET_LEAST[i], for i <
 * vote->count, to the smallest values[i] of all ranks: an all-reduce with MIN over int64_t. All
 * ranks get the same answer; a rank that gets none must return an error within TIMEOUT_NS. It must
 * involve all ranks that any collective of the recording involves. It runs while collectives may
 * be running on the GPU, so it must not depend on them, and it must not use a stream that is being
 * captured. Returns 0 or a negative errno. */
typedef int (*dagpatch_vote_fn)(void *user, const struct dagpatch_vote *vote, int64_t *ret_least);

/* Settings of a cache. */
struct dagpatch_cache_options {
	size_t size;
	/* number of captured graphs; the least recently used is released first; 0: 16 */
	uint32_t capacity;
	/* NULL: there are no votes, this process decides alone. A recording may have at most one
	 * cache that votes. Recordings that share it are launched in the same order on all ranks,
	 * one at a time. */
	dagpatch_vote_fn vote;
	void *vote_user;	  /* passed to vote; valid as long as the cache */
	uint64_t vote_timeout_ns; /* limit of one vote */
	/* 0: every launch votes, because one rank's graph may change while another's does not:
	 * once if nothing changes on any rank, otherwise twice. Not 0: the caller guarantees that
	 * addresses and values change on all ranks before the same launches or on none. Then only
	 * launches with changes vote, twice. */
	int ranks_change_together;
};

/* Creates a cache of CONTEXT. OPTIONS is copied. The caller destroys *RET_CACHE. Any thread. */
int dagpatch_cache_create(struct dagpatch_context *context,
			  const struct dagpatch_cache_options *options,
			  struct dagpatch_cache **ret_cache);

/* Gives up the caller's reference. Recordings that use the cache keep it, its vote and VOTE_USER
 * until the last of them is destroyed. NULL is allowed. */
void dagpatch_cache_destroy(struct dagpatch_cache *cache);

/* Releases all captured graphs of the work with this key (dagpatch_capture.key), for every
 * collective. Returns how many. Recordings keep what is in their graphs until they recapture it.
 * Where ranks vote, all of them must drop the same keys; otherwise the others recapture the work,
 * too. */
int dagpatch_cache_drop(struct dagpatch_cache *cache, const void *key, size_t key_bytes);

/* Allows votes again after a vote that ended in an error. The caller has made sure that all ranks
 * are at the same point; all of them call this the same number of times. The cache is emptied.
 * -EINVAL: NULL, or a cache that does not vote. */
int dagpatch_cache_rejoin(struct dagpatch_cache *cache);

/* Counters of a cache. */
struct dagpatch_cache_stats {
	size_t size;   /* set by the caller; as many bytes are written */
	uint64_t hits; /* lookups that found a captured graph */
	/* captures made because the cache had none, or another rank had none */
	uint64_t misses;
	uint64_t evictions; /* graphs released for want of capacity */
	uint64_t votes;	    /* votes begun */
	uint64_t entries;   /* captured graphs in the cache now */
};

/* Fills *RET_STATS, whose size the caller has set. Any thread. */
int dagpatch_cache_stats(struct dagpatch_cache *cache, struct dagpatch_cache_stats *ret_stats);

#ifdef __cplusplus
}
#endif

#endif

/* Recapturing of work for new addresses (recapture.c). */
#ifndef DAGPATCH_PATCH_RECAPTURE_H
#define DAGPATCH_PATCH_RECAPTURE_H

#include <stdbool.h>

#include "patch/captured_graph.h"

/* For each child that must be recaptured: takes a graph for the wanted addresses from the cache,
 * or captures one, as NEXT. Where a cache votes, asks all ranks first. IS_DUE: the caller will make
 * a new graph even if nothing has changed, which the ranks vote on, too. Nothing is applied. On
 * failure there is no NEXT. In either case recapture_agree must follow. */
int recapture_prepare(struct dagpatch_recording *recording, bool is_due);

/* The second vote: tells the other ranks that this rank's step ended with ERR. Returns ERR or, if
 * ERR is 0, -ECANCELED (another rank failed) or the vote's error. */
int recapture_vote_again(struct dagpatch_recording *recording, int err);

/* Votes again if recapture_prepare has promised it. Otherwise returns ERR. */
static inline int recapture_agree(struct dagpatch_recording *recording, int err)
{
	return recording->owes_vote ? recapture_vote_again(recording, err) : err;
}

/* Tells the ranks that would wait for it that this launch fails with ERR before it has begun.
 * Returns ERR. */
int recapture_refuse(struct dagpatch_recording *recording, int err);

/* Puts each NEXT that was captured for a cache into the cache. */
void recapture_cache(struct dagpatch_recording *recording);

/* recapture_commit puts NEXT into its cache and makes it CURRENT. recapture_drop releases NEXT. */
void recapture_commit(struct dagpatch_recording *recording);
void recapture_drop(struct dagpatch_recording *recording);

/* Where graphs are flattened: sets the nodes that differ between CURRENT and NEXT in the
 * executable graph, to the parameters of NEXT (TAKES_NEXT) or of CURRENT. *RET_SET is the number
 * of nodes that may have been set, also on failure. -ENOTSUP: the two have different nodes or
 * dependencies, or could not be read. */
int recapture_set_flat(struct dagpatch_recording *recording, const struct recapture *recapture,
		       bool takes_next, uint32_t *ret_set);

#endif

/* Bringing the graph to what is wanted (apply.c), and checking it (verify.c). */
#ifndef DAGPATCH_PATCH_APPLY_H
#define DAGPATCH_PATCH_APPLY_H

#include <stdint.h>

#include <dagpatch/dagpatch.h>

/* recording_enter for a launch or an apply: a failure is told to the ranks that would wait for this
 * rank's vote. */
int apply_enter(struct dagpatch_recording *recording);

/* dagpatch_apply without entering. Returns 1: something was applied; 0: there was nothing to
 * apply. */
int apply_if_needed(struct dagpatch_recording *recording);

/* The launch or apply has failed with ERR before it has begun: says so to the ranks that would
 * otherwise wait for this rank's vote. Returns ERR. */
int apply_refuse(struct dagpatch_recording *recording, int err);

/* Between these two calls the images and NEXT of recaptured work have the wanted values, but
 * nothing is applied. wanted_end gets ERR, the result of the work in between, tells it to the other
 * ranks, and returns what recapture_agree returns. If wanted_begin fails, wanted_end must not be
 * called. */
int wanted_begin(struct dagpatch_recording *recording);
int wanted_end(struct dagpatch_recording *recording, int err);

/* dagpatch_verify for the addresses ADDRESSES, which are written into the images. */
int verify_graph(struct dagpatch_recording *recording, const uint64_t *addresses);

#endif

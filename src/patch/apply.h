/* Bringing the graph to what is wanted (apply.c, with apply_gather.c and apply_observe.c), and
 * checking it (verify.c). */
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

/* ---- apply_gather.c ---- */

/* Lists the nodes that the host sets in recording->dirty, and writes the wanted addresses into
 * their images. Images of nodes in the table are written only when they are read (images_write), so
 * that the host's work does not grow with the table. */
void dirty_gather(struct dagpatch_recording *recording);

/* Lists the changed slots that the table has in recording->table_slots, with their wanted
 * addresses. Returns their number. */
uint32_t dirty_gather_table(struct dagpatch_recording *recording);

/* Empties recording->dirty. */
void dirty_clear(struct dagpatch_recording *recording);

/* ---- apply_observe.c ---- */

/* Calls options.observe for each address that has changed: with its node, or, of addresses in the
 * table, once for the slot. STRATEGY and NS are those of the whole apply. */
void apply_observe(struct dagpatch_recording *recording, enum dagpatch_strategy strategy,
		   uint64_t ns);

/* ---- verify.c ---- */

/* dagpatch_verify for the addresses ADDRESSES, which are written into the images. */
int verify_graph(struct dagpatch_recording *recording, const uint64_t *addresses);

#endif

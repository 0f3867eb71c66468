/* How new parameters get into an executable graph (strategy.c), and whether it has the table
 * (auto.c). */
#ifndef DAGPATCH_PATCH_STRATEGY_H
#define DAGPATCH_PATCH_STRATEGY_H

#include <stdbool.h>
#include <stdint.h>

#include <dagpatch/dagpatch.h>

/* ---- strategy.c ---- */

/* How the dirty nodes get into the executable graph. Uses options.strategy and measured costs. */
enum dagpatch_strategy strategy_choose(const struct dagpatch_recording *recording);

/* False: an update of the whole graph is impossible for this recording. */
bool strategy_can_update(const struct dagpatch_recording *recording);

/* True if the executable graph was set so often that a new one must be instantiated. */
bool strategy_is_worn(const struct dagpatch_recording *recording);

/* PATCH_FORGETS_MEMSETS: sets all memsets to the parameters that they have, before a launch. Skips
 * what the driver keeps as a child, and the nodes below it. */
int strategy_set_memsets(struct dagpatch_recording *recording);

/* Bring the parameters of the dirty nodes, which the images have, into the executable graph.
 * *RET_DONE is the number of nodes at the beginning of recording.dirty that may have changed, also
 * on failure. -ENOTSUP: another strategy may work. */
int strategy_set_params(struct dagpatch_recording *recording, uint32_t *ret_done);
int strategy_update_graph(struct dagpatch_recording *recording, uint32_t *ret_done);

/* The images have the old parameters again: sets the first DONE dirty nodes to them. If that fails
 * the recording becomes LOST. */
void strategy_put_back(struct dagpatch_recording *recording, uint32_t done);

/* ---- auto.c ---- */

/* Returns whether a graph is built with the table, which NODES of its kernels could be in. With
 * DAGPATCH_AUTO the first call decides by the cost of changing all of them; later calls return
 * what table_note has decided. */
bool table_wanted(struct dagpatch_recording *recording, uint32_t nodes);

/* Notes a launch for which NODES nodes were changed that are in the table, or could be. Sets
 * is_overdue when the other choice would have saved more time than building the graph takes.
 * Called only while the choice is open. Costs a few ns. */
void table_note(struct dagpatch_recording *recording, uint32_t nodes);

/* Call after an attempt to build the graph that was overdue: starts counting from 0. */
void table_settle(struct dagpatch_recording *recording);

#endif

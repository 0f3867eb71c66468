/* What the tests of lifetimes share: a context of the model device with two streams and two sets of
 * addresses, and recordings of c = a + b. */
#ifndef TESTS_PATCH_REPLAY_LIVES_H
#define TESTS_PATCH_REPLAY_LIVES_H

#include <dagpatch/model.h>

#include "suite.h"

struct lives {
	struct dagpatch_context *context;
	void *streams[2];
	uint32_t *buffers[2][3]; /* c is 0; a and b are 1 and 2, and 11 and 12 */
	uint64_t stale;
};

/* lives_end asserts that no replay has used memory that was gone. The caller may have destroyed the
 * context and set it to NULL. */
void lives_begin(struct lives *lives, enum dagpatch_strategy strategy);
void lives_end(struct lives *lives);

/* Creates a context of the model with STRATEGY. */
struct dagpatch_context *lives_context(enum dagpatch_strategy strategy);

/* Records c = a + b with FLAGS for each of the three slots (NULL: none), repeated in the given
 * number of kernels. */
struct dagpatch_recording *lives_sum(struct dagpatch_context *context, const uint32_t flags[3],
				     uint32_t kernels);
void lives_bind(struct dagpatch_recording *recording, uint32_t *const buffers[3]);

/* Flags of a shadow of c and of a. */
extern const uint32_t lives_in_and_out[3];

/* Returns the objects of the driver that are alive. */
struct dagpatch_model_live lives_now(void);

/* Runs a case on a driver that keeps executable graphs for their replays, with and without the
 * table, and on one that does not keep them. Asserts that nothing is left. */
void lives_with_each_driver(void (*run)(enum dagpatch_strategy strategy));

#endif

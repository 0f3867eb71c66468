/* Scenes of launches on a played CUPTI, and what a follower says of them. */
#ifndef DAGTAP_TESTS_PLAYED_DELIVERIES_H
#define DAGTAP_TESTS_PLAYED_DELIVERIES_H

#include "cuda_scene.h"
#include "live/live.h"
#include "spool_fixture.h"

/* The played graph has NODES kernels. */
enum { REPLAYS = 100, ALONE = 50, NODES = 3, ENDED = 4 };

/* Follows the finished recording of SCENE, which runs in a child. */
struct deliveries deliveries_compare(struct fixture *fixture, void (*scene)(void));

/* Fails the test unless LAUNCHED and DELIVERED are the counts of kernels. */
void deliveries_assert_kernels(const struct deliveries *found, uint64_t launched,
			       uint64_t delivered);

/* COUNT calls that launch a kernel, or launches of EXEC, with the correlation ids from FIRST on.
 * All that they cause comes. */
void deliveries_alone(uint32_t first, uint32_t count);
void deliveries_replay(uint32_t first, uint32_t count);

#endif

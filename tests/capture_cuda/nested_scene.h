/* Graphs inside of nodes, and activities of their kernels and copies as CUPTI reports them. */
#ifndef TESTS_NESTED_SCENE_H
#define TESTS_NESTED_SCENE_H

#include "cuda_scene.h"

enum {
	TOP = 1,
	MOVED = 2,
	CLONED = 3,
	CLONE = 4,
	BODY = 5,
	OTHER_BODY = 6,
	INNER = 7,
	FRESH = 8,
	BODY_STREAM = 84,
};

#define NODE(graph, index) ((uint64_t)(graph) << 32 | (index))

/* Put an activity of NODE. Activities follow each other, and each lasts 100 ns. CORRELATION is 0
 * for those in bodies, which run on a stream of their own. */
void nested_put_kernel(uint32_t correlation, uint64_t node, const char *name);
void nested_put_copy(uint32_t correlation, uint64_t node);

/* Returns when the last activity has ended, of which the played times may be ahead. */
void nested_await(void);

/* Makes TOP, with COUNT nodes, executable as EXEC. CUPTI reports clones for the executable graph's
 * own nodes, not for the nodes inside them. */
void nested_instantiate(uint32_t count);

#endif

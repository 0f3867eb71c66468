/* Included before the preload's sources by measure_preload.py: calls that set a node and pass reach
 * the driver only during the program's first FIRST_SETS calls; later ones return success at once.
 * So the program computes with old parameters, at the speed that it would have if these calls, and
 * what they leave to the next launch, took no time. */
#if !defined(BENCH_SKIP_SETS_H) && !defined(__ASSEMBLER__)
#define BENCH_SKIP_SETS_H

#include <stdatomic.h>

#include "preload/passing.h"

enum { FIRST_SETS = 2000 };

/* Weak, so that all sources share it. */
__attribute__((weak)) _Atomic unsigned int skip_sets_count;

static inline int skip_set(void)
{
	preload_set_end(preload_set_begin());
	return 0;
}

#undef DOOR_PASS_SET
#define DOOR_PASS_SET(real, ...)                                                                   \
	(atomic_fetch_add_explicit(&skip_sets_count, 1, memory_order_relaxed) < FIRST_SETS         \
		 ? DOOR_PASS(real, __VA_ARGS__)                                                    \
		 : skip_set())

#endif

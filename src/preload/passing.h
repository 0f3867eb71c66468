/* How wrappers make the program's call. */
#ifndef DAGPATCH_PRELOAD_PASSING_H
#define DAGPATCH_PRELOAD_PASSING_H

#include "preload/preload_stats.h"

enum { DOOR_NOT_FOUND = 500 }; /* CUDA_ERROR_NOT_FOUND, hipErrorNotFound */

/* Calls REAL, a vendor's function or NULL, with the program's arguments. */
#define DOOR_PASS(real, ...)                                                                       \
	({                                                                                         \
		__typeof__(real) real_ = (real);                                                   \
		real_ ? real_(__VA_ARGS__) : (int)DOOR_NOT_FOUND;                                  \
	})

/* The same for calls that set a node. */
#define DOOR_PASS_SET(real, ...)                                                                   \
	({                                                                                         \
		uint64_t begin_ = preload_set_begin();                                             \
		int result_ = DOOR_PASS(real, __VA_ARGS__);                                        \
                                                                                                   \
		preload_set_end(begin_);                                                           \
		result_;                                                                           \
	})

#endif

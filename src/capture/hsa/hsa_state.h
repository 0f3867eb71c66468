/* Whether the wrappers look at packets and signals. Every file of this folder may ask. */
#ifndef CAPTURE_HSA_STATE_H
#define CAPTURE_HSA_STATE_H

#include <stdatomic.h>
#include <stdbool.h>

/* True from the first OnLoad on; false again only in a fork child. Written by hsa_source.c. */
extern _Atomic bool hsa_live;

/* Every wrapper asks this first. One relaxed load: the state that wrappers then read is set before
 * the wrappers are put into the tables. */
static inline bool hsa_is_live(void)
{
	return atomic_load_explicit(&hsa_live, memory_order_relaxed);
}

#endif

/* The HSA interface's part in the session: entry points, life cycle, and who may be called when.
 *
 * live: wrappers look at packets and signals; from OnLoad on, never again false but in a fork
 * child. open: the runtime may be called; from OnLoad to the last hsa_shut_down. */
#ifndef CAPTURE_HSA_PART_H
#define CAPTURE_HSA_PART_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

extern _Atomic bool hsa_part_live;

static inline bool hsa_part_is_live(void)
{
	return atomic_load_explicit(&hsa_part_live, memory_order_relaxed);
}

/* The runtime hands over its tables, by either of the doors that it has for tools (OnLoad,
 * rocprofiler_set_api_table): the first counts, the same comes again at the other. 0, or -ENOTSUP when
 * their layout is not one that we know, or there is no memory or thread for it. */
int hsa_part_open(void *table);

/* For the HIP part: dispatches that came from outside of any wrapped call. */
uint64_t hsa_dispatches_without_context(void);

#endif

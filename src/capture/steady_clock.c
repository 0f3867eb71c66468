/* Writes anchors of the steady clock; see steady_clock.h. */
#include "capture/steady_clock.h"

#include <time.h>

#include "base/clock.h"

#define TRIES	4   /* brackets at most */
#define GOOD_NS 100 /* a bracket as narrow as this is enough */

/* Writes the narrowest of a few brackets. A thread that has lost its CPU between two reads has a
 * wide one. */
static void write_anchor(void)
{
	struct record_anchor best = {.uncertainty_ns = UINT64_MAX};

	if (atomic_load_explicit(&clock_page, memory_order_relaxed))
		return;
	for (int i = 0; i < TRIES && best.uncertainty_ns > GOOD_NS; i++) {
		uint64_t before_ns = session_now_ns(), steady_ns, width_ns;

		steady_ns = clock_read_ns(CLOCK_MONOTONIC_RAW);
		width_ns = session_now_ns() - before_ns;
		if (width_ns < best.uncertainty_ns)
			best = (struct record_anchor){
				.tick = steady_ns,
				.host_ns = before_ns + width_ns / 2,
				.system_ns = steady_ns,
				.uncertainty_ns = width_ns,
			};
	}
	writer_put(session_writer(), RECORD_ANCHOR, RECORD_STEADY_CLOCK, &best, sizeof(best));
}

const struct capture_source steady_clock_source = {
	.name = "steady clock",
	.start = write_anchor,
	.tick = write_anchor,
	.stop = write_anchor,
};

/* Of what a ring keeps of every tick (anchors, witnesses) as many as tell what the clocks did: all at
 * first, then fewer and fewer; what came while the ring went round is in the ring anyway. */
#ifndef DAGTAP_CAPTURE_THINNING_H
#define DAGTAP_CAPTURE_THINNING_H

#include <stdbool.h>
#include <stdint.h>

#define THINNING_TICKS 1024 /* all of the first four minutes; some 7000 of a day's */

struct thinning {
	uint64_t first_ns;
	uint64_t kept_ns; /* the last one; 0: none yet */
};

static inline void thinning_begin(struct thinning *thinning, uint64_t now_ns)
{
	*thinning = (struct thinning){.first_ns = now_ns};
}

/* Whether the tick at NOW is kept: when a THINNING_TICKS'th of the time so far has passed since the last one. */
static inline bool thinning_keeps(struct thinning *thinning, uint64_t now_ns)
{
	if (now_ns - thinning->kept_ns < (now_ns - thinning->first_ns) / THINNING_TICKS)
		return false;
	thinning->kept_ns = now_ns;
	return true;
}

#endif

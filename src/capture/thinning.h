/* Thinning of the periodic records (anchors, witnesses) that a ring keeps: at first those of
 * every tick, then fewer and fewer, but enough to follow the clocks. The records of other ticks
 * go into the ring, so the time that the ring covers has all of them.
 *
 * Threading: only the housekeeper uses it. */
#ifndef DAGTAP_CAPTURE_THINNING_H
#define DAGTAP_CAPTURE_THINNING_H

#include <stdbool.h>
#include <stdint.h>

/* At 250 ms a tick: all ticks of the first four minutes are kept, and some 7000 of a day. */
#define THINNING_TICKS 1024

/* All times are session_now_ns. */
struct thinning {
	uint64_t first_ns; /* when the session began */
	uint64_t kept_ns;  /* the last tick whose records were kept; 0: none yet */
};

/* A session begins. */
static inline void thinning_begin(struct thinning *thinning, uint64_t now_ns)
{
	*thinning = (struct thinning){.first_ns = now_ns};
}

/* Returns whether the records of the tick at NOW_NS are kept: when 1 / THINNING_TICKS of the
 * session's duration has passed since the last tick that was kept. */
static inline bool thinning_keeps(struct thinning *thinning, uint64_t now_ns)
{
	if (now_ns - thinning->kept_ns < (now_ns - thinning->first_ns) / THINNING_TICKS)
		return false;
	thinning->kept_ns = now_ns;
	return true;
}

#endif

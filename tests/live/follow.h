/* Follows a played spool to its end and gathers the rows of all windows. */
#ifndef DAGTAP_TESTS_LIVE_FOLLOW_H
#define DAGTAP_TESTS_LIVE_FOLLOW_H

#include "live/live.h"
#include "player.h"
#include "row_lines.h"

struct followed {
	struct rows rows;
	uint32_t windows;
	size_t most_open_bytes;	   /* that were kept after any poll */
	struct live_counts counts; /* at the end of the recording, before live_finish */
};

/* Plays IMAGE with steps of up to MOST_RECORDS records; polls after each. Asserts that nothing
 * fails. IS_CUDA: see rows.h. The caller releases the rows. */
struct followed follow(const void *image, size_t length, uint64_t seed, uint32_t most_records,
		       const struct live_options *options, bool is_cuda);

/* Asserts that what follow gives for SEED is what the whole of IMAGE holds. Returns the number of
 * rows. */
uint32_t follow_assert_same(const void *image, size_t length, uint64_t seed, uint32_t most_records);

/* Plays the finished spool PATH TIMES times, each time with another seed and other steps, and
 * asserts as follow_assert_same. All anchors get one uncertainty first: else a later one could show
 * that an earlier one was read badly, and times would differ (live/live.h). */
void follow_file(const char *path, uint64_t seed, unsigned times);

#endif

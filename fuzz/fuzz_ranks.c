/*
 * Fuzzes the reader of the RANKS section, which says how the times of a merged recording are
 * converted. What it accepts must convert any time, and must be the same after it was written and
 * read again.
 */
#include <stdlib.h>
#include <string.h>

#include "trace/pack/ranks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void convert(const struct rank_clock *clock)
{
	const int64_t times[] = {INT64_MIN,	-1,	  0, 1, clock->first_ns, clock->last_ns,
				 INT64_MAX / 4, INT64_MAX};

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		rank_clock_map(clock, times[i]);
		rank_clock_uncertainty(clock, times[i]);
	}
	for (int i = 0; i < RANK_CLOCK_KNOTS; i++)
		rank_clock_uncertainty(clock, rank_clock_knot(clock, i));
	rank_clock_source_text(clock->source);
}

static void expect_same(const char *text, size_t bytes)
{
	struct ranks ranks;
	char *again;
	size_t again_bytes;

	if (ranks_read(text, bytes, &ranks) < 0 || ranks_write(&ranks, &again, &again_bytes) < 0 ||
	    again_bytes != bytes || memcmp(again, text, bytes) != 0)
		abort();
	free(again);
	ranks_release(&ranks);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ranks ranks;
	char *text;
	size_t bytes;

	if (ranks_read((const char *)data, size, &ranks) < 0)
		return 0;
	for (uint32_t i = 0; i < ranks.clock_count; i++)
		convert(&ranks.clocks[i]);
	if (ranks_write(&ranks, &text, &bytes) < 0)
		abort();
	ranks_release(&ranks);
	expect_same(text, bytes);
	free(text);
	return 0;
}

/* Judges what a followed process launched on CUDA and what came of it. */
#ifndef DAGTAP_CLI_STATS_DELIVERIES_H
#define DAGTAP_CLI_STATS_DELIVERIES_H

#include <stdbool.h>

#include "live/live.h"
#include "stats/stats.h"

/* Compares what LIVE, which has compares_launches, has read so far; COUNTS are of live_count.
 * IS_OVER: all was read. Any thread that may use LIVE. */
struct stat_deliveries stats_deliveries_of(const struct live *live,
					   const struct live_counts *counts, bool is_over);

#endif

/* Statistics as text in Prometheus's exposition format, version 0.0.4. */
#ifndef DAGTAP_STATS_PROMETHEUS_H
#define DAGTAP_STATS_PROMETHEUS_H

#include <stdio.h>

#include "stats/stats.h"

#define PROMETHEUS_CONTENT_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* Writes all of STATS to OUT: the durations since the start as summaries, in seconds, and counters.
 * Returns 0, -ENOMEM, or the negative errno of OUT. */
int prometheus_write(const struct stats *stats, FILE *out);

#endif

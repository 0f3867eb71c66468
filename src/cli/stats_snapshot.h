/* Names of the recordings that dagtap record --stats makes of outliers. Any thread. */
#ifndef DAGTAP_CLI_STATS_SNAPSHOT_H
#define DAGTAP_CLI_STATS_SNAPSHOT_H

#include <stdint.h>

#define STATS_SNAPSHOTS_MOST 16 /* recordings of outliers of one run */

/* The name of the NUMBERth one, from 1, beside the file of statistics OUTPUT: OUT.outlier-N.dagtap
 * for OUT.dagstats. The caller frees it. NULL: out of memory. */
char *stats_snapshot_path(const char *output, uint64_t number);

#endif

/* Prints a tally: as cells of a table, and as members of a JSON object. */
#ifndef DAGTAP_CLI_TALLY_OUTPUT_H
#define DAGTAP_CLI_TALLY_OUTPUT_H

#include "analyze/tally.h"
#include "cli/cli_columns.h"
#include "wire/json.h"

/* The heads of the columns that tally_put_cells fills. */
#define TALLY_HEADS "?mean", "?median", "?stddev", "?min", "?max"

/* Puts mean, median, standard deviation, minimum and maximum; nothing is timed: no values. */
void tally_put_cells(struct columns *columns, const struct tally *tally);

/* Puts mean_ns, median_ns, stddev_ns, min_ns and max_ns, each with PREFIX, as in "gap_", before its
 * name. */
void tally_put_json(struct json *json, const char *prefix, const struct tally *tally);

#endif

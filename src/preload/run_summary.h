/* What "dagpatch run --summary" prints: the counters of a program's processes, added up. */
#ifndef DAGPATCH_PRELOAD_RUN_SUMMARY_H
#define DAGPATCH_PRELOAD_RUN_SUMMARY_H

#include <stdio.h>

/* Prints the sum of the lines that FILE has from its position on (preload_stats.c writes them) to
 * OUT, as a table. */
void run_summary_print(FILE *file, FILE *out);

#endif

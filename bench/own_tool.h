/* Loads the injected library into the benchmark's own process and counts what it recorded. */
#ifndef DAGTAP_BENCH_OWN_TOOL_H
#define DAGTAP_BENCH_OWN_TOOL_H

#include <stdint.h>

#include "record/record.h"

/*
 * Loads a library of the build tree; NAME is relative to its lib folder. Returns NULL on failure.
 */
void *tool_open_built(const char *name);

/* Counts the records of CLASS in FOLDER's spools, and removes the spools. */
uint64_t tool_take_spools(const char *folder, enum record_class class);

#endif

/* The injected library within the benchmark's own process, and what it recorded. */
#ifndef DAGTAP_BENCH_TOOL_H
#define DAGTAP_BENCH_TOOL_H

#include <stdint.h>

#include "record/record.h"

/* A library of the build tree, NAME being relative to its lib folder; NULL when it cannot be loaded. */
void *tool_open_built(const char *name);

/* Removes the spools in FOLDER; returns how many records of CLASS they held. */
uint64_t tool_take_spools(const char *folder, enum record_class class);

#endif

/* How the dispatch tables of AMD's libraries reach the injected library that this library has
 * loaded (sdk/injected.h). The functions that rocprofiler-register and HSA call
 * (sdk/entry_points.c) pass them on; for HIP and RCCL without rocprofiler-register they are
 * searched (sdk/hand_over.h). */
#ifndef DAGTAP_SDK_TABLE_DOORS_H
#define DAGTAP_SDK_TABLE_DOORS_H

#include <stdbool.h>

#include "sdk/hand_over.h"

/* Has HSA and rocprofiler-register call this library, by variables of the environment that they
 * read at their first use. Not while other threads use the environment. */
void table_doors_open(void);

/* HSA has read its variable, which gets the text that it had before; if it was not set, it is empty
 * from now on. Unless the program has set the variable itself meanwhile. Any thread, also while
 * others read the environment. */
void table_doors_hsa_opened(void);

/* The runtime of HSA is being shut down: it will find this library again if it is started again.
 * Threads as above. */
void table_doors_hsa_closed(void);

/* Takes the tables of the libraries that are loaded and were not taken yet. The caller holds no
 * lock. Any thread. */
void table_doors_take_tables(void);

/* Gives tables to TAKE, the function of another tool. Returns its result. */
int table_doors_give(set_api_table *take, const char *name, uint64_t lib_version,
		     uint64_t lib_instance, void **tables, uint64_t table_count);

/* Whether the calling thread is giving tables to another tool, which may pass them on to this
 * library again. */
bool table_doors_are_passing(void);

#endif

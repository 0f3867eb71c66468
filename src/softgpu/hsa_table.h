/* The dispatch tables. The exported functions jump through them, so the program calls the functions
 * that a tool has written there. hsa_table.c also holds the defaults and the exported functions. */
#ifndef SOFTGPU_TABLE_H
#define SOFTGPU_TABLE_H

#include "vendor/hsa_newer.h"
#include "vendor/hsa_tables.h"

/* Selects, by the configuration and the HIP library in the process, which generation of the tables
 * tools get. Called by the first hsa_init, before tools are loaded. */
void table_select(void);
/* Returns the root table. It begins with a struct hsa_api_table in every generation. */
struct hsa_api_table *table_get(void);
/* Returns the function that a tool has put into SLOT of the table for tools; NULL: none. Any
 * thread. */
hsa_scratch_function *table_get_scratch(enum hsa_scratch_slot slot);
/* Restores the original functions in all tables. Called after the tools were unloaded. */
void table_reset(void);

#endif

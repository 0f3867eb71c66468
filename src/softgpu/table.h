/* The live dispatch tables. Exported functions jump through them, so what a tool writes there is
 * what the program calls. */
#ifndef SOFTGPU_TABLE_H
#define SOFTGPU_TABLE_H

#include "vendor/hsa_tables.h"

/* Before tools load: which generation of tables they get. */
void table_select(void);
/* What begins the root table in either generation. */
struct hsa_api_table *table_get(void);
/* Takes back whatever tools have written. */
void table_reset(void);

#endif

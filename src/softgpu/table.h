/* The live dispatch tables. Exported functions jump through them, so what a tool writes there is
 * what the program calls. */
#ifndef SOFTGPU_TABLE_H
#define SOFTGPU_TABLE_H

#include "vendor/hsa_tables.h"

struct hsa_api_table *table_get(void);
/* Takes back whatever tools have written. */
void table_reset(void);

#endif

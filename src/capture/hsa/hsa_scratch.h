/* Scratch memory: functions in the runtime's table for tools, from ROCR 6 on, which the runtime
 * calls when it allocates and frees scratch memory of a queue. They tell the observer of calls
 * (base/inject.h). */
#ifndef CAPTURE_HSA_SCRATCH_H
#define CAPTURE_HSA_SCRATCH_H

#include "vendor/hsa_tables.h"

/* Stores our functions into TABLE, as far as it reaches. They call those that were there. Called
 * when the runtime opens. */
void scratch_watch(struct hsa_api_table *table);

#endif

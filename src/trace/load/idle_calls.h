/* Inside trace/: functions whose calls submit no work and name no stream. Without the ledger and
 * without waits nothing is asked of such a call but how many there are
 * (trace_options.without_idle_calls). */
#ifndef DAGTAP_TRACE_IDLE_CALLS_H
#define DAGTAP_TRACE_IDLE_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "record/record.h"
#include "trace/pack/origin.h"

/* Numbers of idle functions; only HIP has any. Zero: there are none. */
struct idle_functions {
	uint64_t bits[RECORD_RCCL_FUNCTION_FIRST / 64 + 1];
	uint32_t count;
};

/* Finds the idle functions of ORIGIN by their names, which are in few chunks. FUNCTIONS must be
 * zero. Returns 0 or -ENOMEM. */
int idle_functions_find(struct origin *origin, struct idle_functions *functions);

static inline bool idle_functions_have(const struct idle_functions *functions, uint32_t function)
{
	return function < RECORD_RCCL_FUNCTION_FIRST &&
	       functions->bits[function / 64] >> function % 64 & 1;
}

#endif

/* Inside trace/: functions whose calls submit no work and name no stream. Without the ledger and
 * without waits nothing is asked of such a call but how many there are
 * (trace_options.without_idle_calls).
 *
 * Names are learned in the walk that needs them: a file has the name of a function in one place,
 * which may come after calls of it. Threading: any number of threads may learn and ask. */
#ifndef DAGTAP_TRACE_IDLE_CALLS_H
#define DAGTAP_TRACE_IDLE_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "record/record.h"

#define IDLE_WORDS (RECORD_RCCL_FUNCTION_FIRST / 64 + 1)

/* Bits by number of functions whose names were learned; only HIP has idle ones. Zero: none. */
struct idle_functions {
	uint64_t idle[IDLE_WORDS], busy[IDLE_WORDS];
};

enum idleness { IDLENESS_UNKNOWN, IDLENESS_IDLE, IDLENESS_BUSY };

/* Learns from RECORD whether its function is idle. Any thread, also while others ask. */
void idle_functions_learn(struct idle_functions *functions, const struct record_api_name *record);

static inline bool idle_bit(const uint64_t *bits, uint32_t function)
{
	return __atomic_load_n(&bits[function / 64], __ATOMIC_RELAXED) >> function % 64 & 1;
}

/* Whether FUNCTION is idle; unknown: nothing was learned of it yet. */
static inline enum idleness idle_functions_ask(const struct idle_functions *functions,
					       uint32_t function)
{
	if (function >= RECORD_RCCL_FUNCTION_FIRST)
		return IDLENESS_BUSY;
	if (idle_bit(functions->idle, function))
		return IDLENESS_IDLE;
	return idle_bit(functions->busy, function) ? IDLENESS_BUSY : IDLENESS_UNKNOWN;
}

/* Whether a function has an idle name and another, so that an answer may have changed from busy to
 * idle. dagtap writes no such file. */
bool idle_functions_contradict(const struct idle_functions *functions);

/* Whether there is an idle function. */
bool idle_functions_exist(const struct idle_functions *functions);

#endif

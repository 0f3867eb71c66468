/* How well the times of two processes of a trace can be compared.
 *
 * Threading: a function of its arguments; any thread. */
#ifndef DAGTAP_TRACE_PROCESS_CLOCKS_H
#define DAGTAP_TRACE_PROCESS_CLOCKS_H

#include "trace/trace_model.h"

/* The most by which the distance of a time of process A and one of process B, both near NS, may be
 * wrong because of the hosts' clocks: 0 if both have the same clock; INT64_MAX if nothing is known,
 * as of processes of two hosts that were not merged. */
uint64_t process_clocks_uncertainty(const struct trace *trace, uint32_t a, uint32_t b, int64_t ns);

#endif

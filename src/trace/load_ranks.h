/* What a merged recording adds to the model: the clocks of its ranks, and what is to be said of
 * them. Threading: that of the trace. */
#ifndef DAGTAP_TRACE_LOAD_RANKS_H
#define DAGTAP_TRACE_LOAD_RANKS_H

#include "trace/pack/bundle.h"
#include "trace/pack/origin.h"
#include "trace/trace_model.h"

/* Sets what ORIGIN, the section SECTION of BUNDLE, has to know of its rank. */
void load_ranks_place(const struct bundle *bundle, uint32_t section, struct origin *origin);

/* Adds the clocks, and messages, to TRACE. Returns 0 or -ENOMEM. */
int load_ranks_tell(const struct ranks *ranks, struct trace *trace);

#endif

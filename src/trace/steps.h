/* Makes steps of scopes, for the tools that look for steps. */
#ifndef DAGTAP_TRACE_STEPS_H
#define DAGTAP_TRACE_STEPS_H

#include "trace/trace_model.h"

/* Makes the COUNT scopes of SCOPES, indices into trace.scopes, steps with the numbers 0, 1, ... in
 * this order. Attributes that they have stay, behind the number. No other thread may read TRACE
 * meanwhile. 0, or -ENOMEM with TRACE unchanged. */
int trace_make_steps(struct trace *trace, const uint32_t *scopes, uint32_t count);

#endif

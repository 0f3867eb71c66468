/* Makes steps of scopes or of graph launches, for the tools that look for steps. No other thread
 * may read the trace meanwhile. */
#ifndef DAGTAP_TRACE_STEPS_H
#define DAGTAP_TRACE_STEPS_H

#include "trace/trace_model.h"

/* Makes the COUNT scopes of SCOPES, indices into trace.scopes, steps with the numbers 0, 1, ... in
 * this order. Attributes that they have stay, behind the number. 0, or -ENOMEM with TRACE
 * unchanged. */
int trace_make_steps(struct trace *trace, const uint32_t *scopes, uint32_t count);

/* Adds a scope around the call of each of the COUNT launches of LAUNCHES, indices into
 * trace.launches: a step with the text "graph G step N", with the numbers 0, 1, ... in this order,
 * and the name "graph G step". G is "*" if the launch's graph is not known. The step is the scope
 * of the call, of the calls inside it and of their activities; it is inside the scope that the call
 * had. Each launch must have a call that no other of them has. Indices into trace.scopes may
 * change. 0, or -ENOMEM; then TRACE can only be closed. */
int trace_add_steps(struct trace *trace, const uint32_t *launches, uint32_t count);

#endif

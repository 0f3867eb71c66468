/* The instances of a scope: those of the scopes that a query means which are inside no other one of
 * them. Work in a scope belongs to the instance around it. */
#ifndef DAGTAP_ANALYZE_SCOPE_INSTANCES_H
#define DAGTAP_ANALYZE_SCOPE_INSTANCES_H

#include <stdbool.h>

#include "trace/trace_model.h"

/* Scopes that are nested more deeply are taken for an error of the file. */
#define SCOPE_DEPTH_MAX 256

struct scope_instances {
	uint32_t *scopes; /* rows of scopes, by begin, then by row */
	uint32_t count;
	/* By scope: the index in `scopes` of the instance that contains it, or TRACE_NONE. */
	uint32_t *of_scope;
};

/* Finds the instances among the scopes that IS_MEANT, by scope, marks. 0, or -ENOMEM with
 * RET_INSTANCES unchanged; the caller releases RET_INSTANCES. Cost: for each scope a walk through
 * those around it. */
int scope_instances_find(const struct trace *trace, const bool *is_meant,
			 struct scope_instances *ret_instances);
void scope_instances_release(struct scope_instances *instances);

/* The instance of an activity or call in SCOPE, which may be TRACE_NONE; or TRACE_NONE. */
static inline uint32_t scope_instances_of(const struct scope_instances *instances, uint32_t scope)
{
	return scope == TRACE_NONE ? TRACE_NONE : instances->of_scope[scope];
}

#endif

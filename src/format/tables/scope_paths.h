/* Which scopes have the same path: a program opens the same few scopes again and again, and the
 * text of a path is costly. */
#ifndef DAGTAP_FORMAT_SCOPE_PATHS_H
#define DAGTAP_FORMAT_SCOPE_PATHS_H

#include <stdint.h>

#include "trace/trace_model.h"

/* Sets RET_FIRST to an array that has for each scope of TRACE the index of the first one with the
 * same path. The caller frees it. A scope whose parent comes after it, which no recording has, may
 * get its own index. Cost: some 20 ns a scope. Returns 0 or -ENOMEM. Any thread. */
int scope_paths_find(const struct trace *trace, uint32_t **ret_first);

#endif

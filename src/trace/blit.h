/* Kernels that the HIP runtime launches on its own behalf: what the program asked for was a copy or
 * a fill, and that is what they count as. */
#ifndef DAGTAP_TRACE_BLIT_H
#define DAGTAP_TRACE_BLIT_H

#include <stdbool.h>

#include "trace/model.h"

/* False: a kernel of the program's own code. */
bool blit_find(const char *kernel_name, enum trace_activity_kind *ret_kind);

#endif

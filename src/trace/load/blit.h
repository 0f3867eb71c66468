/* Kernels that the HIP runtime launches for its own purposes. The program asked for a copy or a
 * fill, so these dispatches count as copies and memsets. */
#ifndef DAGTAP_TRACE_BLIT_H
#define DAGTAP_TRACE_BLIT_H

#include <stdbool.h>

#include "trace/trace_model.h"

/* True if KERNEL_NAME (the symbol as the compiler made it) is such a kernel; *RET_KIND is then what
 * it does. False for a kernel of the program; *RET_KIND is untouched. */
bool blit_find(const char *kernel_name, enum trace_activity_kind *ret_kind);

#endif

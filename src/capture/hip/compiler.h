/* HIP's second dispatch table: by it programs register their kernels. */
#ifndef DAGTAP_CAPTURE_HIP_COMPILER_H
#define DAGTAP_CAPTURE_HIP_COMPILER_H

#include "capture/table.h"

extern struct table_door hip_compiler_table;

#endif

/* HIP's second dispatch table, the compiler's entry points, through which programs register
 * their kernels. The wrappers pass the names of kernels to function.h. */
#ifndef DAGTAP_CAPTURE_HIP_COMPILER_H
#define DAGTAP_CAPTURE_HIP_COMPILER_H

#include "capture/dispatch_table.h"

/* Where register.c delivers the table "hip_compiler", and the table's layout. */
extern struct table_door hip_compiler_table;
extern const struct table_layout hip_compiler_layout;

#endif

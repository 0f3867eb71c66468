/* Names of kinds and operations, in the interface's order. Any thread. */
#ifndef DAGTAP_SDK_NAMES_H
#define DAGTAP_SDK_NAMES_H

/* HIP's functions by operation: generated from the slots of its dispatch table. */
extern const char *const sdk_hip_operations[];
extern const int sdk_hip_operation_count;

/* The parameters of each, "name:kind ...", as src/vendor/hip_api.list has them. */
extern const char *const sdk_hip_parameters[];

/* RCCL's, the same: generated from the functions of its dispatch table
 * (src/vendor/rccl_api.list). */
extern const char *const sdk_rccl_operations[];
extern const int sdk_rccl_operation_count;
extern const char *const sdk_rccl_parameters[];

/* The same for roctx's functions of KIND, one of the three MARKER kinds of calls; NULL: another
 * one. Sets RET_COUNT to the number of operations. */
const char *const *sdk_mark_parameters(int kind, int *ret_count);

/* The operation of the function NAME, or -1. */
int sdk_hip_operation_find(const char *name);
int sdk_rccl_operation_find(const char *name);

#endif

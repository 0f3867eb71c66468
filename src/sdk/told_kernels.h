/* The kernels of records, and which contexts were told of them: a tool gets a kernel's name before
 * the first record that has its id. Threading: the source's thread alone; calls the tool. */
#ifndef DAGTAP_SDK_TOLD_KERNELS_H
#define DAGTAP_SDK_TOLD_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/trace_model.h"

/* Whether a context that was started once wants to be told of kernels. */
bool told_kernels_are_wanted(void);

/* Symbols have other numbers from here on. Call before the first record of each window. */
void told_kernels_begin_window(void);

/* The id of the kernel of WORK, the same for kernels of one symbol. Tells the contexts that want it
 * and were started once of all kernels that they were not told of. 0: out of memory. */
uint64_t told_kernels_id(const struct trace *window, const struct trace_work *work);

#endif

/* What the name of a function of CUDA tells, for the capture side, which counts launches, and for
 * readers, which expect what these bring. Threading: any thread. */
#ifndef DAGTAP_RECORD_CUDA_FUNCTIONS_H
#define DAGTAP_RECORD_CUDA_FUNCTIONS_H

#include <stdbool.h>
#include <string.h>

/* Returns whether a call of the function NAME, of CUDA's runtime or driver, launches exactly one
 * kernel. */
static inline bool cuda_name_launches_kernel(const char *name)
{
	return !strstr(name, "MultiDevice") &&
	       (strstr(name, "LaunchKernel") || strstr(name, "LaunchCooperativeKernel"));
}

#endif

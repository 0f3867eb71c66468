/* Which kernels are collective operations of RCCL or NCCL. Any thread. */
#ifndef DAGTAP_TRACE_COLLECTIVE_H
#define DAGTAP_TRACE_COLLECTIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Whether a kernel with this name is one. */
static inline bool trace_is_collective_name(const char *name)
{
	static const char *const starts[] = {"ncclDevKernel", "ncclKernel", "rccl"};

	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++) {
		if (!strncmp(name, starts[i], strlen(starts[i])))
			return true;
	}
	return false;
}

#endif

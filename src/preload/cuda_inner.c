/* Finds the functions of CUDA that the library calls besides those that it wraps. */
#include <string.h>

#include "preload/cuda_calls.h"

struct door_library *cuda_doors;
struct cuda_inner cuda_inner;

/* NOLINTNEXTLINE(readability-function-size): a few statements for each function of the list */
bool cuda_inner_open(struct door_library *library)
{
	void *found;

	cuda_doors = library;
#define CUDA_FIND_INNER(name, parameters)                                                          \
	found = door_find(library, #name);                                                         \
	memcpy(&cuda_inner.name, &found, sizeof(found));                                           \
	if (!found)                                                                                \
		return false;
	CUDA_INNER(CUDA_FIND_INNER)
	found = door_find(library, "cuPointerGetAttribute");
	memcpy(&cuda_inner.cuPointerGetAttribute, &found, sizeof(found));
	return CUDA_REAL(cuGraphInstantiateWithFlags) &&
	       CUDA_REAL(cuGraphExecKernelNodeSetParams_v2);
}

/* Finds the functions of CUDA that the library calls besides those that it wraps. */
#include <string.h>

#include "preload/cuda_real.h"

static struct door doors[CUDA_DOORS] = {
#define CUDA_DOOR(name, ...) {#name, NULL},
	CUDA_OTHER_DOORS(CUDA_DOOR) CUDA_PASSING_DOORS(CUDA_DOOR) CUDA_GRAPH_DOORS(CUDA_DOOR)
		CUDA_MEMORY_DOORS(CUDA_DOOR)};

struct door_library cuda_doors = {"libcuda.so", doors, CUDA_DOORS, NULL};
struct cuda_inner cuda_inner;

/* NOLINTNEXTLINE(readability-function-size): a few statements for each function of the list */
bool cuda_inner_open(void)
{
	void *found;

#define CUDA_FIND_INNER(name, parameters)                                                          \
	found = door_find(&cuda_doors, #name);                                                     \
	memcpy(&cuda_inner.name, &found, sizeof(found));                                           \
	if (!found)                                                                                \
		return false;
	CUDA_INNER(CUDA_FIND_INNER)
	found = door_find(&cuda_doors, "cuPointerGetAttribute");
	memcpy(&cuda_inner.cuPointerGetAttribute, &found, sizeof(found));
	found = door_find(&cuda_doors, "cuFuncGetModule");
	memcpy(&cuda_inner.cuFuncGetModule, &found, sizeof(found));
	return CUDA_REAL(cuGraphInstantiateWithFlags) &&
	       CUDA_REAL(cuGraphExecKernelNodeSetParams_v2);
}

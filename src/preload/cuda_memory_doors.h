/* The functions of CUDA's driver API that may end an allocation, a mapping or a registration, and
 * have a wrapper in cuda_memory.c. Compared with cuda.h and cudaGL.h of CUDA 13.5; arrays are not
 * looked at. */
#ifndef DAGPATCH_PRELOAD_CUDA_MEMORY_DOORS_H
#define DAGPATCH_PRELOAD_CUDA_MEMORY_DOORS_H

#include "vendor/cuda_types.h"

/* Handles that are only passed on are void here. DOOR(name, parameters, arguments) */
#define CUDA_MEMORY_DOORS(DOOR)                                                                    \
	DOOR(cuMemFree, (uint32_t address), (address))                                             \
	DOOR(cuMemFree_v2, (cuda_address address), (address))                                      \
	DOOR(cuMemFreeAsync, (cuda_address address, cuda_stream stream), (address, stream))        \
	DOOR(cuMemFreeAsync_ptsz, (cuda_address address, cuda_stream stream), (address, stream))   \
	DOOR(cuMemFreeHost, (void *address), (address))                                            \
	DOOR(cuMemHostUnregister, (void *address), (address))                                      \
	DOOR(cuMemUnmap, (cuda_address address, size_t bytes), (address, bytes))                   \
	DOOR(cuMemAddressFree, (cuda_address address, size_t bytes), (address, bytes))             \
	DOOR(cuMemPoolDestroy, (void *pool), (pool))                                               \
	DOOR(cuMemPoolTrimTo, (void *pool, size_t bytes), (pool, bytes))                           \
	DOOR(cuDeviceGraphMemTrim, (cuda_device device), (device))                                 \
	DOOR(cuIpcCloseMemHandle, (cuda_address address), (address))                               \
	DOOR(cuDestroyExternalMemory, (void *memory), (memory))                                    \
	DOOR(cuGraphicsUnregisterResource, (void *resource), (resource))                           \
	DOOR(cuGraphicsUnmapResources, (unsigned int count, void **resources, cuda_stream stream), \
	     (count, resources, stream))                                                           \
	DOOR(cuGraphicsUnmapResources_ptsz,                                                        \
	     (unsigned int count, void **resources, cuda_stream stream),                           \
	     (count, resources, stream))                                                           \
	DOOR(cuGLUnmapBufferObject, (unsigned int buffer), (buffer))                               \
	DOOR(cuGLUnmapBufferObjectAsync, (unsigned int buffer, cuda_stream stream),                \
	     (buffer, stream))                                                                     \
	DOOR(cuGLUnregisterBufferObject, (unsigned int buffer), (buffer))

#endif

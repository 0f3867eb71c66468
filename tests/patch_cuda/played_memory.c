/*
 * Calls that end memory in another way than cuMemFree_v2. Here each ends the allocation of
 * cuMemAlloc_v2 whose start it is given, in the place of its handle; those that name no memory end
 * the last one, in programs that ask for it (played_may_copy).
 */
#include "played_cuda.h"

int cuMemFreeAsync(cuda_address address, cuda_stream stream);
int cuMemHostUnregister(void *address);
int cuMemUnmap(cuda_address address, size_t bytes);
int cuMemAddressFree(cuda_address address, size_t bytes);
int cuMemPoolDestroy(void *pool);
int cuMemPoolTrimTo(void *pool, size_t bytes);
int cuDeviceGraphMemTrim(cuda_device device);
int cuIpcCloseMemHandle(cuda_address address);
int cuDestroyExternalMemory(void *memory);
int cuGraphicsUnregisterResource(void *resource);
int cuGraphicsUnmapResources(unsigned int count, void **resources, cuda_stream stream);
int cuGLUnmapBufferObject(unsigned int buffer);
int cuGLUnmapBufferObjectAsync(unsigned int buffer, cuda_stream stream);
int cuGLUnregisterBufferObject(unsigned int buffer);

int cuMemFreeAsync(cuda_address address, cuda_stream stream)
{
	return cuMemFree_v2(address);
}

int cuMemHostUnregister(void *address)
{
	return cuMemFree_v2((uintptr_t)address);
}

int cuMemUnmap(cuda_address address, size_t bytes)
{
	return cuMemFree_v2(address);
}

int cuMemAddressFree(cuda_address address, size_t bytes)
{
	return cuMemFree_v2(address);
}

static int end_last(void)
{
	return played_may_copy ? cuMemFree_v2(played_last_allocation()) : CUDA_OK;
}

int cuMemPoolDestroy(void *pool)
{
	return end_last();
}

int cuMemPoolTrimTo(void *pool, size_t bytes)
{
	return end_last();
}

int cuDeviceGraphMemTrim(cuda_device device)
{
	return end_last();
}

int cuIpcCloseMemHandle(cuda_address address)
{
	return cuMemFree_v2(address);
}

int cuDestroyExternalMemory(void *memory)
{
	return cuMemFree_v2((uintptr_t)memory);
}

int cuGraphicsUnregisterResource(void *resource)
{
	return cuMemFree_v2((uintptr_t)resource);
}

int cuGraphicsUnmapResources(unsigned int count, void **resources, cuda_stream stream)
{
	return cuMemFree_v2((uintptr_t)resources[0]);
}

int cuGLUnmapBufferObject(unsigned int buffer)
{
	return end_last();
}

int cuGLUnmapBufferObjectAsync(unsigned int buffer, cuda_stream stream)
{
	return end_last();
}

int cuGLUnregisterBufferObject(unsigned int buffer)
{
	return end_last();
}

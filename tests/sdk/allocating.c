/* allocating LOG: allocates and frees memory by HIP and by HSA, and writes to LOG a line for each
 * call of HSA that does, HIP's own included: the functions of this program come before the
 * runtime's. A last line "over" parts what happens at the process's exit. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "example.h"

#if __has_include(<hsa/hsa_amd_tool.h>)
#include <hsa/hsa_ext_amd.h>
#else
#include "vendor/hsa_newer.h"
#endif

#define EXPORT __attribute__((visibility("default")))

static FILE *log_file;

static void note(const char *operation, uint64_t address, size_t bytes)
{
	if (log_file)
		fprintf(log_file, "%s %lx %zu\n", operation, (unsigned long)address, bytes);
}

#define NEXT(name) ((__typeof__(name) *)dlsym(RTLD_NEXT, #name))

EXPORT hsa_status_t hsa_amd_memory_pool_allocate(hsa_amd_memory_pool_t pool, size_t size,
						 uint32_t flags, void **ptr)
{
	hsa_status_t status = NEXT(hsa_amd_memory_pool_allocate)(pool, size, flags, ptr);

	note("allocate", status == HSA_STATUS_SUCCESS ? (uintptr_t)*ptr : 0, size);
	return status;
}

EXPORT hsa_status_t hsa_amd_memory_pool_free(void *ptr)
{
	hsa_status_t status = NEXT(hsa_amd_memory_pool_free)(ptr);

	note("free", (uintptr_t)ptr, 0);
	return status;
}

EXPORT hsa_status_t hsa_memory_allocate(hsa_region_t region, size_t size, void **ptr)
{
	hsa_status_t status = NEXT(hsa_memory_allocate)(region, size, ptr);

	note("allocate", status == HSA_STATUS_SUCCESS ? (uintptr_t)*ptr : 0, size);
	return status;
}

EXPORT hsa_status_t hsa_memory_free(void *ptr)
{
	hsa_status_t status = NEXT(hsa_memory_free)(ptr);

	note("free", (uintptr_t)ptr, 0);
	return status;
}

EXPORT hsa_status_t hsa_amd_vmem_handle_create(hsa_amd_memory_pool_t pool, size_t size,
					       hsa_amd_memory_type_t type, uint64_t flags,
					       hsa_amd_vmem_alloc_handle_t *ret_handle)
{
	hsa_status_t status = NEXT(hsa_amd_vmem_handle_create)(pool, size, type, flags, ret_handle);

	note("vmem_allocate", status == HSA_STATUS_SUCCESS ? ret_handle->handle : 0, size);
	return status;
}

EXPORT hsa_status_t hsa_amd_vmem_handle_release(hsa_amd_vmem_alloc_handle_t handle)
{
	hsa_status_t status = NEXT(hsa_amd_vmem_handle_release)(handle);

	note("vmem_free", handle.handle, 0);
	return status;
}

/* ---- what the program does ---- */

static void require(hsa_status_t status)
{
	if (status != HSA_STATUS_SUCCESS && status != HSA_STATUS_INFO_BREAK)
		example_fail("HSA: status %d", status);
}

static hsa_status_t take_gpu(hsa_agent_t agent, void *data)
{
	hsa_device_type_t type;

	require(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
	if (type != HSA_DEVICE_TYPE_GPU)
		return HSA_STATUS_SUCCESS;
	*(hsa_agent_t *)data = agent;
	return HSA_STATUS_INFO_BREAK;
}

static hsa_status_t take_pool(hsa_amd_memory_pool_t pool, void *data)
{
	bool allocates = false;

	require(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED,
					     &allocates));
	if (!allocates)
		return HSA_STATUS_SUCCESS;
	*(hsa_amd_memory_pool_t *)data = pool;
	return HSA_STATUS_INFO_BREAK;
}

static hsa_status_t take_region(hsa_region_t region, void *data)
{
	bool allocates = false;

	require(hsa_region_get_info(region, HSA_REGION_INFO_RUNTIME_ALLOC_ALLOWED, &allocates));
	if (!allocates)
		return HSA_STATUS_SUCCESS;
	*(hsa_region_t *)data = region;
	return HSA_STATUS_INFO_BREAK;
}

static void allocate_by_hip(void)
{
	void *memory[3];

	for (size_t i = 0; i < 3; i++) {
		HIP_CHECK(hipMalloc(&memory[i], (i + 1) << 20));
		printf("hipMalloc %lx %zu\n", (unsigned long)(uintptr_t)memory[i], (i + 1) << 20);
	}
	HIP_CHECK(hipFree(memory[1]));
	HIP_CHECK(hipHostMalloc(&memory[1], 20480, 0));
	printf("hipHostMalloc %lx %d\n", (unsigned long)(uintptr_t)memory[1], 20480);
	HIP_CHECK(hipHostFree(memory[1]));
}

static void allocate_by_hsa(void)
{
	hsa_agent_t gpu;
	hsa_amd_memory_pool_t pool;
	hsa_region_t region;
	hsa_amd_vmem_alloc_handle_t handle;
	void *memory;

	require(hsa_iterate_agents(take_gpu, &gpu));
	require(hsa_amd_agent_iterate_memory_pools(gpu, take_pool, &pool));
	require(hsa_agent_iterate_regions(gpu, take_region, &region));
	for (size_t i = 1; i <= 4; i++) {
		require(hsa_amd_memory_pool_allocate(pool, 4096 * i, 0, &memory));
		require(hsa_amd_memory_pool_free(memory));
		require(hsa_memory_allocate(region, 8192 * i, &memory));
		require(hsa_memory_free(memory));
		require(hsa_amd_vmem_handle_create(pool, i << 21, 0, 0, &handle));
		require(hsa_amd_vmem_handle_release(handle));
	}
	if (hsa_amd_memory_pool_allocate(pool, (size_t)1 << 60, 0, &memory) == HSA_STATUS_SUCCESS)
		example_fail("an allocation of more than there is");
}

int main(int argc, char **argv)
{
	log_file = fopen(argv[1], "we");
	if (!log_file)
		return 1;
	allocate_by_hip();
	allocate_by_hsa();
	HIP_CHECK(hipDeviceSynchronize());
	fputs("over\n", log_file);
	fflush(log_file);
	return 0;
}

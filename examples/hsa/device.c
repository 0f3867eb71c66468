/* Finds the GPU and its memory pools and loads raw-driver's kernel: device.h. */
#include "device.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OBJECT_SYMBOLS(isa) extern const char ticket_##isa[], ticket_##isa##_end[];
#define OBJECT_ENTRY(isa)   {#isa, ticket_##isa, ticket_##isa##_end},
#define OBJECTS(X)	    X(gfx906) X(gfx90a) X(gfx1030)

OBJECTS(OBJECT_SYMBOLS)

static const struct {
	const char *isa;
	const char *begin;
	const char *end;
} objects[] = {OBJECTS(OBJECT_ENTRY)};

void driver_fail(const char *format, ...)
{
	va_list arguments;

	fprintf(stderr, "%s: ", program_invocation_short_name);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	exit(EXIT_FAILURE);
}

void hsa_check(hsa_status_t status, const char *call, const char *file, int line)
{
	const char *text = "unknown status";

	if (status == HSA_STATUS_SUCCESS || status == HSA_STATUS_INFO_BREAK)
		return;
	hsa_status_string(status, &text);
	driver_fail("%s:%d: %s: %s (0x%x)", file, line, call, text, (unsigned)status);
}

static uint32_t chosen;
static uint32_t gpus_before; /* GPUs to skip before the chosen one */

void device_choose(uint32_t gpu)
{
	chosen = gpu;
}

static hsa_status_t visit_agent(hsa_agent_t agent, void *data)
{
	struct device *device = data;
	hsa_device_type_t type;

	HSA_CHECK(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
	if (type == HSA_DEVICE_TYPE_CPU && !device->cpu.handle)
		device->cpu = agent;
	if (type == HSA_DEVICE_TYPE_GPU && !device->gpu.handle && !gpus_before--)
		device->gpu = agent;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t visit_pool(hsa_amd_memory_pool_t pool, void *data)
{
	const uint32_t wanted = HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED |
				HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT;
	struct device *device = data;
	hsa_amd_segment_t segment;
	uint32_t flags;

	HSA_CHECK(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment));
	if (segment != HSA_AMD_SEGMENT_GLOBAL)
		return HSA_STATUS_SUCCESS;
	HSA_CHECK(
		hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags));
	if ((flags & wanted) == wanted)
		device->shared_pool = pool;
	return HSA_STATUS_SUCCESS;
}

static void load_object(struct device *device, const char *object, size_t size)
{
	hsa_code_object_reader_t reader;

	HSA_CHECK(hsa_code_object_reader_create_from_memory(object, size, &reader));
	HSA_CHECK(hsa_executable_create_alt(HSA_PROFILE_FULL,
					    HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL,
					    &device->executable));
	HSA_CHECK(hsa_executable_load_agent_code_object(device->executable, device->gpu, reader,
							NULL, NULL));
	HSA_CHECK(hsa_executable_freeze(device->executable, NULL));
	HSA_CHECK(hsa_code_object_reader_destroy(reader));
}

static void find_kernel(struct device *device)
{
	hsa_executable_symbol_t symbol;

	HSA_CHECK(hsa_executable_get_symbol_by_name(device->executable, "ticket.kd", &device->gpu,
						    &symbol));
	HSA_CHECK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT,
						 &device->kernel_object));
	HSA_CHECK(hsa_executable_symbol_get_info(
		symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE,
		&device->group_bytes));
	HSA_CHECK(hsa_executable_symbol_get_info(
		symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE,
		&device->private_bytes));
}

void device_open(struct device *ret_device)
{
	char isa[64] = "";

	memset(ret_device, 0, sizeof(*ret_device));
	gpus_before = chosen;
	HSA_CHECK(hsa_init());
	HSA_CHECK(hsa_iterate_agents(visit_agent, ret_device));
	if (!ret_device->cpu.handle || !ret_device->gpu.handle)
		driver_fail("no GPU agent");
	HSA_CHECK(hsa_amd_agent_iterate_memory_pools(ret_device->cpu, visit_pool, ret_device));
	if (!ret_device->shared_pool.handle)
		driver_fail("no pool for kernel arguments");
	HSA_CHECK(hsa_agent_get_info(ret_device->gpu, HSA_AGENT_INFO_NAME, isa));
	for (size_t i = 0; i < sizeof(objects) / sizeof(objects[0]); i++) {
		if (strcmp(objects[i].isa, isa) != 0)
			continue;
		load_object(ret_device, objects[i].begin,
			    (size_t)(objects[i].end - objects[i].begin));
		find_kernel(ret_device);
		return;
	}
	driver_fail("no code object for %s", isa);
}

void device_close(struct device *device)
{
	HSA_CHECK(hsa_executable_destroy(device->executable));
	HSA_CHECK(hsa_shut_down());
}

void *device_allocate(const struct device *device, size_t bytes)
{
	size_t rounded = (bytes + 4095) & ~(size_t)4095;
	void *memory;

	HSA_CHECK(hsa_amd_memory_pool_allocate(device->shared_pool, rounded, 0, &memory));
	HSA_CHECK(hsa_amd_agents_allow_access(1, &device->gpu, NULL, memory));
	memset(memory, 0, rounded);
	return memory;
}

/* Memory that is allocated apart from its address, as HIP 7's stream-ordered allocator uses it,
 * and handles that can be sent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "raw_machine.h"
#include "vendor/hsa_newer.h"

#define MIB ((size_t)1 << 20)

static struct machine machine;

static int open_machine(void **state)
{
	machine_open("gfx906,gpus=2,vram=64M", &machine);
	return 0;
}

static char *reserve(size_t bytes)
{
	void *address = NULL;

	assert_int_equal(hsa_amd_vmem_address_reserve(&address, bytes, 0, 0), HSA_STATUS_SUCCESS);
	assert_non_null(address);
	return address;
}

static hsa_amd_vmem_alloc_handle_t create(hsa_amd_memory_pool_t pool, size_t bytes)
{
	hsa_amd_vmem_alloc_handle_t memory = {0};

	assert_int_equal(hsa_amd_vmem_handle_create(pool, bytes, MEMORY_TYPE_NONE, 0, &memory),
			 HSA_STATUS_SUCCESS);
	assert_int_not_equal(memory.handle, 0);
	return memory;
}

static void allow(void *address, size_t bytes, hsa_agent_t agent)
{
	const hsa_amd_memory_access_desc_t access = {HSA_ACCESS_PERMISSION_RW, agent};

	assert_int_equal(hsa_amd_vmem_set_access(address, bytes, &access, 1), HSA_STATUS_SUCCESS);
}

static void one_memory_at_two_addresses(void **state)
{
	char *range = reserve(4 * MIB);
	hsa_amd_vmem_alloc_handle_t memory = create(machine.vram[0], MIB);

	assert_int_equal(hsa_amd_vmem_map(range, MIB, 0, memory, 0), HSA_STATUS_SUCCESS);
	assert_int_equal(hsa_amd_vmem_map(range + 2 * MIB, MIB, 0, memory, 0), HSA_STATUS_SUCCESS);
	allow(range, MIB, machine.gpu[0]);
	allow(range + 2 * MIB, MIB, machine.gpu[0]);
	strcpy(range + 100, "seen there as well");
	assert_string_equal(range + 2 * MIB + 100, "seen there as well");
	/* Mapped memory stays when its handle is released. */
	assert_int_equal(hsa_amd_vmem_handle_release(memory), HSA_STATUS_SUCCESS);
	assert_int_equal(hsa_amd_vmem_handle_release(memory), HSA_STATUS_ERROR_INVALID_ALLOCATION);
	assert_int_equal(hsa_amd_vmem_unmap(range, MIB), HSA_STATUS_SUCCESS);
	assert_string_equal(range + 2 * MIB + 100, "seen there as well");
	assert_int_equal(hsa_amd_vmem_address_free(range, 4 * MIB), HSA_STATUS_ERROR_RESOURCE_FREE);
	assert_int_equal(hsa_amd_vmem_unmap(range + 2 * MIB, MIB), HSA_STATUS_SUCCESS);
	assert_int_equal(hsa_amd_vmem_address_free(range, 2 * MIB),
			 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	assert_int_equal(hsa_amd_vmem_address_free(range, 4 * MIB), HSA_STATUS_SUCCESS);
	assert_int_equal(hsa_amd_vmem_address_free(range, 4 * MIB),
			 HSA_STATUS_ERROR_INVALID_ALLOCATION);
}

static void it_is_memory_like_any_other(void **state)
{
	char *range = reserve(MIB);
	hsa_amd_vmem_alloc_handle_t memory = create(machine.vram[1], MIB);
	hsa_amd_pointer_info_t info = {.size = sizeof(info)};
	hsa_access_permission_t access;
	hsa_agent_t *agents;
	uint32_t count;

	assert_int_equal(hsa_amd_vmem_map(range, MIB, 0, memory, 0), HSA_STATUS_SUCCESS);
	allow(range, MIB, machine.gpu[0]);
	assert_int_equal(hsa_amd_pointer_info(range + 5, &info, malloc, &count, &agents),
			 HSA_STATUS_SUCCESS);
	assert_int_equal(info.type, HSA_EXT_POINTER_TYPE_HSA_VMEM);
	assert_ptr_equal(info.agentBaseAddress, range);
	assert_int_equal(info.sizeInBytes, MIB);
	assert_int_equal(info.agentOwner.handle, machine.gpu[1].handle);
	assert_int_equal(count, 1);
	assert_int_equal(agents[0].handle, machine.gpu[0].handle);
	free(agents);
	assert_int_equal(hsa_amd_vmem_get_access(range, &access, machine.gpu[0]),
			 HSA_STATUS_SUCCESS);
	assert_int_equal(access, HSA_ACCESS_PERMISSION_RW);
	assert_int_equal(hsa_amd_vmem_get_access(range, &access, machine.gpu[1]),
			 HSA_STATUS_SUCCESS);
	assert_int_equal(access, HSA_ACCESS_PERMISSION_NONE);
	/* hsa_amd_memory_pool_free does not accept it. */
	assert_int_equal(hsa_amd_memory_pool_free(range), HSA_STATUS_ERROR_INVALID_ALLOCATION);
	assert_int_equal(hsa_amd_memory_fill(range, 7, MIB / 4), HSA_STATUS_SUCCESS);
	assert_int_equal(hsa_amd_vmem_unmap(range, MIB), HSA_STATUS_SUCCESS);
	assert_int_equal(hsa_amd_memory_fill(range, 7, 1), HSA_STATUS_ERROR_INVALID_ALLOCATION);
	hsa_amd_vmem_handle_release(memory);
	hsa_amd_vmem_address_free(range, MIB);
}

static uint64_t available(hsa_agent_t agent)
{
	uint64_t bytes = 0;

	assert_int_equal(hsa_agent_get_info(
				 agent, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_MEMORY_AVAIL, &bytes),
			 HSA_STATUS_SUCCESS);
	return bytes;
}

/* Memory that is allocated this way counts against the memory of the agent. */
static void it_counts(void **state)
{
	hsa_amd_vmem_alloc_handle_t half = create(machine.vram[0], 32 * MIB);
	hsa_amd_vmem_alloc_handle_t memory;

	assert_int_equal(available(machine.gpu[0]), 32 * MIB);
	assert_int_equal(
		hsa_amd_vmem_handle_create(machine.vram[0], 33 * MIB, MEMORY_TYPE_NONE, 0, &memory),
		HSA_STATUS_ERROR_OUT_OF_RESOURCES);
	assert_int_equal(
		hsa_amd_vmem_handle_create(machine.vram[0], 65 * MIB, MEMORY_TYPE_NONE, 0, &memory),
		HSA_STATUS_ERROR_INVALID_ALLOCATION);
	hsa_amd_vmem_handle_release(half);
	assert_int_equal(available(machine.gpu[0]), 64 * MIB);
}

static void wrong_places_are_refused(void **state)
{
	char *range = reserve(2 * MIB);
	hsa_amd_vmem_alloc_handle_t memory = create(machine.vram[0], MIB);
	void *address;

	assert_int_equal(hsa_amd_vmem_map(range + MIB + 4096, MIB, 0, memory, 0),
			 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	assert_int_equal(hsa_amd_vmem_map(range, MIB / 2, 0, memory, 0),
			 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	assert_int_equal(hsa_amd_vmem_map(range + 1, MIB, 0, memory, 0),
			 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	assert_int_equal(hsa_amd_vmem_map(range, MIB, 0, (hsa_amd_vmem_alloc_handle_t){9}, 0),
			 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	assert_int_equal(hsa_amd_vmem_map(range, MIB, 0, memory, 0), HSA_STATUS_SUCCESS);
	assert_int_equal(hsa_amd_vmem_map(range + MIB / 2, MIB, 0, memory, 0),
			 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	assert_int_equal(hsa_amd_vmem_unmap(range + 4096, MIB),
			 HSA_STATUS_ERROR_INVALID_ALLOCATION);
	assert_int_equal(hsa_amd_vmem_unmap(range, MIB / 2), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	assert_int_equal(hsa_amd_vmem_unmap(range, MIB), HSA_STATUS_SUCCESS);
	assert_int_equal(hsa_amd_vmem_address_reserve(&address, 100, 0, 0),
			 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	assert_int_equal(hsa_amd_vmem_address_reserve_align(&address, MIB, 0, 5000, 0),
			 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	assert_int_equal(hsa_amd_vmem_address_reserve(&address, SIZE_MAX & ~4095ull, 0, 0),
			 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	hsa_amd_vmem_handle_release(memory);
	hsa_amd_vmem_address_free(range, 2 * MIB);
}

static void reservations_are_aligned(void **state)
{
	void *address = NULL;

	assert_int_equal(hsa_amd_vmem_address_reserve_align(&address, MIB, 0, 64 * MIB, 0),
			 HSA_STATUS_SUCCESS);
	assert_int_equal((uintptr_t)address % (64 * MIB), 0);
	assert_int_equal(hsa_amd_vmem_address_free(address, MIB), HSA_STATUS_SUCCESS);
}

/* A handle can be exported, imported and retained again. */
static void handles_come_back(void **state)
{
	char *range = reserve(2 * MIB);
	hsa_amd_vmem_alloc_handle_t memory = create(machine.vram[0], MIB), again, other;
	hsa_amd_memory_pool_t pool;
	hsa_amd_memory_type_t type;
	int file;

	assert_int_equal(hsa_amd_vmem_map(range, MIB, 0, memory, 0), HSA_STATUS_SUCCESS);
	assert_int_equal(hsa_amd_vmem_retain_alloc_handle(&again, range + 9), HSA_STATUS_SUCCESS);
	assert_int_equal(again.handle, memory.handle);
	assert_int_equal(hsa_amd_vmem_handle_release(memory), HSA_STATUS_SUCCESS);
	assert_int_equal(hsa_amd_vmem_get_alloc_properties_from_handle(again, &pool, &type),
			 HSA_STATUS_SUCCESS);
	assert_int_equal(pool.handle, machine.vram[0].handle);
	assert_int_equal(type, MEMORY_TYPE_NONE);
	assert_int_equal(hsa_amd_vmem_export_shareable_handle(&file, again, 0), HSA_STATUS_SUCCESS);
	assert_int_equal(hsa_amd_vmem_handle_release(again), HSA_STATUS_SUCCESS);
	/* A program can get a handle of mapped memory, even if all handles were released. */
	assert_int_equal(hsa_amd_vmem_retain_alloc_handle(&again, range), HSA_STATUS_SUCCESS);
	assert_int_equal(hsa_amd_vmem_handle_release(again), HSA_STATUS_SUCCESS);
	assert_int_equal(hsa_amd_vmem_import_shareable_handle(file, &other), HSA_STATUS_SUCCESS);
	close(file);
	assert_int_equal(hsa_amd_vmem_map(range + MIB, MIB, 0, other, 0), HSA_STATUS_SUCCESS);
	range[3] = 33;
	assert_int_equal(range[MIB + 3], 33);
	assert_int_equal(hsa_amd_vmem_import_shareable_handle(-1, &other),
			 HSA_STATUS_ERROR_INVALID_ALLOCATION);
	hsa_amd_vmem_unmap(range, MIB);
	hsa_amd_vmem_unmap(range + MIB, MIB);
	hsa_amd_vmem_handle_release(other);
	hsa_amd_vmem_address_free(range, 2 * MIB);
	assert_int_equal(available(machine.gpu[0]), 64 * MIB);
}

static void sent_handles_work_in_this_process(void **state)
{
	char *memory = machine_allocate(machine.vram[0], MIB);
	hsa_amd_ipc_memory_t handle;
	void *mapped = NULL;

	assert_int_equal(hsa_amd_ipc_memory_create(memory, MIB, &handle), HSA_STATUS_SUCCESS);
	assert_int_equal(hsa_amd_ipc_memory_attach(&handle, MIB, 1, &machine.gpu[1], &mapped),
			 HSA_STATUS_SUCCESS);
	assert_ptr_equal(mapped, memory);
	assert_int_equal(hsa_amd_ipc_memory_detach(mapped), HSA_STATUS_SUCCESS);
	assert_int_equal(hsa_amd_ipc_memory_attach(&handle, MIB / 2, 0, NULL, &mapped),
			 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	assert_int_equal(hsa_amd_ipc_memory_create(&handle, 8, &handle),
			 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	hsa_amd_memory_pool_free(memory);
	assert_int_equal(hsa_amd_ipc_memory_attach(&handle, MIB, 0, NULL, &mapped),
			 HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_memory_at_two_addresses),
		cmocka_unit_test(it_is_memory_like_any_other),
		cmocka_unit_test(it_counts),
		cmocka_unit_test(wrong_places_are_refused),
		cmocka_unit_test(reservations_are_aligned),
		cmocka_unit_test(handles_come_back),
		cmocka_unit_test(sent_handles_work_in_this_process),
	};

	return cmocka_run_group_tests_name("vmem", tests, open_machine, NULL);
}

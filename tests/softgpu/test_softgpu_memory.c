/* Allocations and their limits, locked ranges and their device addresses, and pointer
 * information. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "raw_machine.h"

#define MIB ((size_t)1 << 20)

static struct machine machine;

static int open_machine(void **state)
{
	machine_open("gfx906,gpus=2,vram=64M", &machine);
	return 0;
}

static void out_of_memory(void **state)
{
	void *blocks[4];
	void *extra;

	for (int i = 0; i < 4; i++)
		blocks[i] = machine_allocate(machine.vram[0], 16 * MIB);
	assert_int_equal(hsa_amd_memory_pool_allocate(machine.vram[0], 1, 0, &extra),
			 HSA_STATUS_ERROR_OUT_OF_RESOURCES);
	/* The other GPU has its own memory. */
	extra = machine_allocate(machine.vram[1], 64 * MIB);
	assert_int_equal(hsa_amd_memory_pool_free(extra), HSA_STATUS_SUCCESS);
	assert_int_equal(hsa_amd_memory_pool_free(blocks[2]), HSA_STATUS_SUCCESS);
	blocks[2] = machine_allocate(machine.vram[0], 16 * MIB);
	for (int i = 0; i < 4; i++)
		assert_int_equal(hsa_amd_memory_pool_free(blocks[i]), HSA_STATUS_SUCCESS);
}

static void bad_allocations(void **state)
{
	void *address;

	assert_int_equal(hsa_amd_memory_pool_allocate(machine.vram[0], 65 * MIB, 0, &address),
			 HSA_STATUS_ERROR_INVALID_ALLOCATION);
	assert_int_equal(hsa_amd_memory_pool_allocate(machine.vram[0], SIZE_MAX, 0, &address),
			 HSA_STATUS_ERROR_INVALID_ALLOCATION);
	assert_int_equal(hsa_amd_memory_pool_allocate(machine.group[0], 64, 0, &address),
			 HSA_STATUS_ERROR_INVALID_ALLOCATION);
	assert_int_equal(hsa_amd_memory_pool_allocate(machine.vram[0], 0, 0, &address),
			 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	assert_int_equal(hsa_amd_memory_pool_allocate(machine.vram[0], 64, 16, &address),
			 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	assert_int_equal(hsa_amd_memory_pool_allocate(machine.vram[0], 64, 0, NULL),
			 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	assert_int_equal(hsa_amd_memory_pool_allocate((hsa_amd_memory_pool_t){9}, 64, 0, &address),
			 HSA_STATUS_ERROR_INVALID_MEMORY_POOL);
	assert_int_equal(hsa_memory_allocate((hsa_region_t){9}, 64, &address),
			 HSA_STATUS_ERROR_INVALID_REGION);
}

static void bad_frees(void **state)
{
	char *address = machine_allocate(machine.fine, 8192);
	int local;

	assert_int_equal(hsa_amd_memory_pool_free(NULL), HSA_STATUS_SUCCESS);
	assert_int_equal(hsa_amd_memory_pool_free(address + 64),
			 HSA_STATUS_ERROR_INVALID_ALLOCATION);
	assert_int_equal(hsa_amd_memory_pool_free(&local), HSA_STATUS_ERROR_INVALID_ALLOCATION);
	assert_int_equal(hsa_amd_memory_pool_free(address), HSA_STATUS_SUCCESS);
	assert_int_equal(hsa_amd_memory_pool_free(address), HSA_STATUS_ERROR_INVALID_ALLOCATION);
}

static hsa_amd_pointer_info_t info_of(const void *address)
{
	hsa_amd_pointer_info_t info = {.size = sizeof(info)};

	assert_int_equal(hsa_amd_pointer_info(address, &info, NULL, NULL, NULL),
			 HSA_STATUS_SUCCESS);
	return info;
}

static void pointer_info(void **state)
{
	char *address = machine_allocate(machine.vram[1], 5000);
	hsa_amd_pointer_info_t info = info_of(address + 4999);
	int local;

	assert_int_equal(info.type, HSA_EXT_POINTER_TYPE_HSA);
	assert_ptr_equal(info.agentBaseAddress, address);
	assert_ptr_equal(info.hostBaseAddress, address);
	assert_int_equal(info.sizeInBytes, 8192);
	assert_int_equal(info.agentOwner.handle, machine.gpu[1].handle);
	assert_int_equal(info.global_flags, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED);
	assert_int_equal(hsa_amd_pointer_info_set_userdata(address, &local), HSA_STATUS_SUCCESS);
	assert_ptr_equal(info_of(address).userData, &local);
	assert_int_equal(hsa_amd_pointer_info_set_userdata(&local, &local),
			 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	assert_int_equal(info_of(&local).type, HSA_EXT_POINTER_TYPE_UNKNOWN);
	hsa_amd_memory_pool_free(address);
	assert_int_equal(info_of(address).type, HSA_EXT_POINTER_TYPE_UNKNOWN);
}

/* A caller with a smaller info struct must not be written past its size. */
static void pointer_info_of_an_older_caller(void **state)
{
	char *address = machine_allocate(machine.fine, 64);
	hsa_amd_pointer_info_t info;

	memset(&info, 0x55, sizeof(info));
	info.size = offsetof(hsa_amd_pointer_info_t, sizeInBytes);
	assert_int_equal(hsa_amd_pointer_info(address, &info, NULL, NULL, NULL),
			 HSA_STATUS_SUCCESS);
	assert_ptr_equal(info.agentBaseAddress, address);
	assert_int_equal(info.sizeInBytes, 0x5555555555555555);
	info.size = 0;
	assert_int_equal(hsa_amd_pointer_info(address, &info, NULL, NULL, NULL),
			 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	hsa_amd_memory_pool_free(address);
}

static uint32_t count_accessible(const void *address)
{
	hsa_amd_pointer_info_t info = {.size = sizeof(info)};
	hsa_agent_t *agents = NULL;
	uint32_t count = 0;

	assert_int_equal(hsa_amd_pointer_info(address, &info, malloc, &count, &agents),
			 HSA_STATUS_SUCCESS);
	free(agents);
	return count;
}

static void access_is_given_to_agents(void **state)
{
	const hsa_agent_t both[2] = {machine.gpu[0], machine.gpu[1]};
	const hsa_agent_t nobody = {3};
	char *address = machine_allocate(machine.vram[0], 64);
	int local;

	assert_int_equal(count_accessible(address), 1);
	assert_int_equal(hsa_amd_agents_allow_access(2, both, NULL, address), HSA_STATUS_SUCCESS);
	assert_int_equal(count_accessible(address), 2);
	/* The owner keeps its access. */
	assert_int_equal(hsa_amd_agents_allow_access(1, &both[1], NULL, address),
			 HSA_STATUS_SUCCESS);
	assert_int_equal(count_accessible(address), 2);
	assert_int_equal(hsa_amd_agents_allow_access(1, &machine.cpu, NULL, address),
			 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	assert_int_equal(hsa_amd_agents_allow_access(1, &nobody, NULL, address),
			 HSA_STATUS_ERROR_INVALID_AGENT);
	assert_int_equal(hsa_amd_agents_allow_access(0, both, NULL, address),
			 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	assert_int_equal(hsa_amd_agents_allow_access(1, both, NULL, &local),
			 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	hsa_amd_memory_pool_free(address);
}

static void lock_gives_an_alias(void **state)
{
	char *host = malloc(3 * 4096);
	char copied[16];
	void *alias;

	memcpy(host + 100, "the same bytes", 15);
	assert_int_equal(hsa_amd_memory_lock(host, 3 * 4096, NULL, 0, &alias), HSA_STATUS_SUCCESS);
	assert_ptr_not_equal(alias, host);
	assert_int_equal((uintptr_t)alias % 4096, (uintptr_t)host % 4096);
	assert_int_equal(info_of(alias).type, HSA_EXT_POINTER_TYPE_LOCKED);
	assert_ptr_equal(info_of(alias).hostBaseAddress, host);
	assert_ptr_equal(info_of(host + 4096).agentBaseAddress, alias);
	assert_int_equal(info_of(host).sizeInBytes, 3 * 4096);
	assert_int_equal(hsa_memory_copy(copied, (char *)alias + 100, 15), HSA_STATUS_SUCCESS);
	assert_string_equal(copied, "the same bytes");
	assert_int_equal(hsa_amd_memory_unlock(host), HSA_STATUS_SUCCESS);
	assert_int_equal(info_of(alias).type, HSA_EXT_POINTER_TYPE_UNKNOWN);
	assert_int_equal(hsa_amd_memory_unlock(host), HSA_STATUS_SUCCESS);
	free(host);
}

/* Two locked ranges in one page are independent. */
static void locks_in_one_page(void **state)
{
	char *host = aligned_alloc(4096, 4096);
	char byte = 0;
	void *first;
	void *second;

	assert_int_equal(
		hsa_amd_memory_lock_to_pool(host + 16, 16, NULL, 0, machine.coarse, 0, &first),
		HSA_STATUS_SUCCESS);
	assert_int_equal(
		hsa_amd_memory_lock_to_pool(host + 512, 16, NULL, 0, machine.coarse, 0, &second),
		HSA_STATUS_SUCCESS);
	host[512] = 7;
	assert_int_equal(hsa_amd_memory_unlock(host + 16), HSA_STATUS_SUCCESS);
	/* The other lock of the page is still valid. */
	assert_int_equal(hsa_memory_copy(&byte, second, 1), HSA_STATUS_SUCCESS);
	assert_int_equal(byte, 7);
	assert_int_equal(hsa_amd_memory_unlock(host + 512), HSA_STATUS_SUCCESS);
	free(host);
}

static void bad_locks(void **state)
{
	hsa_agent_t nobody = {3};
	char host[64];
	void *alias;

	assert_int_equal(hsa_amd_memory_lock(NULL, 64, NULL, 0, &alias),
			 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	assert_int_equal(hsa_amd_memory_lock(host, 0, NULL, 0, &alias),
			 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	assert_int_equal(hsa_amd_memory_lock(host, 64, NULL, 1, &alias),
			 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	assert_int_equal(hsa_amd_memory_lock(host, 64, &nobody, 1, &alias),
			 HSA_STATUS_ERROR_INVALID_AGENT);
	assert_int_equal(hsa_amd_memory_lock_to_pool(host, 64, NULL, 0, machine.vram[0], 0, &alias),
			 HSA_STATUS_ERROR_INVALID_MEMORY_POOL);
	assert_int_equal(hsa_amd_memory_lock_to_pool(host, 64, NULL, 0, machine.fine, 1, &alias),
			 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	assert_int_equal(hsa_amd_memory_lock(host, SIZE_MAX, NULL, 0, &alias),
			 HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

static void fill_writes_whole_words(void **state)
{
	uint32_t *words = machine_allocate(machine.vram[0], 4096);
	uint32_t local = 0;

	assert_int_equal(hsa_amd_memory_fill(words + 1, 0xabcd, 3), HSA_STATUS_SUCCESS);
	assert_int_equal(words[0], 0);
	assert_int_equal(words[1], 0xabcd);
	assert_int_equal(words[3], 0xabcd);
	assert_int_equal(words[4], 0);
	assert_int_equal(hsa_amd_memory_fill((char *)words + 1, 0, 1),
			 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	assert_int_equal(hsa_amd_memory_fill(words, 0, 1025), HSA_STATUS_ERROR_INVALID_ALLOCATION);
	assert_int_equal(hsa_amd_memory_fill(words, 0, SIZE_MAX),
			 HSA_STATUS_ERROR_INVALID_ALLOCATION);
	assert_int_equal(hsa_amd_memory_fill(&local, 0, 1), HSA_STATUS_ERROR_INVALID_ALLOCATION);
	hsa_amd_memory_pool_free(words);
}

static void copy_keeps_to_its_allocation(void **state)
{
	char *device = machine_allocate(machine.vram[0], 4096);
	char host[8192];

	assert_int_equal(hsa_memory_copy(device, host, 8192), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	assert_int_equal(hsa_memory_copy(host, device + 1, 4096),
			 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	assert_int_equal(hsa_memory_copy(NULL, host, 1), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	hsa_amd_memory_pool_free(device);
}

static void note_free(void *address, void *data)
{
	*(void **)data = address;
}

static void deallocation_callback(void **state)
{
	char *address = machine_allocate(machine.vram[0], 64);
	void *seen = NULL;
	int local;

	assert_int_equal(hsa_amd_register_deallocation_callback(&local, note_free, &seen),
			 HSA_STATUS_ERROR_INVALID_ALLOCATION);
	assert_int_equal(hsa_amd_register_deallocation_callback(address, note_free, &seen),
			 HSA_STATUS_SUCCESS);
	assert_int_equal(hsa_amd_deregister_deallocation_callback(address, note_free),
			 HSA_STATUS_SUCCESS);
	assert_int_equal(hsa_amd_deregister_deallocation_callback(address, note_free),
			 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	assert_int_equal(hsa_amd_register_deallocation_callback(address, note_free, &seen),
			 HSA_STATUS_SUCCESS);
	hsa_amd_memory_pool_free(address);
	assert_ptr_equal(seen, address);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(out_of_memory),
		cmocka_unit_test(bad_allocations),
		cmocka_unit_test(bad_frees),
		cmocka_unit_test(pointer_info),
		cmocka_unit_test(pointer_info_of_an_older_caller),
		cmocka_unit_test(access_is_given_to_agents),
		cmocka_unit_test(lock_gives_an_alias),
		cmocka_unit_test(locks_in_one_page),
		cmocka_unit_test(bad_locks),
		cmocka_unit_test(fill_writes_whole_words),
		cmocka_unit_test(copy_keeps_to_its_allocation),
		cmocka_unit_test(deallocation_callback),
	};

	return cmocka_run_group_tests_name("memory", tests, open_machine, NULL);
}

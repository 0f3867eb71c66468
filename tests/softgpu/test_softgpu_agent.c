/* What the machine reports about itself: agents, ISAs, caches, pools, regions, links. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "raw_machine.h"
#include "vendor/hsa_newer.h"

static struct machine machine;

static uint32_t info_u32(hsa_agent_t agent, uint32_t attribute)
{
	uint32_t value = UINT32_MAX;

	assert_int_equal(hsa_agent_get_info(agent, (hsa_agent_info_t)attribute, &value),
			 HSA_STATUS_SUCCESS);
	return value;
}

static void count_of_agents(void **state)
{
	assert_int_equal(machine.gpu_count, 3);
	assert_int_not_equal(machine.cpu.handle, 0);
}

static void attributes_of_a_gpu(void **state)
{
	hsa_agent_t gpu = machine.gpu[1];
	hsa_amd_hdp_flush_t flush = {0};
	char name[64];
	uint16_t dims[3];
	bool truth;

	assert_int_equal(hsa_agent_get_info(gpu, HSA_AGENT_INFO_NAME, name), HSA_STATUS_SUCCESS);
	assert_string_equal(name, "gfx906");
	assert_int_equal(info_u32(gpu, HSA_AGENT_INFO_DEVICE), HSA_DEVICE_TYPE_GPU);
	assert_int_equal(info_u32(gpu, HSA_AGENT_INFO_PROFILE), HSA_PROFILE_BASE);
	assert_int_equal(info_u32(gpu, HSA_AGENT_INFO_WAVEFRONT_SIZE), 64);
	assert_int_equal(info_u32(gpu, HSA_AGENT_INFO_QUEUE_MAX_SIZE), 131072);
	assert_int_equal(info_u32(gpu, HSA_AMD_AGENT_INFO_CHIP_ID), 0x66a1);
	assert_int_equal(info_u32(gpu, HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT), 60);
	assert_int_equal(info_u32(gpu, HSA_AMD_AGENT_INFO_BDFID), 2 << 8);
	assert_int_equal(info_u32(gpu, HSA_AGENT_INFO_NODE), 2);
	hsa_agent_get_info(gpu, HSA_AGENT_INFO_WORKGROUP_MAX_DIM, dims);
	assert_int_equal(dims[2], 1024);
	hsa_agent_get_info(gpu, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_COOPERATIVE_QUEUES, &truth);
	assert_true(truth);
	hsa_agent_get_info(gpu, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_HDP_FLUSH, &flush);
	assert_non_null(flush.HDP_MEM_FLUSH_CNTL);
}

static void uuids_differ(void **state)
{
	char first[21];
	char second[21];

	hsa_agent_get_info(machine.gpu[0], (hsa_agent_info_t)HSA_AMD_AGENT_INFO_UUID, first);
	hsa_agent_get_info(machine.gpu[1], (hsa_agent_info_t)HSA_AMD_AGENT_INFO_UUID, second);
	assert_int_equal(strlen(first), 20);
	assert_memory_equal(first, "GPU-", 4);
	assert_string_not_equal(first, second);
}

static void bad_arguments(void **state)
{
	const hsa_agent_t nobody = {12345};
	uint64_t value;

	assert_int_equal(hsa_agent_get_info(nobody, HSA_AGENT_INFO_NAME, &value),
			 HSA_STATUS_ERROR_INVALID_AGENT);
	assert_int_equal(hsa_agent_get_info(machine.cpu, HSA_AGENT_INFO_NAME, NULL),
			 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	assert_int_equal(hsa_agent_get_info(machine.gpu[0], (hsa_agent_info_t)0x7777, &value),
			 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	assert_int_equal(hsa_iterate_agents(NULL, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	assert_int_equal(hsa_agent_iterate_isas(nobody, NULL, NULL),
			 HSA_STATUS_ERROR_INVALID_AGENT);
	assert_int_equal(hsa_amd_memory_pool_get_info((hsa_amd_memory_pool_t){7},
						      HSA_AMD_MEMORY_POOL_INFO_SIZE, &value),
			 HSA_STATUS_ERROR_INVALID_MEMORY_POOL);
	assert_int_equal(hsa_region_get_info((hsa_region_t){7}, HSA_REGION_INFO_SIZE, &value),
			 HSA_STATUS_ERROR_INVALID_REGION);
	assert_int_equal(hsa_isa_get_info_alt((hsa_isa_t){7}, HSA_ISA_INFO_NAME, &value),
			 HSA_STATUS_ERROR_INVALID_ISA);
	assert_int_equal(hsa_cache_get_info((hsa_cache_t){7}, HSA_CACHE_INFO_LEVEL, &value),
			 HSA_STATUS_ERROR_INVALID_CACHE);
}

static hsa_status_t stop_at_first(hsa_agent_t agent, void *data)
{
	++*(int *)data;
	return HSA_STATUS_INFO_BREAK;
}

static void iteration_stops(void **state)
{
	int calls = 0;

	assert_int_equal(hsa_iterate_agents(stop_at_first, &calls), HSA_STATUS_INFO_BREAK);
	assert_int_equal(calls, 1);
}

struct isa_seen {
	int count;
	char name[64];
};

static hsa_status_t take_isa(hsa_isa_t isa, void *data)
{
	struct isa_seen *seen = data;
	uint32_t length = 0;

	seen->count++;
	hsa_isa_get_info_alt(isa, HSA_ISA_INFO_NAME_LENGTH, &length);
	if (length <= sizeof(seen->name))
		hsa_isa_get_info_alt(isa, HSA_ISA_INFO_NAME, seen->name);
	return HSA_STATUS_SUCCESS;
}

static void one_isa(void **state)
{
	struct isa_seen seen = {0};
	hsa_isa_t isa;

	assert_int_equal(hsa_agent_iterate_isas(machine.gpu[0], take_isa, &seen),
			 HSA_STATUS_SUCCESS);
	assert_int_equal(seen.count, 1);
	assert_string_equal(seen.name, "amdgcn-amd-amdhsa--gfx906:sramecc+:xnack-");
	assert_int_equal(hsa_agent_iterate_isas(machine.cpu, take_isa, &seen),
			 HSA_STATUS_ERROR_INVALID_AGENT);
	assert_int_equal(hsa_isa_from_name(seen.name, &isa), HSA_STATUS_SUCCESS);
	assert_int_equal(hsa_isa_from_name("amdgcn-amd-amdhsa--gfx1100", &isa),
			 HSA_STATUS_ERROR_INVALID_ISA_NAME);
}

/* The configuration is read once per process, so each other machine needs its own process. */
static int run_other(const char *configuration, const char *isa, uint32_t wavefront, uint32_t gpus)
{
	pid_t child = fork();
	int status = -1;

	if (child == 0) {
		struct isa_seen seen = {0};
		struct machine other;
		uint32_t size = 0;

		machine_open(configuration, &other);
		hsa_agent_iterate_isas(other.gpu[gpus - 1], take_isa, &seen);
		hsa_agent_get_info(other.gpu[gpus - 1], HSA_AGENT_INFO_WAVEFRONT_SIZE, &size);
		_exit(other.gpu_count == gpus && size == wavefront && strcmp(seen.name, isa) == 0
			      ? 0
			      : 1);
	}
	waitpid(child, &status, 0);
	return status;
}

static bool is_at(hsa_agent_t agent, const char *uuid, uint32_t card, uint32_t partition)
{
	char text[21];

	hsa_agent_get_info(agent, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_UUID, text);
	return !strcmp(text, uuid) &&
	       info_u32(agent, HSA_AMD_AGENT_INFO_BDFID) == (partition << 28 | card << 8);
}

static bool is_accessible_for_all(const struct machine *all)
{
	void *memory = machine_allocate(all->fine, 4096);
	hsa_amd_pointer_info_t info = {.size = sizeof(info)};
	hsa_agent_t *list = NULL;
	uint32_t count = 0;

	return hsa_amd_agents_allow_access(all->gpu_count, all->gpu, NULL, memory) ==
		       HSA_STATUS_SUCCESS &&
	       hsa_amd_pointer_info(memory, &info, malloc, &count, &list) == HSA_STATUS_SUCCESS &&
	       count == all->gpu_count + 1 && list[count - 1].handle == all->gpu[255].handle;
}

/* 32 cards of eight GPUs each. The GPUs of one card have the same UUID and the same place on the
 * bus. */
static int run_partitions(void)
{
	pid_t child = fork();
	int status = -1;

	if (child == 0) {
		struct machine all;

		machine_open("gfx942,gpus=32,partitions=8,vram=64M,uuid:1=GPU-XX", &all);
		_exit(all.gpu_count == 256 && is_at(all.gpu[0], "GPU-0000000050f70001", 1, 0) &&
				      is_at(all.gpu[7], "GPU-0000000050f70001", 1, 7) &&
				      is_at(all.gpu[8], "GPU-XX", 2, 0) &&
				      is_at(all.gpu[255], "GPU-0000000050f70020", 32, 7) &&
				      is_accessible_for_all(&all)
			      ? 0
			      : 1);
	}
	waitpid(child, &status, 0);
	return status;
}

static int open_machine(void **state)
{
	/* These run before this process reads its own configuration. */
	if (run_partitions() ||
	    run_other("gfx906,gpus=16", "amdgcn-amd-amdhsa--gfx906:sramecc+:xnack-", 64, 16) ||
	    run_other("gfx942", "amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-", 64, 1) ||
	    run_other("gfx1030", "amdgcn-amd-amdhsa--gfx1030", 32, 1) ||
	    run_other("", "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-", 64, 1))
		return -1;
	machine_open("gfx906,gpus=3,vram=1G", &machine);
	return 0;
}

static uint32_t pool_flags(hsa_amd_memory_pool_t pool)
{
	uint32_t flags = UINT32_MAX;

	hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags);
	return flags;
}

static void flags_and_sizes_of_pools(void **state)
{
	size_t size = 0;
	bool allowed = true;

	/* HIP requires pools whose flags are not mixed. */
	assert_int_equal(pool_flags(machine.fine), HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED);
	assert_int_equal(pool_flags(machine.kernarg),
			 HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED |
				 HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT);
	assert_int_equal(pool_flags(machine.coarse),
			 HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED);
	assert_int_equal(pool_flags(machine.vram[2]),
			 HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED);
	hsa_amd_memory_pool_get_info(machine.vram[0], HSA_AMD_MEMORY_POOL_INFO_SIZE, &size);
	assert_int_equal(size, 1 << 30);
	hsa_amd_memory_pool_get_info(machine.group[0], HSA_AMD_MEMORY_POOL_INFO_SIZE, &size);
	assert_int_equal(size, 64 << 10);
	hsa_amd_memory_pool_get_info(machine.group[0],
				     HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED, &allowed);
	assert_false(allowed);
}

static hsa_amd_memory_pool_access_t access_of(hsa_agent_t agent, hsa_amd_memory_pool_t pool)
{
	hsa_amd_memory_pool_access_t access;

	assert_int_equal(hsa_amd_agent_memory_pool_get_info(
				 agent, pool, HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS, &access),
			 HSA_STATUS_SUCCESS);
	return access;
}

static uint64_t attribute(hsa_agent_t agent, uint32_t which)
{
	uint64_t value = 0;

	assert_int_equal(hsa_agent_get_info(agent, (hsa_agent_info_t)which, &value),
			 HSA_STATUS_SUCCESS);
	return value;
}

/* Attributes that are newer than ROCr 5.2.3 and that HIP 7 reads. */
static void newer_attributes(void **state)
{
	const hsa_agent_t gpu = machine.gpu[0];
	hsa_amd_clock_counters_t counters;

	assert_int_equal(attribute(gpu, HSA_AMD_AGENT_INFO_NUM_SDMA_ENG), 2);
	assert_int_equal(attribute(gpu, HSA_AMD_AGENT_INFO_NUM_SDMA_XGMI_ENG), 2);
	assert_int_equal(attribute(gpu, HSA_AMD_AGENT_INFO_NUM_XCC), 1);
	assert_int_equal(attribute(gpu, HSA_AMD_AGENT_INFO_TIMESTAMP_FREQUENCY), 100000000);
	assert_int_equal(attribute(machine.cpu, HSA_AMD_AGENT_INFO_TIMESTAMP_FREQUENCY),
			 1000000000);
	assert_int_equal(attribute(gpu, HSA_AMD_AGENT_INFO_MEMORY_AVAIL), 1 << 30);
	assert_int_equal(attribute(gpu, HSA_AMD_AGENT_INFO_MEMORY_PROPERTIES), 0);
	assert_int_equal(attribute(gpu, HSA_AMD_AGENT_INFO_NEAREST_CPU), machine.cpu.handle);
	assert_int_equal(hsa_agent_get_info(gpu,
					    (hsa_agent_info_t)HSA_AMD_AGENT_INFO_CLOCK_COUNTERS,
					    &counters),
			 HSA_STATUS_SUCCESS);
	assert_int_equal(counters.system_clock_frequency, 1000000000);
	assert_int_equal(counters.gpu_clock_counter / 10000000,
			 counters.system_clock_counter / 100000000);
}

static void access_and_links(void **state)
{
	hsa_amd_memory_pool_link_info_t link;
	uint32_t hops = 9;

	assert_int_equal(access_of(machine.gpu[0], machine.vram[0]),
			 HSA_AMD_MEMORY_POOL_ACCESS_ALLOWED_BY_DEFAULT);
	assert_int_equal(access_of(machine.gpu[0], machine.vram[1]),
			 HSA_AMD_MEMORY_POOL_ACCESS_DISALLOWED_BY_DEFAULT);
	assert_int_equal(access_of(machine.gpu[0], machine.group[1]),
			 HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED);
	/* Without a large BAR, which must be configured, the CPU cannot reach device memory. */
	assert_int_equal(access_of(machine.cpu, machine.vram[0]),
			 HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED);
	hsa_amd_agent_memory_pool_get_info(machine.gpu[0], machine.vram[0],
					   HSA_AMD_AGENT_MEMORY_POOL_INFO_NUM_LINK_HOPS, &hops);
	assert_int_equal(hops, 0);
	hsa_amd_agent_memory_pool_get_info(machine.gpu[0], machine.vram[1],
					   HSA_AMD_AGENT_MEMORY_POOL_INFO_LINK_INFO, &link);
	assert_int_equal(link.link_type, HSA_AMD_LINK_INFO_TYPE_XGMI);
	hsa_amd_agent_memory_pool_get_info(machine.gpu[0], machine.fine,
					   HSA_AMD_AGENT_MEMORY_POOL_INFO_LINK_INFO, &link);
	assert_int_equal(link.link_type, HSA_AMD_LINK_INFO_TYPE_PCIE);
}

static hsa_status_t find_kernarg(hsa_region_t region, void *data)
{
	uint32_t segment;
	uint32_t flags = 0;

	hsa_region_get_info(region, HSA_REGION_INFO_SEGMENT, &segment);
	hsa_region_get_info(region, HSA_REGION_INFO_GLOBAL_FLAGS, &flags);
	if (segment == HSA_REGION_SEGMENT_GLOBAL && (flags & HSA_REGION_GLOBAL_FLAG_KERNARG))
		*(hsa_region_t *)data = region;
	return HSA_STATUS_SUCCESS;
}

static void kernarg_region_of_a_gpu(void **state)
{
	hsa_region_t region = {0};
	void *address;

	assert_int_equal(hsa_agent_iterate_regions(machine.gpu[0], find_kernarg, &region),
			 HSA_STATUS_SUCCESS);
	assert_int_not_equal(region.handle, 0);
	assert_int_equal(hsa_memory_allocate(region, 100, &address), HSA_STATUS_SUCCESS);
	memset(address, 1, 100);
	assert_int_equal(hsa_memory_free(address), HSA_STATUS_SUCCESS);
}

static hsa_status_t add_cache(hsa_cache_t cache, void *data)
{
	uint32_t length = 0;
	uint32_t size = 0;
	char name[64];

	hsa_cache_get_info(cache, HSA_CACHE_INFO_NAME_LENGTH, &length);
	hsa_cache_get_info(cache, HSA_CACHE_INFO_NAME, name);
	hsa_cache_get_info(cache, HSA_CACHE_INFO_SIZE, &size);
	assert_int_equal(strlen(name), length);
	*(uint32_t *)data += size;
	return HSA_STATUS_SUCCESS;
}

static void sizes_of_caches(void **state)
{
	uint32_t bytes = 0;

	assert_int_equal(hsa_agent_iterate_caches(machine.gpu[0], add_cache, &bytes),
			 HSA_STATUS_SUCCESS);
	assert_int_equal(bytes, (16 << 10) + (4 << 20));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(count_of_agents),
		cmocka_unit_test(attributes_of_a_gpu),
		cmocka_unit_test(uuids_differ),
		cmocka_unit_test(bad_arguments),
		cmocka_unit_test(iteration_stops),
		cmocka_unit_test(one_isa),
		cmocka_unit_test(flags_and_sizes_of_pools),
		cmocka_unit_test(newer_attributes),
		cmocka_unit_test(access_and_links),
		cmocka_unit_test(kernarg_region_of_a_gpu),
		cmocka_unit_test(sizes_of_caches),
	};

	return cmocka_run_group_tests_name("agents", tests, open_machine, NULL);
}

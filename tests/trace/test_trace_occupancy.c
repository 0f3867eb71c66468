/* Theoretical occupancy: examples reckoned by hand from the vendors' rules; what LLVM's compiler
 * says of kernels that it compiled for AMD's GPUs (amd_occupancy.csv, made by
 * scripts/gen-amd-occupancy.py); and, where CUDA's own calculator is installed (cuda_occupancy.h),
 * it and ours on random configurations. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../launched.h"
#include "trace/load/registers.h"
#include "trace/occupancy.h"

#ifdef HAS_CUDA_OCCUPANCY
#include <cuda_occupancy.h>
#endif

#define KIB 1024

static struct trace_work kernel(uint32_t work_items, uint32_t registers, uint32_t group_bytes)
{
	return (struct trace_work){
		.kind = TRACE_KERNEL,
		.workgroup = {work_items, 1, 1},
		.registers = registers,
		.group_bytes = group_bytes,
	};
}

static void expect(const char *architecture, struct trace_work work, uint32_t groups,
		   uint32_t waves, const char *limits)
{
	struct occupancy occupancy = occupancy_of(architecture, &work);
	char text[OCCUPANCY_TEXT_CHARS];

	assert_int_equal(occupancy.groups, groups);
	assert_int_equal(occupancy.waves, waves);
	assert_string_equal(occupancy_limits_text(occupancy.limits, text), limits);
}

static void cuda_by_hand(void **state)
{
	/* 64 warps; 65,536 registers; 228 KiB, of which each block takes 1 KiB more. */
	expect("sm_90", kernel(256, 32, 0), 8, 64, "waves, registers");
	expect("sm_90", kernel(256, 33, 0), 6, 48, "registers");
	expect("sm_90", kernel(128, 255, 0), 2, 8, "registers");
	expect("sm_90", kernel(128, 16, 56 * KIB), 4, 16, "shared memory");
	expect("sm_90", kernel(32, 16, 0), 32, 32, "workgroups");
	/* 48 warps do not divide by the 32 of a block. */
	expect("sm_86", kernel(1024, 16, 0), 1, 32, "waves");
}

static void amd_by_hand(void **state)
{
	struct trace_work work = kernel(256, 256, 0);

	/* gfx90a: 8 waves on each of four SIMDs, 512 registers. */
	expect("gfx90a", kernel(256, 64, 0), 8, 32, "waves, registers");
	expect("gfx90a", work, 2, 8, "registers");
	expect("gfx942", kernel(256, 32, 20 * KIB), 3, 12, "shared memory");
	expect("gfx950", kernel(256, 32, 20 * KIB), 8, 32, "waves, shared memory");
	/* gfx906: 10 waves, 256 registers; 16 barriers, which single waves do not need. */
	expect("gfx906", kernel(128, 24, 0), 16, 32, "workgroups");
	expect("gfx906", kernel(64, 24, 0), 40, 40, "waves, registers");
	work = kernel(256, 24, 0);
	work.scalar_registers = 112;
	expect("gfx900", work, 7, 28, "scalar registers");
}

static struct trace_work rdna_kernel(uint32_t work_items, uint32_t registers, uint32_t group_bytes,
				     uint8_t wave_size, bool is_wgp_mode)
{
	struct trace_work work = kernel(work_items, registers, group_bytes);

	work.wave_size = wave_size;
	work.is_wgp_mode = is_wgp_mode;
	return work;
}

static void rdna_by_hand(void **state)
{
	/* Two SIMDs of 16 waves, or four of them; 1,024 registers of a wave32. */
	expect("gfx1030", rdna_kernel(256, 64, 0, 32, false), 4, 32, "waves, registers");
	expect("gfx1030", rdna_kernel(256, 64, 0, 32, true), 8, 64, "waves, registers");
	/* 65 become 80 in steps of 16: 12 waves of each SIMD, 24 of the unit, three workgroups. */
	expect("gfx1030", rdna_kernel(256, 65, 0, 32, false), 3, 24, "registers");
	/* A wave64 takes two registers for each; 512 of them, in steps of 8. */
	expect("gfx1030", rdna_kernel(256, 65, 0, 64, false), 3, 12, "registers");
	/* 1,536 in steps of 24: 96 stay 96, 97 become 120. */
	expect("gfx1100", rdna_kernel(32, 96, 0, 32, false), 32, 32, "waves, registers");
	expect("gfx1201", rdna_kernel(32, 97, 0, 32, false), 24, 24, "registers");
	expect("gfx1102", rdna_kernel(32, 97, 0, 32, false), 18, 18, "registers");
	/* 20 waves. */
	expect("gfx1010", rdna_kernel(32, 8, 0, 32, false), 40, 40, "waves");
	/* 64 KiB of LDS, or 128; steps of 1 KiB from gfx10.3 on, of 512 bytes before. */
	expect("gfx1100", rdna_kernel(64, 8, 16 * KIB + 1, 32, false), 3, 6, "shared memory");
	expect("gfx1100", rdna_kernel(64, 8, 16 * KIB + 1, 32, true), 7, 14, "shared memory");
	expect("gfx1030", rdna_kernel(64, 8, 6 * KIB + 1, 32, false), 9, 18, "shared memory");
	expect("gfx1010", rdna_kernel(64, 8, 6 * KIB + 1, 32, false), 9, 18, "shared memory");
	expect("gfx1010", rdna_kernel(64, 8, 4 * KIB + 513, 32, false), 12, 24, "shared memory");
	/* 16 barriers, or 32. */
	expect("gfx1010", rdna_kernel(64, 8, 0, 32, false), 16, 32, "workgroups");
	expect("gfx1010", rdna_kernel(64, 8, 0, 32, true), 32, 64, "workgroups");
}

/* A row of amd_occupancy.csv. */
struct compiled {
	char processor[16];
	unsigned work_items, lds_bytes, rsrc1, properties;
	unsigned waves_of_simd; /* LLVM's occupancy */
};

static unsigned divide_up(unsigned number, unsigned by)
{
	return (number + by - 1) / by;
}

/* LLVM divides what fits by the SIMDs and rounds up. No row has several waves in a workgroup and
 * many registers: of such kernels LLVM does not reckon with whole workgroups, as we do. */
static void compare_with_llvm(const struct compiled *row)
{
	struct wave_mode mode = wave_mode_of_kernel(row->processor, row->rsrc1, row->properties);
	uint32_t registers = registers_of_kernel(row->processor, row->rsrc1, row->properties);
	struct trace_work work =
		rdna_kernel(row->work_items, registers, row->lds_bytes, mode.size, mode.is_wgp);
	struct occupancy occupancy;
	unsigned simds = mode.size == 0 || mode.is_wgp ? 4 : 2;

	work.scalar_registers = scalar_registers_of_kernel(row->processor, row->rsrc1);
	occupancy = occupancy_of(row->processor, &work);
	if (divide_up(occupancy.waves, simds) != row->waves_of_simd)
		print_message("%s: %u work-items, %u registers, %u bytes, rsrc1 %#x\n",
			      row->processor, row->work_items, registers, row->lds_bytes,
			      row->rsrc1);
	assert_int_equal(divide_up(occupancy.waves, simds), row->waves_of_simd);
}

static void amd_by_what_its_compiler_says(void **state)
{
	FILE *file = fopen(SOURCE_FOLDER "/amd_occupancy.csv", "r");
	struct compiled row;
	unsigned rows = 0;
	char line[128];

	assert_non_null(file);
	assert_non_null(fgets(line, sizeof(line), file)); /* the names of the columns */
	while (fgets(line, sizeof(line), file)) {
		assert_int_equal(sscanf(line, "%15[^,],%u,%u,%x,%x,%u", row.processor,
					&row.work_items, &row.lds_bytes, &row.rsrc1,
					&row.properties, &row.waves_of_simd),
				 6);
		compare_with_llvm(&row);
		rows++;
	}
	fclose(file);
	assert_true(rows > 1000);
}

static void what_is_not_known_is_not_said(void **state)
{
	struct trace_work copy = kernel(256, 32, 0);

	copy.kind = TRACE_COPY;
	assert_int_equal(occupancy_of("sm_90", &copy).waves_most, 0);
	copy = kernel(256, 0, 0);
	assert_int_equal(occupancy_of("sm_90", &copy).waves_most, 0);
	copy = kernel(2048, 32, 0);
	assert_int_equal(occupancy_of("sm_90", &copy).waves_most, 0);
	copy = kernel(UINT32_MAX, 32, 0);
	assert_int_equal(occupancy_of("sm_90", &copy).waves_most, 0);
	copy = kernel(256, 32, 0);
	/* Neither the wave size, nor the processor. */
	assert_int_equal(occupancy_of("gfx1030", &copy).waves_most, 0);
	copy = rdna_kernel(256, 32, 0, 32, true);
	assert_int_equal(occupancy_of("gfx1250", &copy).waves_most, 0);
	copy = kernel(256, 32, 0);
	assert_int_equal(occupancy_of("sm_9", &copy).waves_most, 0);
	assert_int_equal(occupancy_of("sm_905", &copy).waves_most, 0);
	assert_int_equal(occupancy_of("", &copy).waves_most, 0);
}

#ifdef HAS_CUDA_OCCUPANCY
/* What cudaGetDeviceProperties says of a device of that capability. */
static cudaOccDeviceProp device(int major, int minor, int warps, int shared_kib, int reserved)
{
	return (cudaOccDeviceProp){
		.computeMajor = major,
		.computeMinor = minor,
		.maxThreadsPerBlock = 1024,
		.maxThreadsPerMultiprocessor = 32 * warps,
		.regsPerBlock = 65536,
		.regsPerMultiprocessor = 65536,
		.warpSize = 32,
		.sharedMemPerBlock = 48 * KIB,
		.sharedMemPerMultiprocessor = (size_t)shared_kib * KIB,
		.numSms = 1,
		.sharedMemPerBlockOptin = (size_t)shared_kib * KIB - (size_t)reserved,
		.reservedSharedMemPerBlock = (size_t)reserved,
	};
}

static uint32_t limits_of(const cudaOccResult *result)
{
	static const struct {
		unsigned theirs;
		enum occupancy_limit ours;
	} pairs[] = {{OCC_LIMIT_WARPS, OCCUPANCY_WAVES},
		     {OCC_LIMIT_REGISTERS, OCCUPANCY_REGISTERS},
		     {OCC_LIMIT_SHARED_MEMORY, OCCUPANCY_GROUP_MEMORY},
		     {OCC_LIMIT_BLOCKS, OCCUPANCY_GROUPS}};
	uint32_t limits = 0;

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		limits |= (uint32_t) !!(result->limitingFactors & pairs[i].theirs) << pairs[i].ours;
	return limits;
}

static void compare(const cudaOccDeviceProp *properties, struct trace_work work)
{
	cudaOccFuncAttributes attributes = {.maxThreadsPerBlock = INT_MAX,
					    .numRegs = (int)work.registers,
					    .shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN,
					    .maxDynamicSharedSizeBytes = work.group_bytes,
					    .numBlockBarriers = 1};
	cudaOccDeviceState no_preference = {.carveoutConfig = SHAREDMEM_CARVEOUT_DEFAULT};
	struct occupancy occupancy;
	cudaOccResult result = {0};
	char architecture[16];

	snprintf(architecture, sizeof(architecture), "sm_%d%d", properties->computeMajor,
		 properties->computeMinor);
	assert_int_equal(cudaOccMaxActiveBlocksPerMultiprocessor(
				 &result, properties, &attributes, &no_preference,
				 (int)work.workgroup[0], work.group_bytes),
			 CUDA_OCC_SUCCESS);
	occupancy = occupancy_of(architecture, &work);
	if ((int)occupancy.groups != result.activeBlocksPerMultiprocessor)
		print_message("%s: %u threads, %u registers, %u bytes\n", architecture,
			      work.workgroup[0], work.registers, work.group_bytes);
	assert_int_equal(occupancy.groups, result.activeBlocksPerMultiprocessor);
	if (occupancy.groups)
		assert_int_equal(occupancy.limits, limits_of(&result));
}

static void cuda_by_its_own_calculator(void **state)
{
	const cudaOccDeviceProp devices[] = {
		device(7, 0, 64, 96, 0),     device(7, 5, 32, 64, 0),
		device(8, 0, 64, 164, KIB),  device(8, 6, 48, 100, KIB),
		device(8, 9, 48, 100, KIB),  device(9, 0, 64, 228, KIB),
		device(10, 0, 64, 228, KIB), device(10, 3, 64, 228, KIB),
		device(11, 0, 48, 228, KIB), device(12, 0, 48, 100, KIB),
		device(12, 1, 48, 100, KIB),
	};
	unsigned seed = (unsigned)test_seed();

	for (size_t d = 0; d < sizeof(devices) / sizeof(devices[0]); d++) {
		for (int i = 0; i < 20000; i++) {
			uint32_t shared = 0;

			if (rand_r(&seed) % 3)
				shared = (uint32_t)rand_r(&seed) %
					 (uint32_t)(devices[d].sharedMemPerBlockOptin + 1);
			compare(&devices[d], kernel(1 + (uint32_t)rand_r(&seed) % 1024,
						    1 + (uint32_t)rand_r(&seed) % 255, shared));
		}
	}
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cuda_by_hand),
		cmocka_unit_test(amd_by_hand),
		cmocka_unit_test(rdna_by_hand),
		cmocka_unit_test(amd_by_what_its_compiler_says),
		cmocka_unit_test(what_is_not_known_is_not_said),
#ifdef HAS_CUDA_OCCUPANCY
		cmocka_unit_test(cuda_by_its_own_calculator),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

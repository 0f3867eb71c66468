/* Threads that allocate, lock, copy, load and look up at the same time, for ThreadSanitizer and
 * for other defects that appear under load. Each thread checks its own bytes. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "raw_machine.h"

#define THREADS 8
#define ROUNDS	60
#define BYTES	8192

static struct machine machine;
static uint8_t *kernels;
static size_t kernels_bytes;
static _Atomic uint32_t failures;

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition))                                                                  \
			failures++;                                                                \
	} while (0)

static void copy(void *to, hsa_agent_t to_agent, const void *from, hsa_agent_t from_agent,
		 uint32_t count, const hsa_signal_t *after, hsa_signal_t done)
{
	CHECK(hsa_amd_memory_async_copy(to, to_agent, from, from_agent, BYTES, count, after,
					done) == HSA_STATUS_SUCCESS);
}

/* Copies from a locked range to a GPU, to the other GPU, and back: a chain of three copies. */
static void round_trip(uint32_t seed)
{
	const uint32_t here = seed % machine.gpu_count;
	const uint32_t there = (seed + 1) % machine.gpu_count;
	uint8_t *host = malloc(BYTES);
	uint8_t *back = malloc(BYTES);
	void *first = NULL;
	void *second = NULL;
	void *alias = NULL;
	hsa_signal_t steps[3];

	for (int i = 0; i < 3; i++)
		CHECK(hsa_signal_create(1, 0, NULL, &steps[i]) == HSA_STATUS_SUCCESS);
	memset(host, (int)seed, BYTES);
	CHECK(hsa_amd_memory_pool_allocate(machine.vram[here], BYTES, 0, &first) ==
	      HSA_STATUS_SUCCESS);
	CHECK(hsa_amd_memory_pool_allocate(machine.vram[there], BYTES, 0, &second) ==
	      HSA_STATUS_SUCCESS);
	CHECK(hsa_amd_memory_lock(host, BYTES, NULL, 0, &alias) == HSA_STATUS_SUCCESS);
	copy(back, machine.cpu, second, machine.gpu[there], 1, &steps[1], steps[2]);
	copy(second, machine.gpu[there], first, machine.gpu[here], 1, &steps[0], steps[1]);
	copy(first, machine.gpu[here], alias, machine.cpu, 0, NULL, steps[0]);
	CHECK(hsa_signal_wait_scacquire(steps[2], HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
					HSA_WAIT_STATE_BLOCKED) == 0);
	CHECK(memcmp(host, back, BYTES) == 0);
	CHECK(hsa_amd_memory_unlock(host) == HSA_STATUS_SUCCESS);
	CHECK(hsa_amd_memory_pool_free(first) == HSA_STATUS_SUCCESS);
	CHECK(hsa_amd_memory_pool_free(second) == HSA_STATUS_SUCCESS);
	for (int i = 0; i < 3; i++)
		hsa_signal_destroy(steps[i]);
	free(host);
	free(back);
}

static void load_and_look_up(uint32_t seed)
{
	const hsa_agent_t gpu = machine.gpu[seed % machine.gpu_count];
	hsa_code_object_reader_t reader;
	hsa_executable_t executable;
	hsa_executable_symbol_t symbol;
	uint32_t kernarg_bytes = 0;

	CHECK(hsa_code_object_reader_create_from_memory(kernels, kernels_bytes, &reader) ==
	      HSA_STATUS_SUCCESS);
	CHECK(hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT,
					NULL, &executable) == HSA_STATUS_SUCCESS);
	CHECK(hsa_executable_load_agent_code_object(executable, gpu, reader, NULL, NULL) ==
	      HSA_STATUS_SUCCESS);
	CHECK(hsa_code_object_reader_destroy(reader) == HSA_STATUS_SUCCESS);
	CHECK(hsa_executable_freeze(executable, NULL) == HSA_STATUS_SUCCESS);
	CHECK(hsa_executable_get_symbol_by_name(executable, "scale.kd", &gpu, &symbol) ==
	      HSA_STATUS_SUCCESS);
	CHECK(hsa_executable_symbol_get_info(symbol,
					     HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE,
					     &kernarg_bytes) == HSA_STATUS_SUCCESS);
	CHECK(kernarg_bytes == 24);
	CHECK(hsa_executable_destroy(executable) == HSA_STATUS_SUCCESS);
}

static void *work(void *argument)
{
	uint32_t thread = *(uint32_t *)argument;

	for (uint32_t i = 0; i < ROUNDS; i++) {
		round_trip(thread * ROUNDS + i);
		load_and_look_up(thread + i);
	}
	return NULL;
}

static void everything_at_once(void **state)
{
	pthread_t threads[THREADS];
	uint32_t numbers[THREADS];

	for (uint32_t i = 0; i < THREADS; i++) {
		numbers[i] = i;
		assert_int_equal(pthread_create(&threads[i], NULL, work, &numbers[i]), 0);
	}
	for (uint32_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(failures, 0);
}

static int open_machine(void **state)
{
	machine_open("gfx906,gpus=3,vram=16M,copy_ns=1000", &machine);
	kernels = machine_read_data("kernels.gfx906.co", &kernels_bytes);
	return 0;
}

static int close_machine(void **state)
{
	free(kernels);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_at_once),
	};

	return cmocka_run_group_tests_name("device stress", tests, open_machine, close_machine);
}

/* Asynchronous copies: directions, dependencies, completion, rectangles, times, and requests
 * that are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dagtap/softgpu.h>
#include <hsa/amd_hsa_signal.h>

#include "raw_machine.h"
#include "vendor/hsa_newer.h"

#define COPY_NS 200000
#define BYTES	4096

#define OK(call) assert_int_equal(call, HSA_STATUS_SUCCESS)

static struct machine machine;

static int open_machine(void **state)
{
	machine_open("gfx906,gpus=2,copy_ns=200000,copy_bytes_per_us=0", &machine);
	return 0;
}

static uint64_t counter(const char *name)
{
	const char *names[64];
	uint64_t values[64];
	uint32_t count = softgpu_counters(values, names, 64);

	for (uint32_t i = 0; i < count; i++)
		if (!strcmp(names[i], name))
			return values[i];
	fail_msg("no counter %s", name);
	return 0;
}

static hsa_signal_t make_signal(hsa_signal_value_t value)
{
	hsa_signal_t signal;

	OK(hsa_signal_create(value, 0, NULL, &signal));
	return signal;
}

static void wait_zero(hsa_signal_t signal)
{
	assert_int_equal(hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
						   HSA_WAIT_STATE_BLOCKED),
			 0);
}

/* The memory that most cases copy from and to, on the CPU and on GPU 0, and a signal of 1. */
struct copy {
	uint8_t *device; /* BYTES bytes */
	uint8_t *host;	 /* twice as many */
	hsa_signal_t done;
};

static int copy_setup(void **state)
{
	static struct copy copy;

	copy.device = machine_allocate(machine.vram[0], BYTES);
	copy.host = machine_allocate(machine.fine, 2 * BYTES);
	copy.done = make_signal(1);
	*state = &copy;
	return 0;
}

static int copy_teardown(void **state)
{
	struct copy *copy = *state;

	hsa_signal_destroy(copy->done);
	hsa_amd_memory_pool_free(copy->device);
	hsa_amd_memory_pool_free(copy->host);
	return 0;
}

#define COPY_CASE(name) cmocka_unit_test_setup_teardown(name, copy_setup, copy_teardown)

/* Copies BYTES bytes to the device when the COUNT signals GATES are 0. */
static hsa_status_t copy_after(const struct copy *copy, size_t bytes, uint32_t count,
			       const hsa_signal_t *gates, hsa_signal_t done)
{
	return hsa_amd_memory_async_copy(copy->device, machine.gpu[0], copy->host, machine.cpu,
					 bytes, count, gates, done);
}

static void copy_and_wait(void *to, hsa_agent_t to_agent, const void *from, hsa_agent_t from_agent)
{
	hsa_signal_t done = make_signal(1);

	OK(hsa_amd_memory_async_copy(to, to_agent, from, from_agent, BYTES, 0, NULL, done));
	wait_zero(done);
	hsa_signal_destroy(done);
}

static void every_direction(void **state)
{
	struct copy *copy = *state;
	uint8_t *second = machine_allocate(machine.vram[1], BYTES);
	uint8_t *back = machine_allocate(machine.coarse, BYTES);
	uint8_t *last = machine_allocate(machine.coarse, BYTES);

	for (int i = 0; i < BYTES; i++)
		copy->host[i] = (uint8_t)(i * 31);
	copy_and_wait(copy->device, machine.gpu[0], copy->host, machine.cpu);
	copy_and_wait(second, machine.gpu[1], copy->device, machine.gpu[0]);
	copy_and_wait(back, machine.cpu, second, machine.gpu[1]);
	copy_and_wait(last, machine.cpu, back, machine.cpu);
	assert_memory_equal(last, copy->host, BYTES);
	hsa_amd_memory_pool_free(second);
	hsa_amd_memory_pool_free(back);
	hsa_amd_memory_pool_free(last);
}

static uint32_t idle_engines(hsa_agent_t to, hsa_agent_t from)
{
	uint32_t mask = 0;
	hsa_status_t status = hsa_amd_memory_copy_engine_status(to, from, &mask);

	assert_int_equal(status, mask ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_OUT_OF_RESOURCES);
	return mask;
}

static hsa_status_t copy_on(uint32_t engine, void *to, const void *from, hsa_signal_t gate,
			    hsa_signal_t done)
{
	return hsa_amd_memory_async_copy_on_engine(to, machine.gpu[0], from, machine.cpu, BYTES, 1,
						   &gate, done, engine, false);
}

/* Copies on engines that the program names. An engine is busy while a copy waits on it; the
 * engines of other GPUs are not. */
static void engines_by_name(void **state)
{
	struct copy *copy = *state;
	uint8_t *device = machine_allocate(machine.vram[0], 9 * BYTES);
	hsa_signal_t gate = make_signal(1);
	hsa_signal_t done = make_signal(4);
	uint32_t preferred = 0;

	OK(hsa_amd_memory_get_preferred_copy_engine(machine.cpu, machine.gpu[0], &preferred));
	assert_int_equal(preferred, 2);
	memset(copy->host, 9, BYTES);
	for (uint32_t engine = 1; engine < 16; engine <<= 1) {
		assert_int_equal(idle_engines(machine.gpu[0], machine.cpu), 15 & ~(engine - 1));
		OK(copy_on(engine, device + engine * BYTES, copy->host, gate, done));
	}
	assert_int_equal(idle_engines(machine.cpu, machine.gpu[0]), 0);
	assert_int_equal(idle_engines(machine.cpu, machine.gpu[1]), 15);
	assert_int_equal(copy_on(16, device, copy->host, gate, done),
			 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	assert_int_equal(copy_on(3, device, copy->host, gate, done),
			 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	assert_int_equal(copy_on(0, device, copy->host, gate, done),
			 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	hsa_signal_store_screlease(gate, 0);
	wait_zero(done);
	assert_int_equal(device[9 * BYTES - 1], 9);
	hsa_signal_destroy(gate);
	hsa_signal_destroy(done);
	hsa_amd_memory_pool_free(device);
}

/* The first copy depends on the second one on the same engine, so an engine that works in order
 * would wait forever. */
static void a_ready_copy_overtakes(void **state)
{
	struct copy *copy = *state;
	hsa_signal_t second_done = make_signal(1);
	hsa_signal_t first_done = make_signal(1);

	memset(copy->host, 5, BYTES);
	OK(copy_after(copy, 64, 1, &second_done, first_done));
	OK(hsa_amd_memory_async_copy(copy->device + 64, machine.gpu[0], copy->host, machine.cpu, 64,
				     0, NULL, second_done));
	wait_zero(first_done);
	assert_int_equal(hsa_signal_load_scacquire(second_done), 0);
	assert_int_equal(copy->device[0], 5);
	hsa_signal_destroy(first_done);
	hsa_signal_destroy(second_done);
}

static void waits_for_all_dependencies(void **state)
{
	struct copy *copy = *state;
	hsa_signal_t gates[3] = {make_signal(1), make_signal(0), make_signal(2)};
	uint64_t looks;

	OK(copy_after(copy, 64, 3, gates, copy->done));
	hsa_signal_store_screlease(gates[0], 0);
	hsa_signal_subtract_screlease(gates[2], 1);
	/* The engine must read these values of the signals. One read may have begun before they
	 * were stored, so wait for two. */
	looks = counter("idle_looks");
	assert_int_equal(softgpu_await("idle_looks", looks + 2), 0);
	assert_int_equal(hsa_signal_load_scacquire(copy->done), 1);
	hsa_signal_subtract_screlease(gates[2], 1);
	wait_zero(copy->done);
	for (int i = 0; i < 3; i++)
		hsa_signal_destroy(gates[i]);
}

static void completion_counts_down(void **state)
{
	struct copy *copy = *state;
	hsa_signal_t lines = make_signal(5);

	for (int i = 0; i < 5; i++)
		OK(hsa_amd_memory_async_copy(copy->device + i * 8, machine.gpu[0],
					     copy->host + i * 16, machine.cpu, 8, 0, NULL, lines));
	wait_zero(lines);
	hsa_signal_destroy(lines);
}

/* The program may destroy the signals of a copy before the copy ends. Later copies must still
 * run. */
static void signals_destroyed_while_queued(void **state)
{
	struct copy *copy = *state;
	hsa_signal_t gate = make_signal(1);
	hsa_signal_t done = make_signal(1);
	hsa_signal_t after = make_signal(1);

	OK(copy_after(copy, 64, 1, &gate, done));
	hsa_signal_store_screlease(gate, 0);
	hsa_signal_destroy(gate);
	hsa_signal_destroy(done);
	OK(copy_after(copy, 64, 0, NULL, after));
	wait_zero(after);
	hsa_signal_destroy(after);
}

static void rectangle(void **state)
{
	struct copy *copy = *state;
	const hsa_pitched_ptr_t to = {copy->device, 64, 512};
	const hsa_pitched_ptr_t from = {copy->host, 32, 256};
	const hsa_dim3_t to_offset = {4, 1, 1};
	const hsa_dim3_t from_offset = {8, 2, 0};
	const hsa_dim3_t range = {12, 3, 2};

	for (int i = 0; i < BYTES; i++)
		copy->host[i] = (uint8_t)(i * 13 + i / 256);
	OK(hsa_amd_memory_async_copy_rect(&to, &to_offset, &from, &from_offset, &range,
					  machine.gpu[0], hsaHostToDevice, 0, NULL, copy->done));
	wait_zero(copy->done);
	for (size_t z = 0; z < range.z; z++) {
		for (size_t y = 0; y < range.y; y++)
			assert_memory_equal(copy->device + (z + 1) * 512 + (y + 1) * 64 + 4,
					    copy->host + z * 256 + (y + 2) * 32 + 8, range.x);
	}
	assert_int_equal(copy->device[512 + 64 + 3], 0);
	assert_int_equal(copy->device[512 + 64 + 4 + 12], 0);
}

static hsa_status_t copy_rectangle(const hsa_pitched_ptr_t *to, const hsa_pitched_ptr_t *from,
				   hsa_dim3_t range, hsa_agent_t agent, hsa_signal_t done)
{
	const hsa_dim3_t origin = {0, 0, 0};

	return hsa_amd_memory_async_copy_rect(to, &origin, from, &origin, &range, agent,
					      hsaHostToDevice, 0, NULL, done);
}

static void rectangle_refused(void **state)
{
	struct copy *copy = *state;
	hsa_pitched_ptr_t to = {copy->device, 64, 4096};
	hsa_pitched_ptr_t from = {copy->host, 64, 4096};
	hsa_dim3_t range = {64, 65, 1};

	assert_int_equal(copy_rectangle(&to, &from, range, machine.gpu[0], copy->done),
			 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	range = (hsa_dim3_t){UINT32_MAX, UINT32_MAX, UINT32_MAX};
	assert_int_equal(copy_rectangle(&to, &from, range, machine.gpu[0], copy->done),
			 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	range = (hsa_dim3_t){64, 64, 1};
	assert_int_equal(copy_rectangle(&to, &from, range, machine.cpu, copy->done),
			 HSA_STATUS_ERROR_INVALID_AGENT);
	to.pitch = 63;
	assert_int_equal(copy_rectangle(&to, &from, range, machine.gpu[0], copy->done),
			 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	assert_int_equal(copy_rectangle(NULL, &from, range, machine.gpu[0], copy->done),
			 HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

static void times_only_when_asked(void **state)
{
	struct copy *copy = *state;
	hsa_amd_profiling_async_copy_time_t time;

	OK(copy_after(copy, 64, 0, NULL, copy->done));
	wait_zero(copy->done);
	assert_int_not_equal(hsa_amd_profiling_get_async_copy_time(copy->done, &time),
			     HSA_STATUS_SUCCESS);
	OK(hsa_amd_profiling_async_copy_enable(true));
	hsa_signal_store_screlease(copy->done, 1);
	OK(copy_after(copy, 64, 0, NULL, copy->done));
	wait_zero(copy->done);
	OK(hsa_amd_profiling_get_async_copy_time(copy->done, &time));
	/* The model's copy time, with an error of one tick of 10 ns at each end. */
	assert_true(time.end - time.start >= COPY_NS - 20);
	OK(hsa_amd_profiling_async_copy_enable(false));
}

static void bad_copies(void **state)
{
	struct copy *copy = *state;
	const hsa_agent_t nobody = {77};
	const hsa_signal_t nothing = {0};
	hsa_signal_t dead = make_signal(1);

	hsa_signal_destroy(dead);
	assert_int_equal(hsa_amd_memory_async_copy(NULL, machine.gpu[0], copy->host, machine.cpu,
						   64, 0, NULL, copy->done),
			 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	assert_int_equal(hsa_amd_memory_async_copy(copy->device, nobody, copy->host, machine.cpu,
						   64, 0, NULL, copy->done),
			 HSA_STATUS_ERROR_INVALID_AGENT);
	assert_int_equal(copy_after(copy, 64, 0, NULL, nothing), HSA_STATUS_ERROR_INVALID_SIGNAL);
	assert_int_equal(copy_after(copy, 64, 0, NULL, dead), HSA_STATUS_ERROR_INVALID_SIGNAL);
	assert_int_equal(copy_after(copy, 64, 1, &dead, copy->done),
			 HSA_STATUS_ERROR_INVALID_SIGNAL);
	assert_int_equal(copy_after(copy, 64, 1, NULL, copy->done),
			 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	assert_int_equal(copy_after(copy, BYTES + 1, 0, NULL, copy->done),
			 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	OK(copy_after(copy, 0, 0, NULL, copy->done));
	assert_int_equal(hsa_signal_load_relaxed(copy->done), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		COPY_CASE(every_direction),
		COPY_CASE(engines_by_name),
		COPY_CASE(a_ready_copy_overtakes),
		COPY_CASE(waits_for_all_dependencies),
		COPY_CASE(completion_counts_down),
		COPY_CASE(signals_destroyed_while_queued),
		COPY_CASE(rectangle),
		COPY_CASE(rectangle_refused),
		COPY_CASE(times_only_when_asked),
		COPY_CASE(bad_copies),
	};

	return cmocka_run_group_tests_name("copies", tests, open_machine, NULL);
}

/* Control of the device by a test: work that the device does not take, work that does not end,
 * and threads that are held at a counter's value. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <errno.h>

#include <dagtap/softgpu.h>
#include <hsa/amd_hsa_signal.h>

#include "../launched.h"
#include "aql.h"

#define LONG_NS 50000000ull
#define COPY_NS 7000ull
#define TICK_NS 10
#define COUNTED 3

static struct aql aql;
static uint64_t **kernarg; /* the argument of "count" */
static uint64_t *counted;
static char folder[TEST_PATH_BYTES], pipe_path[2 * TEST_PATH_BYTES];

static int open_device(void **state)
{
	char configuration[4 * TEST_PATH_BYTES];

	if (!mkdtemp(test_path(folder, "hold")))
		return -1;
	snprintf(pipe_path, sizeof(pipe_path), "%s/pipe", folder);
	if (mkfifo(pipe_path, 0600))
		return -1;
	snprintf(configuration, sizeof(configuration),
		 "gfx906,kernel_ns=0,kernel:scale=%llu,copy_ns=%llu,copy_bytes_per_us=0,"
		 "hold_at=packets_barrier_or:2,hold_pipe=%s",
		 LONG_NS, COPY_NS, pipe_path);
	aql_open(configuration, &aql);
	counted = machine_allocate(aql.machine.fine, 4096);
	kernarg = machine_allocate(aql.machine.kernarg, 4096);
	*kernarg = counted;
	return 0;
}

static int remove_pipe(void **state)
{
	unlink(pipe_path);
	return rmdir(folder);
}

static void await_more(const char *counter, uint64_t before, uint64_t count)
{
	assert_int_equal(softgpu_await(counter, before + count), 0);
}

/* ---- taking work ---- */

static void nothing_is_taken_while_that_is_held(void **state)
{
	hsa_queue_t *queue = aql_queue(&aql, 64);
	hsa_signal_t done = aql_signal(COUNTED);
	hsa_kernel_dispatch_packet_t packet = aql_dispatch(aql.count, kernarg, AQL_BARRIER, done);
	uint64_t taken = aql_counter("packets_kernel_dispatch");
	uint64_t ended = aql_counter("packets_ended"), looks;

	softgpu_take_hold();
	for (int i = 0; i < COUNTED; i++)
		aql_submit(queue, &packet);
	looks = aql_counter("idle_looks");
	await_more("idle_looks", looks, 1);
	assert_int_equal(hsa_queue_load_read_index_scacquire(queue), 0);
	assert_int_equal(softgpu_take_step(2), 0);
	await_more("packets_ended", ended, 2);
	assert_int_equal(hsa_queue_load_read_index_scacquire(queue), 2);
	assert_int_equal(aql_counter("packets_kernel_dispatch"), taken + 2);
	assert_int_equal(hsa_signal_load_scacquire(done), 1);
	softgpu_take_release();
	aql_wait(done);
	assert_int_equal(softgpu_take_step(1), -EPERM);
	hsa_queue_destroy(queue);
	hsa_signal_destroy(done);
}

static void copies_are_held_too(void **state)
{
	char *memory = machine_allocate(aql.machine.fine, 4096);
	hsa_signal_t done = aql_signal(2);
	uint64_t ended = aql_counter("copies_ended");

	memset(memory, 7, 128);
	softgpu_take_hold();
	for (size_t at = 1024; at <= 2048; at += 1024)
		assert_int_equal(hsa_amd_memory_async_copy(memory + at, aql.machine.gpu[0], memory,
							   aql.machine.cpu, 128, 0, NULL, done),
				 HSA_STATUS_SUCCESS);
	assert_int_equal(softgpu_take_step(1), 0);
	await_more("copies_ended", ended, 1);
	assert_int_equal(memory[1024], 7);
	assert_int_equal(memory[2048], 0);
	assert_int_equal(hsa_signal_load_scacquire(done), 1);
	softgpu_take_release();
	aql_wait(done);
	assert_int_equal(memory[2048], 7);
	hsa_signal_destroy(done);
}

/* ---- the clock ---- */

static void what_runs_ends_when_the_clock_is_there(void **state)
{
	hsa_queue_t *queue = aql_queue(&aql, 64);
	hsa_signal_t first = aql_signal(1), second = aql_signal(1);
	hsa_kernel_dispatch_packet_t packet = aql_dispatch(aql.scale, NULL, AQL_BARRIER, first);
	uint64_t taken = aql_counter("packets_kernel_dispatch"), looks;
	const amd_signal_t *times = (const amd_signal_t *)(uintptr_t)first.handle;
	const amd_signal_t *later = (const amd_signal_t *)(uintptr_t)second.handle;

	hsa_amd_profiling_set_profiler_enabled(queue, 1);
	softgpu_clock_hold();
	aql_submit(queue, &packet);
	packet.completion_signal = second;
	aql_submit(queue, &packet);
	await_more("packets_kernel_dispatch", taken, 1);
	assert_int_equal(softgpu_clock_step(LONG_NS - 1), 0);
	looks = aql_counter("idle_looks");
	await_more("idle_looks", looks, 2);
	assert_int_equal(hsa_signal_load_scacquire(first), 1);
	/* All work that is due by then ends, one piece after the other without a gap. */
	assert_int_equal(softgpu_clock_step(LONG_NS + 1), 0);
	aql_wait(second);
	assert_int_equal(times->end_ts - times->start_ts, LONG_NS / TICK_NS);
	assert_int_equal(later->start_ts, times->end_ts);
	assert_int_equal(later->end_ts - later->start_ts, LONG_NS / TICK_NS);
	softgpu_clock_release();
	assert_int_equal(softgpu_clock_step(1), -EPERM);
	hsa_queue_destroy(queue);
	hsa_signal_destroy(first);
	hsa_signal_destroy(second);
}

static void copies_end_with_it_too(void **state)
{
	char *memory = machine_allocate(aql.machine.fine, 4096);
	hsa_amd_profiling_async_copy_time_t time;
	hsa_signal_t done = aql_signal(1);
	uint64_t start, begun = aql_counter("copies_begun");

	hsa_amd_profiling_async_copy_enable(true);
	softgpu_clock_hold();
	hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &start);
	assert_int_equal(hsa_amd_memory_async_copy(memory + 1024, aql.machine.gpu[0], memory,
						   aql.machine.cpu, 128, 0, NULL, done),
			 HSA_STATUS_SUCCESS);
	await_more("copies_begun", begun, 1);
	assert_int_equal(softgpu_clock_step(COPY_NS - 1), 0);
	assert_int_equal(hsa_signal_load_scacquire(done), 1);
	assert_int_equal(softgpu_clock_step(1), 0);
	aql_wait(done);
	hsa_amd_profiling_get_async_copy_time(done, &time);
	assert_in_range(time.start, start - TICK_NS, start + TICK_NS);
	assert_in_range(time.end, start + COPY_NS - TICK_NS, start + COPY_NS + TICK_NS);
	softgpu_clock_release();
	hsa_signal_destroy(done);
}

/* ---- holding a thread at a counter's value ---- */

static void the_nth_counter_is_held_until_it_is_released(void **state)
{
	hsa_queue_t *queue = aql_queue(&aql, 64);
	hsa_signal_t first = aql_signal(1), second = aql_signal(1);
	hsa_barrier_and_packet_t packet =
		aql_barrier(HSA_PACKET_TYPE_BARRIER_OR, AQL_BARRIER, first);
	uint64_t ended = aql_counter("packets_ended");
	char text[16] = "";
	int file;

	aql_submit(queue, &packet);
	packet.completion_signal = second;
	aql_submit(queue, &packet);
	aql_wait(first);
	file = open(pipe_path, O_RDONLY);
	assert_true(file >= 0);
	assert_int_equal(read(file, text, sizeof(text) - 1), 2);
	assert_string_equal(text, "2\n");
	close(file);
	assert_int_equal(hsa_signal_load_scacquire(second), 1);
	assert_true(aql_counter("packets_ended") <= ended + 1);
	file = open(pipe_path, O_WRONLY);
	assert_true(file >= 0);
	close(file);
	aql_wait(second);
	hsa_queue_destroy(queue);
	hsa_signal_destroy(first);
	hsa_signal_destroy(second);
}

static void points_are_checked(void **state)
{
	static const char *const wrong[] = {"hold_at=doorbells", "hold_at=doorbells:0",
					    "hold_at=doorbells:1x", "hold_at=doorbell:1",
					    "hold_at=:1"};
	char message[128];

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		assert_int_equal(softgpu_config_check(wrong[i], message, sizeof(message)), -EINVAL);
		assert_non_null(strstr(message, wrong[i]));
	}
	assert_int_equal(softgpu_config_check("hold_at=doorbells:1,hold_pipe=/a/b", NULL, 0), 0);
	assert_int_equal(softgpu_await("doorbell", 0), -EINVAL);
	assert_int_equal(softgpu_await("doorbells", 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_taken_while_that_is_held),
		cmocka_unit_test(copies_are_held_too),
		cmocka_unit_test(what_runs_ends_when_the_clock_is_there),
		cmocka_unit_test(copies_end_with_it_too),
		cmocka_unit_test(the_nth_counter_is_held_until_it_is_released),
		cmocka_unit_test(points_are_checked),
	};

	return cmocka_run_group_tests(tests, open_device, remove_pipe);
}

/*
 * intercept-driver submit|waits: the raw HSA program that `dagtap-bench intercept` runs untraced
 * and with tools. It writes its own packets as a runtime does, and prints one "name value" line for
 * each figure, in ns; figures are medians over many rounds unless the name says otherwise.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../examples/hsa/device.h"
#include "base/clock.h"

#define RING	       4096
#define BATCH	       2000
#define BATCH_ROUNDS   15
/* launches timed together: a clock read takes a good part of one launch's time */
#define SINGLES	       64
#define BACKLOG	       1000
#define SINGLE_ROUNDS  41
#define IDLE_ROUNDS    41
#define IDLE_NS	       5000000
#define WAIT_ROUNDS    1000
#define DEVICE_IDLE_NS 20000
#define ROUNDS_MOST    1000

static struct device device;
static hsa_queue_t *queue, *other_queue;
static void *kernarg;
static hsa_signal_t drained;
static double rounds[ROUNDS_MOST];

static const hsa_signal_t none = {0};

static hsa_signal_t signal_make(void)
{
	hsa_signal_t signal;

	HSA_CHECK(hsa_signal_create(1, 0, NULL, &signal));
	return signal;
}

static hsa_queue_t *queue_make(void)
{
	hsa_queue_t *made;

	HSA_CHECK(hsa_queue_create(device.gpu, RING, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX,
				   UINT32_MAX, &made));
	HSA_CHECK(hsa_amd_profiling_set_profiler_enabled(made, 1));
	return made;
}

/* The caller ensures that the ring has room. */
static void publish(hsa_queue_t *to, uint64_t index, const void *packet, uint32_t first_word)
{
	char *slot = (char *)to->base_address + (index & (RING - 1)) * 64;

	memcpy(slot + 4, (const char *)packet + 4, 60);
	__atomic_store_n((uint32_t *)slot, first_word, __ATOMIC_RELEASE);
}

static void write_dispatch(hsa_queue_t *to, uint64_t index, hsa_signal_t signal)
{
	hsa_kernel_dispatch_packet_t packet = {
		.workgroup_size_x = 64,
		.workgroup_size_y = 1,
		.workgroup_size_z = 1,
		.grid_size_x = 64,
		.grid_size_y = 1,
		.grid_size_z = 1,
		.kernel_object = device.kernel_object,
		.kernarg_address = kernarg,
		.completion_signal = signal,
	};

	publish(to, index, &packet,
		HSA_PACKET_TYPE_KERNEL_DISPATCH | 1 << HSA_PACKET_HEADER_BARRIER |
			1u << 16 /* dimensions */);
}

static void write_barrier(hsa_queue_t *to, uint64_t index, hsa_signal_t dependency,
			  hsa_signal_t signal)
{
	hsa_barrier_and_packet_t packet = {.dep_signal = {dependency}, .completion_signal = signal};

	publish(to, index, &packet, HSA_PACKET_TYPE_BARRIER_AND | 1 << HSA_PACKET_HEADER_BARRIER);
}

static void ring(hsa_queue_t *to, uint64_t last)
{
	hsa_signal_store_screlease(to->doorbell_signal, (hsa_signal_value_t)last);
}

static void await(hsa_signal_t signal)
{
	while (hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
					 HSA_WAIT_STATE_BLOCKED) > 0)
		;
}

static void drain(void)
{
	uint64_t index = hsa_queue_add_write_index_screlease(queue, 1);

	hsa_signal_store_relaxed(drained, 1);
	write_barrier(queue, index, none, drained);
	ring(queue, index);
	await(drained);
}

/*
 * Reserves slots, writes packets and rings the doorbell: what a runtime's launch does on its
 * thread.
 */
static void submit(uint32_t count)
{
	uint64_t index = hsa_queue_add_write_index_screlease(queue, count);

	for (uint32_t i = 0; i < count; i++)
		write_dispatch(queue, index + i, none);
	ring(queue, index + count - 1);
}

static int compare(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

static void print_quantile(const char *name, size_t count, unsigned percent)
{
	qsort(rounds, count, sizeof(*rounds), compare);
	printf("%s %.3f\n", name, rounds[count * percent / 100]);
}

/* ---- submit ---- */

static void time_batches(void)
{
	submit(BATCH);
	drain();
	for (int i = 0; i < BATCH_ROUNDS; i++) {
		uint64_t since = clock_now_ns();

		submit(BATCH);
		rounds[i] = (double)(clock_now_ns() - since) / BATCH;
		drain();
	}
	print_quantile("batch", BATCH_ROUNDS, 50);
}

/* Keeps the device busy: waking it would be a system call here, and is none on hardware. */
static void time_singles(void)
{
	for (int i = 0; i < SINGLE_ROUNDS; i++) {
		uint64_t since;

		submit(BACKLOG);
		since = clock_now_ns();
		for (int k = 0; k < SINGLES; k++)
			submit(1);
		rounds[i] = (double)(clock_now_ns() - since) / SINGLES;
		drain();
	}
	print_quantile("single", SINGLE_ROUNDS, 50);
}

/* Launches after a pause, when all threads of a tool are asleep. */
static void time_idle(void)
{
	struct timespec pause = {.tv_nsec = IDLE_NS};

	for (int i = 0; i < IDLE_ROUNDS; i++) {
		uint64_t since;

		nanosleep(&pause, NULL);
		since = clock_now_ns();
		submit(1);
		rounds[i] = (double)(clock_now_ns() - since);
		drain();
	}
	print_quantile("idle", IDLE_ROUNDS, 50);
}

/* ---- waits ---- */

/*
 * Waits longer than the idle device polls its doorbells before it sleeps, so that every round
 * includes waking it.
 */
static void let_device_sleep(void)
{
	uint64_t until = clock_now_ns() + DEVICE_IDLE_NS;

	while (clock_now_ns() < until)
		;
}

/* Times from the doorbell until the application's wait returns. */
static void time_waits(void)
{
	hsa_signal_t done = signal_make();

	for (int i = 0; i < WAIT_ROUNDS; i++) {
		uint64_t index, since;

		let_device_sleep();
		index = hsa_queue_add_write_index_screlease(queue, 1);
		hsa_signal_store_relaxed(done, 1);
		write_dispatch(queue, index, done);
		since = clock_now_ns();
		ring(queue, index);
		await(done);
		rounds[i] = (double)(clock_now_ns() - since);
	}
	print_quantile("wait", WAIT_ROUNDS, 50);
	print_quantile("wait_p99", WAIT_ROUNDS, 99);
	HSA_CHECK(hsa_signal_destroy(done));
}

static double ticks_to_ns(uint64_t ticks)
{
	static uint64_t frequency;

	if (!frequency)
		HSA_CHECK(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &frequency));
	return (double)ticks * 1e9 / (double)frequency;
}

/*
 * Measures, on the device's clock, from the end of a kernel to the start of a kernel in another
 * queue that waits for the first one's completion signal with a barrier packet.
 */
static double dependency_round(hsa_signal_t first, hsa_signal_t second)
{
	uint64_t index = hsa_queue_add_write_index_screlease(other_queue, 2);
	hsa_amd_profiling_dispatch_time_t before, after;

	hsa_signal_store_relaxed(first, 1);
	hsa_signal_store_relaxed(second, 1);
	write_barrier(other_queue, index, first, none);
	write_dispatch(other_queue, index + 1, second);
	ring(other_queue, index + 1);
	index = hsa_queue_add_write_index_screlease(queue, 1);
	write_dispatch(queue, index, first);
	ring(queue, index);
	await(second);
	HSA_CHECK(hsa_amd_profiling_get_dispatch_time(device.gpu, first, &before));
	HSA_CHECK(hsa_amd_profiling_get_dispatch_time(device.gpu, second, &after));
	return after.start > before.end ? ticks_to_ns(after.start - before.end) : 0;
}

static void time_dependencies(void)
{
	hsa_signal_t first = signal_make(), second = signal_make();

	other_queue = queue_make();
	for (int i = 0; i < WAIT_ROUNDS; i++)
		rounds[i] = dependency_round(first, second);
	print_quantile("dependency", WAIT_ROUNDS, 50);
	print_quantile("dependency_p99", WAIT_ROUNDS, 99);
	HSA_CHECK(hsa_queue_destroy(other_queue));
	HSA_CHECK(hsa_signal_destroy(first));
	HSA_CHECK(hsa_signal_destroy(second));
}

int main(int argc, char **argv)
{
	const char *what = argc == 2 ? argv[1] : "";

	device_open(&device);
	kernarg = device_allocate(&device, 4096);
	queue = queue_make();
	drained = signal_make();
	if (!strcmp(what, "submit")) {
		time_batches();
		time_singles();
		time_idle();
	} else if (!strcmp(what, "waits")) {
		time_waits();
		time_dependencies();
	} else {
		driver_fail("usage: intercept-driver submit|waits");
	}
	drain();
	HSA_CHECK(hsa_signal_destroy(drained));
	HSA_CHECK(hsa_queue_destroy(queue));
	HSA_CHECK(hsa_amd_memory_pool_free(kernarg));
	device_close(&device);
	return 0;
}

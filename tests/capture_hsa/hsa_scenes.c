/* Scenes about packets, signals, queues and the clock. test_capture_hsa_programs.c checks what was
 * recorded of them. */
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <hsa/amd_hsa_signal.h>

#include "hsa_scene.h"

/* Doorbells ring in the wrong order. The first slot is written last, after a doorbell covered
 * it, and its writer does not ring. */
static void scene_out_of_order(void)
{
	hsa_queue_t *queue = queue_make(64);
	uint64_t first = hsa_queue_add_write_index_screlease(queue, 3), looks;
	hsa_signal_t done = signal_make(1);

	CHECK(hsa_queue_load_write_index_scacquire(queue) == first + 3);
	dispatch_put(queue, first + 2, done);
	looks = device_count("idle_looks");
	ring(queue, first + 2);
	dispatch_put(queue, first + 1, none);
	ring(queue, first + 1);
	/* If the device was rung, wait until it has read the queue. (A tool may hold back the
	 * doorbells until there is a packet.) */
	if (device_count("doorbells"))
		softgpu_await("idle_looks", looks + 1);
	CHECK(!atomic_load(&ran));
	dispatch_put(queue, first, none);
	signal_await(done);
	CHECK(atomic_load(&ran) == 3);
	HSA_CHECK(hsa_signal_destroy(done));
	HSA_CHECK(hsa_queue_destroy(queue));
}

static uint64_t reserve_by_cas(hsa_queue_t *queue)
{
	uint64_t index = hsa_queue_load_write_index_relaxed(queue), seen;

	while ((seen = hsa_queue_cas_write_index_scacq_screl(queue, index, index + 1)) != index)
		index = seen;
	return index;
}

/* Producers that advance the write index with compare-and-swap or a store, on a ring that wraps
 * many times. */
static void scene_writers(void)
{
	hsa_queue_t *queue = queue_make(64);

	for (int i = 0; i < 500; i++) {
		uint64_t index = reserve_by_cas(queue);

		dispatch_put(queue, index, none);
		ring(queue, index);
	}
	for (int i = 0; i < 500; i++) {
		uint64_t index = hsa_queue_load_write_index_relaxed(queue);

		dispatch_put(queue, index, none);
		hsa_queue_store_write_index_screlease(queue, index + 1);
		ring(queue, index);
	}
	drain(queue);
	CHECK(atomic_load(&ran) == 1000);
	HSA_CHECK(hsa_queue_destroy(queue));
}

static void put_pattern(hsa_queue_t *queue, uint16_t type, unsigned char fill, char *ret_packet)
{
	uint64_t index = hsa_queue_add_write_index_screlease(queue, 1);

	memset(ret_packet, fill, 64);
	memset(ret_packet + 56, 0, 8); /* no completion signal */
	packet_put(queue, index, ret_packet, type);
	ring(queue, index);
}

/* Packets of types that the tool does not handle must reach the device unchanged. */
static void scene_unknown(void)
{
	static const uint16_t types[] = {HSA_PACKET_TYPE_VENDOR_SPECIFIC,
					 HSA_PACKET_TYPE_AGENT_DISPATCH};
	hsa_queue_t *queue = queue_make(64);
	hsa_signal_t done = signal_make(1);
	char packets[2][64], dispatched[64];

	for (int i = 0; i < 2; i++)
		put_pattern(queue, types[i], (unsigned char)(0x51 + i), packets[i]);
	dispatch_put(queue, hsa_queue_add_write_index_screlease(queue, 1), done);
	memcpy(dispatched, packet_at(queue, 2), 64);
	ring(queue, 2);
	signal_await(done);
	drain(queue);
	for (int i = 0; i < 2; i++)
		CHECK(!memcmp(packet_at(queue, (uint64_t)i) + 2, packets[i] + 2, 62));
	CHECK(!memcmp(packet_at(queue, 2) + 2, dispatched + 2, 62));
	HSA_CHECK(hsa_signal_destroy(done));
	HSA_CHECK(hsa_queue_destroy(queue));
}

/* Application signals that are used again at once, and destroyed at once. */
static void scene_own_signals(void)
{
	hsa_queue_t *queue = queue_make(1024);
	hsa_signal_t signal = signal_make(1);

	for (int i = 0; i < 300; i++) {
		dispatch(queue, signal);
		signal_await(signal);
		check_signal(signal);
		hsa_signal_silent_store_relaxed(signal, 1);
	}
	HSA_CHECK(hsa_signal_destroy(signal));
	for (int i = 0; i < 300; i++) {
		signal = signal_make(1);
		dispatch(queue, signal);
		signal_await(signal);
		check_signal(signal);
		HSA_CHECK(hsa_signal_destroy(signal));
	}
	HSA_CHECK(hsa_queue_destroy(queue));
}

/* One signal counts two packets, then is used for one packet. */
static void scene_shared_signal(void)
{
	hsa_queue_t *queue = queue_make(64);
	hsa_signal_t signal = signal_make(2);
	uint64_t first = hsa_queue_add_write_index_screlease(queue, 2);

	dispatch_put(queue, first, signal);
	dispatch_put(queue, first + 1, signal);
	ring(queue, first + 1);
	signal_await(signal);
	CHECK(hsa_signal_load_relaxed(signal) == 0);
	hsa_signal_store_screlease(signal, 1);
	dispatch(queue, signal);
	signal_await(signal);
	check_signal(signal);
	HSA_CHECK(hsa_signal_destroy(signal));
	HSA_CHECK(hsa_queue_destroy(queue));
}

/* A completion signal that the runtime did not make: a block in device-visible memory. */
static void scene_foreign_signal(void)
{
	hsa_queue_t *queue = queue_make(64);
	amd_signal_t *block = device_allocate(&device, 4096);

	block->kind = AMD_SIGNAL_KIND_USER;
	block->value = 1;
	block->start_ts = block->end_ts = 7;
	dispatch(queue, (hsa_signal_t){(uint64_t)(uintptr_t)block});
	while (__atomic_load_n(&block->value, __ATOMIC_ACQUIRE))
		sched_yield();
	HSA_CHECK(hsa_queue_destroy(queue));
	HSA_CHECK(hsa_amd_memory_pool_free(block));
}

/* Destroys a queue with kernels on it. Run with kernel_ns of many seconds, so that no wait sees
 * their end. */
static void scene_destroy_in_flight(void)
{
	hsa_queue_t *queue = queue_make(64);

	for (int i = 0; i < 3; i++)
		dispatch(queue, none);
	HSA_CHECK(hsa_queue_destroy(queue));
}

static void scene_exit_in_flight(void)
{
	hsa_queue_t *queue = queue_make(64);

	for (int i = 0; i < 3; i++)
		dispatch(queue, none);
	exit(0);
}

static bool is_fork_child;

/* LeakSanitizer calls this at exit. In a fork child of a process with threads its allocator may
 * be locked, and the check would wait forever. */
__attribute__((visibility("default"))) int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
	return is_fork_child;
}

static void scene_fork(void)
{
	hsa_queue_t *queue = queue_make(64);
	int status;
	pid_t child;

	for (int i = 0; i < 10; i++)
		dispatch(queue, none);
	child = fork();
	CHECK(child >= 0);
	if (!child) {
		is_fork_child = true;
		exit(42);
	}
	CHECK(waitpid(child, &status, 0) == child);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 42);
	for (int i = 0; i < 10; i++)
		dispatch(queue, none);
	drain(queue);
	CHECK(atomic_load(&ran) == 20);
	HSA_CHECK(hsa_queue_destroy(queue));
}

#define CHURN_THREADS	 4
#define CHURN_ROUNDS	 25
#define CHURN_DISPATCHES 20

static void *churn(void *unused)
{
	(void)unused;
	for (int i = 0; i < CHURN_ROUNDS; i++) {
		hsa_queue_t *queue = queue_make(64);
		hsa_signal_t done = signal_make(1);

		for (int k = 1; k < CHURN_DISPATCHES; k++)
			dispatch(queue, none);
		dispatch(queue, done);
		if (i & 1)
			signal_await(done);
		HSA_CHECK(hsa_queue_destroy(queue));
		HSA_CHECK(hsa_signal_destroy(done));
	}
	return NULL;
}

static void *share(void *queue)
{
	for (int i = 0; i < CHURN_ROUNDS * CHURN_DISPATCHES; i++)
		dispatch(queue, none);
	return NULL;
}

/* Queues are created and destroyed while others are in use. */
static void scene_churn(void)
{
	hsa_queue_t *queue = queue_make(256);
	pthread_t threads[2 * CHURN_THREADS];

	for (int i = 0; i < CHURN_THREADS; i++) {
		pthread_create(&threads[2 * i], NULL, churn, NULL);
		pthread_create(&threads[2 * i + 1], NULL, share, queue);
	}
	for (int i = 0; i < 2 * CHURN_THREADS; i++)
		pthread_join(threads[i], NULL);
	drain(queue);
	HSA_CHECK(hsa_queue_destroy(queue));
}

/* The runtime is shut down and started again. */
static void scene_again(void)
{
	for (int i = 0; i < 2; i++) {
		hsa_queue_t *queue = queue_make(64);

		for (int k = 0; k < 5; k++)
			dispatch(queue, none);
		drain(queue);
		HSA_CHECK(hsa_queue_destroy(queue));
		if (i)
			break;
		close_device();
		open_device();
	}
}

/* A queue that another tool intercepts, beside a queue of the application. */
static void scene_intercepted(void)
{
	hsa_status_t (*create)(hsa_agent_t, uint32_t, hsa_queue_type32_t, void *, void *, uint32_t,
			       uint32_t, hsa_queue_t **);
	hsa_queue_t *proxy, *queue = queue_make(64);
	void *tool = dlopen("hsa_other_tool.so", RTLD_NOLOAD | RTLD_LAZY);
	void *get = tool ? dlsym(tool, "other_tool_intercept_create") : NULL;

	CHECK(get);
	memcpy(&create, &get, sizeof(create));
	HSA_CHECK(create(device.gpu, 64, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX, UINT32_MAX,
			 &proxy));
	for (int i = 0; i < 10; i++) {
		dispatch(proxy, none);
		dispatch(queue, none);
	}
	drain(proxy);
	drain(queue);
	CHECK(atomic_load(&ran) == 20);
	HSA_CHECK(hsa_queue_destroy(proxy));
	HSA_CHECK(hsa_queue_destroy(queue));
}

#define DRIFT_STEP_NS	 20000000
/* clock samples; the tool reads the device's clock this often per sample */
#define DRIFT_SAMPLES	 5
#define DRIFT_PER_SAMPLE 13 /* steps; the tool samples every 250 ms */

/* Runs for several of the tool's clock samples while the clocks drift apart. */
static void scene_drift(void)
{
	hsa_queue_t *queue = queue_make(64);
	uint64_t samples = device_count("timestamps_read");

	for (int i = 0; i < 60; i++) {
		hsa_signal_t done = signal_make(1);

		dispatch(queue, done);
		softgpu_await("packets_kernel_dispatch", (uint64_t)i + 1);
		softgpu_clock_step(DRIFT_STEP_NS);
		signal_await(done);
		HSA_CHECK(hsa_signal_destroy(done));
		if (i % DRIFT_PER_SAMPLE == DRIFT_PER_SAMPLE - 1) {
			softgpu_await("timestamps_read", samples + DRIFT_SAMPLES);
			samples = device_count("timestamps_read");
		}
	}
	drain(queue);
	HSA_CHECK(hsa_queue_destroy(queue));
}

const struct scene plain_scenes[] = {
	{"out-of-order", scene_out_of_order},
	{"writers", scene_writers},
	{"unknown", scene_unknown},
	{"own-signals", scene_own_signals},
	{"shared-signal", scene_shared_signal},
	{"foreign-signal", scene_foreign_signal},
	{"destroy-in-flight", scene_destroy_in_flight},
	{"exit-in-flight", scene_exit_in_flight},
	{"fork", scene_fork},
	{"churn", scene_churn},
	{"again", scene_again},
	{"intercepted", scene_intercepted},
	{"drift", scene_drift},
	{NULL, NULL},
};

/* intercept-stopped WHERE: stops a thread, as a debugger does, and waits for work that does not
 * depend on that thread when the program runs without the tool. The program launches two
 * kernels.
 *
 * These stop a thread at its doorbell, while another thread launches the other kernel after it
 * on the same queue:
 *
 * - gate: the thread reads its packets inside the tool.
 * - handler: as gate, but a signal handler on the stopped thread launches the other kernel.
 * - doorbell: the thread has written its packet and has not rung the doorbell.
 * - no-index: no thread is stopped; doorbells ring for packets that no write index covers.
 * - gate-no-index: as gate, but no write index covers the other kernel.
 *
 * These stop a thread while it destroys the queue, whose kernels have ended and complete one
 * signal:
 *
 * - collector: the thread is inside the tool; another thread waits for the signal.
 * - collector-handler: as collector, but a signal handler on the stopped thread waits. */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <dagtap/softgpu.h>

#include "device_queue.h"
#include "held.h"

static hsa_queue_t *queue;

/* Writes a kernel with a completion signal of its own at INDEX and returns the signal. */
static hsa_signal_t put_kernel(uint64_t index)
{
	hsa_kernel_dispatch_packet_t packet;
	hsa_signal_t done = signal_make(1);

	dispatch_fill(&packet, (uint32_t)index, done);
	packet_put(queue, index, &packet, HSA_PACKET_TYPE_KERNEL_DISPATCH);
	return done;
}

static void await_kernel(hsa_signal_t done)
{
	signal_await(done);
	HSA_CHECK(hsa_signal_destroy(done));
}

static void run_kernel(void)
{
	uint64_t index = hsa_queue_add_write_index_screlease(queue, 1);
	hsa_signal_t done = put_kernel(index);

	queue_ring(queue, index);
	await_kernel(done);
}

static void *run_held(void *unused)
{
	held_arm();
	run_kernel();
	return unused;
}

static void stop_in_gate(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run_held, NULL))
		driver_fail("no thread");
	held_await();
	run_kernel();
	held_release();
	pthread_join(thread, NULL);
}

static void handle(int number)
{
	(void)number;
	run_kernel();
}

static void stop_in_handler(void)
{
	struct sigaction action = {.sa_handler = handle};
	pthread_t thread;

	sigaction(SIGUSR1, &action, NULL);
	held_interrupt(SIGUSR1);
	if (pthread_create(&thread, NULL, run_held, NULL))
		driver_fail("no thread");
	pthread_join(thread, NULL);
}

static sem_t is_written, may_ring;

static void *run_before_doorbell(void *unused)
{
	uint64_t index = hsa_queue_add_write_index_screlease(queue, 1);
	hsa_signal_t done = put_kernel(index);

	sem_post(&is_written);
	sem_wait(&may_ring);
	queue_ring(queue, index);
	await_kernel(done);
	return unused;
}

static void stop_before_doorbell(void)
{
	pthread_t thread;

	sem_init(&is_written, 0, 0);
	sem_init(&may_ring, 0, 0);
	if (pthread_create(&thread, NULL, run_before_doorbell, NULL))
		driver_fail("no thread");
	sem_wait(&is_written);
	run_kernel();
	sem_post(&may_ring);
	pthread_join(thread, NULL);
}

/* The device of this test also reads the write index. The tool must advance the index, otherwise
 * the device does not take the packets. */
static void ring_without_index(void)
{
	for (uint64_t index = 0; index < 2; index++) {
		hsa_signal_t done = put_kernel(index);

		queue_ring(queue, index);
		await_kernel(done);
	}
}

static void stop_in_gate_without_index(void)
{
	pthread_t thread;
	hsa_signal_t done;

	if (pthread_create(&thread, NULL, run_held, NULL))
		driver_fail("no thread");
	held_await();
	done = put_kernel(1);
	queue_ring(queue, 1);
	await_kernel(done);
	held_release();
	pthread_join(thread, NULL);
}

static hsa_signal_t both_done;

/* Both kernels have ended, and the tool has not yet seen that their signal changed. */
static void end_both_kernels(void)
{
	uint64_t index = hsa_queue_add_write_index_screlease(queue, 2);

	both_done = signal_make(2);
	softgpu_clock_hold();
	for (uint32_t i = 0; i < 2; i++) {
		hsa_kernel_dispatch_packet_t packet;

		dispatch_fill(&packet, i, both_done);
		packet_put(queue, index + i, &packet, HSA_PACKET_TYPE_KERNEL_DISPATCH);
		queue_ring(queue, index + i);
	}
	held_monitor();
	softgpu_clock_release();
	softgpu_await("packets_ended", 2);
}

static void *destroy_held(void *unused)
{
	held_arm();
	HSA_CHECK(hsa_queue_destroy(queue));
	return unused;
}

static void stop_in_collector(void)
{
	pthread_t thread;

	end_both_kernels();
	if (pthread_create(&thread, NULL, destroy_held, NULL))
		driver_fail("no thread");
	held_await();
	held_monitor_release();
	signal_await(both_done);
	held_release();
	pthread_join(thread, NULL);
}

static void await_both(int number)
{
	(void)number;
	held_monitor_release();
	signal_await(both_done);
}

static void stop_collector_in_handler(void)
{
	struct sigaction action = {.sa_handler = await_both};
	pthread_t thread;

	sigaction(SIGUSR1, &action, NULL);
	held_interrupt(SIGUSR1);
	end_both_kernels();
	if (pthread_create(&thread, NULL, destroy_held, NULL))
		driver_fail("no thread");
	pthread_join(thread, NULL);
}

static const struct {
	const char *name;
	void (*play)(void);
	bool destroys;
} states[] = {
	{"gate", stop_in_gate, false},
	{"handler", stop_in_handler, false},
	{"doorbell", stop_before_doorbell, false},
	{"no-index", ring_without_index, false},
	{"gate-no-index", stop_in_gate_without_index, false},
	{"collector", stop_in_collector, true},
	{"collector-handler", stop_collector_in_handler, true},
};
#define STATES (sizeof(states) / sizeof(states[0]))

int main(int argc, char **argv)
{
	size_t at = 0;

	while (argc == 2 && at < STATES && strcmp(states[at].name, argv[1]) != 0)
		at++;
	if (argc != 2 || at == STATES)
		driver_fail("usage: intercept-stopped gate|handler|doorbell|no-index|"
			    "gate-no-index|collector|collector-handler");
	device_start();
	queue = queue_make(1024);
	states[at].play();
	if (!states[at].destroys)
		HSA_CHECK(hsa_queue_destroy(queue));
	device_end();
	printf("kernels launched: 2\n");
	return 0;
}

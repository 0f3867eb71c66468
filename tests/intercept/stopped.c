/* intercept-stopped WHERE: a thread is stopped at its doorbell, as by a debugger, and the program
 * waits for a kernel that another thread launches behind it on the same queue. Without the tool
 * nothing holds that one back. WHERE:
 *
 * gate      it looks at its packets, inside the tool handler   the same, in a signal handler that
 * launches the other kernel itself doorbell  it has written its packet and not rung for it no-index
 * nobody is stopped: doorbells ring for packets that no write index covers */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "device_queue.h"
#include "held.h"

static hsa_queue_t *queue;

/* With a signal of its own. */
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
	held_let_go();
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

/* The device of this test goes by the index, too: somebody has to move it. */
static void ring_without_index(void)
{
	for (uint64_t index = 0; index < 2; index++) {
		hsa_signal_t done = put_kernel(index);

		queue_ring(queue, index);
		await_kernel(done);
	}
}

static const struct {
	const char *name;
	void (*play)(void);
} states[] = {
	{"gate", stop_in_gate},
	{"handler", stop_in_handler},
	{"doorbell", stop_before_doorbell},
	{"no-index", ring_without_index},
};
#define STATES (sizeof(states) / sizeof(states[0]))

int main(int argc, char **argv)
{
	size_t at = 0;

	while (argc == 2 && at < STATES && strcmp(states[at].name, argv[1]) != 0)
		at++;
	if (argc != 2 || at == STATES)
		driver_fail("usage: intercept-stopped gate|handler|doorbell|no-index");
	device_start();
	queue = queue_make(1024);
	states[at].play();
	HSA_CHECK(hsa_queue_destroy(queue));
	device_end();
	printf("kernels launched: 2\n");
	return 0;
}

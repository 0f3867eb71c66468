/* intercept-stopping N: stops the recording while the thread that has just rung the doorbell for
 * N kernels is stopped inside the tool, as if it got no CPU. */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <dagtap/session.h>

#include "device_queue.h"
#include "held.h"

static hsa_queue_t *queue;
static uint32_t count;

static void *launch(void *unused)
{
	held_arm();
	queue_run(queue, count);
	return unused;
}

static _Thread_local bool is_stopper;
static sem_t stop_waits;

static void tell_once(void)
{
	if (is_stopper)
		sem_post(&stop_waits);
	is_stopper = false;
}

/* Replaces the C library's function, also for the injected library. The stopping thread calls it
 * while it waits for the thread that is held. */
__attribute__((visibility("default"))) int sched_yield(void)
{
	tell_once();
	return (int)syscall(SYS_sched_yield);
}

static void *stop(void *unused)
{
	is_stopper = true;
	dagtap_session_stop();
	/* The stop did not wait. Then the other thread must not wait for it either; the counts
	 * show whether something was missed. */
	tell_once();
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t launcher, stopper;

	count = argc == 2 ? (uint32_t)strtoul(argv[1], NULL, 10) : 0;
	if (!count)
		driver_fail("usage: intercept-stopping N");
	sem_init(&stop_waits, 0, 0);
	device_start();
	queue = queue_make(1024);
	if (pthread_create(&launcher, NULL, launch, NULL))
		driver_fail("no thread");
	held_await();
	if (pthread_create(&stopper, NULL, stop, NULL))
		driver_fail("no thread");
	sem_wait(&stop_waits);
	held_release();
	pthread_join(launcher, NULL);
	pthread_join(stopper, NULL);
	HSA_CHECK(hsa_queue_destroy(queue));
	device_end();
	printf("kernels launched: %u\n", count);
	return 0;
}

/* intercept-stopping N: the recording is stopped while the thread that has just rung for N kernels gets no CPU, in the
 * middle of looking at them. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <dagtap/session.h>

#include "device_queue.h"
#include "held.h"

#define PAUSE_US 500000

static hsa_queue_t *queue;
static uint32_t count;

static void *launch(void *unused)
{
	held_arm();
	queue_run(queue, count);
	return unused;
}

static void *stop(void *unused)
{
	dagtap_session_stop();
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t launcher, stopper;

	count = argc == 2 ? (uint32_t)strtoul(argv[1], NULL, 10) : 0;
	if (!count)
		driver_fail("usage: intercept-stopping N");
	device_start();
	queue = queue_make(1024);
	if (pthread_create(&launcher, NULL, launch, NULL))
		driver_fail("no thread");
	held_await();
	if (pthread_create(&stopper, NULL, stop, NULL))
		driver_fail("no thread");
	usleep(PAUSE_US);
	held_let_go();
	pthread_join(launcher, NULL);
	pthread_join(stopper, NULL);
	HSA_CHECK(hsa_queue_destroy(queue));
	device_end();
	printf("kernels launched: %u\n", count);
	return 0;
}

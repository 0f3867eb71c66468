/* Preloaded into a program: stops and starts its recording ROUNDS times. Each time it waits
 * until the device has taken a number of kernels that is drawn from the test's seed. The device
 * takes no more than RESTARTER_KERNELS kernels (its key hold_at) until all rounds are done, so
 * the program cannot end earlier. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <dagtap/session.h>
#include <dagtap/softgpu.h>

#define ROUNDS	12
#define MOMENTS (2 * ROUNDS)

static uint64_t number(const char *variable)
{
	const char *text = getenv(variable);

	return text ? strtoull(text, NULL, 10) : 0;
}

static void await_kernels(uint64_t count)
{
	softgpu_await("packets_kernel_dispatch", count);
}

static unsigned seed;
static uint64_t kernels;

static void *restart_often(void *unused)
{
	uint64_t share = kernels / MOMENTS;

	for (uint64_t i = 0; i < MOMENTS; i++) {
		await_kernels(i * share + 1 + (uint64_t)rand_r(&seed) % share);
		if (i % 2)
			dagtap_session_start();
		else
			dagtap_session_stop();
	}
	await_kernels(kernels);
	softgpu_take_release();
	return unused;
}

__attribute__((constructor)) static void begin(void)
{
	pthread_attr_t attributes;
	pthread_t thread;

	/* Read the environment here, because the program may change it while the thread runs. */
	seed = (unsigned)number("DAGTAP_TEST_SEED");
	kernels = number("RESTARTER_KERNELS");
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_create(&thread, &attributes, restart_often, NULL);
	pthread_attr_destroy(&attributes);
}

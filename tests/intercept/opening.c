/* intercept-opening N: starts a recording while the runtime opens. At that moment it is too late
 * for the runtime's opening to take part in the recording, and the start has not yet reached the
 * GPU capture source. The program runs N kernels before the start is complete and N after it. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <dagtap/session.h>

#include "device_queue.h"
#include "held.h"

static pthread_t starter;
static atomic_bool is_opening;

static void *start(void *unused)
{
	held_arm();
	if (!dagtap_session_start())
		driver_fail("no recording");
	return unused;
}

/* Replaces the C library's function. The injected library calls it while the runtime opens; from
 * the first call on there is a new recording. */
__attribute__((visibility("default"))) int dladdr(const void *address, Dl_info *info)
{
	int (*next)(const void *, Dl_info *) =
		(int (*)(const void *, Dl_info *))(uintptr_t)dlsym(RTLD_NEXT, "dladdr");

	if (atomic_exchange(&is_opening, false)) {
		if (pthread_create(&starter, NULL, start, NULL))
			driver_fail("no thread");
		held_await();
	}
	return next(address, info);
}

int main(int argc, char **argv)
{
	uint32_t count = argc == 2 ? (uint32_t)strtoul(argv[1], NULL, 10) : 0;
	hsa_queue_t *queue;

	if (!count)
		driver_fail("usage: intercept-opening N");
	if (!dagtap_session_start())
		driver_fail("no recording");
	dagtap_session_stop();
	atomic_store(&is_opening, true);
	device_start();
	if (atomic_load(&is_opening))
		driver_fail("nothing asked where the runtime lies while it opened");
	queue = queue_make(1024);
	queue_run(queue, count);
	held_release();
	pthread_join(starter, NULL);
	queue_run(queue, count);
	HSA_CHECK(hsa_queue_destroy(queue));
	device_end();
	printf("kernels launched: %u\n", 2 * count);
	return 0;
}

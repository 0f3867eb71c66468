/* Preloaded into a program: stops and starts its recording every few ms for as long as it runs. */
#include <dagtap/session.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#define PAUSE_MOST_US 2000

static void *restart_on(void *unused)
{
	unsigned seed = (unsigned)atoi(getenv("RESTARTER_SEED") ? getenv("RESTARTER_SEED") : "1");

	for (;;) {
		while (!dagtap_session_is_recording())
			usleep(100);
		usleep((useconds_t)(rand_r(&seed) % PAUSE_MOST_US));
		dagtap_session_stop();
		usleep((useconds_t)(rand_r(&seed) % PAUSE_MOST_US));
		dagtap_session_start();
	}
	return NULL;
}

__attribute__((constructor)) static void begin(void)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_create(&thread, &attributes, restart_on, NULL);
	pthread_attr_destroy(&attributes);
}

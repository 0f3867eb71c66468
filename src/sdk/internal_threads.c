/* Tells tools of threads: see internal_threads.h. */
#include "sdk/internal_threads.h"

#include <pthread.h>
#include <stdint.h>

#include "sdk/sdk_export.h"

#define LISTENERS 16

/* NULL: it is not told. */
struct listener {
	void (*before)(int library, void *data);
	void (*after)(int library, void *data);
	void *data;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct listener listeners[LISTENERS];
static _Atomic uint32_t count; /* listeners up to here are not changed any more */

void internal_threads_before(void)
{
	for (uint32_t i = 0; i < count; i++)
		if (listeners[i].before)
			listeners[i].before(SDK_LIBRARY_SDK, listeners[i].data);
}

void internal_threads_after(void)
{
	for (uint32_t i = 0; i < count; i++)
		if (listeners[i].after)
			listeners[i].after(SDK_LIBRARY_SDK, listeners[i].data);
}

SDK_EXPORT int rocprofiler_at_internal_thread_create(void (*before)(int library, void *data),
						     void (*after)(int library, void *data),
						     int libraries, void *data)
{
	int status = SDK_SUCCESS;

	/* The runtimes' own threads are not watched. */
	if (!(libraries & SDK_LIBRARY_SDK))
		return SDK_SUCCESS;
	pthread_mutex_lock(&lock);
	if (count < LISTENERS) {
		listeners[count] = (struct listener){before, after, data};
		count++;
	} else {
		status = SDK_ERROR_OUT_OF_RESOURCES;
	}
	pthread_mutex_unlock(&lock);
	return status;
}

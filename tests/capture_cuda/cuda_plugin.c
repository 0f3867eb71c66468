/* A library with CUPTI among its needed ones, as extension modules of Python have it: the loader
 * binds its call, and it looks nothing up. Its file is opened with RTLD_LOCAL. */
#include <stddef.h>
#include <stdint.h>

#include "vendor/cupti_types.h"

uint32_t cuptiSubscribe(void **subscriber, cupti_callback *callback, void *userdata);
uint32_t cuptiUnsubscribe(void *subscriber);
__attribute__((visibility("default"))) uint32_t plugin_subscribe(void);

static void hear_nothing(void *userdata, uint32_t domain, uint32_t cbid, const void *told)
{
}

/* Subscribes and unsubscribes. Returns CUPTI's result. */
uint32_t plugin_subscribe(void)
{
	void *subscriber;
	uint32_t result = cuptiSubscribe(&subscriber, hear_nothing, NULL);

	return result == CUPTI_OK ? cuptiUnsubscribe(subscriber) : result;
}

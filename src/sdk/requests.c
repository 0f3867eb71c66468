/* External correlation ids by request: see requests.h. */
#include "sdk/requests.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "sdk/pushed.h"
#include "sdk/sdk_contexts.h"

static _Thread_local uint64_t own_tid;

uint64_t requests_tid(void)
{
	if (!own_tid)
		own_tid = (uint64_t)syscall(SYS_gettid);
	return own_tid;
}

void requests_forget_thread(void)
{
	own_tid = 0;
}

bool requests_ask(uint32_t number, int kind)
{
	const struct sdk_request_service *service = &sdk_contexts[number].request;

	return service->is_on && service->kinds >> kind & 1;
}

uint64_t requests_external(uint32_t number, int kind, int operation, uint64_t cid)
{
	const struct sdk_context *context = &sdk_contexts[number];
	const struct sdk_request_service *service = &context->request;
	union sdk_user external = {0};

	if (requests_ask(number, kind) &&
	    service->callback(requests_tid(), sdk_context_id(context), kind, operation, cid,
			      &external, service->data) == 0)
		return external.value;
	return pushed_last(number, requests_tid());
}

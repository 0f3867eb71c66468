/* Finds the functions whose calls are idle (idle_calls.h). */
#include "trace/load/idle_calls.h"

#include <stddef.h>
#include <string.h>

/* Functions that ask or set something on the host. Those about events matter to waits alone. */
static const char *const names[] = {
	"__hipPopCallConfiguration",
	"__hipPushCallConfiguration",
	"hipCtxGetCurrent",
	"hipCtxGetDevice",
	"hipDeviceGetAttribute",
	"hipEventCreate",
	"hipEventCreateWithFlags",
	"hipEventDestroy",
	"hipEventElapsedTime",
	"hipEventQuery",
	"hipFuncGetAttribute",
	"hipFuncGetAttributes",
	"hipGetDevice",
	"hipGetDeviceCount",
	"hipGetDeviceProperties",
	"hipGetDevicePropertiesR0600",
	"hipGetLastError",
	"hipOccupancyMaxActiveBlocksPerMultiprocessor",
	"hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags",
	"hipPeekAtLastError",
	"hipPointerGetAttribute",
	"hipPointerGetAttributes",
	"hipSetDevice",
};

/* The text is the name, and behind a space the arguments. */
static bool is_idle(const struct record_api_name *record)
{
	const char *space = memchr(record->text, ' ', record->text_bytes);
	size_t chars = space ? (size_t)(space - record->text) : record->text_bytes;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strlen(names[i]) == chars && !memcmp(names[i], record->text, chars))
			return record->domain == RECORD_DOMAIN_HIP;
	}
	return false;
}

void idle_functions_learn(struct idle_functions *functions, const struct record_api_name *record)
{
	uint32_t function = record->header.tag;
	uint64_t *bits = is_idle(record) ? functions->idle : functions->busy;

	if (function < RECORD_RCCL_FUNCTION_FIRST)
		__atomic_fetch_or(&bits[function / 64], 1ull << function % 64, __ATOMIC_RELAXED);
}

bool idle_functions_contradict(const struct idle_functions *functions)
{
	for (uint32_t i = 0; i < IDLE_WORDS; i++) {
		if (functions->idle[i] & functions->busy[i])
			return true;
	}
	return false;
}

bool idle_functions_exist(const struct idle_functions *functions)
{
	for (uint32_t i = 0; i < IDLE_WORDS; i++) {
		if (functions->idle[i])
			return true;
	}
	return false;
}

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

static int read_names(void *idle_functions, unsigned worker, uint32_t part,
		      struct origin_walk *walk)
{
	struct idle_functions *functions = idle_functions;
	const struct record_header *header;

	while ((header = origin_walk_next(walk))) {
		if (header->type != RECORD_API_NAME || header->tag >= RECORD_RCCL_FUNCTION_FIRST ||
		    idle_functions_have(functions, header->tag) ||
		    !is_idle((const struct record_api_name *)header))
			continue;
		functions->bits[header->tag / 64] |= 1ull << header->tag % 64;
		functions->count++;
	}
	return 0;
}

int idle_functions_find(struct origin *origin, struct idle_functions *functions)
{
	return origin_share(origin, ORIGIN_TYPE(RECORD_API_NAME), 1, read_names, functions);
}

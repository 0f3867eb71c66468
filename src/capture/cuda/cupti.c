#include "capture/cuda/cupti.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>

#include "capture/env.h"

#define TOOLKIT_FOLDER "/usr/local/cuda/"

struct cupti cupti;

/* What the process has goes before what the loader finds: it fits the program's CUDA. */
static void *open_library(void)
{
	static const char *const names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so",
					    TOOLKIT_FOLDER "extras/CUPTI/lib64/libcupti.so",
					    TOOLKIT_FOLDER "lib64/libcupti.so"};
	const char *wanted = env_text(ENV_CUPTI);
	void *library = NULL;

	if (*wanted)
		return dlopen(wanted, RTLD_NOW | RTLD_LOCAL);
	for (size_t i = 0; !library && i < sizeof(names) / sizeof(*names); i++)
		library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
	for (size_t i = 0; !library && i < sizeof(names) / sizeof(*names); i++)
		library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	return library;
}

/* The first function that is needed and not there, or NULL. */
static const char *find_functions(void *library)
{
	const char *missing = NULL;

#define X(result_name, name, parameters)                                                           \
	cupti.result_name = (uint32_t(*) parameters)dlsym(library, #name);
	CUPTI_FUNCTIONS(X)
	CUPTI_OPTIONAL_FUNCTIONS(X)
#undef X
#define X(result_name, name, parameters)                                                           \
	if (!cupti.result_name)                                                                    \
		missing = #name;
	CUPTI_FUNCTIONS(X)
#undef X
	return missing;
}

int cupti_load(char *ret_reason, size_t reason_bytes)
{
	const char *missing;
	void *library;

	if (cupti.version)
		return 0;
	library = open_library();
	if (!library) {
		snprintf(ret_reason, reason_bytes,
			 "CUPTI was not found (%s); DAGTAP_CUPTI may name it", dlerror());
		return -ENOENT;
	}
	missing = find_functions(library);
	if (missing) {
		snprintf(ret_reason, reason_bytes, "CUPTI has no %s", missing);
		return -ENOSYS;
	}
	if (cupti.get_version(&cupti.version) != CUPTI_OK || cupti.version < CUPTI_LEAST_VERSION) {
		snprintf(ret_reason, reason_bytes,
			 "CUPTI's interface %u is older than CUDA 12.0's (%u)", cupti.version,
			 CUPTI_LEAST_VERSION);
		cupti.version = 0;
		return -EOPNOTSUPP;
	}
	return 0;
}

static const char *advice(uint32_t result)
{
	switch (result) {
	case CUPTI_MULTIPLE_SUBSCRIBERS:
		return ": another profiler is active in this process";
	case CUPTI_INSUFFICIENT_PRIVILEGES:
		return ": the driver lets only administrators profile";
	default:
		return "";
	}
}

void cupti_describe(const char *call, uint32_t result, char *ret_text, size_t text_bytes)
{
	const char *name = NULL;

	if (cupti.get_result_text && cupti.get_result_text(result, &name) != CUPTI_OK)
		name = NULL;
	snprintf(ret_text, text_bytes, "%s: CUPTI error %u%s%s%s%s", call, result, name ? " (" : "",
		 name ? name : "", name ? ")" : "", advice(result));
}

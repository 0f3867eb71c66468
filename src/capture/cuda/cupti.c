/* Finds CUPTI's functions and describes its errors; see cupti.h. */
#include "capture/cuda/cupti.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/dlsym_entry.h"
#include "capture/env.h"

#define TOOLKIT_FOLDER "/usr/local/cuda/"
#define FAILURE_BYTES  256

struct cupti cupti;

/* Over the filling of cupti; the loader is not called under it (cuda_subscription.h). */
static pthread_mutex_t filling = PTHREAD_MUTEX_INITIALIZER;

/* A library that the process has loaded is preferred to one that the loader finds, since it fits
 * the program's CUDA. */
static void *open_library(void)
{
	static const char *const names[] = {"libcupti.so.13",
					    "libcupti.so.12",
					    "libcupti.so",
					    TOOLKIT_FOLDER "extras/CUPTI/lib64/libcupti.so",
					    TOOLKIT_FOLDER "lib64/libcupti.so",
					    "libcupti.so.11.8"};
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

/* Fills the functions of RET_FOUND with the library's own: our dlsym gives ours for one of them
 * (cuda_subscription.h). Returns the name of a needed function that the library lacks, or
 * NULL. */
/* NOLINTNEXTLINE(readability-function-size): two statements for each function of the lists */
static const char *find_functions(void *library, struct cupti *ret_found)
{
	const char *missing = NULL;

#define X(result_name, name, parameters)                                                           \
	ret_found->result_name = (uint32_t(*) parameters)dlsym_inner(library, #name);
	CUPTI_FUNCTIONS(X)
	CUPTI_OPTIONAL_FUNCTIONS(X)
#undef X
#define X(result_name, name, parameters)                                                           \
	if (!ret_found->result_name)                                                               \
		missing = #name;
	CUPTI_FUNCTIONS(X)
#undef X
	return missing;
}

static const char *path_of(void *library)
{
	struct link_map *map = NULL;

	return dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && map ? map->l_name : "CUPTI";
}

static bool is_loaded(void)
{
	bool is_filled;

	pthread_mutex_lock(&filling);
	is_filled = cupti.version != 0;
	pthread_mutex_unlock(&filling);
	return is_filled;
}

/* Of threads that load CUPTI at the same time, the first fills the struct. */
static void fill(const struct cupti *found)
{
	pthread_mutex_lock(&filling);
	if (!cupti.version)
		cupti = *found;
	pthread_mutex_unlock(&filling);
}

/* Of CUDA 13.4 and newer, cuptiGetVersion loads the driver, as cuptiSubscribe of all versions does,
 * and fails where there is none. */
static void describe_no_version(uint32_t result, char *ret_reason, size_t reason_bytes)
{
	size_t used;

	cupti_describe("cuptiGetVersion", result, ret_reason, reason_bytes);
	used = strnlen(ret_reason, reason_bytes);
	if (result == CUPTI_UNKNOWN)
		snprintf(ret_reason + used, reason_bytes - used,
			 ": from CUDA 13.4 on CUPTI returns it where it finds no driver that it "
			 "can use (libcuda.so.1)");
}

/* Sets FOUND's version and fills cupti, whose version stays 0 when the library cannot be used: the
 * next recording tries again. Returns 0 or a negative errno. */
static int check_version(void *library, struct cupti *found, char *ret_reason, size_t reason_bytes)
{
	uint32_t version = 0, result = found->get_version(&version);

	if (result != CUPTI_OK) {
		fill(found);
		describe_no_version(result, ret_reason, reason_bytes);
		return -EIO;
	}
	if (version < CUPTI_LEAST_VERSION) {
		snprintf(
			ret_reason, reason_bytes,
			"%s: CUPTI's interface %u is older than CUDA 11.8's (%u); DAGTAP_CUPTI may "
			"name a newer one",
			path_of(library), version, CUPTI_LEAST_VERSION);
		return -EOPNOTSUPP;
	}
	found->version = version;
	fill(found);
	return 0;
}

int cupti_load(char *ret_reason, size_t reason_bytes)
{
	struct cupti found = {0};
	const char *missing;
	void *library;

	if (is_loaded())
		return 0;
	library = open_library();
	if (!library) {
		snprintf(ret_reason, reason_bytes,
			 "CUPTI was not found (%s); DAGTAP_CUPTI may name it", dlerror());
		return -ENOENT;
	}
	missing = find_functions(library, &found);
	if (missing) {
		snprintf(ret_reason, reason_bytes,
			 "%s has no %s: it is not CUPTI, or older than CUDA 11.8's; DAGTAP_CUPTI "
			 "may name another",
			 path_of(library), missing);
		return -ENOSYS;
	}
	return check_version(library, &found, ret_reason, reason_bytes);
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

/* ---- while a recording is on ---- */

static const struct {
	const char *function, *consequence;
} failures[CUPTI_FAILURE_COUNT] = {
#define X(name, function, consequence) {function, consequence},
	CUPTI_FAILURES(X)
#undef X
};

static _Atomic uint32_t first_results[CUPTI_FAILURE_COUNT]; /* CUPTI_OK: none */

void cupti_note(enum cupti_failure failure, uint32_t result)
{
	uint32_t none = CUPTI_OK;

	if (result != CUPTI_OK)
		atomic_compare_exchange_strong(&first_results[failure], &none, result);
}

void cupti_forget_failures(void)
{
	for (int i = 0; i < CUPTI_FAILURE_COUNT; i++)
		atomic_store(&first_results[i], CUPTI_OK);
}

uint32_t cupti_count_failures(void)
{
	uint32_t count = 0;

	for (int i = 0; i < CUPTI_FAILURE_COUNT; i++)
		count += atomic_load(&first_results[i]) != CUPTI_OK;
	return count;
}

void cupti_describe_failures(char *ret_text, size_t text_bytes)
{
	char text[FAILURE_BYTES];
	size_t used = 0;

	*ret_text = '\0';
	for (int i = 0; i < CUPTI_FAILURE_COUNT && used < text_bytes; i++) {
		uint32_t result = atomic_load(&first_results[i]);

		if (result == CUPTI_OK)
			continue;
		cupti_describe(failures[i].function, result, text, sizeof(text));
		used += (size_t)snprintf(ret_text + used, text_bytes - used, "; %s: %s", text,
					 failures[i].consequence);
	}
}

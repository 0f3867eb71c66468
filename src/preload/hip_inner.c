/* Finds the functions of HIP that the library calls besides those that it wraps. */
#include <string.h>

#include "preload/hip_calls.h"

enum {
	/* ROCm/clr#138: 6.3 frees the memory of the arguments that it is given. */
	FREES_ARGUMENTS_FROM = 60300000,
	FREES_ARGUMENTS_TO = 60400000,
	/* Executables lose the values of memsets some time after they were set. */
	FORGETS_MEMSETS_FROM = 60300000,
	FORGETS_MEMSETS_TO = 70200000,
};

struct hip_inner hip_inner;
static int version;
static bool is_open;

/* NOLINTNEXTLINE(readability-function-size): a few statements for each function of the list */
static bool find_functions(void)
{
	void *found;

#define HIP_FIND_INNER(name, parameters)                                                           \
	found = door_find(&door_hip, #name);                                                       \
	memcpy(&hip_inner.name, &found, sizeof(found));                                            \
	if (!found)                                                                                \
		return false;
	HIP_INNER(HIP_FIND_INNER)
	return hip_inner.hipRuntimeGetVersion(&version) == HIP_OK &&
	       (version < FREES_ARGUMENTS_FROM || version >= FREES_ARGUMENTS_TO);
}

static void open_hip(void)
{
	is_open = find_functions() && hip_images_open(version);
}

bool hip_inner_open(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, open_hip);
	return is_open;
}

bool hip_forgets_memsets(void)
{
	return version >= FORGETS_MEMSETS_FROM && version < FORGETS_MEMSETS_TO;
}

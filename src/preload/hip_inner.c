/* Finds the functions of HIP that the library calls besides those that it wraps. */
#include <string.h>

#include "preload/hip_real.h"

enum {
	/* ROCm/clr#138: 6.3 frees the memory of the arguments that it is given. */
	FREES_ARGUMENTS_FROM = 60300000,
	FREES_ARGUMENTS_TO = 60400000,
	/* Executables lose the values of memsets some time after they were set. */
	FORGETS_MEMSETS_FROM = 60300000,
	FORGETS_MEMSETS_TO = 70200000,
};

static struct door doors[HIP_DOORS] = {
#define HIP_DOOR(name, ...) {#name, NULL},
	HIP_OTHER_DOORS(HIP_DOOR) HIP_PASSING_DOORS(HIP_DOOR) HIP_DOOR(__hipUnregisterFatBinary)};

struct door_library hip_doors = {"libamdhip64", doors, HIP_DOORS, NULL};
struct hip_inner hip_inner;

/* NOLINTNEXTLINE(readability-function-size): a few statements for each function of the list */
bool hip_inner_open(void)
{
	void *found;

#define HIP_FIND_INNER(name, parameters)                                                           \
	found = door_find(&hip_doors, #name);                                                      \
	memcpy(&hip_inner.name, &found, sizeof(found));                                            \
	if (!found)                                                                                \
		return false;
	HIP_INNER(HIP_FIND_INNER)
#define HIP_FIND_READING(name, parameters)                                                         \
	found = door_find(&hip_doors, #name);                                                      \
	memcpy(&hip_inner.name, &found, sizeof(found));
	HIP_READING(HIP_FIND_READING)
	return hip_inner.hipRuntimeGetVersion(&hip_inner.version) == HIP_OK &&
	       (hip_inner.version < FREES_ARGUMENTS_FROM ||
		hip_inner.version >= FREES_ARGUMENTS_TO);
}

bool hip_forgets_memsets(void)
{
	return hip_inner.version >= FORGETS_MEMSETS_FROM && hip_inner.version < FORGETS_MEMSETS_TO;
}

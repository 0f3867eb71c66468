/* Devices of the model: the device that each thread has current, and a count of calls that the
 * core makes while another device is current. */
#include <errno.h>

#include "patch/model/model_parts.h"

static _Thread_local uint32_t current;
static _Atomic uint64_t misplaced;

int dagpatch_model_device_set(uint32_t device)
{
	if (device >= DAGPATCH_MODEL_DEVICES)
		return -EINVAL;
	current = device;
	return 0;
}

uint32_t dagpatch_model_device(void)
{
	return current;
}

uint64_t dagpatch_model_misplaced(void)
{
	return misplaced;
}

bool model_is_here(const struct patch_device *device)
{
	if (current == (uint32_t)device->ordinal)
		return true;
	misplaced++;
	return false;
}

int model_enter(struct patch_device *device, uintptr_t *ret_before)
{
	*ret_before = current;
	current = (uint32_t)device->ordinal;
	return 0;
}

void model_leave(struct patch_device *device, uintptr_t before)
{
	current = (uint32_t)before;
}

void model_settle(struct patch_device *device)
{
	current = (uint32_t)device->ordinal;
}

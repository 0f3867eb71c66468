/* Devices of the model: the device that each thread has current, and a count of calls that the
 * core makes while another device is current. */
#include <errno.h>

#include "patch/model/model_parts.h"

enum { ELSEWHERE = 201 }; /* the driver's code of a call with another device current */

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

int model_begin(const struct patch_device *device, const char *call)
{
	int err = model_call(call);

	if (!model_is_here(device))
		return patch_fault(-EIO, call, ELSEWHERE, "another device is current");
	return err;
}

int model_enter(struct patch_device *device, uintptr_t *ret_before)
{
	int err = current == (uint32_t)device->ordinal ? 0 : model_call("enter");

	if (err < 0)
		return err;
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

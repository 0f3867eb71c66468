/* The list of all drivers. */
#include "patch/driver.h"

const struct patch_driver *const patch_drivers[] = {
	&patch_driver_cuda,
	&patch_driver_hip,
	&patch_driver_model,
	NULL,
};

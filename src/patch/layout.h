/* How kernels' parameters lie, one struct patch_layout for each way that a function is known by. They live as
 * long as the device; any thread. */
#ifndef DAGPATCH_PATCH_LAYOUT_H
#define DAGPATCH_PATCH_LAYOUT_H

#include "patch/driver.h"

/* -ENOMEM. */
int layouts_create(struct patch_layouts **ret_layouts);
void layouts_destroy(struct patch_layouts *layouts);

/* The caller's word for FUNCTION. -EINVAL: not in order or overlapping; -EEXIST: known otherwise. */
int layout_describe(struct patch_device *device, const void *function,
		    const struct dagpatch_parameter *parameters, uint32_t count);

/* For a function that nobody knows: arguments of these sizes, packed as C would. -ENOMEM, -E2BIG. */
int layout_pack(struct patch_device *device, const void *function, const uint32_t *sizes,
		uint32_t count, const struct patch_layout **ret_layout);

const struct patch_layout *layout_at(const struct patch_device *device, uint32_t index);

#endif

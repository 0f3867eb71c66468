/* How kernels' parameters are placed in their argument blocks: the interned struct patch_layout, a
 * function may have several: the known one, and packed ones for different sizes of arguments.
 * Layouts live as long as the device. Any thread may call these functions. */
#ifndef DAGPATCH_PATCH_LAYOUT_H
#define DAGPATCH_PATCH_LAYOUT_H

#include "patch/driver.h"

/* Creates an empty set of layouts. -ENOMEM. */
int layouts_create(struct patch_layouts **ret_layouts);
void layouts_destroy(struct patch_layouts *layouts);

/* Frees all layouts. NULL is allowed. */

/* Records parameters of FUNCTION that the caller states. -EINVAL: not in ascending order,
 * overlapping, or of 0 bytes. -E2BIG: too many or too large. -EEXIST: other parameters are known
 * already. */
int layout_describe(struct patch_device *device, const void *function,
		    const struct dagpatch_parameter *parameters, uint32_t count);

/* Makes or finds the layout of a function whose parameters are unknown: arguments of these sizes,
 * packed as C packs the fields of a struct. -ENOMEM, -E2BIG, -EINVAL (an argument of 0 bytes). */
int layout_pack(struct patch_device *device, const void *function, const uint32_t *sizes,
		uint32_t count, const struct patch_layout **ret_layout);

/* INDEX is patch_layout.index of an existing layout. Takes no lock. */
const struct patch_layout *layout_at(const struct patch_device *device, uint32_t index);

#endif

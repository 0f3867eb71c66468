/* The memory that blit kernels access: the check, and the mark of a fault (blit_region.h). */
#include "softgpu/blit_region.h"

#include "softgpu/counters.h"
#include "softgpu/device_memory.h"

/* Adds the distance from the first of COUNT rows or slices to the last. A pitch of 0 counts as 1;
 * otherwise a region of any number of rows would be in range. */
static bool add_pitches(uint64_t *sum, uint64_t count, uint64_t pitch)
{
	return blit_add_product(sum, count - 1, pitch ? pitch : 1);
}

static bool region_is_reachable(const struct blit_region *region)
{
	uint64_t first = (uintptr_t)region->base;
	uint64_t units = region->width;
	uint64_t bytes = 0;

	if (!region->width || !region->height || !region->depth)
		return true;
	return add_pitches(&units, region->height, region->row) &&
	       add_pitches(&units, region->depth, region->slice) &&
	       blit_add_product(&bytes, units, region->unit_bytes) &&
	       blit_add_product(&first, region->start, region->unit_bytes) &&
	       memory_is_reachable((const void *)(uintptr_t)first, bytes);
}

static _Thread_local bool has_faulted;

void blit_fault(void)
{
	softgpu_count(dispatches_bad_range, 1);
	has_faulted = true;
}

bool blit_take_fault(void)
{
	bool taken = has_faulted;

	has_faulted = false;
	return taken;
}

bool blit_reaches(const struct blit_region *region)
{
	bool reaches = region_is_reachable(region);

	if (!reaches)
		blit_fault();
	return reaches;
}

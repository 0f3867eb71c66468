/* What is the same with both vendors' tables. */
#include "preload/vendor.h"

uintptr_t vendor_enter(const struct preload_vendor *vendor, uintptr_t device)
{
	uintptr_t before = vendor->device_current();

	if (before != device)
		vendor->device_set(device);
	return before;
}

void vendor_leave(const struct preload_vendor *vendor, uintptr_t before)
{
	if (vendor->device_current() != before)
		vendor->device_set(before);
}

int vendor_relax(const struct preload_vendor *vendor)
{
	int mode = VENDOR_CAPTURE_RELAXED;

	return vendor->exchange_capture_mode(&mode) == 0 ? mode : VENDOR_CAPTURE_GLOBAL;
}

void vendor_unrelax(const struct preload_vendor *vendor, int mode)
{
	vendor->exchange_capture_mode(&mode);
}

/* Finds the HSA agents of HIP's devices; see hip_device.h. */
#include "capture/hip/hip_device.h"

#include <stdlib.h>

#include "capture/hip/hip_runtime.h"
#include "capture/hsa/hsa_memory.h"
#include "vendor/hip_types.h"

/* Weak: tests of capture/hip alone do not link capture/hsa. */
#pragma weak hsa_memory_agent_at

typedef int (*get_device_function)(int *ret_device);
typedef int (*get_place_function)(char *ret_text, int bytes, int device);

/* Reads "0000:03:00.0": the domain, and bus, device and function as HSA has them. */
static bool read_place(const char *text, uint32_t *ret_domain, uint32_t *ret_bus_device_function)
{
	unsigned long parts[4];
	char *end;

	for (int i = 0; i < 4; i++) {
		parts[i] = strtoul(text, &end, 16);
		if (end == text || (i < 3 && !*end))
			return false;
		text = end + 1;
	}
	*ret_domain = (uint32_t)parts[0];
	*ret_bus_device_function = (uint32_t)(parts[1] << 8 | parts[2] << 3 | parts[3]);
	return true;
}

uint64_t device_agent(int device)
{
	get_place_function get_place = (get_place_function)hip_next(HIP_hipDeviceGetPCIBusId);
	uint32_t domain, bus_device_function;
	char place[32] = "";
	struct frame frame;

	if (!get_place || !hsa_memory_agent_at)
		return 0;
	hip_mute(&frame);
	get_place(place, sizeof(place), device);
	hip_unmute(&frame);
	return read_place(place, &domain, &bus_device_function)
		       ? hsa_memory_agent_at(domain, bus_device_function)
		       : 0;
}

uint64_t device_current_agent(void)
{
	get_device_function get_device = (get_device_function)hip_next(HIP_hipGetDevice);
	struct frame frame;
	bool is_known;
	int device;

	if (!get_device)
		return 0;
	hip_mute(&frame);
	is_known = get_device(&device) == HIP_OK;
	hip_unmute(&frame);
	return is_known ? device_agent(device) : 0;
}

bool device_is_only(void)
{
	get_device_function get_count = (get_device_function)hip_next(HIP_hipGetDeviceCount);
	struct frame frame;
	int count = 0;

	if (!get_count)
		return false;
	hip_mute(&frame);
	if (get_count(&count) != HIP_OK)
		count = 0;
	hip_unmute(&frame);
	return count == 1;
}

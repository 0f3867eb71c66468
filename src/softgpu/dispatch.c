/* Runs a dispatch packet: finds the kernel by its kernel_object, copies its arguments, and calls
 * its host function. */
#include "softgpu/dispatch.h"

#include <stdlib.h>
#include <string.h>

#include "softgpu/blit_kernels.h"
#include "softgpu/blit_region.h"
#include "softgpu/counters.h"
#include "softgpu/device_memory.h"

static bool reserve_kernarg(struct dispatcher *dispatcher, size_t bytes)
{
	size_t rounded = (bytes + 4095) / 4096 * 4096;
	uint64_t *grown;

	if (bytes <= dispatcher->kernarg_bytes)
		return true;
	grown = aligned_alloc(64, rounded);
	if (!grown)
		return false;
	free(dispatcher->kernarg);
	dispatcher->kernarg = grown;
	dispatcher->kernarg_bytes = rounded;
	return true;
}

/* Returns whether BYTES at ADDRESS are device memory. HOST is the host address of ADDRESS; the two
 * differ for locked host memory. */
static bool is_device_memory(const void *address, const void *host, size_t bytes)
{
	return (host != address || memory_is_pool_address(host)) && memory_range_fits(host, bytes);
}

/* Copies the arguments. Returns false when the packet's address is not device memory, where
 * hardware would fault, or when out of memory. */
static bool copy_kernarg(struct dispatcher *dispatcher, const void *address)
{
	size_t bytes = dispatcher->info.kernarg_bytes;
	const char *source = memory_translate(address);

	if (!bytes)
		return true;
	if (!is_device_memory(address, source, bytes) || !reserve_kernarg(dispatcher, bytes))
		return false;
	memcpy(dispatcher->kernarg, source, bytes);
	return true;
}

static void run(struct dispatcher *dispatcher, const struct kernel_entry *entry,
		softgpu_kernel_fn function, const hsa_kernel_dispatch_packet_t *packet)
{
	const struct softgpu_kernel *info = &dispatcher->info;

	if (entry->blit && entry->blit->function == function) {
		blit_run(entry->blit, &info->layout, dispatcher->kernarg, info->kernarg_bytes,
			 packet);
		return;
	}
	memory_translate_words(dispatcher->kernarg, info->kernarg_bytes);
	function(dispatcher->kernarg, packet);
}

const struct kernel_entry *dispatch_run(struct dispatcher *dispatcher,
					const hsa_kernel_dispatch_packet_t *packet)
{
	struct kernel_entry *entry = NULL;
	softgpu_kernel_fn function;

	dispatcher->has_faulted = false;
	if (executable_find_kernel(packet->kernel_object, &dispatcher->info))
		entry = kernel_find(dispatcher->info.name);
	if (!entry) {
		softgpu_count(dispatches_unknown_kernel_object, 1);
		return NULL;
	}
	if (entry->is_blit)
		softgpu_count(dispatches_blit, 1);
	function = atomic_load_explicit(&entry->function, memory_order_acquire);
	if (!function)
		softgpu_count(dispatches_without_host_kernel, 1);
	else if (copy_kernarg(dispatcher, packet->kernarg_address))
		run(dispatcher, entry, function, packet);
	else
		softgpu_count(dispatches_bad_kernarg, 1);
	dispatcher->has_faulted = blit_take_fault();
	return entry;
}

void dispatcher_release(struct dispatcher *dispatcher)
{
	free(dispatcher->kernarg);
}

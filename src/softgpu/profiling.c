/* The HSA functions that return times of dispatches and copies: they read the ticks in signals and
 * convert them to ns of the host clock. */
#include "softgpu/agent.h"
#include "softgpu/api.h"
#include "softgpu/device_clock.h"
#include "softgpu/dma.h"
#include "softgpu/signal_block.h"

static hsa_status_t check_gpu(hsa_agent_t agent)
{
	const struct softgpu_agent *found = agent_find(agent);

	return found && found->is_gpu ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_AGENT;
}

/* Does not check whether the kernel has ended or was profiled. As with ROCr, ticks that were never
 * written are converted like any others: the times are meaningless, and the call succeeds. */
hsa_status_t softgpu_hsa_amd_profiling_get_dispatch_time(hsa_agent_t agent, hsa_signal_t signal,
							 hsa_amd_profiling_dispatch_time_t *time)
{
	const amd_signal_t *amd = (const amd_signal_t *)(uintptr_t)signal.handle;
	hsa_status_t status = check_gpu(agent);
	struct softgpu_signal *block;

	if (status != HSA_STATUS_SUCCESS)
		return status;
	if (!time)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!signal_value_word(signal, &block))
		return HSA_STATUS_ERROR_INVALID_SIGNAL;
	time->end = clock_ticks_to_host(__atomic_load_n(&amd->end_ts, __ATOMIC_RELAXED));
	time->start = clock_ticks_to_host(__atomic_load_n(&amd->start_ts, __ATOMIC_RELAXED));
	return HSA_STATUS_SUCCESS;
}

hsa_status_t
softgpu_hsa_amd_profiling_get_async_copy_time(hsa_signal_t signal,
					      hsa_amd_profiling_async_copy_time_t *time)
{
	const amd_signal_t *amd = (const amd_signal_t *)(uintptr_t)signal.handle;
	struct softgpu_signal *block;
	uint64_t start, end;

	if (!time)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!signal_value_word(signal, &block))
		return HSA_STATUS_ERROR_INVALID_SIGNAL;
	/* No copy has used this signal while copies were profiled. */
	if (!dma_profiling_enabled() ||
	    (block && !atomic_load_explicit(&block->copy_agent, memory_order_relaxed)))
		return HSA_STATUS_ERROR;
	start = block ? __atomic_load_n(&block->sdma_start_ts, __ATOMIC_RELAXED) : 0;
	end = block ? __atomic_load_n(&block->sdma_end_ts, __ATOMIC_RELAXED) : 0;
	if (!start || !end) {
		start = __atomic_load_n(&amd->start_ts, __ATOMIC_RELAXED);
		end = __atomic_load_n(&amd->end_ts, __ATOMIC_RELAXED);
	}
	time->start = clock_ticks_to_host(start);
	time->end = clock_ticks_to_host(end);
	return HSA_STATUS_SUCCESS;
}

hsa_status_t softgpu_hsa_amd_profiling_convert_tick_to_system_domain(hsa_agent_t agent,
								     uint64_t agent_tick,
								     uint64_t *system_tick)
{
	hsa_status_t status = check_gpu(agent);

	if (status != HSA_STATUS_SUCCESS)
		return status;
	if (!system_tick)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	*system_tick = clock_ticks_to_host(agent_tick);
	return HSA_STATUS_SUCCESS;
}

/* The HSA functions that submit copies to the copy engines (dma.h). */
#include "softgpu/dma.h"

#include <stdlib.h>

#include "softgpu/agent.h"
#include "softgpu/api.h"
#include "softgpu/counters.h"
#include "softgpu/device_memory.h"
#include "softgpu/dma_job.h"
#include "softgpu/signal.h"
#include "softgpu/system_state.h"

/* The engine of each direction, for copies that name no engine. */
static const uint8_t direction_engines[DIRECTION_COUNT] = {
	[HOST_TO_DEVICE] = 0,
	[DEVICE_TO_HOST] = 1,
	[DEVICE_TO_DEVICE] = 2,
	[HOST_TO_HOST] = 3,
};

/* Takes references to the signals, which the program may destroy while the job waits. On failure
 * those to DEPENDENCIES stay with the job, for dma_job_free. */
static hsa_status_t hold_signals(struct job *job, const hsa_signal_t *dependencies, uint32_t count)
{
	if (!signal_retain(job->completion))
		return HSA_STATUS_ERROR_INVALID_SIGNAL;
	for (uint32_t i = 0; i < count; i++) {
		if (!signal_retain(dependencies[i])) {
			signal_release(job->completion);
			return HSA_STATUS_ERROR_INVALID_SIGNAL;
		}
		job->dependencies[job->dependency_count++] = dependencies[i];
	}
	return HSA_STATUS_SUCCESS;
}

/* Submits a copy of DESCRIPTION with its dependencies. */
static hsa_status_t enqueue(const struct job *description, const hsa_signal_t *dependencies,
			    uint32_t count)
{
	struct job *job = malloc(sizeof(*job) + count * sizeof(job->dependencies[0]));
	hsa_status_t status;

	if (!job)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	*job = *description;
	job->stamp = dma_profiling_enabled();
	status = hold_signals(job, dependencies, count);
	if (status != HSA_STATUS_SUCCESS) {
		dma_job_free(job);
		return status;
	}
	status = dma_submit(job);
	if (status != HSA_STATUS_SUCCESS) {
		signal_release(job->completion);
		dma_job_free(job);
	}
	return status;
}

static enum direction direction_of(const struct softgpu_agent *to, const struct softgpu_agent *from)
{
	if (from->is_gpu)
		return to->is_gpu ? DEVICE_TO_DEVICE : DEVICE_TO_HOST;
	return to->is_gpu ? HOST_TO_DEVICE : HOST_TO_HOST;
}

/* Sets the remaining fields of a copy of one row and submits it. JOB->engine is below DMA_ENGINES,
 * or equal to it for the engine of the copy's direction. */
static hsa_status_t start_linear(struct job *job, const struct softgpu_agent *to,
				 const struct softgpu_agent *from, uint32_t count,
				 const hsa_signal_t *dependencies)
{
	hsa_status_t status;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!job->to.base || !job->from.base || (count > 0 && !dependencies))
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!to || !from)
		return HSA_STATUS_ERROR_INVALID_AGENT;
	if (job->completion.handle == 0)
		return HSA_STATUS_ERROR_INVALID_SIGNAL;
	if (!memory_range_fits(job->to.base, job->row_bytes) ||
	    !memory_range_fits(job->from.base, job->row_bytes))
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (job->row_bytes == 0)
		return HSA_STATUS_SUCCESS;
	job->rows = 1;
	job->slices = 1;
	job->direction = direction_of(to, from);
	job->from_agent = from->index;
	job->to_agent = to->index;
	if (job->engine == DMA_ENGINES)
		job->engine = direction_engines[job->direction];
	job->agent = agent_handle(from->is_gpu ? from : to);
	status = enqueue(job, dependencies, count);
	if (status == HSA_STATUS_SUCCESS) {
		softgpu_count(copies, 1);
		softgpu_count(copy_bytes, job->row_bytes);
	}
	return status;
}

hsa_status_t softgpu_hsa_amd_memory_async_copy(void *dst, hsa_agent_t dst_agent, const void *src,
					       hsa_agent_t src_agent, size_t size,
					       uint32_t num_dep_signals,
					       const hsa_signal_t *dep_signals,
					       hsa_signal_t completion_signal)
{
	struct job job = {
		.to = {.base = dst},
		.from = {.base = (char *)src},
		.row_bytes = size,
		.engine = DMA_ENGINES,
		.completion = completion_signal,
	};

	return start_linear(&job, agent_find(dst_agent), agent_find(src_agent), num_dep_signals,
			    dep_signals);
}

/* ENGINE_ID is one bit of a mask as the next two HSA functions return it. */
hsa_status_t softgpu_hsa_amd_memory_async_copy_on_engine(
	void *dst, hsa_agent_t dst_agent, const void *src, hsa_agent_t src_agent, size_t size,
	uint32_t num_dep_signals, const hsa_signal_t *dep_signals, hsa_signal_t completion_signal,
	uint32_t engine_id, bool force_copy_on_sdma)
{
	struct job job = {
		.to = {.base = dst},
		.from = {.base = (char *)src},
		.row_bytes = size,
		.completion = completion_signal,
	};

	if (__builtin_popcount(engine_id) != 1 || engine_id >= 1u << DMA_ENGINES)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	job.engine = (uint32_t)__builtin_ctz(engine_id);
	return start_linear(&job, agent_find(dst_agent), agent_find(src_agent), num_dep_signals,
			    dep_signals);
}

/* Returns the agent whose engines copy between the two agents; NULL for an unknown agent. */
static const struct softgpu_agent *agent_that_copies(hsa_agent_t dst_agent, hsa_agent_t src_agent)
{
	const struct softgpu_agent *to = agent_find(dst_agent);
	const struct softgpu_agent *from = agent_find(src_agent);

	if (!to || !from)
		return NULL;
	return from->is_gpu ? from : to;
}

/* Gives the engines without waiting copies. */
hsa_status_t softgpu_hsa_amd_memory_copy_engine_status(hsa_agent_t dst_agent, hsa_agent_t src_agent,
						       uint32_t *engine_ids_mask)
{
	const struct softgpu_agent *agent = agent_that_copies(dst_agent, src_agent);
	uint32_t mask;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!agent)
		return HSA_STATUS_ERROR_INVALID_AGENT;
	if (!engine_ids_mask)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	mask = dma_idle_engines(agent->index);
	*engine_ids_mask = mask;
	return mask ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

hsa_status_t softgpu_hsa_amd_memory_get_preferred_copy_engine(hsa_agent_t dst_agent,
							      hsa_agent_t src_agent,
							      uint32_t *recommended_ids_mask)
{
	const struct softgpu_agent *to = agent_find(dst_agent);
	const struct softgpu_agent *from = agent_find(src_agent);

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!to || !from)
		return HSA_STATUS_ERROR_INVALID_AGENT;
	if (!recommended_ids_mask)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	*recommended_ids_mask = 1u << direction_engines[direction_of(to, from)];
	return HSA_STATUS_SUCCESS;
}

/* Gives the start and the pitches of a rectangle. Returns false when the arguments are invalid or
 * when it does not lie inside one allocation. */
static bool place_side(const hsa_pitched_ptr_t *pitched, const hsa_dim3_t *offset,
		       const hsa_dim3_t *range, struct side *ret_side)
{
	size_t first;
	size_t last;

	if (!pitched || !offset || !pitched->base ||
	    ((uintptr_t)pitched->base | pitched->pitch | pitched->slice) % sizeof(uint32_t) != 0)
		return false;
	/* A pitch is at most 1 GiB, so that no sum below overflows, and rows must not overlap. */
	if (pitched->pitch > SIZE_MAX >> 34 || pitched->slice > SIZE_MAX >> 34 ||
	    (range->y > 1 && pitched->pitch < range->x))
		return false;
	first = offset->z * pitched->slice + offset->y * pitched->pitch + offset->x;
	last = first + range->x;
	if (range->y > 0)
		last += (range->y - 1) * pitched->pitch;
	if (range->z > 0)
		last += (range->z - 1) * pitched->slice;
	ret_side->base = (char *)pitched->base + first;
	ret_side->pitch = pitched->pitch;
	ret_side->slice = pitched->slice;
	return memory_range_fits(pitched->base, last);
}

hsa_status_t softgpu_hsa_amd_memory_async_copy_rect(
	const hsa_pitched_ptr_t *dst, const hsa_dim3_t *dst_offset, const hsa_pitched_ptr_t *src,
	const hsa_dim3_t *src_offset, const hsa_dim3_t *range, hsa_agent_t copy_agent,
	hsa_amd_copy_direction_t dir, uint32_t num_dep_signals, const hsa_signal_t *dep_signals,
	hsa_signal_t completion_signal)
{
	const struct softgpu_agent *agent = agent_find(copy_agent);
	struct job job = {.agent = copy_agent, .completion = completion_signal};
	hsa_status_t status;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!range || (num_dep_signals > 0 && !dep_signals) || (uint32_t)dir > hsaDeviceToDevice)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!agent || !agent->is_gpu)
		return HSA_STATUS_ERROR_INVALID_AGENT;
	if (completion_signal.handle == 0)
		return HSA_STATUS_ERROR_INVALID_SIGNAL;
	if (!place_side(dst, dst_offset, range, &job.to) ||
	    !place_side(src, src_offset, range, &job.from))
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	job.direction = (enum direction)dir;
	job.from_agent = dir & 2 ? agent->index : 0;
	job.to_agent = dir & 1 ? agent->index : 0;
	job.engine = direction_engines[job.direction];
	job.row_bytes = range->x;
	job.rows = range->y;
	job.slices = range->z;
	status = enqueue(&job, dep_signals, num_dep_signals);
	if (status == HSA_STATUS_SUCCESS) {
		softgpu_count(copies_rect, 1);
		softgpu_count(copy_bytes, dma_job_bytes(&job));
	}
	return status;
}

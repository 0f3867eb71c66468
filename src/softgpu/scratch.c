/* Tells tools of scratch memory: see scratch.h. */
#include "softgpu/scratch.h"

#include "softgpu/gpu_model.h"
#include "softgpu/hsa_table.h"

static void tell(enum hsa_scratch_slot slot, const struct hsa_scratch_event *event)
{
	hsa_scratch_function *function = table_get_scratch(slot);
	struct hsa_scratch_event told = *event;

	told.kind = (int)slot + 1;
	if (function)
		function(&told);
}

static void free_all(const struct softgpu_queue *queue)
{
	const struct hsa_scratch_event event = {.queue = queue->known};

	tell(HSA_SCRATCH_FREE_START, &event);
	tell(HSA_SCRATCH_FREE_END, &event);
}

void scratch_require(struct softgpu_queue *queue, uint32_t private_bytes, uint64_t index)
{
	const struct gpu_model *model = gpu_model();
	struct hsa_scratch_event event = {
		.queue = queue->known,
		.dispatch = index,
	};

	if (private_bytes <= queue->scratch_bytes)
		return;
	if (queue->scratch_bytes)
		free_all(queue);
	queue->scratch_bytes = private_bytes;
	tell(HSA_SCRATCH_ALLOC_START, &event);
	event.slots = (size_t)model->compute_units * model->waves_per_cu;
	event.bytes = event.slots * model->wavefront * private_bytes;
	tell(HSA_SCRATCH_ALLOC_END, &event);
}

void scratch_release(struct softgpu_queue *queue)
{
	if (queue->scratch_bytes)
		free_all(queue);
	queue->scratch_bytes = 0;
}

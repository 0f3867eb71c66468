/* Captured work and the places where it was added: the slots of each place, and the graph, which
 * all copies of a recording share. */
#include <errno.h>
#include <stdlib.h>

#include "patch/errors.h"
#include "patch/node.h"
#include "patch/node_order.h"
#include "patch/recording.h"
#include "patch/slot_add.h"
#include "patch/work.h"

int slots_append_accesses(struct dagpatch_recording *recording, uint32_t node,
			  const uint32_t *slots, uint32_t count)
{
	int err = 0;

	for (uint32_t i = 0; err == 0 && i < count; i++)
		err = access_append(recording,
				    &(struct access){node, slots[i], 0,
						     recording->slots[slots[i]].bytes, true});
	return err;
}

int work_place(struct dagpatch_recording *recording, uint32_t node, const struct work *work,
	       const uint32_t *slots)
{
	struct placed_work placed = {.work = malloc(sizeof(struct work))};
	int err = placed.work ? recording_grow(&recording->works, &recording->work_capacity,
					       (uint64_t)recording->work_count + 1,
					       sizeof(*recording->works))
			      : -ENOMEM;

	if (err == 0)
		err = slots_copy(slots, work->slot_count, &placed.slots, &placed.offsets);
	if (err < 0) {
		free(placed.work);
		recording->device->driver->graph_destroy(recording->device, work->graph);
		return recording_fail(recording, err, "no memory for a capture");
	}
	*placed.work = *work;
	placed.work->references = 1;
	placed.work->device = recording->device;
	recording->nodes[node].flags |= NODE_CAPTURED;
	recording->nodes[node].detail = recording->work_count;
	recording->works[recording->work_count++] = placed;
	return 0;
}

static void work_release(struct work *work)
{
	if (!work || --work->references > 0)
		return;
	if (work->graph)
		work->device->driver->graph_destroy(work->device, work->graph);
	free(work);
}

void placed_work_release(struct placed_work *placed)
{
	work_release(placed->work);
	free(placed->slots);
	free(placed->offsets);
	*placed = (struct placed_work){0};
}

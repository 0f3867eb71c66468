/* Makes the table from which the kernels of a new graph take their addresses. */
#include <errno.h>
#include <stdlib.h>

#include "patch/build.h"
#include "patch/context.h"
#include "patch/errors.h"
#include "patch/node.h"
#include "patch/recording.h"
#include "patch/slot_add.h"
#include "patch/strategy.h"

static bool can_be_in_table(const struct dagpatch_recording *recording, uint32_t slot,
			    const struct relocation *relocation)
{
	const struct patch_params params = node_params(recording, relocation->node);

	return relocation->byte != RELOCATION_RECAPTURED && !recording->slots[slot].flags &&
	       params.kind == PATCH_KERNEL &&
	       (((const struct patch_kernel *)params.image)->form == PATCH_BY_BLOCK ||
		(params.layout && params.layout->is_known));
}

static int gather_table(struct dagpatch_recording *recording, struct patch_table_plan *plan,
			struct patch_table_relocation **ret_relocations, uint32_t *ret_nodes)
{
	uint32_t total = recording->first_relocation[recording->slot_count];
	struct patch_table_relocation *relocations = malloc((total + 1) * sizeof(*relocations));
	uint32_t count = 0;

	if (!relocations)
		return recording_fail(recording, -ENOMEM, "no memory for the table");
	*ret_nodes = 0;
	for (uint32_t slot = 0; slot < recording->slot_count; slot++) {
		for (uint32_t i = recording->first_relocation[slot];
		     i < recording->first_relocation[slot + 1]; i++) {
			const struct relocation *relocation = &recording->relocations[i];
			struct node *node = &recording->nodes[relocation->node];

			if (!can_be_in_table(recording, slot, relocation))
				continue;
			*ret_nodes += !(node->flags & NODE_IN_TABLE);
			node->flags |= NODE_IN_TABLE;
			relocations[count++] = (struct patch_table_relocation){
				.node = node->handle,
				.slot = slot,
				.byte = relocation->byte - (uint32_t)sizeof(struct patch_kernel),
				.addend = (int64_t)relocation->offset,
			};
		}
	}
	*plan = (struct patch_table_plan){relocations, count, recording->slot_count};
	*ret_relocations = relocations;
	return 0;
}

void build_leave_table(struct dagpatch_recording *recording)
{
	for (uint32_t i = 0; i < recording->node_count; i++)
		recording->nodes[i].flags &= (uint8_t)~NODE_IN_TABLE;
}

static bool wants_table(const struct dagpatch_recording *recording)
{
	enum dagpatch_strategy strategy = recording->context->options.strategy;

	return (recording->device->capabilities & PATCH_HAS_TABLE) && !recording->cannot_table &&
	       (strategy == DAGPATCH_AUTO || strategy == DAGPATCH_DEVICE_TABLE);
}

int build_table(struct dagpatch_recording *recording, struct built *built)
{
	const struct patch_driver *driver = recording->device->driver;
	struct patch_table_relocation *relocations = NULL;
	struct patch_table_plan plan;
	uint32_t nodes = 0;
	int err;

	if (!wants_table(recording))
		return 0;
	err = gather_table(recording, &plan, &relocations, &nodes);
	if (err < 0)
		return err;
	if (nodes > 0 && table_wanted(recording, nodes)) {
		err = driver->table_create(recording->device, built->graph, &plan, &built->table);
		if (err == -ENOTSUP) {
			patch_fault_take();
			err = -EAGAIN;
		} else if (err < 0) {
			recording_fail(recording, err, "making the table of addresses");
		}
	}
	free(relocations);
	if (!built->table)
		build_leave_table(recording);
	return err;
}

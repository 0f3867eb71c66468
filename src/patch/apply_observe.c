/* Tells the observer of the options what an apply has changed. */
#include "patch/apply.h"
#include "patch/context.h"
#include "patch/describe.h"
#include "patch/node.h"
#include "patch/recording.h"
#include "patch/slot_add.h"

static void observe_slot(struct dagpatch_recording *recording, uint32_t slot,
			 struct dagpatch_change *change)
{
	const struct dagpatch_options *options = &recording->context->options;
	bool is_in_table = recording->host_end[slot] < recording->first_relocation[slot + 1];

	change->slot = slot;
	for (uint32_t i = recording->first_relocation[slot]; i < recording->host_end[slot]; i++) {
		const struct relocation *relocation = &recording->relocations[i];
		struct dagpatch_change one = *change;

		one.node = relocation->node;
		one.node_handle = recording->nodes[relocation->node].handle;
		one.old_address += relocation->offset;
		one.new_address += relocation->offset;
		if (relocation->byte == RELOCATION_RECAPTURED)
			one.strategy = DAGPATCH_CAPTURE;
		one.byte = public_byte(recording, relocation->node, relocation->byte);
		options->observe(options->observe_user, &one);
	}
	if (!is_in_table)
		return;
	change->node = change->byte = DAGPATCH_NONE;
	if (change->strategy != DAGPATCH_INSTANTIATE)
		change->strategy = DAGPATCH_DEVICE_TABLE;
	options->observe(options->observe_user, change);
}

void apply_observe(struct dagpatch_recording *recording, enum dagpatch_strategy strategy,
		   uint64_t ns)
{
	for (uint32_t i = 0; i < recording->changed_count; i++) {
		uint32_t slot = recording->changed[i];

		if (recording->slots[slot].flags)
			continue;
		observe_slot(recording, slot,
			     &(struct dagpatch_change){
				     .recording = recording,
				     .old_address = recording->applied[slot],
				     .new_address = recording->wanted[slot],
				     .strategy = strategy,
				     .ns = ns,
			     });
	}
}

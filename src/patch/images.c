/* Addresses of slots in the images of nodes, and which of these places the host sets. */
#include <string.h>

#include "patch/images.h"
#include "patch/node.h"
#include "patch/recording.h"

static void write_slot(struct dagpatch_recording *recording, uint32_t slot, uint64_t address)
{
	for (uint32_t i = recording->first_relocation[slot];
	     i < recording->first_relocation[slot + 1]; i++) {
		const struct relocation *relocation = &recording->relocations[i];
		uint64_t value = address + relocation->offset;

		if (relocation->byte != RELOCATION_RECAPTURED)
			memcpy((uint8_t *)node_image(recording, relocation->node) +
				       relocation->byte,
			       &value, sizeof(value));
	}
}

void images_write(struct dagpatch_recording *recording, const uint64_t *addresses)
{
	for (uint32_t i = 0; i < recording->slot_count; i++)
		write_slot(recording, i, slot_address(recording, addresses, i));
}

void split_relocations(struct dagpatch_recording *recording)
{
	for (uint32_t slot = 0; slot < recording->slot_count; slot++) {
		uint32_t end = recording->first_relocation[slot];

		for (uint32_t i = end; i < recording->first_relocation[slot + 1]; i++) {
			struct relocation relocation = recording->relocations[i];
			uint8_t flags = recording->nodes[relocation.node].flags;

			if (recording->built.table && (flags & NODE_IN_TABLE))
				continue;
			recording->relocations[i] = recording->relocations[end];
			recording->relocations[end++] = relocation;
		}
		recording->host_end[slot] = end;
	}
}

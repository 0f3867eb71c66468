/* Nodes, bytes and strategies in words, for errors and dumps. */
#include <stdio.h>

#include "patch/describe.h"
#include "patch/node.h"
#include "patch/recording.h"
#include "patch/slot_add.h"

const char *strategy_text(enum dagpatch_strategy strategy)
{
	static const char *const texts[DAGPATCH_STRATEGY_COUNT] = {
		[DAGPATCH_AUTO] = "auto",
		[DAGPATCH_SET_PARAMS] = "set_params",
		[DAGPATCH_DEVICE_TABLE] = "device_table",
		[DAGPATCH_UPDATE_GRAPH] = "update_graph",
		[DAGPATCH_INSTANTIATE] = "instantiate",
		[DAGPATCH_CAPTURE] = "capture",
		[DAGPATCH_SHADOW] = "shadow",
	};

	return (unsigned)strategy < DAGPATCH_STRATEGY_COUNT ? texts[strategy] : "unknown";
}

const char *slot_text(const struct dagpatch_recording *recording, uint32_t slot, char text[96])
{
	const char *name = slot < recording->slot_count ? recording->slots[slot].name : NULL;

	snprintf(text, 96, name ? "slot %u (%.64s)" : "slot %u", slot, name);
	return text;
}

/* Enters the device, because calls that do not reach the driver otherwise need the name, too. */
static void kernel_text(const struct dagpatch_recording *recording, uint32_t node, char *text,
			size_t size)
{
	struct patch_device *device = recording->device;
	const struct patch_kernel *kernel = node_image(recording, node);
	struct device_visit visit;

	text[0] = '\0';
	if (device->driver->kernel_name && device_enter(device, &visit) == 0) {
		if (device->driver->kernel_name(device, kernel->function, text, size) < 0)
			text[0] = '\0';
		device_leave(&visit);
	}
	patch_fault_take(); /* an unknown name is not a failure */
}

const char *kind_text(const struct dagpatch_recording *recording, uint32_t node,
		      char text[KIND_TEXT])
{
	static const char *const kinds[PATCH_KINDS] = {
		"kernel",	 "copy",	 "memset",     "child",	      "empty",
		"host function", "event record", "event wait", "conditional", "unknown",
	};
	const struct node *record = &recording->nodes[node];
	char name[KIND_TEXT - 16] = "";

	if (record->kind == PATCH_KERNEL)
		kernel_text(recording, node, name, sizeof(name));
	snprintf(text, KIND_TEXT, "%s%s%s", kinds[record->kind], name[0] ? " " : "", name);
	return text;
}

/* Names a byte of a kernel's argument block. */
static void argument_text(const struct patch_layout *layout, uint32_t byte, char *text, size_t size)
{
	for (uint32_t i = 0; layout && i < layout->count; i++) {
		uint32_t offset = layout->parameters[i].offset;

		if (byte < offset || byte >= offset + layout->parameters[i].bytes)
			continue;
		if (byte == offset)
			snprintf(text, size, "argument %u", i);
		else
			snprintf(text, size, "argument %u, byte %u", i, byte - offset);
		return;
	}
	snprintf(text, size, "byte %u", byte);
}

const char *byte_text(const struct dagpatch_recording *recording, uint32_t node, uint32_t byte,
		      char text[BYTE_TEXT])
{
	enum patch_kind kind = recording->nodes[node].kind;

	if (kind == PATCH_KERNEL)
		argument_text(node_params(recording, node).layout, byte, text, BYTE_TEXT);
	else if (kind == PATCH_COPY && byte == DAGPATCH_SRC)
		snprintf(text, BYTE_TEXT, "source");
	else if ((kind == PATCH_COPY || kind == PATCH_MEMSET) && byte == DAGPATCH_DST)
		snprintf(text, BYTE_TEXT, "destination");
	else
		snprintf(text, BYTE_TEXT, "byte %u", byte);
	return text;
}

/* Returns the slot whose address contains this byte of the image, or DAGPATCH_NONE. */
static uint32_t slot_at(const struct dagpatch_recording *recording, uint32_t node, uint32_t byte)
{
	for (uint32_t i = 0; i < recording->loose_count; i++) {
		const struct loose_relocation *loose = &recording->loose[i];

		if (loose->node == node && byte >= loose->byte && byte - loose->byte < 8)
			return loose->slot;
	}
	for (uint32_t slot = 0; recording->first_relocation && slot < recording->slot_count; slot++)
		for (uint32_t i = recording->first_relocation[slot];
		     i < recording->first_relocation[slot + 1]; i++) {
			const struct relocation *relocation = &recording->relocations[i];

			if (relocation->node == node && byte >= relocation->byte &&
			    byte - relocation->byte < 8)
				return slot;
		}
	return DAGPATCH_NONE;
}

const char *place_text(const struct dagpatch_recording *recording, uint32_t node, uint32_t byte,
		       char text[PLACE_TEXT])
{
	char kind[KIND_TEXT], where[BYTE_TEXT], name[96];
	uint32_t slot, begin;
	int length;

	if (node >= recording->node_count) {
		snprintf(text, PLACE_TEXT, "node %u", node);
		return text;
	}
	length = snprintf(text, PLACE_TEXT, "node %u (%s)", node, kind_text(recording, node, kind));
	if (byte == DAGPATCH_NONE)
		return text;
	length += snprintf(text + length, PLACE_TEXT - (size_t)length, ", %s",
			   byte_text(recording, node, byte, where));
	begin = recording->nodes[node].kind == PATCH_KERNEL ? sizeof(struct patch_kernel) : 0;
	slot = slot_at(recording, node, begin + byte);
	if (slot != DAGPATCH_NONE)
		snprintf(text + length, PLACE_TEXT - (size_t)length, ", %s",
			 slot_text(recording, slot, name));
	return text;
}

const char *changed_text(const struct dagpatch_recording *recording, uint32_t node,
			 char text[PLACE_TEXT])
{
	char name[96];
	size_t length = 0;

	text[0] = '\0';
	for (uint32_t i = 0; i < recording->changed_count && length + 100 < PLACE_TEXT; i++) {
		uint32_t slot = recording->changed[i];

		for (uint32_t j = recording->first_relocation[slot];
		     j < recording->first_relocation[slot + 1]; j++)
			if (recording->relocations[j].node == node) {
				length += (size_t)snprintf(text + length, PLACE_TEXT - length,
							   "%s%s", length ? ", " : " for ",
							   slot_text(recording, slot, name));
				break;
			}
	}
	return text;
}

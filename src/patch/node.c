/* Reading of recorded nodes, and room for what is recorded. */
#include <errno.h>

#include "base/table.h"
#include "patch/layout.h"
#include "patch/node.h"
#include "patch/recording.h"

int recording_grow(void *items, uint32_t *capacity, uint64_t count, size_t size)
{
	size_t room = *capacity;
	int err = count > UINT32_MAX ? -ENOMEM : table_reserve(items, &room, count, size);

	*capacity = room > UINT32_MAX ? UINT32_MAX : (uint32_t)room;
	return err;
}

static uint32_t size_of_image(enum patch_kind kind, const void *image)
{
	static const uint32_t sizes[PATCH_KINDS] = {
		[PATCH_COPY] = sizeof(struct patch_copy),
		[PATCH_MEMSET] = sizeof(struct patch_memset),
		[PATCH_HOST] = sizeof(struct patch_host),
		[PATCH_EVENT_RECORD] = sizeof(struct patch_event),
		[PATCH_EVENT_WAIT] = sizeof(struct patch_event),
	};
	const struct patch_kernel *kernel = image;

	return kind == PATCH_KERNEL ? (uint32_t)sizeof(*kernel) + kernel->argument_bytes
				    : sizes[kind];
}

uint32_t image_size(const struct dagpatch_recording *recording, uint32_t node)
{
	return size_of_image(recording->nodes[node].kind, node_image(recording, node));
}

struct patch_params image_params(const struct dagpatch_recording *recording, enum patch_kind kind,
				 uint32_t image, uint32_t detail)
{
	const void *bytes = image == DAGPATCH_NONE ? NULL : recording->images + image;
	bool has_layout = kind == PATCH_KERNEL && detail != DAGPATCH_NONE;

	return (struct patch_params){
		.kind = kind,
		.size = bytes ? size_of_image(kind, bytes) : 0,
		.image = bytes,
		.layout = has_layout ? layout_at(recording->device, detail) : NULL,
	};
}

struct patch_params node_params(const struct dagpatch_recording *recording, uint32_t node)
{
	const struct node *record = &recording->nodes[node];

	return image_params(recording, record->kind, record->image, record->detail);
}

uint32_t node_depth(const struct dagpatch_recording *recording, uint32_t node)
{
	uint32_t depth = 0;

	for (; recording->nodes[node].parent != DAGPATCH_NONE; node = recording->nodes[node].parent)
		depth++;
	return depth;
}

uint32_t node_end(const struct dagpatch_recording *recording, uint32_t node)
{
	uint32_t end = node + 1;

	while (end < recording->node_count && recording->nodes[end].parent != DAGPATCH_NONE &&
	       recording->nodes[end].parent >= node)
		end++;
	return end;
}

uint32_t public_byte(const struct dagpatch_recording *recording, uint32_t node, uint32_t byte)
{
	uint32_t begin =
		recording->nodes[node].kind == PATCH_KERNEL ? sizeof(struct patch_kernel) : 0;

	return byte == RELOCATION_RECAPTURED || byte < begin ? DAGPATCH_NONE : byte - begin;
}

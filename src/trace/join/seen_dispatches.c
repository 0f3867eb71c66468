/* Filling and growing the cache of dispatches (seen_dispatches.h). */
#include "trace/join/seen_dispatches.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"

#define FIRST_BITS 8
#define MOST_BITS  16

static size_t slot_count(const struct seen_dispatches *seen)
{
	return ((size_t)1 << seen->bits) + 1;
}

static struct seen_dispatch *make_slots(const struct seen_dispatches *seen)
{
	size_t bytes = slot_count(seen) * sizeof(*seen->slots);
	struct seen_dispatch *slots = aligned_alloc(sizeof(*slots), bytes);

	if (slots) {
		table_ask_large_pages(slots, bytes);
		memset(slots, 0, bytes);
	}
	return slots;
}

int seen_dispatches_init(struct seen_dispatches *seen)
{
	*seen = (struct seen_dispatches){.bits = FIRST_BITS};
	seen->slots = make_slots(seen);
	return seen->slots ? 0 : -ENOMEM;
}

void seen_dispatches_release(struct seen_dispatches *seen)
{
	free(seen->slots);
	*seen = (struct seen_dispatches){0};
}

/* A free slot of RECORD, or its first one. */
static void put(struct seen_dispatches *seen, const struct record_dispatch *record, uint32_t work)
{
	struct seen_dispatch *slot = seen_dispatches_slot(seen, record);

	if (slot->is_used && !slot[1].is_used)
		slot++;
	seen->count += !slot->is_used;
	*slot = (struct seen_dispatch){
		.kernel = record->kernel,
		.is_used = 1,
		.private_bytes = record->private_bytes,
		.group_bytes = record->group_bytes,
		.work = work,
	};
	memcpy(slot->grid, record->grid, sizeof(slot->grid));
	memcpy(slot->workgroup, record->workgroup, sizeof(slot->workgroup));
}

static int grow(struct seen_dispatches *seen)
{
	struct seen_dispatches wider = {.bits = seen->bits + 1};

	wider.slots = make_slots(&wider);
	if (!wider.slots)
		return -ENOMEM;
	for (size_t i = 0; i < slot_count(seen); i++) {
		const struct seen_dispatch *slot = &seen->slots[i];
		struct record_dispatch record = {
			.kernel = slot->kernel,
			.private_bytes = slot->private_bytes,
			.group_bytes = slot->group_bytes,
		};

		if (!slot->is_used)
			continue;
		memcpy(record.grid, slot->grid, sizeof(record.grid));
		memcpy(record.workgroup, slot->workgroup, sizeof(record.workgroup));
		put(&wider, &record, slot->work);
	}
	free(seen->slots);
	*seen = wider;
	return 0;
}

int seen_dispatches_add(struct seen_dispatches *seen, const struct record_dispatch *record,
			uint32_t work)
{
	if (seen->count > slot_count(seen) / 4 && seen->bits < MOST_BITS && grow(seen) < 0)
		return -ENOMEM;
	put(seen, record, work);
	return 0;
}

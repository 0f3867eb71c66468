/* Tables of handles (handle.h). */
#include "softgpu/handle.h"

#include <errno.h>

#include "base/table.h"

/* The bits of a handle, from the highest: kind 4, generation 16, slot 20, index 24. */
#define KIND_SHIFT	 60
#define GENERATION_SHIFT 44
#define SLOT_SHIFT	 24
#define SLOT_MASK	 0xfffffu
#define FIRST_SLOTS	 64u

static uint64_t make_handle(enum handle_kind kind, uint16_t generation, uint32_t slot)
{
	return (uint64_t)kind << KIND_SHIFT | (uint64_t)generation << GENERATION_SHIFT |
	       (uint64_t)slot << SLOT_SHIFT;
}

static int grow(struct handle_table *table)
{
	uint32_t more = table->count ? table->count : FIRST_SLOTS;

	if (table->count + more > SLOT_MASK + 1)
		return -ENOMEM;
	return table_extend((void **)&table->slots, &table->count, more, sizeof(*table->slots))
		       ? 0
		       : -ENOMEM;
}

int handle_add(struct handle_table *table, enum handle_kind kind, void *item, uint64_t *ret_handle)
{
	uint32_t slot = 0;

	while (slot < table->count && table->slots[slot].item)
		slot++;
	if (slot == table->count && grow(table) < 0)
		return -ENOMEM;
	table->slots[slot].item = item;
	*ret_handle = make_handle(kind, table->slots[slot].generation, slot);
	return 0;
}

static struct handle_slot *find_slot(const struct handle_table *table, enum handle_kind kind,
				     uint64_t handle)
{
	uint32_t slot = (uint32_t)(handle >> SLOT_SHIFT) & SLOT_MASK;

	if (handle >> KIND_SHIFT != kind || slot >= table->count || !table->slots[slot].item ||
	    (uint16_t)(handle >> GENERATION_SHIFT) != table->slots[slot].generation)
		return NULL;
	return &table->slots[slot];
}

void *handle_find(const struct handle_table *table, enum handle_kind kind, uint64_t handle)
{
	const struct handle_slot *slot = find_slot(table, kind, handle);

	return slot ? slot->item : NULL;
}

void *handle_remove(struct handle_table *table, enum handle_kind kind, uint64_t handle)
{
	struct handle_slot *slot = find_slot(table, kind, handle);
	void *item;

	if (!slot)
		return NULL;
	item = slot->item;
	slot->item = NULL;
	slot->generation++;
	return item;
}

uint64_t handle_inner(uint64_t handle, enum handle_kind kind, uint32_t index)
{
	const uint64_t owner = handle & ~((uint64_t)HANDLE_MAX_INDEX | 0xfull << KIND_SHIFT);

	return owner | (uint64_t)kind << KIND_SHIFT | index;
}

uint32_t handle_index(uint64_t handle)
{
	return (uint32_t)handle & HANDLE_MAX_INDEX;
}

/* The hash map of groups.h: open addressing, at most half full. */
#include "analyze/groups.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_SLOTS 256u

static uint32_t first_slot(const struct groups *groups, uint64_t key)
{
	uint64_t hash = (key ^ (key >> 31)) * 0x9e3779b97f4a7c15ull;

	return (uint32_t)(hash >> 32) & (groups->slot_count - 1);
}

static int grow(struct groups *groups)
{
	uint32_t slot_count = groups->slot_count ? groups->slot_count * 2 : FIRST_SLOTS;
	uint32_t *slots = calloc(slot_count, sizeof(*slots));
	uint64_t *keys = reallocarray(groups->keys, slot_count / 2, sizeof(*keys));

	if (keys)
		groups->keys = keys;
	if (!slots || !keys) {
		free(slots);
		return -ENOMEM;
	}
	free(groups->slots);
	groups->slots = slots;
	groups->slot_count = slot_count;
	for (uint32_t i = 0; i < groups->count; i++) {
		uint32_t at = first_slot(groups, keys[i]);

		while (slots[at])
			at = (at + 1) & (slot_count - 1);
		slots[at] = i + 1;
	}
	return 0;
}

uint32_t groups_number(struct groups *groups, uint64_t key)
{
	uint32_t at;

	if (groups->count >= groups->slot_count / 2 && grow(groups) < 0)
		return GROUPS_FAILED;
	for (at = first_slot(groups, key); groups->slots[at];
	     at = (at + 1) & (groups->slot_count - 1)) {
		if (groups->keys[groups->slots[at] - 1] == key)
			return groups->slots[at] - 1;
	}
	groups->keys[groups->count] = key;
	groups->slots[at] = ++groups->count;
	return groups->count - 1;
}

void groups_release(struct groups *groups)
{
	free(groups->keys);
	free(groups->slots);
	*groups = (struct groups){0};
}

/* A hash table of texts, with open addressing; see texts.h. */
#include "capture/texts.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc32c.h"

#define SLOTS_FIRST 256

/* Returns the slot of TEXT, or the free slot where it belongs. The table is never full. */
static struct text **find(const struct texts *texts, const char *text, size_t bytes, uint32_t hash)
{
	uint32_t at = hash & (texts->slot_count - 1);

	for (; texts->slots[at]; at = (at + 1) & (texts->slot_count - 1)) {
		const struct text *row = texts->slots[at];

		if (row->hash == hash && row->bytes == bytes && !memcmp(row->text, text, bytes))
			break;
	}
	return &texts->slots[at];
}

static bool grow(struct texts *texts)
{
	struct texts grown = {.slot_count = texts->slot_count ? texts->slot_count * 2 : SLOTS_FIRST,
			      .count = texts->count};

	grown.slots = calloc(grown.slot_count, sizeof(*grown.slots));
	if (!grown.slots)
		return false;
	for (uint32_t i = 0; i < texts->slot_count; i++) {
		struct text *row = texts->slots[i];

		if (row)
			*find(&grown, row->text, row->bytes, row->hash) = row;
	}
	free(texts->slots);
	*texts = grown;
	return true;
}

struct text *texts_keep(struct texts *texts, const char *text)
{
	size_t bytes = strlen(text);
	uint32_t hash = crc32c(0, text, bytes);
	struct text **slot, *row;

	if (texts->count >= texts->slot_count / 2 && !grow(texts))
		return NULL;
	slot = find(texts, text, bytes, hash);
	if (*slot)
		return *slot;
	row = malloc(sizeof(*row) + bytes + 1);
	if (!row)
		return NULL;
	*row = (struct text){.number = ++texts->count, .hash = hash, .bytes = bytes};
	memcpy(row->text, text, bytes + 1);
	*slot = row;
	return row;
}

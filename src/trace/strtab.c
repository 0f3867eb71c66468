/* Interned texts (see strtab.h): copies in blocks, found by their hash. */
#include "trace/strtab.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "trace/row_table.h"

#define BLOCK_BYTES (64u << 10)
#define FIRST_SLOTS 1024u

struct strtab_block {
	struct strtab_block *next;
	size_t used;
	size_t size;
	char bytes[];
};

int strtab_init(struct strtab *tab)
{
	*tab = (struct strtab){.slot_count = FIRST_SLOTS};
	tab->slots = calloc(FIRST_SLOTS, sizeof(*tab->slots));
	if (!tab->slots)
		return -ENOMEM;
	strtab_intern(tab, "", 0);
	if (!tab->failed)
		return 0;
	strtab_release(tab);
	return -ENOMEM;
}

void strtab_release(struct strtab *tab)
{
	struct strtab_block *block = tab->blocks;

	while (block) {
		struct strtab_block *next = block->next;

		free(block);
		block = next;
	}
	free(tab->strings);
	free(tab->hashes);
	free(tab->slots);
	*tab = (struct strtab){0};
}

static char *keep(struct strtab *tab, const char *text, size_t bytes)
{
	struct strtab_block *block = tab->blocks;
	char *copy;

	if (!block || block->size - block->used <= bytes) {
		size_t size = bytes + 1 > BLOCK_BYTES ? bytes + 1 : BLOCK_BYTES;

		block = malloc(sizeof(*block) + size);
		if (!block)
			return NULL;
		*block = (struct strtab_block){.next = tab->blocks, .size = size};
		tab->blocks = block;
	}
	copy = block->bytes + block->used;
	memcpy(copy, text, bytes);
	copy[bytes] = '\0';
	block->used += bytes + 1;
	return copy;
}

static int grow_slots(struct strtab *tab)
{
	uint32_t slot_count = tab->slot_count * 2;
	uint32_t *slots = calloc(slot_count, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (uint32_t i = 0; i < tab->count; i++) {
		uint32_t at = (uint32_t)tab->hashes[i] & (slot_count - 1);

		while (slots[at])
			at = (at + 1) & (slot_count - 1);
		slots[at] = i + 1;
	}
	free(tab->slots);
	tab->slots = slots;
	tab->slot_count = slot_count;
	return 0;
}

static uint32_t add(struct strtab *tab, uint32_t slot, uint64_t hash, const char *text,
		    size_t bytes)
{
	uint32_t hash_count = tab->count;
	char *copy = keep(tab, text, bytes);
	const char **string = NULL;
	uint64_t *kept_hash = NULL;

	if (copy)
		kept_hash = table_add((void **)&tab->hashes, &hash_count, sizeof(*tab->hashes));
	if (kept_hash)
		string = table_add((void **)&tab->strings, &tab->count, sizeof(*tab->strings));
	if (!string) {
		tab->failed = true;
		return 0;
	}
	*kept_hash = hash;
	*string = copy;
	tab->slots[slot] = tab->count;
	if (tab->count > tab->slot_count / 2 && grow_slots(tab) < 0)
		tab->failed = true;
	return tab->count - 1;
}

uint32_t strtab_intern(struct strtab *tab, const char *text, size_t bytes)
{
	const char *end = memchr(text, '\0', bytes);
	uint64_t hash;
	uint32_t at;

	if (tab->failed)
		return 0;
	if (end)
		bytes = (size_t)(end - text);
	hash = XXH3_64bits(text, bytes);
	for (at = (uint32_t)hash & (tab->slot_count - 1); tab->slots[at];
	     at = (at + 1) & (tab->slot_count - 1)) {
		uint32_t number = tab->slots[at] - 1;
		const char *known = tab->strings[number];

		if (tab->hashes[number] == hash && strncmp(known, text, bytes) == 0 &&
		    known[bytes] == '\0')
			return number;
	}
	return add(tab, at, hash, text, bytes);
}

uint32_t strtab_intern_z(struct strtab *tab, const char *text)
{
	return strtab_intern(tab, text, strlen(text));
}

uint32_t strtab_intern_field(struct strtab *tab, const char *field, size_t field_bytes)
{
	return strtab_intern(tab, field, strnlen(field, field_bytes));
}

uint32_t strtab_format(struct strtab *tab, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return strtab_intern_z(tab, text);
}

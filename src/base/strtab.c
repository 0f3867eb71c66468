/* Interned texts (see strtab.h): copies in blocks, found by their hash. */
#include "base/strtab.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/table.h"

#define BLOCK_BYTES (64u << 10)

struct strtab_block {
	struct strtab_block *next;
	size_t used;
	size_t size;
	char bytes[];
};

int strtab_init(struct strtab *tab)
{
	*tab = (struct strtab){0};
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
	hash_map_release(&tab->map);
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

static uint32_t add(struct strtab *tab, const struct hash_probe *probe, const char *text,
		    size_t bytes)
{
	char *copy = keep(tab, text, bytes);
	const char **string = NULL;

	if (copy)
		string = table_add((void **)&tab->strings, &tab->count, sizeof(*tab->strings));
	if (!string) {
		tab->failed = true;
		return 0;
	}
	*string = copy;
	hash_map_put(&tab->map, probe, tab->count - 1);
	return tab->count - 1;
}

uint32_t strtab_intern(struct strtab *tab, const char *text, size_t bytes)
{
	const char *end = memchr(text, '\0', bytes);
	struct hash_probe probe;

	if (!tab->failed && hash_map_reserve(&tab->map) < 0)
		tab->failed = true;
	if (tab->failed)
		return 0;
	if (end)
		bytes = (size_t)(end - text);
	probe = hash_map_probe(&tab->map, hash_bytes(text, bytes));
	while (hash_map_next(&tab->map, &probe)) {
		const char *known = tab->strings[probe.row];

		if (strncmp(known, text, bytes) == 0 && known[bytes] == '\0')
			return probe.row;
	}
	return add(tab, &probe, text, bytes);
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

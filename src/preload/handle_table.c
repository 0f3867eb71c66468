/* The hash table of handles. */
#include "preload/handle_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

/* The entry of HANDLE, or the free one where it belongs. */
static struct handle_entry *entry_of(struct handle_entry *in, uint32_t count, const void *handle)
{
	uint32_t at = (uint32_t)(hash_mix((uintptr_t)handle, 0) >> 32) & (count - 1);

	while (in[at].handle && in[at].handle != handle)
		at = (at + 1) & (count - 1);
	return &in[at];
}

struct handle_entry *handle_table_find(const struct handle_table *table, const void *handle)
{
	struct handle_entry *entry;

	if (!handle || table->entry_count == 0)
		return NULL;
	entry = entry_of(table->entries, table->entry_count, handle);
	return entry->handle ? entry : NULL;
}

/* Makes room for one more entry; drops those without a value. */
static int make_room(struct handle_table *table)
{
	uint32_t count = 64, alive = 1;
	struct handle_entry *larger;

	if (table->used < table->entry_count / 2)
		return 0;
	for (uint32_t i = 0; i < table->entry_count; i++)
		alive += table->entries[i].value != 0;
	while (count < 4 * alive)
		count *= 2;
	larger = calloc(count, sizeof(*larger));
	if (!larger)
		return -ENOMEM;
	table->used = 0;
	for (uint32_t i = 0; i < table->entry_count; i++) {
		if (!table->entries[i].value)
			continue;
		*entry_of(larger, count, table->entries[i].handle) = table->entries[i];
		table->used++;
	}
	free(table->entries);
	table->entries = larger;
	table->entry_count = count;
	return 0;
}

int handle_table_put(struct handle_table *table, void *handle, uint64_t value)
{
	struct handle_entry *entry = handle_table_find(table, handle);
	int err = entry ? 0 : make_room(table);

	if (err != 0)
		return err;
	if (!entry) {
		entry = entry_of(table->entries, table->entry_count, handle);
		table->used++;
	}
	*entry = (struct handle_entry){handle, value};
	return 0;
}

uint64_t handle_table_remove(struct handle_table *table, const void *handle)
{
	struct handle_entry *entry = handle_table_find(table, handle);
	uint64_t value = entry ? entry->value : 0;

	if (entry)
		entry->value = 0;
	return value;
}

void handle_table_release(struct handle_table *table)
{
	free(table->entries);
	*table = (struct handle_table){0};
}

void handle_table_clear(struct handle_table *table)
{
	if (table->entries)
		memset(table->entries, 0, table->entry_count * sizeof(*table->entries));
	table->used = 0;
}

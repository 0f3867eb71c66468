/* Lists of copied records (raw_list.h). */
#include "trace/raw_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/sort.h"
#include "trace/row_table.h"

#define RAW_BLOCK_BYTES	     65536
#define RAW_LONG	     10000
#define RAW_LONG_BLOCK_BYTES (4u << 20)

struct raw_block {
	struct raw_block *next;
	size_t used, room;
	bool is_mapped;
	_Alignas(8) char bytes[];
};

/* Long lists use blocks that are mapped, so that their memory goes back to the system when they are
 * freed. */
static struct raw_block *add_block(struct raw_list *list, size_t bytes)
{
	struct raw_block *block;
	size_t long_room = RAW_LONG_BLOCK_BYTES - sizeof(*block);
	bool is_long = list->count >= RAW_LONG && bytes <= long_room;
	size_t room = is_long ? long_room : RAW_BLOCK_BYTES;

	if (bytes > room)
		room = bytes;
	if (is_long) {
		block = mmap(NULL, sizeof(*block) + room, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (block == MAP_FAILED)
			return NULL;
		table_ask_large_pages(block, sizeof(*block) + room);
	} else {
		block = malloc(sizeof(*block) + room);
		if (!block)
			return NULL;
	}
	*block = (struct raw_block){.next = list->blocks, .room = room, .is_mapped = is_long};
	list->blocks = block;
	return block;
}

static void free_block(struct raw_block *block)
{
	if (block->is_mapped)
		munmap(block, sizeof(*block) + block->room);
	else
		free(block);
}

int raw_add(struct raw_list *list, const struct record_header *record,
	    const struct origin_walk *walk)
{
	size_t bytes = (size_t)record->words * 8;
	struct raw_block *block = list->blocks;
	struct raw *row;

	if (!block || block->used + bytes > block->room)
		block = add_block(list, bytes);
	if (!block)
		return -ENOMEM;
	row = table_add((void **)&list->rows, &list->count, sizeof(*row));
	if (!row)
		return -ENOMEM;
	*row = (struct raw){block->bytes + block->used, walk->tid, walk->order};
	memcpy(block->bytes + block->used, record, bytes);
	block->used += bytes;
	return 0;
}

int raw_make_room(struct raw_list *list, uint64_t count)
{
	list->rows = count ? table_alloc(count, sizeof(*list->rows)) : NULL;
	return count == 0 || list->rows ? 0 : -ENOMEM;
}

void raw_append(struct raw_list *list, const struct raw_list *from, uint32_t first, uint32_t count)
{
	if (count)
		memcpy(list->rows + list->count, from->rows + first, count * sizeof(*list->rows));
	list->count += count;
}

void raw_take_memory(struct raw_list *list, struct raw_list *from)
{
	struct raw_block **last = &from->blocks;

	while (*last)
		last = &(*last)->next;
	*last = list->blocks;
	list->blocks = from->blocks;
	from->blocks = NULL;
	raw_release(from);
}

void raw_release(struct raw_list *list)
{
	while (list->blocks) {
		struct raw_block *next = list->blocks->next;

		free_block(list->blocks);
		list->blocks = next;
	}
	free(list->rows);
	*list = (struct raw_list){0};
}

uint64_t raw_order(const struct raw *row)
{
	return row->order;
}

static bool is_sorted(const struct raw_list *list, uint64_t (*key)(const struct raw *row))
{
	uint64_t before = 0;

	for (uint32_t i = 0; i < list->count; i++) {
		uint64_t here = key(&list->rows[i]);

		if (here < before)
			return false;
		before = here;
	}
	return true;
}

int raw_sort(struct raw_list *list, uint64_t (*key)(const struct raw *row))
{
	struct sort_row *order;
	int err;

	if (is_sorted(list, key))
		return 0;
	order = table_alloc(list->count, sizeof(*order));
	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < list->count; i++)
		order[i] = (struct sort_row){.key = key(&list->rows[i]), .index = i};
	err = sort_apply(list->rows, list->count, sizeof(*list->rows), order);
	free(order);
	return err;
}

int64_t raw_find(const struct raw_list *list, uint64_t key,
		 uint64_t (*key_of)(const struct raw *row))
{
	uint32_t low = 0, high = list->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (key_of(&list->rows[middle]) <= key)
			low = middle + 1;
		else
			high = middle;
	}
	return (int64_t)low - 1;
}

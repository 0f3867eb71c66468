/* Growing arrays of rows (see table.h). */
#include "base/table.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define TABLE_FIRST 16
#define TABLE_LIMIT (UINT32_MAX - 1)

#define PAGE_BYTES	 4096u
#define LARGE_PAGE_BYTES (2u << 20)

/* Asks for whole mappings, including malloc's header: mremap does not move a mapping that is partly
 * of another kind, and realloc would then copy. */
void table_ask_large_pages(void *memory, size_t bytes)
{
	uintptr_t first = (uintptr_t)memory & ~(PAGE_BYTES - 1ul);
	uintptr_t end = ((uintptr_t)memory + bytes + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1ul);

	if (bytes >= LARGE_PAGE_BYTES)
		madvise((void *)first, end - first, MADV_HUGEPAGE);
}

void *table_alloc(uint64_t count, size_t row_bytes)
{
	size_t bytes;
	void *rows;

	if (__builtin_mul_overflow(count + 1, row_bytes, &bytes))
		return NULL;
	rows = malloc(bytes);
	if (rows)
		table_ask_large_pages(rows, bytes);
	return rows;
}

void *table_zeroed(uint64_t count, size_t row_bytes)
{
	void *rows = count < SIZE_MAX ? calloc(count + 1, row_bytes) : NULL;

	if (rows)
		table_ask_large_pages(rows, (count + 1) * row_bytes);
	return rows;
}

void *table_append(void **array, uint32_t *count, uint64_t more, size_t row_bytes)
{
	uint64_t total = (uint64_t)*count + more;
	char *rows;

	if (more > TABLE_LIMIT || total > TABLE_LIMIT)
		return NULL;
	rows = *array;
	if (!rows || more) {
		/* One row to spare: a stage may ask for 0 rows and still gets an address. */
		rows = realloc(*array, (total + 1) * row_bytes);
		if (!rows)
			return NULL;
		*array = rows;
		table_ask_large_pages(rows, (total + 1) * row_bytes);
	}
	rows += *count * row_bytes;
	*count = (uint32_t)total;
	return rows;
}

void *table_extend(void **array, uint32_t *count, uint64_t more, size_t row_bytes)
{
	void *rows = table_append(array, count, more, row_bytes);

	if (rows)
		memset(rows, 0, more * row_bytes);
	return rows;
}

/* True if the next row needs more room: the capacity is the next power of two, 16 at least. */
static bool is_full(uint32_t count)
{
	return count == 0 || (count >= TABLE_FIRST && (count & (count - 1)) == 0);
}

void *table_add(void **array, uint32_t *count, size_t row_bytes)
{
	uint64_t capacity = *count ? (uint64_t)*count * 2 : TABLE_FIRST;
	char *row;

	if (*count >= TABLE_LIMIT)
		return NULL;
	if (is_full(*count)) {
		row = realloc(*array, capacity * row_bytes);
		if (!row)
			return NULL;
		*array = row;
		table_ask_large_pages(row, capacity * row_bytes);
	}
	row = (char *)*array + *count * row_bytes;
	memset(row, 0, row_bytes);
	*count += 1;
	return row;
}

/* The room that table_add has made for COUNT rows. */
static uint64_t room_of(uint64_t count)
{
	uint64_t room = count ? TABLE_FIRST : 0;

	while (room < count)
		room *= 2;
	return room;
}

int table_add_rows(void **array, uint32_t *count, const void *rows, uint32_t more, size_t row_bytes)
{
	uint64_t total = (uint64_t)*count + more, room = room_of(total);

	if (more == 0)
		return 0;
	if (total > TABLE_LIMIT)
		return -ENOMEM;
	if (room > room_of(*count)) {
		void *moved = realloc(*array, room * row_bytes);

		if (!moved)
			return -ENOMEM;
		*array = moved;
		table_ask_large_pages(moved, room * row_bytes);
	}
	memcpy((char *)*array + *count * row_bytes, rows, more * row_bytes);
	*count = (uint32_t)total;
	return 0;
}

int table_grow(void **array, size_t *room, uint64_t count, size_t row_bytes)
{
	uint64_t wanted = *room ? (uint64_t)*room * 2 : TABLE_FIRST;
	size_t bytes;
	void *rows;

	if (wanted < count)
		wanted = count;
	if (__builtin_mul_overflow(wanted, row_bytes, &bytes))
		return -ENOMEM;
	rows = realloc(*array, bytes);
	if (!rows)
		return -ENOMEM;
	table_ask_large_pages(rows, bytes);
	*array = rows;
	*room = wanted;
	return 0;
}

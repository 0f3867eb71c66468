/* Growing arrays of rows, which their owners hold as plain pointer and count.
 *
 * There are three ways, one per array:
 * - table_extend, when the caller knows how many rows will come: exact room.
 * - table_add, row by row: it doubles the room. The capacity follows from the count, so it needs no
 *   field; the array must not shrink.
 * - table_reserve, for arrays that are emptied and filled again, and for bytes: it doubles the room
 *   too and keeps it in a field.
 *
 * All sizes are computed in 64 bits. On failure the array is untouched. A call may move the array,
 * so pointers to its rows become invalid. Large arrays ask for large pages. The owner frees an
 * array with free().
 *
 * Threading: none of its own; an array belongs to one thread while it grows. */
#ifndef DAGTAP_BASE_TABLE_H
#define DAGTAP_BASE_TABLE_H

#include <stddef.h>
#include <stdint.h>

/* Uninitialised memory for COUNT rows (and one to spare, so that COUNT may be 0). The caller frees
 * it with free(). NULL: out of memory. */
void *table_alloc(uint64_t count, size_t row_bytes);

/* As table_alloc, zeroed. */
void *table_zeroed(uint64_t count, size_t row_bytes);

/* Asks the kernel to back MEMORY with large pages (MADV_HUGEPAGE); does nothing below 2 MiB. Call
 * before the memory is touched: the first touch then takes a quarter of the time that many small
 * pages take. Without it, loading and exporting 850,000 events (dagtap-bench reference --scale 0.1)
 * to XSpace takes 1.07 times the CPU time (1.05 to 1.14; bench/compare-programs.py, 16 rounds). */
void table_ask_large_pages(void *memory, size_t bytes);

/* Append MORE rows, zeroed or uninitialised, or one zeroed row. Return the first new row, which is
 * not NULL even if MORE is 0. ARRAY and COUNT are updated. NULL: out of memory, or more than
 * 2^32 - 2 rows. */
void *table_extend(void **array, uint32_t *count, uint64_t more, size_t row_bytes);
void *table_append(void **array, uint32_t *count, uint64_t more, size_t row_bytes);
void *table_add(void **array, uint32_t *count, size_t row_bytes);

/* Appends copies of MORE ROWS, with the room that table_add makes. Returns 0, or -ENOMEM with ARRAY
 * and COUNT unchanged. */
int table_add_rows(void **array, uint32_t *count, const void *rows, uint32_t more,
		   size_t row_bytes);

/* The slow path of table_reserve. */
int table_grow(void **array, size_t *room, uint64_t count, size_t row_bytes);

/* Makes room for COUNT rows in all, new ones uninitialised. ROOM is the number of rows that fit: at
 * least twice as many as before if the array must grow. Both start zeroed. Returns 0 or -ENOMEM. */
static inline int table_reserve(void **array, size_t *room, uint64_t count, size_t row_bytes)
{
	return count <= *room ? 0 : table_grow(array, room, count, row_bytes);
}

#endif

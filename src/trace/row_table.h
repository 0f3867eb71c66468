/* Growing the arrays of the model, which struct trace holds as plain pointer and count.
 *
 * There are two ways, one per array: table_extend when a stage knows how many rows will come (exact
 * room), and table_add, row by row, which doubles the room (the capacity follows from the count, so
 * it needs no field). New rows are zeroed, except those of table_reserve, which is table_extend for
 * rows that the caller writes completely. NULL means out of memory or more than 2^32 - 2 rows; the
 * array is then untouched. A call may move the array, so pointers to its rows become invalid. Large
 * arrays ask for large pages.
 *
 * Threading: none of its own; an array belongs to one thread while it grows. */
#ifndef DAGTAP_TRACE_ROW_TABLE_H
#define DAGTAP_TRACE_ROW_TABLE_H

#include <stddef.h>
#include <stdint.h>

/* Uninitialised memory for COUNT rows (and one to spare, so that COUNT may be 0). The caller frees
 * it with free(). NULL: out of memory. */
void *table_alloc(uint64_t count, size_t row_bytes);

/* As table_alloc, zeroed. */
void *table_zeroed(uint64_t count, size_t row_bytes);

/* Asks the kernel to back MEMORY with large pages (MADV_HUGEPAGE); does nothing below 2 MiB. Call
 * before the memory is touched: the first touch then takes a quarter of the time that many small
 * pages take. */
void table_ask_large_pages(void *memory, size_t bytes);

/* Append MORE rows, zeroed or uninitialised, or one zeroed row. Return the first new row. Use the
 * macros below. ARRAY and COUNT are updated. */
void *table_extend(void **array, uint32_t *count, uint64_t more, size_t row_bytes);
void *table_reserve(void **array, uint32_t *count, uint64_t more, size_t row_bytes);
void *table_add(void **array, uint32_t *count, size_t row_bytes);

/* Append MORE rows to trace->NAME and return the first, with its type. Not NULL even when MORE is
 * 0. */
#define trace_extend(trace, name, more)                                                            \
	((__typeof__((trace)->name))table_extend((void **)&(trace)->name, &(trace)->name##_count,  \
						 (more), sizeof(*(trace)->name)))

#define trace_reserve(trace, name, more)                                                           \
	((__typeof__((trace)->name))table_reserve((void **)&(trace)->name, &(trace)->name##_count, \
						  (more), sizeof(*(trace)->name)))

/* Appends one zeroed row to trace->NAME and returns it. */
#define trace_add(trace, name)                                                                     \
	((__typeof__((trace)->name))table_add((void **)&(trace)->name, &(trace)->name##_count,     \
					      sizeof(*(trace)->name)))

#endif

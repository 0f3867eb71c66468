/* Growing the arrays of the model: plain pointer and count, as struct trace has them.
 *
 * Two ways, one per array: table_extend when a stage knows how many rows come (exact room), and
 * table_add, row by row, whose room doubles (capacity follows from the count, so it needs no
 * field). New rows are zeroed, but those of table_reserve, which is table_extend for rows that are
 * all going to be written anyway. NULL = out of memory or more than 2^32 - 2 rows; the array is
 * untouched then. Large arrays ask for large pages. */
#ifndef DAGTAP_TRACE_TABLE_H
#define DAGTAP_TRACE_TABLE_H

#include <stddef.h>
#include <stdint.h>

/* Uninitialised memory for COUNT rows, for free(); NULL = out of memory. */
void *table_alloc(uint64_t count, size_t row_bytes);

/* The same, zeroed. */
void *table_zeroed(uint64_t count, size_t row_bytes);

/* For memory that is about to be touched: a quarter of the time that the first touch of many small pages
 * takes. */
void table_ask_large_pages(void *memory, size_t bytes);

void *table_extend(void **array, uint32_t *count, uint64_t more, size_t row_bytes);
void *table_reserve(void **array, uint32_t *count, uint64_t more, size_t row_bytes);
void *table_add(void **array, uint32_t *count, size_t row_bytes);

/* First of MORE new rows; not NULL even when MORE is 0. */
#define trace_extend(trace, name, more)                                                            \
	((__typeof__((trace)->name))table_extend((void **)&(trace)->name, &(trace)->name##_count,  \
						 (more), sizeof(*(trace)->name)))

#define trace_reserve(trace, name, more)                                                           \
	((__typeof__((trace)->name))table_reserve((void **)&(trace)->name, &(trace)->name##_count, \
						  (more), sizeof(*(trace)->name)))

#define trace_add(trace, name)                                                                     \
	((__typeof__((trace)->name))table_add((void **)&(trace)->name, &(trace)->name##_count,     \
					      sizeof(*(trace)->name)))

#endif

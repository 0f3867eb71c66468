/* Allocations that fail, for tests that CMake's dagtap_failing_memory gives them. All threads of
 * the program are counted together. */
#ifndef TESTS_FAILING_MEMORY_H
#define TESTS_FAILING_MEMORY_H

#include <stdint.h>

/* From now on, the allocation number WHICH fails (1: the next one); 0: none does. */
void memory_fail(uint64_t which);

/* Returns the number of allocations since the program's start, those that failed included. */
uint64_t memory_allocations(void);

#endif

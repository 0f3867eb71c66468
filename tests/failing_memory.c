/* Takes the place of malloc and its relatives (ld's --wrap) in the code that is linked into a test,
 * not in shared libraries. */
#include <stdbool.h>
#include <stddef.h>

#include "failing_memory.h"

static uint64_t allocations, failing; /* failing: the number of the one that fails, or 0 */

void memory_fail(uint64_t which)
{
	failing = which ? memory_allocations() + which : 0;
}

uint64_t memory_allocations(void)
{
	return __atomic_load_n(&allocations, __ATOMIC_RELAXED);
}

static bool is_refused(void)
{
	return __atomic_add_fetch(&allocations, 1, __ATOMIC_RELAXED) == failing;
}

/* Defines __wrap_NAME, which calls the C library's NAME unless the allocation is to fail. */
#define WRAP(type, name, parameters, arguments)                                                    \
	type __real_##name parameters;                                                             \
	type __wrap_##name parameters;                                                             \
	type __wrap_##name parameters                                                              \
	{                                                                                          \
		return is_refused() ? NULL : __real_##name arguments;                              \
	}

WRAP(void *, malloc, (size_t bytes), (bytes))
WRAP(void *, calloc, (size_t count, size_t bytes), (count, bytes))
WRAP(void *, realloc, (void *old, size_t bytes), (old, bytes))
WRAP(void *, reallocarray, (void *old, size_t count, size_t bytes), (old, count, bytes))
WRAP(char *, strdup, (const char *text), (text))

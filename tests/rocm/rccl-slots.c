/*
 * rccl-slots: whether RCCL's functions are at the places of its dispatch table that are their
 * operations in dagtap's librocprofiler-sdk.so.1. Replaces every function of the table by one that
 * notes its place, and calls each function by its symbol, which goes on through the table.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rccl/rccl.h>

#include "sdk/abi.h"
#include "sdk/functions.h"
#include "sdk/hand_over.h"

static uint64_t *table;
static size_t reached; /* the place of the last call, from 1 */

/* One function for each place; their numbers begin at 100, which is place 1. */
#define FIVE(X, tens, a, b, c, d, e)                                                               \
	X(1##tens##a) X(1##tens##b) X(1##tens##c) X(1##tens##d) X(1##tens##e)
#define TEN(X, tens) FIVE(X, tens, 0, 1, 2, 3, 4) FIVE(X, tens, 5, 6, 7, 8, 9)
#define STUBS(X)     TEN(X, 0) TEN(X, 1) TEN(X, 2) TEN(X, 3) TEN(X, 4) TEN(X, 5)

#define X(number)                                                                                  \
	static int stub_##number(void)                                                             \
	{                                                                                          \
		reached = number - 99;                                                             \
		return 0;                                                                          \
	}
STUBS(X)
#undef X

static int (*const stubs[])(void) = {
#define X(number) stub_##number,
	STUBS(X)
#undef X
};

#define STUBS_MOST (sizeof(stubs) / sizeof(*stubs))

static int take(const char *name, uint64_t version, uint64_t instance, void **tables,
		uint64_t count)
{
	if (!strcmp(name, "rccl"))
		table = tables[0];
	return 0;
}

/* Returns the place in the table of the function NAME; 0: it is not called through the table. */
static size_t place_of(void *library, const char *name)
{
	int (*function)(void) = (int (*)(void))dlsym(library, name);

	reached = 0;
	if (function)
		function();
	return reached;
}

/* Returns how many operations are at another place. */
static int compare(void *library, int count)
{
	const char *name;
	int wrong = 0, operation = 0;

	for (; rocprofiler_query_buffer_tracing_kind_operation_name(SDK_BUFFER_RCCL_API, operation,
								    &name, NULL) == SDK_SUCCESS;
	     operation++) {
		size_t place = place_of(library, name);

		if (place == (size_t)operation + 1)
			continue;
		printf("%s is operation %d, its place is %zu\n", name, operation, place);
		wrong++;
	}
	return wrong + (operation != count);
}

int main(void)
{
	void *library = dlopen("librccl.so.1", RTLD_LAZY | RTLD_NOLOAD);
	int version, wrong, count;

	if (!library || ncclGetVersion(&version) != ncclSuccess)
		return EXIT_FAILURE;
	hand_over_tables(take);
	if (!table || table[0] / sizeof(*table) - 1 > STUBS_MOST) {
		fprintf(stderr, "the table of RCCL was not found\n");
		return EXIT_FAILURE;
	}
	count = (int)(table[0] / sizeof(*table) - 1);
	for (int i = 0; i < count; i++)
		table[i + 1] = (uintptr_t)stubs[i];
	wrong = compare(library, count);
	printf("RCCL %d: %d functions, %d at another place\n", version, count, wrong);
	return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}

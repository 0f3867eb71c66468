/* The symbols that cuGetProcAddress means by a name and a version, as cudaTypedefs.h of CUDA 13.5
 * has them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "preload/cuda_doors.h"

enum { PER_THREAD = 2 };

static void name_means_symbol_of_version(void **state)
{
	static const struct {
		const char *name;
		int version;
		uint64_t flags;
		const char *symbol;
	} rows[] = {
		{"cuGraphInstantiate", 10000, 0, "cuGraphInstantiate"},
		{"cuGraphInstantiate", 11000, 0, "cuGraphInstantiate_v2"},
		{"cuGraphInstantiate", 12000, 0, "cuGraphInstantiateWithFlags"},
		{"cuGraphAddNode", 12020, 0, "cuGraphAddNode"},
		{"cuGraphAddNode", 12030, 0, "cuGraphAddNode_v2"},
		{"cuGraphAddNode", 13030, 0, "cuGraphAddNode_v2"},
		{"cuGraphAddNode", 13040, 0, "cuGraphAddNode_v3"},
		{"cuGraphAddNode", 13050, PER_THREAD, "cuGraphAddNode_v3"},
		{"cuGraphNodeSetParams", 12020, 0, "cuGraphNodeSetParams"},
		{"cuGraphNodeSetParams", 13030, 0, "cuGraphNodeSetParams"},
		{"cuGraphNodeSetParams", 13040, 0, "cuGraphNodeSetParams_v2"},
		{"cuStreamBeginCapture", 10000, PER_THREAD, "cuStreamBeginCapture_ptsz"},
		{"cuStreamBeginCapture", 13050, PER_THREAD, "cuStreamBeginCapture_v2_ptsz"},
		{"cuStreamBeginRecaptureToGraph", 13030, 0, "cuStreamBeginRecaptureToGraph"},
		{"cuStreamBeginRecaptureToGraph", 13030, PER_THREAD,
		 "cuStreamBeginRecaptureToGraph_ptsz"},
		{"cuStreamBeginCaptureToCig", 13010, PER_THREAD, "cuStreamBeginCaptureToCig_ptsz"},
		{"cuStreamEndCaptureToCig", 13010, PER_THREAD, "cuStreamEndCaptureToCig_ptsz"},
		{"cuMemFree", 2000, 0, "cuMemFree"},
		{"cuMemFree", 3020, 0, "cuMemFree_v2"},
	};
	char symbol[CUDA_SYMBOL_BYTES];

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_true(cuda_symbol(rows[i].name, rows[i].version, rows[i].flags, symbol));
		assert_string_equal(symbol, rows[i].symbol);
	}
}

static void long_name_means_none(void **state)
{
	char name[CUDA_SYMBOL_BYTES + 1], symbol[CUDA_SYMBOL_BYTES];

	memset(name, 'c', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	assert_false(cuda_symbol(name, CUDA_KNOWN_VERSION, 0, symbol));
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(name_means_symbol_of_version),
		cmocka_unit_test(long_name_means_none),
	};

	return cmocka_run_group_tests(cases, NULL, NULL);
}

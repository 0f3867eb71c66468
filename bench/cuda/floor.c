/* The floor: a library that CUDA loads (CUDA_INJECTION64_PATH), which asks CUPTI for records and does
 * nothing but count them. What is measured beside it shows what a tracer adds to CUPTI's own cost. */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "vendor/cupti_types.h"

#define BUFFER_BYTES	   (4u << 20)
#define CUPTI_KIND_DRIVER  4
#define CUPTI_KIND_RUNTIME 5

/* Calls as records, which is how most tools ask for them. */
static const uint32_t kinds[] = {
	CUPTI_KIND_CONCURRENT_KERNEL, CUPTI_KIND_MEMCPY,  CUPTI_KIND_MEMSET,
	CUPTI_KIND_SYNCHRONIZATION,   CUPTI_KIND_RUNTIME, CUPTI_KIND_DRIVER};

static struct {
#define X(result_name, name, parameters) uint32_t(*result_name) parameters;
	CUPTI_FUNCTIONS(X)
#undef X
} cupti;

static _Atomic uint64_t record_count;

static void lend(uint8_t **buffer, size_t *size, size_t *max_records)
{
	*buffer = malloc(BUFFER_BYTES);
	*size = *buffer ? BUFFER_BYTES : 0;
	*max_records = 0;
}

static void take(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid_bytes)
{
	struct cupti_activity *record = NULL;
	uint64_t count = 0;

	while (cupti.next_record(buffer, valid_bytes, &record) == CUPTI_OK)
		count++;
	atomic_fetch_add(&record_count, count);
	free(buffer);
}

static void finish(void)
{
	cupti.flush_all(CUPTI_FLUSH_FORCED);
	fprintf(stderr, "floor: %" PRIu64 " records\n", atomic_load(&record_count));
}

static int find_functions(void)
{
	const char *path = getenv("DAGTAP_CUPTI");
	void *library = dlopen(path ? path : "libcupti.so", RTLD_NOW);

	if (!library)
		return 0;
#define X(result_name, name, parameters)                                                           \
	cupti.result_name = (uint32_t(*) parameters)dlsym(library, #name);                         \
	if (!cupti.result_name)                                                                    \
		return 0;
	CUPTI_FUNCTIONS(X)
#undef X
	return 1;
}

int InitializeInjection(void);

__attribute__((visibility("default"))) int InitializeInjection(void)
{
	if (!find_functions() || cupti.register_buffers(lend, take) != CUPTI_OK) {
		fprintf(stderr, "floor: no CUPTI\n");
		return 1;
	}
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		cupti.enable(kinds[i]);
	atexit(finish);
	return 1;
}

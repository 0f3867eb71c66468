/*
 * The floor of CUDA tracing: a library that CUDA loads (CUDA_INJECTION64_PATH), requests from CUPTI
 * what FLOOR names, and only counts what it gets. Measured next to a tracer, it separates the
 * tracer's cost from CUPTI's own.
 *
 * FLOOR holds names between commas. kernels, copies (with memsets and waits) and calls: activity
 * records. callbacks: the callbacks of all runtime and driver calls and of resources. nvtx: ranges;
 * programs make them only when a library listens (NVTX_INJECTION64_PATH names this library, too).
 * The default is the records.
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vendor/cupti_types.h"
#include "vendor/nvtx_types.h"

#define BUFFER_BYTES	   (4u << 20)
#define CUPTI_KIND_DRIVER  4
#define CUPTI_KIND_RUNTIME 5
#define KINDS_MOST	   3

/* Calls are requested as records, as most tools request them. */
static const struct {
	const char *name;
	uint32_t kinds[KINDS_MOST]; /* ended by 0 */
} record_groups[] = {
	{"kernels", {CUPTI_KIND_CONCURRENT_KERNEL}},
	{"copies", {CUPTI_KIND_MEMCPY, CUPTI_KIND_MEMSET, CUPTI_KIND_SYNCHRONIZATION}},
	{"calls", {CUPTI_KIND_RUNTIME, CUPTI_KIND_DRIVER}},
};

static const uint32_t domains[] = {CUPTI_DOMAIN_RESOURCE, CUPTI_DOMAIN_RUNTIME,
				   CUPTI_DOMAIN_DRIVER};

static struct {
#define X(result_name, name, parameters) uint32_t(*result_name) parameters;
	CUPTI_FUNCTIONS(X)
#undef X
} cupti;

static _Atomic uint64_t record_count, callback_count, range_count;

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

static void told(void *userdata, uint32_t domain, uint32_t cbid, const void *data)
{
	atomic_fetch_add_explicit(&callback_count, 1, memory_order_relaxed);
}

static void finish(void)
{
	cupti.flush_all(CUPTI_FLUSH_FORCED);
	fprintf(stderr, "floor: %" PRIu64 " records, %" PRIu64 " callbacks, %" PRIu64 " ranges\n",
		atomic_load(&record_count), atomic_load(&callback_count),
		atomic_load(&range_count));
}

/* NOLINTNEXTLINE(readability-function-size): two statements for each function of the list */
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

static int enable_records(const char *name)
{
	size_t group = 0;

	while (strcmp(record_groups[group].name, name) != 0) {
		if (++group == sizeof(record_groups) / sizeof(*record_groups))
			return 0;
	}
	for (int i = 0; i < KINDS_MOST && record_groups[group].kinds[i]; i++) {
		if (cupti.enable(record_groups[group].kinds[i]) != CUPTI_OK)
			return 0;
	}
	return 1;
}

static int enable_callbacks(void)
{
	void *subscriber;

	if (cupti.subscribe(&subscriber, told, NULL) != CUPTI_OK)
		return 0;
	for (size_t i = 0; i < sizeof(domains) / sizeof(*domains); i++) {
		if (cupti.enable_domain(1, subscriber, domains[i]) != CUPTI_OK)
			return 0;
	}
	return 1;
}

int InitializeInjection(void);

/*
 * Fails if CUPTI refuses a request: a floor that measures less than it was told to would be too
 * low.
 */
__attribute__((visibility("default"))) int InitializeInjection(void)
{
	const char *wanted = getenv("FLOOR");
	char *names = strdup(wanted ? wanted : "kernels,copies,calls");
	char *rest = names;
	int is_good = names && find_functions() && cupti.register_buffers(lend, take) == CUPTI_OK;

	for (char *name; is_good && (name = strsep(&rest, ","));)
		is_good = !strcmp(name, "callbacks") ? enable_callbacks()
			  : !strcmp(name, "nvtx")    ? !!getenv("NVTX_INJECTION64_PATH")
						     : enable_records(name);
	free(names);
	if (!is_good) {
		fprintf(stderr, "floor: CUPTI does not give \"%s\"\n", wanted ? wanted : "records");
		_Exit(1);
	}
	atexit(finish);
	return 1;
}

/* ---- NVTX ---- */

static void *create_domain(const char *name)
{
	return &range_count;
}

static int push(void *domain, const struct nvtx_attributes *attributes)
{
	atomic_fetch_add_explicit(&range_count, 1, memory_order_relaxed);
	return 0;
}

static int pop(void *domain)
{
	return 0;
}

static void *register_text(void *domain, const char *text)
{
	return (void *)(uintptr_t)text;
}

int InitializeInjectionNvtx2(nvtx_get_table *get_table);

__attribute__((visibility("default"))) int InitializeInjectionNvtx2(nvtx_get_table *get_table)
{
	const struct nvtx_callbacks *callbacks = get_table(NVTX_TABLE_CALLBACKS);
	nvtx_function **table = NULL;
	unsigned int count = 0;

	if (!callbacks || !callbacks->get_table(NVTX_MODULE_CORE2, &table, &count) || !table ||
	    count <= NVTX_CORE2_DomainCreateA)
		return 0;
	*table[NVTX_CORE2_DomainCreateA] = (nvtx_function)create_domain;
	*table[NVTX_CORE2_DomainRangePushEx] = (nvtx_function)push;
	*table[NVTX_CORE2_DomainRangePop] = (nvtx_function)pop;
	*table[NVTX_CORE2_DomainRegisterStringA] = (nvtx_function)register_text;
	return 1;
}

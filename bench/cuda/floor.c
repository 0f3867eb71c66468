/*
 * The floor of CUDA tracing: a library that CUDA loads (CUDA_INJECTION64_PATH), requests from CUPTI
 * what FLOOR names, and only counts what it gets. Measured next to a tracer, it separates the
 * tracer's cost from CUPTI's own.
 *
 * FLOOR holds names between commas. The default is kernels,copies,calls.
 *
 * - Activity records: kernels; copies (with memsets); waits (with event records); calls (all of
 *   runtime and driver); kinds (all kinds that the tracer asks for by default); kind-N (one kind,
 *   by its number); records-runtime, records-driver (of the calls of cuda_selected.list); external
 *   (a record for each call that a range of the user's encloses; the thread that first uses CUDA
 *   is in one).
 * - Callbacks: callbacks (of all runtime and driver calls and of resources); runtime, driver (of
 *   the calls of cuda_selected.list); graphs (of resources, those that the tracer asks for);
 *   subscriber (none: only subscribes).
 * - Attributes, before the records: pinned (CUPTI's buffers for the device are page-locked memory
 *   of the host); zeroed (buffers of records come zeroed, and CUPTI does not clear them).
 * - nvtx: ranges. Programs make them only when a library listens (NVTX_INJECTION64_PATH names this
 *   library, too).
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vendor/cupti_records.h"
#include "vendor/cupti_types.h"
#include "vendor/nvtx_types.h"

#define BUFFER_BYTES	    (4u << 20)
#define CUPTI_KIND_DRIVER   4
#define CUPTI_KIND_RUNTIME  5
#define CUPTI_KIND_EXTERNAL 39
#define EXTERNAL_CUSTOM	    3 /* CUpti_ExternalCorrelationKind */
#define ATTRIBUTE_ZEROED    5 /* CUpti_ActivityAttribute */
#define ATTRIBUTE_PINNED    8
#define KINDS_MOST	    10

/* Calls are requested as records, as most tools request them. */
static const struct {
	const char *name;
	uint32_t kinds[KINDS_MOST]; /* ended by 0 */
} record_groups[] = {
	{"kernels", {CUPTI_KIND_CONCURRENT_KERNEL}},
	{"copies", {CUPTI_KIND_MEMCPY, CUPTI_KIND_MEMSET}},
	{"waits", {CUPTI_KIND_CUDA_EVENT, CUPTI_KIND_SYNCHRONIZATION}},
	{"calls", {CUPTI_KIND_RUNTIME, CUPTI_KIND_DRIVER}},
	{"kinds",
	 {CUPTI_KIND_DEVICE, CUPTI_KIND_CONCURRENT_KERNEL, CUPTI_KIND_MEMCPY, CUPTI_KIND_MEMCPY2,
	  CUPTI_KIND_MEMSET, CUPTI_KIND_STREAM, CUPTI_KIND_MEMORY2, CUPTI_KIND_OVERHEAD}},
};

/* The calls that the tracer asks for. */
static const struct call {
	uint32_t domain, cbid;
} selected[] = {
#define X(domain, cbid, name) {CUPTI_DOMAIN_##domain, cbid},
#include "vendor/cuda_selected.list"
#undef X
};

/* The callbacks about resources that the tracer asks for. */
static const uint32_t resources[] = {
	CUPTI_STREAM_CREATED,
	CUPTI_STREAM_DESTROY_STARTING,
	CUPTI_MODULE_UNLOAD_STARTING,
	CUPTI_GRAPH_CREATED,
	CUPTI_GRAPH_DESTROY_STARTING,
	CUPTI_GRAPH_CLONED,
	CUPTI_GRAPHNODE_CREATE_STARTING,
	CUPTI_GRAPHNODE_CREATED,
	CUPTI_GRAPHNODE_DESTROY_STARTING,
	CUPTI_GRAPHNODE_DEPENDENCY_CREATED,
	CUPTI_GRAPHNODE_DEPENDENCY_DESTROY_STARTING,
	CUPTI_GRAPHEXEC_CREATED,
	CUPTI_GRAPHEXEC_DESTROY_STARTING,
	CUPTI_GRAPHNODE_CLONED,
	CUPTI_GRAPH_NODE_UPDATED,
	CUPTI_GRAPH_NODE_SET_PARAMS,
};

#define SELECTED_COUNT (sizeof(selected) / sizeof(*selected))

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
	*buffer = calloc(1, BUFFER_BYTES);
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

static void *library;

/* NOLINTNEXTLINE(readability-function-size): two statements for each function of the list */
static int find_functions(void)
{
	const char *path = getenv("DAGTAP_CUPTI");

	library = dlopen(path ? path : "libcupti.so", RTLD_NOW);
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

static int enable_kinds(const char *name)
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

/* Asks for the records of selected calls one by one. An older CUPTI refuses newer calls. */
static int enable_records(uint32_t domain, const char *function)
{
	uint32_t (*enable)(uint32_t cbid, uint8_t is_enabled);
	size_t count = 0;

	*(void **)&enable = dlsym(library, function);
	for (size_t i = 0; enable && i < SELECTED_COUNT; i++)
		count += selected[i].domain == domain && enable(selected[i].cbid, 1) == CUPTI_OK;
	return count > 0;
}

/* The calling thread enters a range of the user's, which it never leaves. */
static int enable_external(void)
{
	uint32_t (*push)(uint32_t kind, uint64_t id);

	*(void **)&push = dlsym(library, "cuptiActivityPushExternalCorrelationId");
	return push && cupti.enable(CUPTI_KIND_EXTERNAL) == CUPTI_OK &&
	       push(EXTERNAL_CUSTOM, 1) == CUPTI_OK;
}

static int set_attribute(uint32_t attribute)
{
	uint32_t (*set)(uint32_t attribute, size_t * bytes, void *value);
	uint8_t value = 1;
	size_t bytes = sizeof(value);

	*(void **)&set = dlsym(library, "cuptiActivitySetAttribute");
	return set && set(attribute, &bytes, &value) == CUPTI_OK;
}

/* Returns the subscriber of all callbacks, or NULL. */
static void *subscribe(void)
{
	static void *subscriber;

	if (!subscriber && cupti.subscribe(&subscriber, told, NULL) != CUPTI_OK)
		return NULL;
	return subscriber;
}

static int enable_domains(void)
{
	for (size_t i = 0; i < sizeof(domains) / sizeof(*domains); i++) {
		if (cupti.enable_domain(1, subscribe(), domains[i]) != CUPTI_OK)
			return 0;
	}
	return 1;
}

static int enable_callbacks(uint32_t domain)
{
	size_t count = 0;

	for (size_t i = 0; i < SELECTED_COUNT; i++)
		count +=
			selected[i].domain == domain &&
			cupti.enable_callback(1, subscribe(), domain, selected[i].cbid) == CUPTI_OK;
	return count > 0;
}

static int enable_graphs(void)
{
	for (size_t i = 0; i < sizeof(resources) / sizeof(*resources); i++) {
		if (cupti.enable_callback(1, subscribe(), CUPTI_DOMAIN_RESOURCE, resources[i]) !=
		    CUPTI_OK)
			return 0;
	}
	return 1;
}

static int enable_name(const char *name)
{
	if (!strncmp(name, "kind-", 5))
		return cupti.enable((uint32_t)atoi(name + 5)) == CUPTI_OK;
	if (!strcmp(name, "nvtx"))
		return !!getenv("NVTX_INJECTION64_PATH");
	if (!strcmp(name, "records-runtime"))
		return enable_records(CUPTI_DOMAIN_RUNTIME, "cuptiActivityEnableRuntimeApi");
	if (!strcmp(name, "records-driver"))
		return enable_records(CUPTI_DOMAIN_DRIVER, "cuptiActivityEnableDriverApi");
	if (!strcmp(name, "external"))
		return enable_external();
	if (!strcmp(name, "pinned"))
		return set_attribute(ATTRIBUTE_PINNED);
	if (!strcmp(name, "zeroed"))
		return set_attribute(ATTRIBUTE_ZEROED);
	if (!strcmp(name, "subscriber"))
		return !!subscribe();
	if (!strcmp(name, "callbacks"))
		return subscribe() && enable_domains();
	if (!strcmp(name, "runtime"))
		return subscribe() && enable_callbacks(CUPTI_DOMAIN_RUNTIME);
	if (!strcmp(name, "driver"))
		return subscribe() && enable_callbacks(CUPTI_DOMAIN_DRIVER);
	if (!strcmp(name, "graphs"))
		return subscribe() && enable_graphs();
	return enable_kinds(name);
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
		is_good = enable_name(name);
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

/* Asks CUPTI for callbacks; see cuda_selection.h. */
#include "capture/cuda/cuda_selection.h"

#include <stddef.h>

#include "capture/cuda/cupti.h"
#include "capture/env.h"
#include "record/cuda_functions.h"

struct callback {
	uint16_t domain, cbid;
};

static const struct callback calls[] = {
#define X(domain, cbid, name) {CUPTI_DOMAIN_##domain, cbid},
#include "vendor/cuda_selected.list"
#undef X
};

static const char *const call_names[] = {
#define X(domain, cbid, name) #name,
#include "vendor/cuda_selected.list"
#undef X
};

/* A bit for each call that launches exactly one kernel. Set before any callback. */
#define CALLS_MOST 2048
static uint64_t kernel_launches[CUPTI_DOMAIN_RUNTIME + 1][CALLS_MOST / 64];

static const struct callback resources[] = {
	{CUPTI_DOMAIN_RESOURCE, CUPTI_STREAM_CREATED},
	{CUPTI_DOMAIN_RESOURCE, CUPTI_STREAM_DESTROY_STARTING},
	{CUPTI_DOMAIN_RESOURCE, CUPTI_MODULE_UNLOAD_STARTING},
	{CUPTI_DOMAIN_RESOURCE, CUPTI_GRAPH_NODE_UPDATED},
	{CUPTI_DOMAIN_RESOURCE, CUPTI_GRAPH_NODE_SET_PARAMS},
};

static const struct callback graph_lives[] = {
	{CUPTI_DOMAIN_RESOURCE, CUPTI_GRAPH_CREATED},
	{CUPTI_DOMAIN_RESOURCE, CUPTI_GRAPH_DESTROY_STARTING},
	{CUPTI_DOMAIN_RESOURCE, CUPTI_GRAPH_CLONED},
	{CUPTI_DOMAIN_RESOURCE, CUPTI_GRAPHNODE_CREATE_STARTING},
	{CUPTI_DOMAIN_RESOURCE, CUPTI_GRAPHNODE_CREATED},
	{CUPTI_DOMAIN_RESOURCE, CUPTI_GRAPHNODE_DESTROY_STARTING},
	{CUPTI_DOMAIN_RESOURCE, CUPTI_GRAPHNODE_DEPENDENCY_CREATED},
	{CUPTI_DOMAIN_RESOURCE, CUPTI_GRAPHNODE_DEPENDENCY_DESTROY_STARTING},
	{CUPTI_DOMAIN_RESOURCE, CUPTI_GRAPHEXEC_CREATED},
	{CUPTI_DOMAIN_RESOURCE, CUPTI_GRAPHEXEC_DESTROY_STARTING},
	{CUPTI_DOMAIN_RESOURCE, CUPTI_GRAPHNODE_CLONED},
};

/* The calls that say what the callbacks about graphs leave out: which steps are one call's, what a
 * node holds, and whether nodes of an exec are switched on and off. */
static const struct callback building_calls[] = {
#define X(domain, cbid, name) {CUPTI_DOMAIN_##domain, cbid},
#include "vendor/cuda_building.list"
#undef X
};

#define COUNT(list) (sizeof(list) / sizeof(*(list)))

/* A callback that this CUPTI does not know is left out: there is no such call. */
static uint32_t enable_each(void *subscriber, const struct callback *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t result =
			cupti.enable_callback(1, subscriber, list[i].domain, list[i].cbid);

		if (result != CUPTI_OK && result != CUPTI_INVALID_PARAMETER)
			return result;
	}
	return CUPTI_OK;
}

static uint32_t enable_domains(void *subscriber)
{
	uint32_t result = cupti.enable_domain(1, subscriber, CUPTI_DOMAIN_RUNTIME);

	return result == CUPTI_OK ? cupti.enable_domain(1, subscriber, CUPTI_DOMAIN_DRIVER)
				  : result;
}

static void find_kernel_launches(void)
{
	for (size_t i = 0; i < COUNT(calls); i++) {
		if (calls[i].domain <= CUPTI_DOMAIN_RUNTIME && calls[i].cbid < CALLS_MOST &&
		    cuda_name_launches_kernel(call_names[i]))
			kernel_launches[calls[i].domain][calls[i].cbid / 64] |=
				1ull << calls[i].cbid % 64;
	}
}

bool cuda_selection_launches_kernel(uint32_t domain, uint32_t cbid)
{
	return domain <= CUPTI_DOMAIN_RUNTIME && cbid < CALLS_MOST &&
	       (kernel_launches[domain][cbid / 64] >> cbid % 64 & 1);
}

uint32_t cuda_selection_enable(void *subscriber, const char **ret_function)
{
	uint32_t result = enable_each(subscriber, resources, COUNT(resources));
	bool is_list = env_calls_are_selected();

	find_kernel_launches();
	if (result == CUPTI_OK)
		result = enable_each(subscriber, graph_lives, COUNT(graph_lives));
	if (result == CUPTI_OK && !is_list) {
		*ret_function = "cuptiEnableDomain";
		return enable_domains(subscriber);
	}
	if (result == CUPTI_OK)
		result = enable_each(subscriber, calls, COUNT(calls));
	*ret_function = "cuptiEnableCallback";
	return result;
}

uint32_t cuda_selection_enable_profiler(void *subscriber)
{
	static const struct callback profiler[] = {
		{CUPTI_DOMAIN_DRIVER, CUPTI_cuProfilerStart},
		{CUPTI_DOMAIN_DRIVER, CUPTI_cuProfilerStop},
	};

	return enable_each(subscriber, profiler, COUNT(profiler));
}

bool cuda_selection_is_building(uint32_t cbid)
{
	/* The list is in the order of its numbers, and most calls have smaller ones. */
	for (size_t i = 0; i < COUNT(building_calls) && building_calls[i].cbid <= cbid; i++) {
		if (building_calls[i].cbid == cbid)
			return true;
	}
	return false;
}

uint32_t cuda_selection_enable_graphs(void *subscriber)
{
	uint32_t result = enable_each(subscriber, graph_lives, COUNT(graph_lives));

	return result == CUPTI_OK ? enable_each(subscriber, building_calls, COUNT(building_calls))
				  : result;
}

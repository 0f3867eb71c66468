/* A tool library with the designs that are known to fail, so that the tests can show that their
 * measurements tell these designs from dagtap. HAZARD names a design of hazard_designs.c. Each
 * design intercepts every queue, and a destroyed queue is never destroyed in the runtime (H19). */
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "hazard_designs.h"

#define SHOWN __attribute__((visibility("default")))

struct hsa_core_table hazard_core;
struct hsa_amd_ext_table hazard_ext;
static const struct hazard_design *design = &hazard_designs[0];

static hsa_status_t create_queue(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
				 void (*callback)(hsa_status_t, hsa_queue_t *, void *), void *data,
				 uint32_t private_bytes, uint32_t group_bytes, hsa_queue_t **queue)
{
	hsa_status_t status = hazard_ext.hsa_amd_queue_intercept_create_fn(
		agent, size, type, callback, data, private_bytes, group_bytes, queue);

	if (status != HSA_STATUS_SUCCESS)
		return status;
	hazard_ext.hsa_amd_profiling_set_profiler_enabled_fn(*queue, 1);
	hazard_ext.hsa_amd_queue_intercept_register_fn(*queue, design->handler, NULL);
	return status;
}

static hsa_status_t keep_queue(hsa_queue_t *queue)
{
	(void)queue;
	return HSA_STATUS_SUCCESS;
}

SHOWN bool OnLoad(struct hsa_api_table *table, uint64_t runtime_version, uint64_t failed_tool_count,
		  const char *const *failed_tool_names);
SHOWN void OnUnload(void);

bool OnLoad(struct hsa_api_table *table, uint64_t runtime_version, uint64_t failed_tool_count,
	    const char *const *failed_tool_names)
{
	const char *wanted = getenv("HAZARD");

	(void)runtime_version;
	(void)failed_tool_count;
	(void)failed_tool_names;
	for (size_t i = 0; wanted && i < hazard_design_count; i++) {
		if (!strcmp(hazard_designs[i].name, wanted))
			design = &hazard_designs[i];
	}
	hazard_core = *table->core;
	hazard_ext = *table->amd_ext;
	table->core->hsa_queue_create_fn = create_queue;
	table->core->hsa_queue_destroy_fn = keep_queue;
	if (design->start)
		design->start();
	return true;
}

void OnUnload(void)
{
	if (design->end)
		design->end();
}

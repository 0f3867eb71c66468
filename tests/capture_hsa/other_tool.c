/* A second tool in the process. It reaches the functions that only the dispatch table has. */
#include <stdbool.h>

#include "vendor/hsa_tables.h"

#define SHOWN __attribute__((visibility("default")))

static struct hsa_api_table *tables;

SHOWN bool OnLoad(struct hsa_api_table *table, uint64_t runtime_version, uint64_t failed_tool_count,
		  const char *const *failed_tool_names);
bool OnLoad(struct hsa_api_table *table, uint64_t runtime_version, uint64_t failed_tool_count,
	    const char *const *failed_tool_names)
{
	(void)runtime_version;
	(void)failed_tool_count;
	(void)failed_tool_names;
	tables = table;
	return true;
}

SHOWN __typeof__(hsa_amd_queue_intercept_create) other_tool_intercept_create;
hsa_status_t other_tool_intercept_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
					 void (*callback)(hsa_status_t status, hsa_queue_t *source,
							  void *data),
					 void *data, uint32_t private_segment_size,
					 uint32_t group_segment_size, hsa_queue_t **queue)
{
	return tables->amd_ext->hsa_amd_queue_intercept_create_fn(
		agent, size, type, callback, data, private_segment_size, group_segment_size, queue);
}

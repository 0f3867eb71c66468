/* A tool as profilers are: it replaces hsa_queue_create so that the program gets an intercept
 * queue. Built twice; with TOOL_REFUSES it refuses to be loaded. */
#include "table_tool.h"

#include <stdbool.h>
#include <string.h>

#include "vendor/hsa_tables.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT bool OnLoad(struct hsa_api_table *table, uint64_t runtime_version, uint64_t failed_count,
		   const char *const *failed_names);
EXPORT void OnUnload(void);
EXPORT struct tool_log *tool_get_log(void);

static struct tool_log tool_log;
static struct hsa_amd_ext_table next;

struct tool_log *tool_get_log(void)
{
	return &tool_log;
}

static void count_packets(const void *packets, uint64_t count, uint64_t index, void *data,
			  hsa_amd_queue_intercept_packet_writer writer)
{
	tool_log.packets += count;
	writer(packets, count);
}

static hsa_status_t
create_queue(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
	     void (*callback)(hsa_status_t status, hsa_queue_t *source, void *data), void *data,
	     uint32_t private_bytes, uint32_t group_bytes, hsa_queue_t **ret_queue)
{
	hsa_status_t status = next.hsa_amd_queue_intercept_create_fn(
		agent, size, type, callback, data, private_bytes, group_bytes, ret_queue);

	if (status != HSA_STATUS_SUCCESS)
		return status;
	tool_log.queues++;
	return next.hsa_amd_queue_intercept_register_fn(*ret_queue, count_packets, NULL);
}

bool OnLoad(struct hsa_api_table *table, uint64_t runtime_version, uint64_t failed_count,
	    const char *const *failed_names)
{
#ifdef TOOL_REFUSES
	return false;
#endif
	tool_log.loads++;
	tool_log.version = runtime_version;
	tool_log.failed_count = failed_count;
	if (failed_count)
		strncpy(tool_log.failed, failed_names[0], sizeof(tool_log.failed) - 1);
	next = *table->amd_ext;
	table->core->hsa_queue_create_fn = create_queue;
	return table->core->version.minor_id == sizeof(*table->core);
}

void OnUnload(void)
{
	tool_log.unloads++;
}

/*
 * An HSA tool that is loaded before the injected library and keeps it from tracing. DEAF=refuse
 * shows it a core table of an unknown version. DEAF=bypass removes all its wrappers from the
 * dispatch tables, as if a runtime reached the hardware in another way.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "vendor/hsa_tables.h"

#define SHOWN __attribute__((visibility("default")))

#define TABLE_BYTES_MOST 4096

/* The original tables; newer runtimes' are larger than the layouts that we know. */
union copy {
	struct hsa_core_table core;
	unsigned char bytes[TABLE_BYTES_MOST];
};

static struct hsa_api_table *tables;
static union copy core, amd_ext;

static hsa_status_t iterate_agents(hsa_status_t (*callback)(hsa_agent_t agent, void *data),
				   void *data)
{
	bool is_wrapped = tables->core->hsa_queue_create_fn != core.core.hsa_queue_create_fn;

	if (is_wrapped) {
		memcpy(tables->core, &core, tables->core->version.minor_id);
		memcpy(tables->amd_ext, &amd_ext, tables->amd_ext->version.minor_id);
	}
	return core.core.hsa_iterate_agents_fn(callback, data);
}

SHOWN bool OnLoad(struct hsa_api_table *table, uint64_t runtime_version, uint64_t failed_tool_count,
		  const char *const *failed_tool_names);
bool OnLoad(struct hsa_api_table *table, uint64_t runtime_version, uint64_t failed_tool_count,
	    const char *const *failed_tool_names)
{
	const char *how = getenv("DEAF");

	(void)runtime_version;
	(void)failed_tool_count;
	(void)failed_tool_names;
	if (!how || table->core->version.minor_id > sizeof(core) ||
	    table->amd_ext->version.minor_id > sizeof(amd_ext))
		return false;
	tables = table;
	memcpy(&core, table->core, table->core->version.minor_id);
	memcpy(&amd_ext, table->amd_ext, table->amd_ext->version.minor_id);
	if (!strcmp(how, "refuse")) {
		core.core.version.major_id = 99;
		table->core = &core.core;
	} else {
		table->core->hsa_iterate_agents_fn = iterate_agents;
	}
	return true;
}

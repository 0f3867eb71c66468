/* Stands for a machine on which the thread that reads the clocks loses its CPU each time. Loaded
 * before the injected library, it waits 2 ms before it reads the runtime's clock. */
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "vendor/hsa_tables.h"

#define SHOWN __attribute__((visibility("default")))

static hsa_status_t (*next)(hsa_system_info_t attribute, void *value);

static hsa_status_t read_late(hsa_system_info_t attribute, void *value)
{
	if (attribute == HSA_SYSTEM_INFO_TIMESTAMP)
		nanosleep(&(const struct timespec){.tv_nsec = 2000000}, NULL);
	return next(attribute, value);
}

SHOWN bool OnLoad(struct hsa_api_table *table, uint64_t runtime_version, uint64_t failed_tool_count,
		  const char *const *failed_tool_names);
bool OnLoad(struct hsa_api_table *table, uint64_t runtime_version, uint64_t failed_tool_count,
	    const char *const *failed_tool_names)
{
	(void)runtime_version;
	(void)failed_tool_count;
	(void)failed_tool_names;
	next = table->core->hsa_system_get_info_fn;
	table->core->hsa_system_get_info_fn = read_late;
	return true;
}

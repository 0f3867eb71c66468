/* The functions by which rocprofiler-register and HSA hand their dispatch tables to this library.
 * In a process that `dagtap record` records they reach the injected library without it. */
#include <stdbool.h>
#include <stdint.h>

#include "sdk/first_call.h"
#include "sdk/injected.h"
#include "sdk/other_sdk.h"
#include "sdk/sdk_export.h"
#include "sdk/table_doors.h"

typedef bool on_load(void *table, uint64_t runtime_version, uint64_t failed_tool_count,
		     const char *const *failed_tool_names);
typedef void on_unload(void);

SDK_EXPORT set_api_table rocprofiler_set_api_table;
SDK_EXPORT on_load OnLoad;
SDK_EXPORT on_unload OnUnload;

/* Called by rocprofiler-register from inside the libraries' first calls, and by an injected library
 * that passes tables on to the next tool. Returns 0 or the result of who takes the tables. */
int rocprofiler_set_api_table(const char *name, uint64_t lib_version, uint64_t lib_instance,
			      void **tables, uint64_t table_count)
{
	const char *outer;
	set_api_table *take;

	if (table_doors_are_passing())
		return 0;
	outer = hand_over_registering(name);
	take = (set_api_table *)other_sdk_symbol(SET_API_TABLE);
	if (!take) {
		first_call_seek();
		take = (set_api_table *)injected_own_symbol(SET_API_TABLE);
	}
	hand_over_registering(outer);
	/* A table that nobody takes is searched when a tool is configured later. */
	if (!take)
		return 0;
	hand_over_leave(name);
	return table_doors_give(take, name, lib_version, lib_instance, tables, table_count);
}

/* Called by HSA's runtime inside hsa_init. Returns true also when nobody takes the table: the
 * runtime would report a refusal to the application. */
bool OnLoad(void *table, uint64_t runtime_version, uint64_t failed_tool_count,
	    const char *const *failed_tool_names)
{
	on_load *take;

	table_doors_hsa_opened();
	first_call_seek();
	table_doors_take_tables();
	take = (on_load *)injected_own_symbol("OnLoad");
	return !take || take(table, runtime_version, failed_tool_count, failed_tool_names);
}

void OnUnload(void)
{
	on_unload *take = (on_unload *)injected_own_symbol("OnUnload");

	if (take)
		take();
	table_doors_hsa_closed();
}

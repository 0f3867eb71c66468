/* The entry points by which AMD's libraries hand over their dispatch tables
 * (rocprofiler-register, in the builds of ROCm that have it).
 *
 * That library looks for rocprofiler_configure among the process's symbols to see whether there
 * is a tool. Then it calls the first rocprofiler_set_api_table that it finds, and no other. When
 * that is ours, we wrap the table and then pass it on to the next tool, whose wrappers then lie
 * around ours. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "capture/capture_session.h"
#include "capture/capture_switch.h"
#include "capture/hip/compiler.h"
#include "capture/hip/hip_source.h"
#include "capture/hip/hip_wrap.h"
#include "capture/hsa/hsa_source.h"
#include "capture/log.h"
#include "capture/rccl/rccl.h"
#include "capture/rccl/rccl_wrap.h"
#include "capture/roctx_control.h"
#include "capture/roctx_names.h"
#include "capture/roctx_source.h"
#include "capture/visible.h"

#define SET_API_TABLE "rocprofiler_set_api_table"
#define CONFIGURE     "rocprofiler_configure"

typedef int set_api_table(const char *name, uint64_t lib_version, uint64_t lib_instance,
			  void **tables, uint64_t table_count);
typedef void *configure(uint32_t version, const char *runtime_version, uint32_t priority,
			void *client);

CAPTURE_EXPORT set_api_table rocprofiler_set_api_table;
CAPTURE_EXPORT configure rocprofiler_configure;

/* ---- the next tool ---- */

static bool is_set(const char *variable)
{
	const char *value = getenv(variable);

	return value && *value;
}

/* Returns whether another tool in the process, or the user, wants AMD's own library to be
 * loaded. */
static bool sdk_is_wanted(void)
{
	void *first = dlsym(RTLD_DEFAULT, CONFIGURE);
	void *next = dlsym(RTLD_NEXT, CONFIGURE);

	return (first && first != (void *)rocprofiler_configure) ||
	       (next && next != (void *)rocprofiler_configure) || is_set("ROCP_TOOL_LIBRARIES") ||
	       is_set("ROCPROFILER_REGISTER_FORCE_LOAD");
}

/* Loads the library that would have been loaded for this function if ours were not in the
 * process. It is never unloaded. */
static set_api_table *load_next(void)
{
	static const char *const sdk[] = {"librocprofiler-sdk.so", "librocprofiler-sdk.so.1",
					  "librocprofiler-sdk.so.0"};
	const char *named = getenv("ROCPROFILER_REGISTER_LIBRARY");
	void *library = NULL;

	if (named && *named)
		library = dlopen(named, RTLD_LAZY | RTLD_GLOBAL);
	for (size_t i = 0; !library && i < sizeof(sdk) / sizeof(*sdk) && sdk_is_wanted(); i++)
		library = dlopen(sdk[i], RTLD_LAZY | RTLD_GLOBAL);
	return library ? (set_api_table *)dlsym(library, SET_API_TABLE) : NULL;
}

static set_api_table *find_next(void)
{
	set_api_table *next = (set_api_table *)dlsym(RTLD_NEXT, SET_API_TABLE);

	if (!next || next == rocprofiler_set_api_table)
		next = load_next();
	return next == rocprofiler_set_api_table ? NULL : next;
}

/* ---- the tables that we wrap ---- */

static const struct library {
	const char *name;
	uint64_t place; /* among the tables that the library hands over at once */
	struct table_door *door;
	const struct table_layout *layout;
} libraries[] = {
	{"hip", 0, &hip_table, &hip_table_layout},
	{"hip_compiler", 0, &hip_compiler_table, &hip_compiler_layout},
	{"roctx", 0, &roctx_table, &roctx_table_layout},
	{"roctx", 1, &roctx_control_table, &roctx_control_layout},
	{"roctx", 2, &roctx_names_table, &roctx_names_layout},
	{"rccl", 0, &rccl_table, &rccl_table_layout},
};

/* Returns 0, also for tables of an unknown name; else why one of the tables is left alone. */
static int take(const char *name, uint64_t lib_version, void **tables, uint64_t table_count)
{
	int err = 0;

	if (!strcmp(name, "hsa"))
		return hsa_source_open(tables[0]);
	for (size_t i = 0; i < sizeof(libraries) / sizeof(*libraries); i++) {
		const struct library *library = &libraries[i];
		int result;

		if (strcmp(name, library->name) != 0 || library->place >= table_count)
			continue;
		result = table_take(library->door, library->layout, tables[library->place],
				    lib_version);
		err = err ? err : result;
	}
	return err;
}

/* Called by rocprofiler-register from inside the libraries' first calls, maybe before our
 * constructor. Returns 0, or the result of the next tool. Tables with an unknown name are passed
 * on. */
int rocprofiler_set_api_table(const char *name, uint64_t lib_version, uint64_t lib_instance,
			      void **tables, uint64_t table_count)
{
	/* Another tool may pass tables on to the first symbol of this name, which is ours:
	 * without this the recursion would not end. */
	static __thread bool is_passing_on __attribute__((tls_model("initial-exec")));
	set_api_table *next;
	int err = 0;

	session_arm();
	switch_configure();
	if (is_passing_on)
		return 0;
	if (name && tables && table_count && session_may_record() &&
	    take(name, lib_version, tables, table_count))
		log_line("the %s table of version %llu is left alone", name,
			 (unsigned long long)lib_version);
	next = find_next();
	if (next) {
		is_passing_on = true;
		err = next(name, lib_version, lib_instance, tables, table_count);
		is_passing_on = false;
	}
	return err;
}

/* Exists to be found by rocprofiler-register. AMD's own library, when another tool has loaded
 * it, calls it as well; NULL says that we are no client of it. */
void *rocprofiler_configure(uint32_t version, const char *runtime_version, uint32_t priority,
			    void *client)
{
	return NULL;
}

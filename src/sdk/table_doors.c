/* The ways of dispatch tables: see table_doors.h. */
#include "sdk/table_doors.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sdk/injected.h"

#define HSA_TOOLS "HSA_TOOLS_LIB"
#define LIBRARY	  "ROCPROFILER_REGISTER_LIBRARY"
#define FORCE	  "ROCPROFILER_REGISTER_FORCE_LOAD"

/* ---- variables ---- */

static char *tools_before; /* HSA's variable; NULL: it was not set */
static char *tools_with;   /* the same with this library; NULL: no memory */
static _Atomic bool are_set;

void table_doors_open(void)
{
	const char *before = getenv(HSA_TOOLS);
	Dl_info self;

	if (atomic_exchange(&are_set, true) || !dladdr(&tools_before, &self))
		return;
	tools_before = before && *before ? strdup(before) : NULL;
	if (asprintf(&tools_with, "%s%s%s", tools_before ? tools_before : "",
		     tools_before ? " " : "", self.dli_fname) >= 0)
		setenv(HSA_TOOLS, tools_with, 1);
	else
		tools_with = NULL;
	setenv(LIBRARY, self.dli_fname, 0);
	setenv(FORCE, "1", 0);
}

void table_doors_hsa_opened(void)
{
	if (!atomic_load(&are_set))
		return;
	if (tools_before)
		setenv(HSA_TOOLS, tools_before, 1);
	else
		unsetenv(HSA_TOOLS);
}

void table_doors_hsa_closed(void)
{
	if (atomic_load(&are_set) && tools_with)
		setenv(HSA_TOOLS, tools_with, 1);
}

/* ---- tables ---- */

static _Thread_local bool is_passing;

bool table_doors_are_passing(void)
{
	return is_passing;
}

int table_doors_give(set_api_table *take, const char *name, uint64_t lib_version,
		     uint64_t lib_instance, void **tables, uint64_t table_count)
{
	int err;

	is_passing = true;
	err = take(name, lib_version, lib_instance, tables, table_count);
	is_passing = false;
	return err;
}

static int give_to_own(const char *name, uint64_t lib_version, uint64_t lib_instance, void **tables,
		       uint64_t table_count)
{
	return table_doors_give((set_api_table *)injected_own_symbol(SET_API_TABLE), name,
				lib_version, lib_instance, tables, table_count);
}

void table_doors_take_tables(void)
{
	if (injected_own_symbol(SET_API_TABLE) && !is_passing)
		hand_over_tables(give_to_own);
}

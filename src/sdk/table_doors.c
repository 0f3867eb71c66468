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

/* In the text of HSA's variable the first byte behind what was there before: tools_byte if this
 * library's path follows, or the end of the text. Other threads may read the text at any time, so
 * it stays as long as the process runs, and only this byte changes. NULL: no memory. */
static char *tools_cut;
static char tools_byte; /* the separator; without another tool, the first byte of the path */
static _Atomic bool are_set;

/* Adds this library's PATH to HSA's variable. */
static void add_to_tools(const char *path)
{
	const char *before = getenv(HSA_TOOLS);
	size_t chars = before ? strlen(before) : 0;
	char *text;

	if (asprintf(&text, HSA_TOOLS "=%s%s%s", chars ? before : "", chars ? " " : "", path) < 0)
		return;
	if (putenv(text) != 0) {
		free(text);
		return;
	}
	tools_cut = text + strlen(HSA_TOOLS "=") + chars;
	tools_byte = *tools_cut;
}

static void put_cut(char byte)
{
	if (atomic_load(&are_set) && tools_cut)
		__atomic_store_n(tools_cut, byte, __ATOMIC_RELAXED);
}

void table_doors_open(void)
{
	Dl_info self;

	if (atomic_exchange(&are_set, true) || !dladdr(&tools_byte, &self))
		return;
	add_to_tools(self.dli_fname);
	setenv(LIBRARY, self.dli_fname, 0);
	setenv(FORCE, "1", 0);
}

void table_doors_hsa_opened(void)
{
	put_cut('\0');
}

void table_doors_hsa_closed(void)
{
	put_cut(tools_byte);
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

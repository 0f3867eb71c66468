/*
 * Plays a runtime that registers its dispatch tables for tools. HSA_TOOLS_LIB loads it, and it
 * hands over the tables that it gets, as HANDING says: "as-is"; "other-major", with a root of a
 * future major version; "shorter", with an extension table that ends early.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "vendor/hsa_tables.h"

#define SHOWN	      __attribute__((visibility("default")))
#define SHORTER_BYTES 200

static struct hsa_api_table root;
static struct hsa_amd_ext_table ext;

SHOWN bool OnLoad(struct hsa_api_table *table, uint64_t runtime_version, uint64_t failed_tool_count,
		  const char *const *failed_tool_names);
bool OnLoad(struct hsa_api_table *table, uint64_t runtime_version, uint64_t failed_tool_count,
	    const char *const *failed_tool_names)
{
	int (*set)(const char *, uint64_t, uint64_t, void **, uint64_t) =
		dlsym(RTLD_DEFAULT, "rocprofiler_set_api_table");
	const char *how = getenv("HANDING");
	void *tables[] = {table};

	root = *table;
	ext = *table->amd_ext;
	root.amd_ext = &ext;
	if (!strcmp(how, "other-major")) {
		root.version.major_id = 4;
		tables[0] = &root;
	} else if (!strcmp(how, "shorter")) {
		ext.version.minor_id = SHORTER_BYTES;
		tables[0] = &root;
	}
	return set && set("hsa", 10100, 0, tables, 1) == 0;
}

/* Loads and unloads tools (softgpu_tools.h). */
#include "softgpu/softgpu_tools.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "softgpu/hsa_table.h"

#define MAX_TOOLS 16

typedef bool (*on_load_fn)(struct hsa_api_table *table, uint64_t runtime_version,
			   uint64_t failed_tool_count, const char *const *failed_tool_names);
typedef void (*on_unload_fn)(void);

static void *loaded[MAX_TOOLS];
static int loaded_count;
static int unloaded_count; /* libraries in LOADED that are unloaded and not yet closed */

/* Copies the first name in LIST to RET_NAME, without its quotes, and returns where the name ends in
 * LIST. */
static const char *split_one(const char *list, char *ret_name)
{
	bool is_quoted = false;

	for (; *list && (is_quoted || *list != ' '); list++) {
		if (list[0] == '\\' && list[1] == '"')
			*ret_name++ = *++list;
		else if (*list == '"')
			is_quoted = !is_quoted;
		else
			*ret_name++ = *list;
	}
	*ret_name = '\0';
	return list;
}

int tools_split_names(const char *list, char **ret_names, int capacity)
{
	int count = 0;

	while (*list && count < capacity) {
		char *name = malloc(strlen(list) + 1);

		if (!name)
			break;
		list = split_one(list, name);
		while (*list == ' ')
			list++;
		if (*name)
			ret_names[count++] = name;
		else
			free(name);
	}
	return count;
}

/* Loads a tool. Returns whether it stays loaded. A library without OnLoad stays too: its
 * constructors or exported functions may be all that it needs. */
static bool load_one(const char *name, uint64_t failed_count, const char *const *failed_names)
{
	void *library = dlopen(name, RTLD_LAZY);
	on_load_fn on_load;
	void *address;

	if (!library)
		return false;
	address = dlsym(library, "OnLoad");
	memcpy(&on_load, &address, sizeof(on_load));
	if (on_load &&
	    !on_load(table_get(), table_get()->version.major_id, failed_count, failed_names)) {
		dlclose(library);
		return false;
	}
	loaded[loaded_count++] = library;
	return true;
}

void tools_load(void)
{
	const char *list = getenv("HSA_TOOLS_LIB");
	const char *failed[MAX_TOOLS] = {NULL};
	char *names[MAX_TOOLS];
	uint64_t failed_count = 0;
	int count;

	table_select();
	if (!list)
		return;
	count = tools_split_names(list, names, MAX_TOOLS);
	for (int i = 0; i < count; i++)
		if (!load_one(names[i], failed_count, failed))
			failed[failed_count++] = names[i];
	for (int i = 0; i < count; i++)
		free(names[i]);
}

void tools_unload(void)
{
	unloaded_count = loaded_count;
	loaded_count = 0;
	for (int i = unloaded_count - 1; i >= 0; i--) {
		void *address = dlsym(loaded[i], "OnUnload");
		on_unload_fn on_unload;

		memcpy(&on_unload, &address, sizeof(on_unload));
		if (on_unload)
			on_unload();
	}
	table_reset();
}

void tools_close(void)
{
	void *libraries[MAX_TOOLS];
	int count = unloaded_count;

	memcpy(libraries, loaded, sizeof(libraries));
	unloaded_count = 0;
	for (int i = count - 1; i >= 0; i--)
		dlclose(libraries[i]);
}

/* Finds another rocprofiler-sdk: see other_sdk.h. */
#include "sdk/other_sdk.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "sdk/injected.h"
#include "sdk/sdk_export.h"

#define FILE_NAME "librocprofiler-sdk.so"
#define MARK	  "dagtap_sdk_v1"
#define MARK_TEXT "dagtap"

/* By which copies of this library know each other. */
extern const char dagtap_sdk_v1[];
SDK_EXPORT const char dagtap_sdk_v1[] = MARK_TEXT;

struct search {
	const void *own; /* an address in this library */
	bool has_own;	 /* it came already, in the order of loading */
	char path[PATH_MAX];
	bool is_before; /* the other one was loaded before this one */
};

static bool holds(const struct dl_phdr_info *info, const void *address)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uintptr_t begin = info->dlpi_addr + segment->p_vaddr;

		if (segment->p_type == PT_LOAD && (uintptr_t)address - begin < segment->p_memsz)
			return true;
	}
	return false;
}

/* Of dl_iterate_phdr. */
static int look_at(struct dl_phdr_info *info, size_t size, void *data)
{
	struct search *search = data;
	const char *name = strrchr(info->dlpi_name, '/');

	if (holds(info, search->own)) {
		search->has_own = true;
	} else if (name && !strncmp(name + 1, FILE_NAME, strlen(FILE_NAME))) {
		snprintf(search->path, sizeof(search->path), "%s", info->dlpi_name);
		search->is_before = !search->has_own;
		return 1;
	}
	return 0;
}

static bool is_copy(void *library)
{
	const char *mark = dlsym(library, MARK);

	return mark && !strcmp(mark, MARK_TEXT);
}

/* The library for which this one steps back; NULL: none. Keeps its handle. */
static void *find(char *ret_path, size_t bytes)
{
	struct search search = {.own = dagtap_sdk_v1};
	void *library;

	if (!dl_iterate_phdr(look_at, &search))
		return NULL;
	library = dlopen(search.path, RTLD_LAZY | RTLD_NOLOAD);
	if (!library || (is_copy(library) && !search.is_before))
		return NULL;
	if (ret_path)
		snprintf(ret_path, bytes, "%s", search.path);
	return library;
}

bool other_sdk_find(char *ret_path, size_t bytes)
{
	return find(ret_path, bytes) != NULL;
}

void *other_sdk_symbol(const char *symbol)
{
	void *library = find(NULL, 0);

	return library ? dlsym(library, symbol) : NULL;
}

void other_sdk_note(bool has_tool)
{
	const struct inject_table *table = injected_find();
	char path[PATH_MAX], text[2 * PATH_MAX + 128];
	Dl_info self;

	if (!table || !find(path, sizeof(path)) || !dladdr(dagtap_sdk_v1, &self))
		return;
	snprintf(text, sizeof(text), "rocprofiler-sdk: %s %s beside %s", self.dli_fname,
		 has_tool ? "has a tool" : "gives no records", path);
	table->note(text);
}

/* Loads the injected library into the benchmark and reads its spools: own_tool.h. */
#include "own_tool.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "record/spool_reader.h"

#define PATH_MOST 4096

void *tool_open_built(const char *name)
{
	char path[PATH_MOST] = "", full[PATH_MOST + 64];
	char *slash;

	if (readlink("/proc/self/exe", path, sizeof(path) - 1) < 0)
		return NULL;
	slash = strrchr(path, '/');
	if (slash)
		*slash = '\0';
	snprintf(full, sizeof(full), "%s/../lib/%s", path, name);
	return dlopen(full, RTLD_NOW);
}

static uint64_t count_records(const char *path, enum record_class class)
{
	struct spool_reader *reader;
	struct dagtap_error error;
	uint64_t found;

	if (spool_reader_open(path, &reader, &error))
		return 0;
	found = spool_reader_ledger(reader)->found[class];
	spool_reader_close(reader);
	return found;
}

uint64_t tool_take_spools(const char *folder, enum record_class class)
{
	DIR *entries = opendir(folder);
	char path[PATH_MOST];
	uint64_t count = 0;

	if (!entries)
		return 0;
	for (struct dirent *entry; (entry = readdir(entries));) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		count += count_records(path, class);
		unlink(path);
	}
	closedir(entries);
	return count;
}

#include "base/memory.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A version of control groups: where they are mounted, and what a limit, its use and what of that can be given back are
 * called there. */
struct groups {
	const char *mount, *limit, *usage, *reclaimable;
};

static const struct groups version_1 = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes",
					"memory.usage_in_bytes", "total_inactive_file"};
static const struct groups version_2 = {"/sys/fs/cgroup", "memory.max", "memory.current",
					"inactive_file"};

/* The number behind KEY at the beginning of a line, or the only one; 0 = there is none ("max"). */
static uint64_t read_number(const char *path, const char *key)
{
	FILE *file = fopen(path, "re");
	size_t key_chars = strlen(key);
	uint64_t number = 0;
	char line[256];

	while (file && fgets(line, sizeof(line), file)) {
		if (!strncmp(line, key, key_chars) &&
		    sscanf(line + key_chars, " %" SCNu64, &number) == 1)
			break;
	}
	if (file)
		fclose(file);
	return number;
}

static uint64_t read_number_in(const char *folder, const char *name, const char *key)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path))
		return 0;
	return read_number(path, key);
}

/* What one group leaves of LEFT. */
static uint64_t within_group(const struct groups *groups, const char *folder, uint64_t left)
{
	uint64_t limit = read_number_in(folder, groups->limit, "");
	uint64_t used, free_bytes;

	if (!limit)
		return left;
	used = read_number_in(folder, groups->usage, "");
	free_bytes = read_number_in(folder, "memory.stat", groups->reclaimable);
	free_bytes += limit > used ? limit - used : 0;
	return free_bytes < left ? free_bytes : left;
}

/* All that are around it limit it too. In a container's own view of the groups the names are cut off at its own: then
 * the upper ones are what is there. */
static uint64_t within_groups(const struct groups *groups, const char *root, const char *name,
			      uint64_t left)
{
	char folder[PATH_MAX];
	size_t mount_chars = strlen(root) + strlen(groups->mount);

	if (snprintf(folder, sizeof(folder), "%s%s%s", root, groups->mount, name) >=
	    (int)sizeof(folder))
		return left;
	for (;;) {
		char *slash;

		left = within_group(groups, folder, left);
		slash = strrchr(folder + mount_chars, '/');
		if (!slash)
			return left;
		*slash = '\0';
	}
}

/* Lines are "hierarchy:controllers:name"; version 2 has no controllers there. */
static uint64_t within_limits(const char *root, uint64_t left)
{
	char path[PATH_MAX], line[PATH_MAX];
	FILE *file;

	if (snprintf(path, sizeof(path), "%s/proc/self/cgroup", root) >= (int)sizeof(path))
		return left;
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		char *controllers = strchr(line, ':');
		char *name = controllers ? strchr(controllers + 1, ':') : NULL;

		if (!name)
			continue;
		*controllers++ = *name++ = '\0';
		name[strcspn(name, "\n")] = '\0';
		if (!*controllers)
			left = within_groups(&version_2, root, name, left);
		else if (strstr(controllers, "memory"))
			left = within_groups(&version_1, root, name, left);
	}
	if (file)
		fclose(file);
	return left;
}

uint64_t memory_available(const char *root)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/proc/meminfo", root) >= (int)sizeof(path))
		return 0;
	return within_limits(root, read_number(path, "MemAvailable:") << 10);
}

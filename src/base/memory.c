/* Reads /proc/meminfo and the limits of control groups. */
#include "base/memory.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A version of control groups: its mount point, and the names of the limit, of its use, and of the
 * reclaimable part of the use. */
struct groups {
	const char *mount, *limit, *usage, *reclaimable;
};

static const struct groups version_1 = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes",
					"memory.usage_in_bytes", "total_inactive_file"};
static const struct groups version_2 = {"/sys/fs/cgroup", "memory.max", "memory.current",
					"inactive_file"};

/* The number behind KEY at the beginning of a line; with KEY "" the first number. 0: there is
 * none (also for "max"). */
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

/* The lesser of LEFT and what the limit of the group in FOLDER leaves. */
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

/* Applies the limits of the group NAME and of all groups that contain it. A container may see
 * only its own group as the root of the mount; then the folder of NAME does not exist, and a
 * group above it is the container's. */
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

/* Applies the limits of all control groups of the process. Lines of /proc/self/cgroup are
 * "hierarchy:controllers:name"; that of version 2 has no controllers. */
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

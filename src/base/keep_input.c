/* Compares files by device and inode, because a file may have several names. */
#include "base/keep_input.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_same(const struct stat *one, const struct stat *other)
{
	return one->st_dev == other->st_dev && one->st_ino == other->st_ino;
}

bool keep_input_is_same(const char *one, const char *other)
{
	struct stat a, b;

	return stat(one, &a) == 0 && stat(other, &b) == 0 && is_same(&a, &b);
}

/* Whether FILE is in the folder PATH, of which a reader takes the files and no folders. */
static bool has_file(const char *path, const struct stat *file)
{
	DIR *folder = opendir(path);
	bool found = false;
	struct dirent *entry;
	struct stat status;

	if (!folder)
		return false;
	while (!found && (entry = readdir(folder)))
		found = fstatat(dirfd(folder), entry->d_name, &status, 0) == 0 &&
			S_ISREG(status.st_mode) && is_same(&status, file);
	closedir(folder);
	return found;
}

/* Whether the file PATH is in FOLDER, or in a folder in it. */
static bool is_inside(const char *path, const struct stat *folder)
{
	char *real = realpath(path, NULL), *slash;
	bool found = false;
	struct stat status;

	while (real && !found && (slash = strrchr(real, '/'))) {
		*slash = '\0';
		found = stat(*real ? real : "/", &status) == 0 && is_same(&status, folder);
	}
	free(real);
	return found;
}

int keep_input(const char *output, const char *input, struct dagtap_error *error)
{
	struct stat to, from;

	if (strcmp(output, "-") == 0 || stat(output, &to) < 0 || stat(input, &from) < 0)
		return 0;
	if (is_same(&to, &from))
		return dagtap_error_set(error, -EBUSY,
					"%s: is the input; give the output another name", output);
	if (S_ISDIR(from.st_mode) && S_ISREG(to.st_mode) && has_file(input, &to))
		return dagtap_error_set(
			error, -EBUSY,
			"%s: is a part of the input %s; give the output another name", output,
			input);
	if (S_ISDIR(to.st_mode) && is_inside(input, &to))
		return dagtap_error_set(error, -EBUSY,
					"%s: holds the input %s; give the output another name",
					output, input);
	return 0;
}

/* Compares files by device and inode, because a file may have several names. */
#include "base/keep_input.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_same(const struct stat *one, const struct stat *other)
{
	return one->st_dev == other->st_dev && one->st_ino == other->st_ino;
}

static bool is_input(const struct stat *status, const struct kept_input *input)
{
	return status->st_dev == input->device && status->st_ino == input->inode;
}

bool keep_input_is_same(const char *one, const char *other)
{
	struct stat a, b;

	return stat(one, &a) == 0 && stat(other, &b) == 0 && is_same(&a, &b);
}

/* When the file was made; 0 if the file system does not know. */
static int64_t read_birth(const char *path)
{
	struct statx status;

	if (statx(AT_FDCWD, path, 0, STATX_BTIME, &status) < 0 || !(status.stx_mask & STATX_BTIME))
		return 0;
	return status.stx_btime.tv_sec * 1000000000 + status.stx_btime.tv_nsec;
}

bool keep_input_find(const char *path, struct kept_input *ret_input)
{
	struct stat status;

	if (stat(path, &status) < 0)
		return false;
	*ret_input = (struct kept_input){
		.path = path,
		.device = status.st_dev,
		.inode = status.st_ino,
		.birth_ns = read_birth(path),
		.is_folder = S_ISDIR(status.st_mode),
	};
	return true;
}

/* Whether FILE is in the folder INPUT, of which a reader takes the files and no folders. */
static bool has_file(const struct kept_input *input, const struct stat *file)
{
	DIR *folder = opendir(input->path);
	bool found = false;
	struct dirent *entry;
	struct stat status;

	if (!folder)
		return false;
	/* The folder may have been renamed. */
	if (fstat(dirfd(folder), &status) < 0 || !is_input(&status, input)) {
		closedir(folder);
		return false;
	}
	while (!found && (entry = readdir(folder)))
		found = fstatat(dirfd(folder), entry->d_name, &status, 0) == 0 &&
			S_ISREG(status.st_mode) && is_same(&status, file);
	closedir(folder);
	return found;
}

/* Cuts off the last part of PATH, which may not exist. */
static void cut_name(char *path)
{
	size_t chars = strlen(path);

	while (chars > 1 && path[chars - 1] == '/')
		chars--;
	while (chars > 0 && path[chars - 1] != '/')
		chars--;
	path[chars] = '\0';
}

/* Whether the folder PATH is FOLDER, or inside of it. */
static bool is_within(const char *path, const struct stat *folder)
{
	char *real = realpath(path, NULL), *slash = real;
	bool found = false;
	struct stat status;

	while (slash && !found) {
		found = stat(*real ? real : "/", &status) == 0 && is_same(&status, folder);
		slash = strrchr(real, '/');
		if (slash)
			*slash = '\0';
	}
	free(real);
	return found;
}

/* Whether a file that is written as OUTPUT comes into the folder INPUT. */
static bool comes_into(const char *output, const struct kept_input *input)
{
	const struct stat folder = {.st_dev = input->device, .st_ino = input->inode};
	char *parent = strdup(output);
	bool found;

	if (!parent)
		return false;
	cut_name(parent);
	found = is_within(*parent ? parent : ".", &folder);
	free(parent);
	return found;
}

/* Whether INPUT, under the name that it was opened by, is in FOLDER. */
static bool is_held(const struct kept_input *input, const struct stat *folder)
{
	char *real = realpath(input->path, NULL);
	struct stat status;
	bool found = real && stat(real, &status) == 0 && is_input(&status, input);

	if (found) {
		cut_name(real);
		found = is_within(real, folder);
	}
	free(real);
	return found;
}

int keep_input_check(const char *output, const struct kept_input *input, struct dagtap_error *error)
{
	struct stat to;
	bool exists;

	if (strcmp(output, "-") == 0)
		return 0;
	exists = stat(output, &to) == 0;
	if (exists && is_input(&to, input) && read_birth(output) == input->birth_ns)
		return dagtap_error_set(error, -EBUSY,
					"%s: is the input; give the output another name", output);
	if (input->is_folder && comes_into(output, input))
		return dagtap_error_set(error, -EBUSY,
					"%s: is inside the input %s; give the output another name",
					output, input->path);
	if (exists && input->is_folder && S_ISREG(to.st_mode) && has_file(input, &to))
		return dagtap_error_set(
			error, -EBUSY,
			"%s: is a part of the input %s; give the output another name", output,
			input->path);
	if (exists && S_ISDIR(to.st_mode) && is_held(input, &to))
		return dagtap_error_set(error, -EBUSY,
					"%s: holds the input %s; give the output another name",
					output, input->path);
	return 0;
}

int keep_input(const char *output, const char *input, struct dagtap_error *error)
{
	struct kept_input found;

	return keep_input_find(input, &found) ? keep_input_check(output, &found, error) : 0;
}

/* Folders that appear complete or not at all (see folder.h). */
#include "format/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DESCRIPTORS 16 /* that nftw may use */

static int fail(const char *path, int err, struct dagtap_error *error)
{
	if (err == -EEXIST)
		return dagtap_error_set(error, err, "%s: exists already", path);
	return dagtap_error_set(error, err, "%s: %s", path, strerrordesc_np(-err));
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *at)
{
	remove(path);
	return 0;
}

/* Removes what the export made, or what it replaces. Follows no links. */
static void remove_folder(const char *path)
{
	nftw(path, remove_entry, DESCRIPTORS, FTW_DEPTH | FTW_PHYS);
}

/* Characters of PATH before its last name; PATH may end in slashes. */
static int parent_chars(const char *path)
{
	size_t chars = strlen(path);

	while (chars > 1 && path[chars - 1] == '/')
		chars--;
	while (chars > 0 && path[chars - 1] != '/')
		chars--;
	return (int)chars;
}

/* Creates a folder with a name of its own beside PATH. Returns its name, which is the caller's;
 * NULL with a negative errno in *RET_ERR. */
static char *create_beside(const char *path, int *ret_err)
{
	static _Atomic unsigned serial;
	char *name;

	/* Another process may have had our pid. */
	do {
		*ret_err = -ENOMEM;
		if (asprintf(&name, "%.*s.dagtap.%d.%u.folder.tmp", parent_chars(path), path,
			     (int)getpid(), serial++) < 0)
			return NULL;
		if (mkdir(name, 0777) == 0)
			return name;
		*ret_err = -errno;
		free(name);
	} while (*ret_err == -EEXIST);
	return NULL;
}

/* Whether PATH may be replaced. Returns 0 if it exists and may, -ENOENT if there is nothing. */
static int check_place(const struct format *format, const char *path, bool force,
		       struct dagtap_error *error)
{
	struct stat status;
	char *mark;
	int err;

	if (lstat(path, &status) < 0)
		return errno == ENOENT ? -ENOENT : fail(path, -errno, error);
	if (!force)
		return fail(path, -EEXIST, error);
	if (asprintf(&mark, "%s/%s", path, format->folder_mark) < 0)
		return fail(path, -ENOMEM, error);
	err = S_ISDIR(status.st_mode) && access(mark, F_OK) == 0 ? 0 : -EINVAL;
	free(mark);
	if (err)
		dagtap_error_set(error, err, "%s: is there, and no folder that %s wrote", path,
				 format->name);
	return err;
}

/* Gives the folder NAME its PATH; REPLACES: one is there, and is removed. Not every file system has
 * renameat2's flags. */
static int give_name(const char *name, const char *path, bool replaces)
{
	unsigned flags = replaces ? RENAME_EXCHANGE : RENAME_NOREPLACE;

	if (renameat2(AT_FDCWD, name, AT_FDCWD, path, flags) == 0) {
		if (replaces)
			remove_folder(name);
		return 0;
	}
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	if (replaces)
		remove_folder(path);
	return rename(name, path) < 0 ? -errno : 0;
}

int folder_write(const struct format *format, const struct trace *trace, const char *path,
		 bool force, const struct format_options *options, struct dagtap_error *error)
{
	int place = check_place(format, path, force, error);
	char *name;
	int err;

	if (place < 0 && place != -ENOENT)
		return place;
	name = create_beside(path, &err);
	if (!name)
		return fail(path, err, error);
	err = format->write_folder(trace, name, options, error);
	if (err == 0) {
		err = give_name(name, path, place == 0);
		if (err < 0)
			fail(path, err, error);
	}
	if (err < 0)
		remove_folder(name);
	free(name);
	return err;
}

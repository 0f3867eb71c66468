/* Temporary names, and renames that do not replace. */
#include "base/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int fail(const char *path, int code, struct dagtap_error *error)
{
	if (code == -EEXIST)
		return dagtap_error_set(error, code, "%s: exists already", path);
	return dagtap_error_set(error, code, "%s: %s", path, strerrordesc_np(-code));
}

static char *temporary_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	int folder_chars = slash ? (int)(slash - path) + 1 : 0;
	static _Atomic unsigned serial;
	char *name;

	/* Does not contain PATH's own name: a long name plus a suffix could exceed
		 * NAME_MAX. */
	if (asprintf(&name, "%.*s.dagtap.%d.%u.tmp", folder_chars, path, (int)getpid(), serial++) <
	    0)
		return NULL;
	return name;
}

/* Creates a file that did not exist, and follows no link: another process may have had our pid. */
static int create_temporary(struct replacement *replacement, mode_t mode)
{
	int fd;

	do {
		free(replacement->temporary);
		replacement->temporary = temporary_name(replacement->path);
		if (!replacement->temporary)
			return -ENOMEM;
		fd = open(replacement->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	} while (fd < 0 && errno == EEXIST);
	return fd < 0 ? -errno : fd;
}

static void replacement_release(struct replacement *replacement)
{
	free(replacement->path);
	free(replacement->temporary);
	*replacement = (struct replacement){0};
}

int replace_begin(struct replacement *replacement, const char *path, bool force, mode_t mode,
		  int *ret_fd, struct dagtap_error *error)
{
	struct stat status;
	int fd;

	*replacement = (struct replacement){0};
	/* A rename would replace a device by a file. */
	if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
		return dagtap_error_set(error, -EINVAL, "%s: is there, and no regular file", path);
	if (!force && access(path, F_OK) == 0)
		return fail(path, -EEXIST, error);
	replacement->force = force;
	replacement->path = strdup(path);
	fd = replacement->path ? create_temporary(replacement, mode) : -ENOMEM;
	if (fd < 0) {
		replacement_release(replacement);
		return fail(path, fd, error);
	}
	*ret_fd = fd;
	return 0;
}

/* Not every file system supports RENAME_NOREPLACE; link() fails for an existing name everywhere. */
static int give_name(const struct replacement *replacement)
{
	const char *from = replacement->temporary, *to = replacement->path;

	if (replacement->force)
		return rename(from, to) < 0 ? -errno : 0;
	if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	if (link(from, to) < 0)
		return -errno;
	unlink(from);
	return 0;
}

int replace_commit(struct replacement *replacement, struct dagtap_error *error)
{
	int code = give_name(replacement);

	if (code < 0) {
		fail(replacement->path, code, error);
		unlink(replacement->temporary);
	}
	replacement_release(replacement);
	return code;
}

void replace_abandon(struct replacement *replacement)
{
	if (replacement->temporary)
		unlink(replacement->temporary);
	replacement_release(replacement);
}

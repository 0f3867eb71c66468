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

	if (asprintf(&name, "%.*s.%s.%d.%u.tmp", folder_chars, path, path + folder_chars,
		     (int)getpid(), serial++) < 0)
		return NULL;
	return name;
}

static void replacement_release(struct replacement *replacement)
{
	free(replacement->path);
	free(replacement->temporary);
	*replacement = (struct replacement){0};
}

int replace_begin(struct replacement *replacement, const char *path, bool force, int *ret_fd,
		  struct dagtap_error *error)
{
	struct stat status;
	int fd = -1;

	*replacement = (struct replacement){0};
	/* A rename would put a file in the place of a device. */
	if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
		return dagtap_error_set(error, -EINVAL, "%s: is there, and no regular file", path);
	if (!force && access(path, F_OK) == 0)
		return fail(path, -EEXIST, error);
	replacement->force = force;
	replacement->path = strdup(path);
	replacement->temporary = temporary_name(path);
	errno = ENOMEM;
	if (replacement->path && replacement->temporary)
		fd = open(replacement->temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0) {
		int code = -errno;

		replacement_release(replacement);
		return fail(path, code, error);
	}
	*ret_fd = fd;
	return 0;
}

/* Not every file system knows RENAME_NOREPLACE; there, link() refuses an existing name too. */
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

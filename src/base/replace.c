/* Files without a name, temporary names, and renames that do not replace. */
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

/* The name under which /proc has FD; TEXT holds it. */
static const char *name_in_proc(int fd, char text[32])
{
	snprintf(text, 32, "/proc/self/fd/%d", fd);
	return text;
}

/* A file in the folder of the path that has no name yet. Its fd, or a negative errno: the file
 * system may not have such files, and without /proc it cannot get a name. */
static int create_nameless(const struct replacement *replacement, mode_t mode)
{
	const char *slash = strrchr(replacement->path, '/');
	char proc[32], *folder;
	int fd;

	folder = slash == replacement->path ? strdup("/")
		 : slash ? strndup(replacement->path, (size_t)(slash - replacement->path))
			 : strdup(".");
	if (!folder)
		return -ENOMEM;
	fd = open(folder, O_WRONLY | O_TMPFILE | O_CLOEXEC, mode);
	free(folder);
	if (fd >= 0 && access(name_in_proc(fd, proc), F_OK) < 0) {
		close(fd);
		return -ENOENT;
	}
	return fd < 0 ? -errno : fd;
}

/* Creates the file. Returns its fd, or a negative errno. */
static int create(struct replacement *replacement, enum replace_way way, mode_t mode)
{
	int fd = way == REPLACE_NAMED ? -EOPNOTSUPP : create_nameless(replacement, mode);

	if (fd < 0)
		return create_temporary(replacement, mode);
	/* The caller closes its own before the file gets its name. */
	replacement->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (replacement->fd >= 0)
		return fd;
	close(fd);
	return -EMFILE;
}

static void replacement_release(struct replacement *replacement)
{
	if (replacement->path && replacement->fd >= 0)
		close(replacement->fd);
	free(replacement->path);
	free(replacement->temporary);
	*replacement = (struct replacement){.fd = -1};
}

int replace_begin(struct replacement *replacement, const char *path, bool force,
		  enum replace_way way, mode_t mode, int *ret_fd, struct dagtap_error *error)
{
	struct stat status;
	int fd;

	*replacement = (struct replacement){.fd = -1};
	/* A rename would replace a device by a file. */
	if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
		return dagtap_error_set(error, -EINVAL, "%s: is there, and no regular file", path);
	if (!force && access(path, F_OK) == 0)
		return fail(path, -EEXIST, error);
	replacement->force = force;
	replacement->path = strdup(path);
	fd = replacement->path ? create(replacement, way, mode) : -ENOMEM;
	if (fd < 0) {
		replacement_release(replacement);
		return fail(path, fd, error);
	}
	*ret_fd = fd;
	return 0;
}

/* Not every file system supports RENAME_NOREPLACE; link() fails for an existing name everywhere. */
static int rename_temporary(const struct replacement *replacement)
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

static int link_nameless(const struct replacement *replacement, const char *name)
{
	char proc[32];

	return linkat(AT_FDCWD, name_in_proc(replacement->fd, proc), AT_FDCWD, name,
		      AT_SYMLINK_FOLLOW) < 0
		       ? -errno
		       : 0;
}

/* A link replaces nothing: a file that is there is replaced by way of a temporary name. */
static int name_nameless(struct replacement *replacement)
{
	int err = link_nameless(replacement, replacement->path);

	if (err != -EEXIST || !replacement->force)
		return err;
	do {
		free(replacement->temporary);
		replacement->temporary = temporary_name(replacement->path);
		err = replacement->temporary ? link_nameless(replacement, replacement->temporary)
					     : -ENOMEM;
	} while (err == -EEXIST);
	if (err == 0)
		return rename_temporary(replacement);
	free(replacement->temporary);
	replacement->temporary = NULL;
	return err;
}

int replace_commit(struct replacement *replacement, struct dagtap_error *error)
{
	int code =
		replacement->fd >= 0 ? name_nameless(replacement) : rename_temporary(replacement);

	if (code < 0) {
		fail(replacement->path, code, error);
		if (replacement->temporary)
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

#include "cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *temporary_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	int folder_chars = slash ? (int)(slash - path) + 1 : 0;
	char *name;

	if (asprintf(&name, "%.*s.%s.%d.tmp", folder_chars, path, path + folder_chars,
		     (int)getpid()) < 0)
		return NULL;
	return name;
}

static int fail(const struct output *output, int code, struct dagtap_error *error)
{
	const char *path = output->temporary_path ? output->path : "standard output";

	if (code == -EEXIST)
		return dagtap_error_set(error, code, "%s: exists already; --force replaces it",
					path);
	return dagtap_error_set(error, code, "%s: %s", path, strerror(-code));
}

static FILE *create(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");

	if (!file && fd >= 0)
		close(fd);
	return file;
}

int output_open(struct output *output, const char *path, bool force, struct dagtap_error *error)
{
	*output = (struct output){.file = stdout, .path = path, .force = force};
	if (strcmp(path, "-") == 0)
		return 0;
	output->temporary_path = temporary_name(path);
	if (!output->temporary_path)
		return fail(output, -ENOMEM, error);
	errno = EEXIST;
	output->file = !force && access(path, F_OK) == 0 ? NULL : create(output->temporary_path);
	if (!output->file) {
		int code = fail(output, errno ? -errno : -EIO, error);

		free(output->temporary_path);
		return code;
	}
	return 0;
}

/* Without force, a file that came to be meanwhile is not replaced either. */
static int put_in_place(const struct output *output)
{
	if (output->force)
		return rename(output->temporary_path, output->path) < 0 ? -errno : 0;
	if (renameat2(AT_FDCWD, output->temporary_path, AT_FDCWD, output->path, RENAME_NOREPLACE) ==
	    0)
		return 0;
	/* Some network file systems cannot do that: the check at output_open has to be enough. */
	if (errno == EINVAL && access(output->path, F_OK) < 0)
		return rename(output->temporary_path, output->path) < 0 ? -errno : 0;
	return -errno;
}

int output_commit(struct output *output, struct dagtap_error *error)
{
	int code = 0;

	errno = 0;
	if (fflush(output->file) != 0 || ferror(output->file))
		code = errno ? -errno : -EIO;
	if (output->temporary_path) {
		if (fclose(output->file) != 0 && code == 0)
			code = -errno;
		if (code == 0)
			code = put_in_place(output);
		if (code < 0)
			unlink(output->temporary_path);
	}
	if (code < 0)
		fail(output, code, error);
	free(output->temporary_path);
	output->temporary_path = NULL;
	return code;
}

void output_abandon(struct output *output)
{
	if (!output->temporary_path)
		return;
	fclose(output->file);
	unlink(output->temporary_path);
	free(output->temporary_path);
	output->temporary_path = NULL;
}

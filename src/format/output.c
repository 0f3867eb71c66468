/* An output file that appears complete or not at all, and is compressed if its name says so. */
#include "format/output.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "format/gzip.h"

static int fail(const struct output *output, int code, struct dagtap_error *error)
{
	return dagtap_error_set(error, code, "%s: %s",
				output->file == stdout ? "standard output" : output->path,
				strerrordesc_np(-code));
}

/* Makes output->file from FD, with a compressing stream in front if the name asks for it. Returns
 * 0, or negative errno; FD is closed then. */
static int open_streams(struct output *output, int fd)
{
	int code;

	output->file = fdopen(fd, "w");
	if (!output->file) {
		code = errno ? -errno : -ENOMEM;
		close(fd);
		return code;
	}
	if (!gzip_is_name(output->path))
		return 0;
	output->inner = output->file;
	code = gzip_open(output->inner, &output->file);
	if (code < 0)
		fclose(output->inner);
	return code;
}

int output_open(struct output *output, const char *path, bool force, enum replace_way way,
		struct dagtap_error *error)
{
	int code, fd;

	*output = (struct output){.file = stdout, .path = path};
	if (strcmp(path, "-") == 0)
		return 0;
	code = replace_begin(&output->replacement, path, force, way, 0666, &fd, error);
	if (code < 0)
		return code;
	code = open_streams(output, fd);
	if (code == 0)
		return 0;
	replace_abandon(&output->replacement);
	return dagtap_error_set(error, code, "%s: %s", path, strerrordesc_np(-code));
}

/* Closes the compressing stream first, because it still writes bytes to the inner one. */
static int close_streams(struct output *output)
{
	int code = 0;

	if (fclose(output->file) != 0)
		code = errno ? -errno : -EIO;
	if (output->inner && fclose(output->inner) != 0 && code == 0)
		code = errno ? -errno : -EIO;
	return code;
}

int output_commit(struct output *output, struct dagtap_error *error)
{
	int code = 0;
	int closed = 0;

	errno = 0;
	if (fflush(output->file) != 0 || ferror(output->file))
		code = errno ? -errno : -EIO;
	if (output->file != stdout)
		closed = close_streams(output);
	if (code == 0)
		code = closed;
	if (code < 0) {
		fail(output, code, error);
		replace_abandon(&output->replacement);
		return code;
	}
	return output->file == stdout ? 0 : replace_commit(&output->replacement, error);
}

void output_abandon(struct output *output)
{
	if (output->file == stdout)
		return;
	close_streams(output);
	replace_abandon(&output->replacement);
}

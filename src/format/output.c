#include "format/output.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static int fail(const struct output *output, int code, struct dagtap_error *error)
{
	return dagtap_error_set(error, code, "%s: %s",
				output->file == stdout ? "standard output" : output->path,
				strerrordesc_np(-code));
}

int output_open(struct output *output, const char *path, bool force, struct dagtap_error *error)
{
	int code, fd;

	*output = (struct output){.file = stdout, .path = path};
	if (strcmp(path, "-") == 0)
		return 0;
	code = replace_begin(&output->replacement, path, force, &fd, error);
	if (code < 0)
		return code;
	output->file = fdopen(fd, "w");
	if (output->file)
		return 0;
	code = fail(output, errno ? -errno : -ENOMEM, error);
	close(fd);
	replace_abandon(&output->replacement);
	return code;
}

int output_commit(struct output *output, struct dagtap_error *error)
{
	int code = 0;

	errno = 0;
	if (fflush(output->file) != 0 || ferror(output->file))
		code = errno ? -errno : -EIO;
	if (output->file != stdout && fclose(output->file) != 0 && code == 0)
		code = errno ? -errno : -EIO;
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
	fclose(output->file);
	replace_abandon(&output->replacement);
}

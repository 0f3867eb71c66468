/* Opens a file of statistics for the reader: see stats_file.h. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stats/stats_file.h"

int stats_read(const char *path, struct stats *stats, struct stats_reading *reading,
	       struct dagtap_error *error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	FILE *in;
	int err;

	if (fd < 0)
		return dagtap_error_set(error, -errno, "%s: %s", path, strerrordesc_np(errno));
	if (fstat(fd, &status) == 0 && S_ISDIR(status.st_mode)) {
		close(fd);
		return dagtap_error_set(error, -EISDIR, "%s: a folder", path);
	}
	in = fdopen(fd, "r");
	if (!in) {
		close(fd);
		return dagtap_error_set(error, -ENOMEM, "%s: out of memory", path);
	}
	err = stats_read_stream(in, path, stats, reading, error);
	fclose(in);
	return err;
}

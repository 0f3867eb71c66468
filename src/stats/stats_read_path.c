/* Opens a file of statistics for the reader: see stats_file.h. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/spool.h"
#include "stats/stats_file.h"
#include "trace/pack/bundle.h"

/* Whether the file begins as a .dagtap or a spool does. Of a pipe nothing is read. */
static bool is_recording(int fd)
{
	char magic[BUNDLE_MAGIC_BYTES];

	if (pread(fd, magic, sizeof(magic), 0) != sizeof(magic))
		return false;
	return bundle_is_magic(magic, sizeof(magic)) || !memcmp(magic, SPOOL_MAGIC, sizeof(magic));
}

/* Returns 0, or -EISDIR or -EBADMSG with ERROR filled if FD is what another command reads. */
static int refuse_recording(int fd, const char *path, struct dagtap_error *error)
{
	struct stat status;

	if (fstat(fd, &status) == 0 && S_ISDIR(status.st_mode))
		return dagtap_error_set(error, -EISDIR,
					"%s: a folder, not a file of statistics; dagtap summary "
					"reads a folder of spools",
					path);
	if (is_recording(fd))
		return dagtap_error_set(error, -EBADMSG,
					"%s: a recording, not statistics of dagtap record --stats; "
					"dagtap summary reads it",
					path);
	return 0;
}

int stats_read(const char *path, struct stats *stats, struct stats_reading *reading,
	       struct dagtap_error *error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	FILE *in;
	int err;

	if (fd < 0)
		return dagtap_error_set(error, -errno, "%s: %s", path, strerrordesc_np(errno));
	err = refuse_recording(fd, path, error);
	if (err < 0) {
		close(fd);
		return err;
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

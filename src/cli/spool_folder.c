/* OUT.spool: where the traced processes record, until it becomes OUT.dagtap. */
#include "cli/spool_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/memory.h"
#include "cli/cli.h"
#include "cli/gather.h"

#define MEMORY_FOLDER	   "/dev/shm"
#define MEMORY_BYTES_LEAST ((uint64_t)1 << 30)
#define MEMORY_RINGS_LEAST 8 /* each process has one, and the program needs shared memory too */

char *spool_folder_of(const char *output)
{
	size_t chars = strlen(output);
	char *folder, *cwd;

	if (chars > 7 && !strcmp(output + chars - 7, ".dagtap"))
		chars -= 7;
	if (output[0] == '/')
		return asprintf(&folder, "%.*s.spool", (int)chars, output) < 0 ? NULL : folder;
	cwd = getcwd(NULL, 0);
	if (!cwd)
		return NULL;
	if (asprintf(&folder, "%s/%.*s.spool", cwd, (int)chars, output) < 0)
		folder = NULL;
	free(cwd);
	return folder;
}

/* The lock lasts as long as this process: two recordings must not share a folder. */
static int lock_folder(const char *folder)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return cli_fail("%s: %s", folder, strerror(errno));
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		return CLI_OK;
	close(fd);
	return errno == EWOULDBLOCK ? cli_fail("%s: another recording writes there", folder)
				    : CLI_OK;
}

/* What another recording left there. */
static int clear_folder(const char *folder)
{
	struct stat status;
	int result;

	if (lstat(folder, &status) < 0)
		return CLI_OK;
	/* A link whose memory went with an earlier run of the machine cannot be locked, nor be in use. */
	if (S_ISLNK(status.st_mode) && access(folder, F_OK) < 0) {
		unlink(folder);
		return CLI_OK;
	}
	result = lock_folder(folder);
	if (result != CLI_OK)
		return result;
	if (gather_count_live(folder) > 0)
		return cli_fail("%s: a process of an earlier recording still writes there", folder);
	gather_remove(folder);
	return CLI_OK;
}

/* The folder may be larger than the memory that is left, and what lies there counts towards a container's limit. */
static bool has_memory_for(uint64_t ring_bytes)
{
	struct statfs status;
	uint64_t bytes = memory_available(""), room;

	if (statfs(MEMORY_FOLDER, &status) < 0 || status.f_type != TMPFS_MAGIC)
		return false;
	room = (uint64_t)status.f_bavail * (uint64_t)status.f_bsize;
	if (room < bytes)
		bytes = room;
	return bytes >= MEMORY_BYTES_LEAST && bytes / MEMORY_RINGS_LEAST >= ring_bytes;
}

/* A ring is written over and over: in memory, where there is room, no disk has to keep up with the program.
 * False: not there. FOLDER is then a link. */
static bool make_in_memory(const char *folder, uint64_t ring_bytes)
{
	char target[] = MEMORY_FOLDER "/dagtap-XXXXXX";

	if (!has_memory_for(ring_bytes) || !mkdtemp(target))
		return false;
	if (symlink(target, folder) == 0)
		return true;
	rmdir(target);
	return false;
}

int spool_folder_make(const char *folder, const struct spool_folder_options *options)
{
	int result = options->force ? clear_folder(folder) : CLI_OK;

	if (result != CLI_OK)
		return result;
	if ((options->memory_bytes && access(folder, F_OK) < 0 &&
	     make_in_memory(folder, options->memory_bytes)) ||
	    mkdir(folder, 0755) == 0)
		return lock_folder(folder);
	if (errno == EEXIST && options->force)
		return cli_fail("%s: there are other files than spools in it; remove it, or "
				"choose another name for the recording",
				folder);
	if (errno == EEXIST)
		return cli_fail("%s: exists already (spools of a recording that was not finished; "
				"every command reads them); --force replaces it",
				folder);
	return cli_fail("%s: %s", folder, strerror(errno));
}

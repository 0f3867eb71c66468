/* See spool_contents.h. */
#include "cli/spool_contents.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/spool_listing.h"
#include "record/control_message.h"
#include "record/spool.h"

/* Do not follow links, and do not wait for the other end of a FIFO. */
#define FILE_FLAGS (O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)

/* Whether the file has a spool's magic. An unfinished spool (named .new) may be empty, or have
 * zeros in place of the magic. */
static bool holds_spool(int fd, bool is_unfinished)
{
	static const char blank[sizeof(SPOOL_MAGIC) - 1];
	char magic[sizeof(blank)];
	ssize_t got = pread(fd, magic, sizeof(magic), 0);

	if (got == (ssize_t)sizeof(magic) && !memcmp(magic, SPOOL_MAGIC, sizeof(magic)))
		return true;
	return is_unfinished && (got == 0 || (got == (ssize_t)sizeof(magic) &&
					      !memcmp(magic, blank, sizeof(blank))));
}

/* Whether NAME is the socket of dagtap control, which a killed process has left. */
static bool is_socket(int folder_fd, const char *name)
{
	struct stat status, folder;

	return listing_has_suffix(name, CONTROL_SUFFIX) &&
	       fstatat(folder_fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISSOCK(status.st_mode) && fstat(folder_fd, &folder) == 0 &&
	       status.st_uid == folder.st_uid;
}

/* Whether dagtap made the file NAME: it has the name and the contents of a spool, is a regular
 * file, and belongs to the owner of the folder. Or it is the socket of dagtap control. */
static bool is_ours(int folder_fd, const char *name)
{
	bool is_new = listing_has_suffix(name, SPOOL_SUFFIX ".new");
	bool is_spool = listing_has_suffix(name, SPOOL_SUFFIX);
	struct stat status, folder;
	bool ours = false;
	int fd;

	if (is_socket(folder_fd, name))
		return true;
	if (!is_spool && !is_new && !listing_has_suffix(name, SPOOL_LOST_SUFFIX))
		return false;
	fd = openat(folder_fd, name, FILE_FLAGS);
	if (fd < 0)
		return false;
	if (fstat(fd, &status) == 0 && fstat(folder_fd, &folder) == 0 && S_ISREG(status.st_mode) &&
	    status.st_uid == folder.st_uid)
		ours = is_spool || is_new ? holds_spool(fd, is_new) : status.st_size == 0;
	close(fd);
	return ours;
}

static int is_entry(const struct dirent *entry)
{
	return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

static void free_entries(struct dirent **entries, int count)
{
	for (int i = 0; i < count; i++)
		free(entries[i]);
	free(entries);
}

int spool_contents_check(int fd, const char *path)
{
	struct dirent **entries;
	int count = scandirat(fd, ".", &entries, is_entry, alphasort);
	int err = CLI_OK;

	if (count < 0)
		return cli_fail("%s: %s", path, strerror(errno));
	for (int i = 0; i < count && err == CLI_OK; i++)
		if (!is_ours(fd, entries[i]->d_name))
			err = cli_fail("%s: there are other files than spools in it (%s); remove "
				       "it, or choose another name for the recording",
				       path, entries[i]->d_name);
	free_entries(entries, count);
	return err;
}

void spool_contents_remove(int fd)
{
	struct dirent **entries;
	int count = scandirat(fd, ".", &entries, is_entry, alphasort);

	for (int i = 0; i < count; i++)
		if (is_ours(fd, entries[i]->d_name))
			unlinkat(fd, entries[i]->d_name, 0);
	if (count >= 0)
		free_entries(entries, count);
}

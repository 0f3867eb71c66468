/* Names, states and counts of the spools in a folder. */
#include "cli/spool_listing.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/spool.h"

bool listing_has_suffix(const char *name, const char *suffix)
{
	size_t chars = strlen(name), suffix_chars = strlen(suffix);

	return chars > suffix_chars && !strcmp(name + chars - suffix_chars, suffix);
}

int listing_is_spool(const struct dirent *entry)
{
	return listing_has_suffix(entry->d_name, SPOOL_SUFFIX);
}

int listing_is_lost(const struct dirent *entry)
{
	return listing_has_suffix(entry->d_name, SPOOL_LOST_SUFFIX);
}

int listing_open(int folder_fd, const char *name)
{
	int fd = openat(folder_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat status;

	if (fd < 0 || (fstat(fd, &status) == 0 && S_ISREG(status.st_mode)))
		return fd;
	close(fd);
	errno = ELOOP;
	return -1;
}

/* Reads the pid and the state from a spool's header. Returns false if the file has no complete
 * header. */
static bool read_state(int folder_fd, const char *name, uint32_t *ret_pid, bool *ret_is_open)
{
	struct spool_header header;
	int fd = listing_open(folder_fd, name);
	ssize_t got = fd < 0 ? -1 : read(fd, &header, sizeof(header));

	if (fd >= 0)
		close(fd);
	if (got != (ssize_t)sizeof(header))
		return false;
	*ret_pid = header.pid;
	*ret_is_open = header.live.state == SPOOL_OPEN;
	return true;
}

/* Calls TAKE for each file of the folder that passes FILTER. Returns the sum of the results. */
static uint32_t for_each(int folder_fd, int (*filter)(const struct dirent *),
			 uint32_t (*take)(int folder_fd, const char *name))
{
	struct dirent **entries;
	int count = scandirat(folder_fd, ".", &entries, filter, alphasort);
	uint32_t sum = 0;

	for (int i = 0; i < count; i++) {
		sum += take(folder_fd, entries[i]->d_name);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	return sum;
}

static uint32_t has_process(int folder_fd, const char *name)
{
	uint32_t pid;
	bool is_open;

	return read_state(folder_fd, name, &pid, &is_open) &&
	       (kill((pid_t)pid, 0) == 0 || errno == EPERM);
}

uint32_t listing_is_live(int folder_fd, const char *name)
{
	uint32_t pid;
	bool is_open;

	return read_state(folder_fd, name, &pid, &is_open) && is_open &&
	       has_process(folder_fd, name);
}

uint32_t listing_find_live(int folder_fd)
{
	struct dirent **entries;
	int count = scandirat(folder_fd, ".", &entries, listing_is_spool, alphasort);
	uint32_t pid, found = 0;
	bool is_open;

	for (int i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;

		if (!found && listing_is_live(folder_fd, name) &&
		    read_state(folder_fd, name, &pid, &is_open))
			found = pid;
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	return found;
}

uint32_t listing_count_processes(int folder_fd)
{
	return for_each(folder_fd, listing_is_spool, has_process);
}

/* Watches a process by a pidfd: see process_watch.h. */
#include "cli/process_watch.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool has_mapped(uint32_t pid, const char *name)
{
	bool has_found = false;
	char path[32], *line = NULL;
	size_t room = 0;
	FILE *in;

	snprintf(path, sizeof(path), "/proc/%u/maps", (unsigned)pid);
	in = fopen(path, "re");
	if (!in)
		return false;
	while (!has_found && getline(&line, &room, in) > 0)
		has_found = strstr(line, name) != NULL;
	free(line);
	fclose(in);
	return has_found;
}

int process_watch_open(uint32_t pid, const char *name)
{
	int fd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);

	/* The pidfd comes first: what has the spool mapped afterwards is what it refers to. */
	if (fd < 0 || has_mapped(pid, name))
		return fd < 0 ? -1 : fd;
	close(fd);
	return -1;
}

bool process_watch_has_ended(int fd)
{
	struct pollfd end = {.fd = fd, .events = POLLIN};

	return fd >= 0 && poll(&end, 1, 0) > 0;
}

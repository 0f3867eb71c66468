/* The log of dagtap itself; see log.h. */
#include "capture/log.h"

#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "capture/env.h"

/* The path is kept and not a descriptor: a program may close all descriptors that it does not
 * know. The next file that it opens would get our number, and our lines would go into it. */
static char log_path[PATH_MAX];
static _Atomic bool is_open;

/* Only a relative path is resolved. Links in an absolute path are not followed: /dev/stderr may
 * lead to a pipe, which has no path. */
static bool keep_path(const char *path)
{
	if (*path != '/')
		return realpath(path, log_path) != NULL;
	return snprintf(log_path, sizeof(log_path), "%s", path) < (int)sizeof(log_path);
}

void log_open(void)
{
	const char *path = env_text(ENV_LOG);
	int fd;

	if (!*path || atomic_load(&is_open))
		return;
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	close(fd);
	if (keep_path(path))
		atomic_store_explicit(&is_open, true, memory_order_release);
}

/* Errors are ignored: a log that cannot be written must not disturb the program. */
static void write_line(const char *line, size_t length)
{
	int fd = open(log_path, O_WRONLY | O_APPEND | O_CLOEXEC);

	if (fd < 0)
		return;
	(void)!write(fd, line, length);
	close(fd);
}

void log_line(const char *format, ...)
{
	char line[512];
	va_list args;
	int length;

	if (!atomic_load_explicit(&is_open, memory_order_acquire))
		return;
	length = snprintf(line, sizeof(line), "%llu %ld ", (unsigned long long)clock_now_ns(),
			  (long)getpid());
	va_start(args, format);
	length += vsnprintf(line + length, sizeof(line) - (size_t)length - 1, format, args);
	va_end(args);
	if ((size_t)length > sizeof(line) - 2)
		length = sizeof(line) - 2;
	line[length++] = '\n';
	write_line(line, (size_t)length);
}

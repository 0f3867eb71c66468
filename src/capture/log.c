#include "capture/log.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "capture/env.h"

static _Atomic int log_fd = -1;

void log_open(void)
{
	const char *path = env_text(ENV_LOG);

	if (*path && atomic_load(&log_fd) < 0)
		atomic_store(&log_fd, open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
}

void log_line(const char *format, ...)
{
	int fd = atomic_load_explicit(&log_fd, memory_order_relaxed);
	char line[512];
	va_list args;
	int length;

	if (fd < 0)
		return;
	length = snprintf(line, sizeof(line), "%llu %ld ", (unsigned long long)clock_now_ns(),
			  (long)getpid());
	va_start(args, format);
	length += vsnprintf(line + length, sizeof(line) - (size_t)length - 1, format, args);
	va_end(args);
	if ((size_t)length > sizeof(line) - 2)
		length = sizeof(line) - 2;
	line[length++] = '\n';
	/* A log that cannot be written must not disturb the program. */
	if (write(fd, line, (size_t)length) < 0)
		return;
}

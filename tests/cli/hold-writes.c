/*
 * Preloaded into dagtap: holds the process before the pwrite whose number (from 1) is HOLD_WRITE.
 * Opening the FIFO HOLD_PIPE for reading returns when the process is held; opening it for writing
 * lets it continue.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A signal that the held process gets is handled during the wait. */
static void await_opening(const char *fifo, int how)
{
	int fd;

	do {
		fd = open(fifo, how | O_CLOEXEC);
	} while (fd < 0 && errno == EINTR);
	if (fd < 0)
		abort();
	close(fd);
}

__attribute__((visibility("default"))) ssize_t pwrite(int fd, const void *bytes, size_t size,
						      off_t offset)
{
	static int written;
	const char *hold_at = getenv("HOLD_WRITE"), *fifo = getenv("HOLD_PIPE");

	if (hold_at && fifo && !strcmp(program_invocation_short_name, "dagtap") &&
	    ++written == atoi(hold_at)) {
		await_opening(fifo, O_WRONLY);
		await_opening(fifo, O_RDONLY);
	}
	return syscall(SYS_pwrite64, fd, bytes, size, offset);
}

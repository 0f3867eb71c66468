/* Waits for a child process and turns its end into a benchmark's error: child.h. */
#include "child.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>

#include "bench.h"

int child_wait(pid_t child, const char *command)
{
	int status;

	if (child < 0)
		return bench_fail(-errno, "cannot fork: %s: %s", strerror(errno), command);
	while (waitpid(child, &status, 0) != child) {
		if (errno != EINTR)
			return bench_fail(-errno, "cannot wait: %s: %s", strerror(errno), command);
	}
	if (WIFSIGNALED(status))
		return bench_fail(-EPIPE, "killed by signal %d (%s): %s", WTERMSIG(status),
				  strsignal(WTERMSIG(status)), command);
	if (WEXITSTATUS(status))
		return bench_fail(-EPIPE, "exit code %d: %s", WEXITSTATUS(status), command);
	return 0;
}

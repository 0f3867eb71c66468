/* Starting and ending the Python program that writes Parquet (parquet_filter.h). */
#include "cli/parquet_filter.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Exit statuses of the program. */
enum { WITHOUT_DAGTAP = 10, WITHOUT_PYARROW = 11 };

/* The working directory is no place for modules. */
static const char program[] = "import sys\n"
			      "if sys.path[:1] == ['']:\n"
			      "    del sys.path[0]\n"
			      "try:\n"
			      "    import dagtap\n"
			      "except ImportError:\n"
			      "    sys.exit(10)\n"
			      "try:\n"
			      "    import pyarrow\n"
			      "except ImportError:\n"
			      "    sys.exit(11)\n"
			      "from dagtap.parquet import main\n"
			      "main()\n";

static const char *python(void)
{
	const char *given = getenv("DAGTAP_PYTHON");

	return given && *given ? given : "python3";
}

/* Starts the program with READ_FD as its standard input and WRITE_FD as its output. Returns 0 or a
 * negative errno. */
static int spawn(int read_fd, int write_fd, pid_t *ret_pid)
{
	char *const argv[] = {(char *)python(), "-c", (char *)program, NULL};
	posix_spawn_file_actions_t actions;
	int err = posix_spawn_file_actions_init(&actions);

	if (err)
		return -err;
	err = posix_spawn_file_actions_adddup2(&actions, read_fd, STDIN_FILENO);
	if (!err)
		err = posix_spawn_file_actions_adddup2(&actions, write_fd, STDOUT_FILENO);
	if (!err)
		err = posix_spawnp(ret_pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return -err;
}

/* WHY: what is wrong with the program, "has no pyarrow". */
static int fail_missing(const char *why, struct dagtap_error *error)
{
	return dagtap_error_set(
		error, -ENOPKG,
		"Parquet is written by the Python packages dagtap and pyarrow, and %s %s: "
		"`pip install '.[parquet]'` in dagtap's source tree gets both; DAGTAP_PYTHON names "
		"another Python; --format arrow and sqlite need none",
		python(), why);
}

int parquet_filter_start(FILE *out, struct parquet_filter *ret_filter, struct dagtap_error *error)
{
	const struct sigaction ignore = {.sa_handler = SIG_IGN};
	struct parquet_filter filter;
	int ends[2], err;

	/* Not stdio's buffer but the file itself is shared. */
	if (fflush(out) != 0 || pipe2(ends, O_CLOEXEC) < 0)
		return dagtap_error_set(error, -errno, "%s", strerror(errno));
	err = spawn(ends[0], fileno(out), &filter.pid);
	close(ends[0]);
	filter.in = err == 0 ? fdopen(ends[1], "w") : NULL;
	if (!filter.in) {
		close(ends[1]);
		if (err == -ENOENT)
			return fail_missing("is not there", error);
		return dagtap_error_set(error, err ? err : -ENOMEM, "%s: %s", python(),
					strerror(err ? -err : ENOMEM));
	}
	/* A program that has ended is an error of a write here, not a signal. */
	sigaction(SIGPIPE, &ignore, &filter.pipe_before);
	*ret_filter = filter;
	return 0;
}

int parquet_filter_finish(struct parquet_filter *filter, struct dagtap_error *error)
{
	int status = 0, failed = fclose(filter->in) != 0 ? errno : 0;
	pid_t ended;

	do {
		ended = waitpid(filter->pid, &status, 0);
	} while (ended < 0 && errno == EINTR);
	sigaction(SIGPIPE, &filter->pipe_before, NULL);
	if (ended < 0)
		return dagtap_error_set(error, -errno, "%s: %s", python(), strerror(errno));
	if (WIFEXITED(status) && WEXITSTATUS(status) == WITHOUT_DAGTAP)
		return fail_missing("has no dagtap", error);
	if (WIFEXITED(status) && WEXITSTATUS(status) == WITHOUT_PYARROW)
		return fail_missing("has no pyarrow", error);
	if (status)
		return dagtap_error_set(error, -ECHILD, "%s could not write Parquet", python());
	return failed ? dagtap_error_set(error, -failed, "%s: %s", python(), strerror(failed)) : 0;
}

/*
 * Runs a test case in a child process of its own, because a session belongs to a process and can
 * start only once.
 */
#ifndef DAGTAP_TESTS_IN_CHILD_H
#define DAGTAP_TESTS_IN_CHILD_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spool_fixture.h"

/*
 * Runs BODY in a child with DAGTAP_SPOOL set to FOLDER (unless FOLDER is NULL). The child leaves
 * through exit. Returns its wait status; BODY reports a failure with expect().
 */
static inline int in_child(const char *folder, void (*body)(void))
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		if (folder)
			setenv("DAGTAP_SPOOL", folder, 1);
		else
			unsetenv("DAGTAP_SPOOL");
		body();
		exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

/* Ends the child with a message if CONDITION is false. Any thread of the child may call it. */
#define expect(condition) expect_at(!!(condition), #condition, __FILE__, __LINE__)

static inline void expect_at(int holds, const char *condition, const char *file, int line)
{
	if (holds)
		return;
	dprintf(STDERR_FILENO, "%s:%d: not so: %s\n", file, line, condition);
	_exit(1);
}

#endif

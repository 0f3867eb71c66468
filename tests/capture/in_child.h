/* A session belongs to a whole process and starts once: every case has a process of its own. */
#ifndef DAGTAP_TESTS_IN_CHILD_H
#define DAGTAP_TESTS_IN_CHILD_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spool_fixture.h"

/* Runs BODY with DAGTAP_SPOOL set (unless FOLDER is NULL) in a child that then leaves through
 * exit. Returns its wait status; a body reports what it finds wrong with expect(). */
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

/* In the child, on any thread of it: says what it finds wrong and ends the process. */
#define expect(condition) expect_at(!!(condition), #condition, __FILE__, __LINE__)

static inline void expect_at(int holds, const char *condition, const char *file, int line)
{
	if (holds)
		return;
	dprintf(STDERR_FILENO, "%s:%d: not so: %s\n", file, line, condition);
	_exit(1);
}

#endif

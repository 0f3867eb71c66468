/*
 * killed calls|launches N PROGRAM PAGE ARGS...: runs a program that counts its launches in the file
 * PAGE (examples/hip/counted.c, raw-counted.c), kills it with SIGKILL, and ends in the same way.
 * The moment is counted, not timed. calls: before or after a system call of the program's main
 * thread, at the Nth such place. launches: once N launches have begun, while all threads run.
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALL_STOP (SIGTRAP | 0x80) /* the stop signal under PTRACE_O_TRACESYSGOOD */

static _Noreturn void fail(const char *what)
{
	fprintf(stderr, "killed: %s\n", what);
	exit(1);
}

static pid_t start(char **program, bool is_traced)
{
	pid_t pid = fork();

	if (pid < 0)
		fail("fork");
	if (pid > 0)
		return pid;
	if (is_traced && (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0 || raise(SIGSTOP)))
		fail("ptrace");
	execv(program[0], program);
	fail("exec");
}

/*
 * Returns the signal that stopped the program, which must be passed on to it; 0 at a ptrace event.
 */
static int await_stop(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		fail("the program ended early");
	return status >> 16 ? 0 : WSTOPSIG(status);
}

static void await_calls(pid_t pid, uint64_t count)
{
	const long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
	int told = 0;

	await_stop(pid);
	if (ptrace(PTRACE_SETOPTIONS, pid, NULL, options) < 0)
		fail("ptrace");
	while (count) {
		if (ptrace(PTRACE_SYSCALL, pid, NULL, (long)told) < 0)
			fail("ptrace");
		told = await_stop(pid);
		if (told != CALL_STOP)
			continue;
		told = 0;
		count--;
	}
}

static void expect_running(pid_t pid)
{
	if (waitpid(pid, NULL, WNOHANG) != 0)
		fail("the program ended early");
}

/* PAGE holds the pid, then for each thread the launches begun and the launches that returned. */
static const _Atomic uint64_t *await_page(const char *path, pid_t pid, size_t *ret_words)
{
	struct stat status;
	void *page;
	int fd;

	while ((fd = open(path, O_RDONLY | O_CLOEXEC)) < 0 || fstat(fd, &status) < 0 ||
	       status.st_size == 0) {
		if (fd >= 0)
			close(fd);
		expect_running(pid);
		usleep(1000);
	}
	page = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		fail("the page cannot be mapped");
	*ret_words = (size_t)status.st_size / sizeof(uint64_t);
	return page;
}

static void await_launches(pid_t pid, const char *path, uint64_t count)
{
	size_t words;
	const _Atomic uint64_t *page = await_page(path, pid, &words);

	/* Until its first launch the program has the CPU to itself. */
	while (!atomic_load(&page[0])) {
		expect_running(pid);
		usleep(1000);
	}
	for (;;) {
		uint64_t begun = 0;

		for (size_t i = 1; i < words; i += 2)
			begun += atomic_load(&page[i]);
		if (begun >= count)
			return;
		expect_running(pid);
		sched_yield();
	}
}

int main(int argc, char **argv)
{
	bool by_calls = argc > 1 && !strcmp(argv[1], "calls");
	uint64_t count;
	pid_t pid;

	if (argc < 5 || (!by_calls && strcmp(argv[1], "launches") != 0))
		fail("usage: killed calls|launches N PROGRAM PAGE ARGS...");
	count = strtoull(argv[2], NULL, 10);
	pid = start(argv + 3, by_calls);
	if (by_calls)
		await_calls(pid, count);
	else
		await_launches(pid, argv[4], count);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	kill(getpid(), SIGKILL);
	return 1;
}

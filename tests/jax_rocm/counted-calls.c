/*
 * counted-calls COUNT HOW: calls the libraries built of calling.c COUNT times from each of THREADS
 * threads, and ncclCalled as often by dlsym. HOW says how it ends: return, _exit, kill; fork: a
 * child first does the same twice, then the parent once more; exec: executes itself again, with
 * return.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 4

int calling_lazily(void);
int calling_now(void);
int calling_without_plt(void);

static int count;

static void *call_all(void *failed)
{
	for (int i = 0; i < count; i++) {
		int (*found)(void);

		if (calling_lazily() || calling_now() || calling_without_plt())
			return failed;
		found = (int (*)(void))dlsym(RTLD_DEFAULT, "ncclCalled");
		if (found() != 1)
			return failed;
	}
	return NULL;
}

static void call_from_threads(void)
{
	pthread_t threads[THREADS];
	int is_failed;

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, call_all, &is_failed);
	for (int i = 0; i < THREADS; i++) {
		void *failed;

		pthread_join(threads[i], &failed);
		if (failed)
			exit(1);
	}
}

static void call_in_child(void)
{
	int status = -1;
	pid_t child = fork();

	if (!child) {
		call_from_threads();
		call_from_threads();
		_exit(0);
	}
	waitpid(child, &status, 0);
	if (status)
		exit(1);
	call_from_threads();
}

int main(int argc, char **argv)
{
	const char *how = argc > 2 ? argv[2] : "return";

	count = argc > 1 ? atoi(argv[1]) : 1;
	call_from_threads();
	if (!strcmp(how, "_exit"))
		_exit(0);
	if (!strcmp(how, "kill"))
		raise(SIGKILL);
	if (!strcmp(how, "fork"))
		call_in_child();
	if (!strcmp(how, "exec"))
		execl("/proc/self/exe", argv[0], argv[1], "return", (char *)NULL);
	return 0;
}

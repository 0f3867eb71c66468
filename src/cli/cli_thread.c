/* See cli_thread.h. */
#include "cli/cli_thread.h"

#include <signal.h>

int cli_thread_start(pthread_t *ret_thread, void *(*body)(void *), void *context)
{
	sigset_t all, before;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(ret_thread, NULL, body, context);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -err;
}

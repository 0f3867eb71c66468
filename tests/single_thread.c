/* Part of the tests with the label one-thread. ThreadSanitizer can find nothing in a program that
 * starts no thread, so the ThreadSanitizer build leaves them out. Here they fail if they start
 * one. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <threads.h>

static _Noreturn void fail(void)
{
	fputs("this test starts a thread: it must not have the label one-thread\n", stderr);
	abort();
}

int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict attributes,
		   void *(*run)(void *), void *restrict argument)
{
	fail();
}

int thrd_create(thrd_t *thread, thrd_start_t run, void *argument)
{
	fail();
}

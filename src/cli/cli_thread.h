/* The threads of `dagtap record` beside the main one. Threading: any thread. */
#ifndef DAGTAP_CLI_CLI_THREAD_H
#define DAGTAP_CLI_CLI_THREAD_H

#include <pthread.h>

/* Starts a thread that calls BODY with CONTEXT. All signals are blocked in it, so that the main
 * thread gets those for dagtap. Returns 0, and the caller joins *RET_THREAD; or a negative errno.
 */
int cli_thread_start(pthread_t *ret_thread, void *(*body)(void *), void *context);

#endif

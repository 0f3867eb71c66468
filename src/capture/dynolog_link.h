/* The datagrams between this process and dynolog's daemon. Threading: the thread of the doors;
 * dynolog_link_configure before it. */
#ifndef DAGTAP_CAPTURE_DYNOLOG_LINK_H
#define DAGTAP_CAPTURE_DYNOLOG_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "capture/own_fd.h"

/* Most bytes of a request's text; a longer one is dropped. */
#define DYNOLOG_TEXT_BYTES 16384

struct dynolog_link {
	struct own_fd socket;
	bool is_registered; /* the daemon got our registration, and has been there since */
	char path[128];	    /* with KINETO_IPC_SOCKET_DIR: the socket's; else "" */
};

/* Copies KINETO_IPC_SOCKET_DIR and SLURM_JOB_ID, which the other functions use. Call when the
 * library is loaded. */
void dynolog_link_configure(void);

/* Makes the socket. Returns 0 or a negative errno. */
int dynolog_link_open(struct dynolog_link *link);

/* Asks for a request, and registers the process before if need be. Without a daemon it does
 * nothing. */
void dynolog_link_ask(struct dynolog_link *link);

/* Receives one datagram. Returns the bytes of the request's text that it has, which is in RET_TEXT;
 * 0 for any other datagram; -EAGAIN if there is none. */
ssize_t dynolog_link_take(struct dynolog_link *link, char ret_text[DYNOLOG_TEXT_BYTES]);

/* Closes the socket. IS_OWNER: and removes its name; not in a fork child. */
void dynolog_link_close(struct dynolog_link *link, bool is_owner);

#endif

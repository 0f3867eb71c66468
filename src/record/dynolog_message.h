/* The datagrams of dynolog's protocol, by which a daemon hands requests for traces to programs
 * (docs/control.md), and the addresses of its sockets: abstract names, or files in a folder. A
 * datagram is a dynolog_head and its payload. Threading: nothing is shared; any thread. */
#ifndef DAGTAP_RECORD_DYNOLOG_MESSAGE_H
#define DAGTAP_RECORD_DYNOLOG_MESSAGE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>

#define DYNOLOG_DAEMON	   "dynolog"		   /* name of the daemon's socket */
#define DYNOLOG_FOLDER	   "KINETO_IPC_SOCKET_DIR" /* variable: the folder; unset: abstract names */
#define DYNOLOG_TYPE_BYTES 32
#define DYNOLOG_PIDS_MOST  16

struct dynolog_head {
	uint64_t bytes; /* of the payload */
	char type[DYNOLOG_TYPE_BYTES];
};

struct dynolog_registration { /* "ctxt"; the answer is a number of processes, int32_t */
	int32_t gpu;
	int32_t pid;
	int64_t job;
};

/* Bits of a question's kind. */
#define DYNOLOG_ACTIVITIES 2

struct dynolog_question { /* "req"; the answer is a text, or empty */
	int32_t kind;
	int32_t count;
	int64_t job;
	int32_t pids[DYNOLOG_PIDS_MOST]; /* COUNT of them: the process, its parent, and so on */
};

/* Returns the length of the address of the socket NAME in FOLDER, "" for an abstract one; 0 if the
 * name is too long. Of an abstract name a zero byte at the end is part. */
static inline socklen_t dynolog_address(const char *folder, const char *name,
					struct sockaddr_un *ret_address)
{
	char *path = ret_address->sun_path;
	const size_t room = sizeof(ret_address->sun_path);
	int chars;

	*ret_address = (struct sockaddr_un){.sun_family = AF_UNIX};
	if (*folder)
		chars = snprintf(path, room, "%s/%s", folder, name);
	else
		chars = 1 + snprintf(path + 1, room - 1, "%s", name);
	if (chars < 0 || (size_t)chars >= room)
		return 0;
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)chars + 1);
}

#endif

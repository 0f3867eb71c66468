/* Answers clients of dynolog's protocol; see dynolog_daemon.h. */
#include "cli/dynolog_daemon.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/timer.h"
#include "record/datagram_sender.h"
#include "record/dynolog_message.h"

enum { POLL_MS = 50 };

struct client_datagram {
	struct dynolog_head head;
	union {
		struct dynolog_question question;
		char bytes[4096];
	} payload;
	struct sockaddr_un sender;
	socklen_t sender_bytes;
	struct ucred who;
};

static int open_socket(struct sockaddr_un *ret_address, struct dagtap_error *error)
{
	const char *folder = getenv(DYNOLOG_FOLDER);
	socklen_t bytes = dynolog_address(folder ? folder : "", DYNOLOG_DAEMON, ret_address);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), err;
	const int yes = 1;

	if (!bytes || fd < 0) {
		err = bytes ? -errno : -ENAMETOOLONG;
	} else {
		setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &yes, sizeof(yes));
		if (bind(fd, (struct sockaddr *)ret_address, bytes) == 0)
			return fd;
		err = -errno;
	}
	if (fd >= 0)
		close(fd);
	if (err == -EADDRINUSE)
		return dagtap_error_set(error, err, "another daemon has dynolog's name: ask it");
	return dagtap_error_set(error, err, "dynolog's name: %s", strerror(-err));
}

/* Root may have processes of any user. */
static bool is_allowed(const struct ucred *who)
{
	return geteuid() == 0 || who->uid == geteuid();
}

/* Returns false for what is no datagram of a client that may ask. */
static bool receive(int fd, struct client_datagram *ret_datagram)
{
	struct iovec pieces[] = {{&ret_datagram->head, sizeof(ret_datagram->head)},
				 {&ret_datagram->payload, sizeof(ret_datagram->payload)}};
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(struct ucred))];
	struct msghdr message = {.msg_name = &ret_datagram->sender,
				 .msg_namelen = sizeof(ret_datagram->sender),
				 .msg_iov = pieces,
				 .msg_iovlen = 2,
				 .msg_control = control,
				 .msg_controllen = sizeof(control)};
	ssize_t got = recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	ret_datagram->sender_bytes = message.msg_namelen;
	return got >= (ssize_t)sizeof(ret_datagram->head) && !(message.msg_flags & MSG_TRUNC) &&
	       ret_datagram->head.bytes == (size_t)got - sizeof(ret_datagram->head) &&
	       datagram_sender(&message, &ret_datagram->who) && is_allowed(&ret_datagram->who);
}

static bool is_type(const struct client_datagram *datagram, const char *type)
{
	return !strncmp(datagram->head.type, type, sizeof(datagram->head.type));
}

/* The process is known by its credentials, or, in a container, by what it says itself. */
static bool is_from(const struct client_datagram *datagram, pid_t pid)
{
	const struct dynolog_question *question = &datagram->payload.question;
	const size_t least = offsetof(struct dynolog_question, pids) + sizeof(*question->pids);

	return datagram->head.bytes >= least && question->kind & DYNOLOG_ACTIVITIES &&
	       (datagram->who.pid == pid || (question->count > 0 && question->pids[0] == pid));
}

static bool answer(int fd, const struct client_datagram *datagram, const void *payload,
		   size_t bytes)
{
	struct dynolog_head head = {.bytes = bytes};
	struct iovec pieces[] = {{&head, sizeof(head)}, {(void *)payload, bytes}};
	const struct msghdr message = {.msg_name = (void *)&datagram->sender,
				       .msg_namelen = datagram->sender_bytes,
				       .msg_iov = pieces,
				       .msg_iovlen = 2};

	memcpy(head.type, datagram->head.type, sizeof(head.type));
	return sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) > 0;
}

/* Returns whether the process has the text. */
static bool serve(int fd, pid_t pid, const char *text)
{
	const int32_t processes = 1;
	struct client_datagram datagram;
	bool is_it;

	if (!receive(fd, &datagram))
		return false;
	if (is_type(&datagram, "ctxt"))
		answer(fd, &datagram, &processes, sizeof(processes));
	if (!is_type(&datagram, "req"))
		return false;
	is_it = is_from(&datagram, pid);
	return answer(fd, &datagram, text, is_it ? strlen(text) : 0) && is_it;
}

int dynolog_daemon_give(pid_t pid, const char *text, struct dagtap_error *error)
{
	struct timer_limit limit = timer_start(TIMER_CONTROL_ANSWER);
	struct sockaddr_un address;
	struct pollfd end = {.fd = open_socket(&address, error), .events = POLLIN};
	bool is_given = false;

	if (end.fd < 0)
		return end.fd;
	while (!is_given && !timer_is_over(limit))
		is_given = poll(&end, 1, POLL_MS) > 0 && serve(end.fd, pid, text);
	close(end.fd);
	if (*address.sun_path)
		unlink(address.sun_path);
	if (is_given)
		return 0;
	return dagtap_error_set(error, -ETIMEDOUT,
				"process %d does not ask: it needs dagtap record --dynolog, or "
				"KINETO_USE_DAEMON=1 with PyTorch, and the same %s",
				(int)pid, DYNOLOG_FOLDER);
}

/* Sockets, addresses and layouts of dynolog's protocol; see dynolog_link.h. */
#include "capture/dynolog_link.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "record/datagram_sender.h"
#include "record/dynolog_message.h"

#define CLIENT_NAME  "dynoconfigclient"
#define NO_GPU_KNOWN 0

/* The environment when the library was loaded: the program may change it while the thread of the
 * doors runs. */
static struct {
	char folder[sizeof(((struct sockaddr_un *)0)->sun_path)]; /* "": abstract names */
	int64_t job;
} configured;

void dynolog_link_configure(void)
{
	const char *folder = getenv(DYNOLOG_FOLDER), *job = getenv("SLURM_JOB_ID");

	/* With a folder that is cut off here, no name finds room in an address. */
	snprintf(configured.folder, sizeof(configured.folder), "%s", folder ? folder : "");
	configured.job = job ? strtoll(job, NULL, 10) : 0;
}

/* ---- names ---- */

static bool draw_name(char *ret_name, size_t room)
{
	uint64_t drawn[2];

	if (getrandom(drawn, sizeof(drawn), GRND_NONBLOCK) != (ssize_t)sizeof(drawn))
		return false;
	snprintf(ret_name, room, CLIENT_NAME "%016llx%016llx", (unsigned long long)drawn[0],
		 (unsigned long long)drawn[1]);
	return true;
}

static int bind_to(int fd, struct dynolog_link *link)
{
	struct sockaddr_un address;
	const int yes = 1;
	socklen_t bytes;
	char name[64];

	if (!draw_name(name, sizeof(name)))
		return -EIO;
	bytes = dynolog_address(configured.folder, name, &address);
	if (!bytes)
		return -ENAMETOOLONG;
	/* Asks for the sender's credentials before anything can be received. */
	if (setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &yes, sizeof(yes)) < 0 ||
	    bind(fd, (struct sockaddr *)&address, bytes) < 0)
		return -errno;
	snprintf(link->path, sizeof(link->path), "%s", address.sun_path);
	return 0;
}

int dynolog_link_open(struct dynolog_link *link)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), err;

	*link = (struct dynolog_link){.socket = OWN_FD_NONE};
	if (fd < 0)
		return -errno;
	err = bind_to(fd, link);
	if (err < 0) {
		close(fd);
		return err;
	}
	link->socket = own_fd_take(fd);
	return 0;
}

void dynolog_link_close(struct dynolog_link *link, bool is_owner)
{
	own_fd_close(&link->socket);
	if (is_owner && *link->path)
		unlink(link->path);
}

/* ---- what is sent ---- */

static bool send_message(const struct dynolog_link *link, const char *type, const void *payload,
			 size_t bytes)
{
	struct dynolog_head head = {.bytes = bytes};
	struct iovec pieces[] = {{&head, sizeof(head)}, {(void *)payload, bytes}};
	struct sockaddr_un address;
	struct msghdr message = {.msg_name = &address, .msg_iov = pieces, .msg_iovlen = 2};

	snprintf(head.type, sizeof(head.type), "%s", type);
	message.msg_namelen = dynolog_address(configured.folder, DYNOLOG_DAEMON, &address);
	return message.msg_namelen &&
	       sendmsg(link->socket.fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) > 0;
}

/* The parent of process PID; 0: it cannot be told. */
static pid_t parent_of(pid_t pid)
{
	char path[32], text[512] = "";
	const char *behind_name;
	FILE *file;
	int parent = 0;

	snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	/* The process's name may hold spaces and parentheses. */
	behind_name = strrchr(text, ')');
	return behind_name && sscanf(behind_name, ") %*c %d", &parent) == 1 ? (pid_t)parent : 0;
}

static bool ask(const struct dynolog_link *link)
{
	struct dynolog_question question = {.kind = DYNOLOG_ACTIVITIES, .job = configured.job};

	for (pid_t pid = getpid(); pid > 0 && question.count < DYNOLOG_PIDS_MOST;
	     pid = parent_of(pid))
		question.pids[question.count++] = (int32_t)pid;
	return send_message(link, "req", &question,
			    offsetof(struct dynolog_question, pids) +
				    (size_t)question.count * sizeof(*question.pids));
}

void dynolog_link_ask(struct dynolog_link *link)
{
	const struct dynolog_registration registration = {
		.gpu = NO_GPU_KNOWN, .pid = (int32_t)getpid(), .job = configured.job};

	if (!link->is_registered)
		link->is_registered =
			send_message(link, "ctxt", &registration, sizeof(registration));
	if (link->is_registered)
		link->is_registered = ask(link);
}

/* ---- what is received ---- */

static bool is_allowed(struct msghdr *message)
{
	struct ucred sender;

	return datagram_sender(message, &sender) && (sender.uid == 0 || sender.uid == geteuid());
}

ssize_t dynolog_link_take(struct dynolog_link *link, char ret_text[DYNOLOG_TEXT_BYTES])
{
	struct dynolog_head head;
	struct iovec pieces[] = {{&head, sizeof(head)}, {ret_text, DYNOLOG_TEXT_BYTES}};
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(struct ucred))];
	struct msghdr message = {.msg_iov = pieces,
				 .msg_iovlen = 2,
				 .msg_control = control,
				 .msg_controllen = sizeof(control)};
	ssize_t got = recvmsg(link->socket.fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	if (got < 0)
		return errno == EINTR ? 0 : -EAGAIN;
	if ((size_t)got < sizeof(head) || message.msg_flags & MSG_TRUNC || !is_allowed(&message) ||
	    head.bytes != (size_t)got - sizeof(head) ||
	    strncmp(head.type, "req", DYNOLOG_TYPE_BYTES) != 0)
		return 0;
	return (ssize_t)head.bytes;
}

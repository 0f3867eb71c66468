/* /proc of the recorded process, and the client's end of its socket. */
#include "cli/control_link.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/timer.h"
#include "cli/launcher.h"

#define SPOOL_VARIABLE "DAGTAP_SPOOL="

/* ---- the process ---- */

/* Reads a file of /proc. The caller frees the result, which a zero byte follows; NULL with errno
 * set. */
static char *read_file(pid_t pid, const char *name, size_t *ret_bytes)
{
	char path[64], *text = NULL, piece[4096];
	FILE *out, *in;
	size_t got;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	in = fopen(path, "re");
	if (!in)
		return NULL;
	out = open_memstream(&text, ret_bytes);
	while (out && (got = fread(piece, 1, sizeof(piece), in)) > 0)
		fwrite(piece, 1, got, out);
	if (out && fclose(out) != 0) {
		free(text);
		text = NULL;
	}
	fclose(in);
	return text;
}

static int find_folder(pid_t pid, char **ret_folder, struct dagtap_error *error)
{
	const size_t name_bytes = sizeof(SPOOL_VARIABLE) - 1;
	size_t bytes = 0;
	char *text = read_file(pid, "environ", &bytes);
	const char *found = NULL;
	int err = 0;

	if (!text && (errno == ENOENT || errno == ESRCH))
		return dagtap_error_set(error, -ESRCH, "there is no process %d", (int)pid);
	if (!text)
		return dagtap_error_set(error, -errno, "process %d: %s", (int)pid, strerror(errno));
	for (const char *at = text; at < text + bytes && !found; at += strlen(at) + 1)
		if (!strncmp(at, SPOOL_VARIABLE, name_bytes))
			found = at + name_bytes;
	if (!found || *found != '/')
		err = dagtap_error_set(error, -ENOENT, "process %d is not recorded", (int)pid);
	else if (asprintf(ret_folder, "/proc/%d/root%s", (int)pid, found) < 0)
		err = dagtap_error_set(error, -ENOMEM, "out of memory");
	free(text);
	return err;
}

/* The last of the process's ids is the one in its own container. */
static pid_t find_inner_pid(pid_t pid)
{
	size_t bytes;
	char *text = read_file(pid, "status", &bytes), *line, *last;
	long inner = pid;

	line = text ? strstr(text, "\nNSpid:") : NULL;
	if (line) {
		line++;
		line[strcspn(line, "\n")] = '\0';
		last = strrchr(line, '\t');
		if (last)
			inner = strtol(last, NULL, 10);
	}
	free(text);
	return inner > 0 ? (pid_t)inner : pid;
}

int control_link_open(pid_t pid, struct control_link *ret_link, struct dagtap_error *error)
{
	struct control_link link = {.pid = pid, .folder_fd = -1};
	int err = find_folder(pid, &link.folder, error);

	if (err < 0)
		return err;
	link.inner_pid = find_inner_pid(pid);
	link.folder_fd = open(link.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (link.folder_fd < 0) {
		err = dagtap_error_set(error, -errno, "%s: %s", link.folder, strerror(errno));
		control_link_close(&link);
		return err;
	}
	*ret_link = link;
	return 0;
}

void control_link_close(struct control_link *link)
{
	if (link->folder_fd >= 0)
		close(link->folder_fd);
	free(link->folder);
	*link = (struct control_link){.folder_fd = -1};
}

/* ---- the socket ---- */

/* Checks that the process itself answers, and not another one that has its name. */
static int check_peer(const struct control_link *link, int fd, struct dagtap_error *error)
{
	struct ucred peer;
	socklen_t bytes = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) < 0)
		return dagtap_error_set(error, -errno, "process %d: %s", (int)link->pid,
					strerror(errno));
	if (peer.pid != link->pid || (geteuid() != 0 && peer.uid != geteuid()))
		return dagtap_error_set(error, -EPERM,
					"process %d: process %d of user %u has its socket",
					(int)link->pid, (int)peer.pid, (unsigned)peer.uid);
	return 0;
}

static int connect_to(const struct control_link *link, struct dagtap_error *error)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un address;
	int err = fd < 0 ? -errno : 0;

	if (err == 0) {
		control_address(link->folder_fd, link->inner_pid, &address);
		err = connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ? -errno : 0;
	}
	if (err == -ENOENT || err == -ECONNREFUSED)
		err = dagtap_error_set(error, err,
				       "process %d has no door: it was recorded without --control, "
				       "or has not used a GPU yet",
				       (int)link->pid);
	else if (err < 0)
		err = dagtap_error_set(error, err, "process %d: %s", (int)link->pid,
				       strerror(-err));
	else
		err = check_peer(link, fd, error);
	if (err < 0 && fd >= 0)
		close(fd);
	return err < 0 ? err : fd;
}

/* Waits for the answer. Returns its bytes; -ECONNRESET when the process has closed the socket. */
static ssize_t receive(int fd, void *bytes, size_t room)
{
	struct timer_limit limit = timer_start(TIMER_CONTROL_ANSWER);
	struct pollfd end = {.fd = fd, .events = POLLIN};
	ssize_t got;

	for (;;) {
		got = recv(fd, bytes, room, MSG_TRUNC);
		if (got > 0)
			return got;
		if (got == 0)
			return -ECONNRESET;
		if (errno != EAGAIN && errno != EINTR)
			return -errno;
		if (timer_is_over(limit))
			return -ETIMEDOUT;
		poll(&end, 1, 100);
	}
}

static int ask_once(const struct control_link *link, enum control_verb verb,
		    struct control_answer *ret_answer, struct dagtap_error *error)
{
	/* One byte more: an answer that is too long is noticed. */
	char bytes[sizeof(struct control_answer) + 1];
	struct control_request request;
	int fd = connect_to(link, error);
	ssize_t got;
	int err = 0;

	if (fd < 0)
		return fd;
	control_request_init(&request, verb);
	got = send(fd, &request, sizeof(request), MSG_NOSIGNAL) < 0
		      ? -errno
		      : receive(fd, bytes, sizeof(bytes));
	if (got == -EPIPE)
		got = -ECONNRESET;
	if (got == -ETIMEDOUT)
		err = dagtap_error_set(error, (int)got, "process %d does not answer",
				       (int)link->pid);
	else if (got < 0)
		err = dagtap_error_set(error, (int)got, "process %d: %s", (int)link->pid,
				       strerror((int)-got));
	else if (control_answer_read(bytes, (size_t)got, ret_answer) < 0)
		err = dagtap_error_set(error, -EPROTO,
				       "process %d: its answer is not that of dagtap %s",
				       (int)link->pid, DAGTAP_VERSION);
	close(fd);
	return err;
}

/* The process opens its door again when the program has closed the socket. */
static bool may_open_again(const struct control_link *link, int err)
{
	const struct timespec pause = {.tv_nsec = 10000000};

	if (err != -ECONNRESET && err != -ENOENT && err != -ECONNREFUSED)
		return false;
	nanosleep(&pause, NULL);
	return kill(link->pid, 0) == 0;
}

int control_link_ask(const struct control_link *link, enum control_verb verb,
		     struct control_answer *ret_answer, struct dagtap_error *error)
{
	int err = ask_once(link, verb, ret_answer, error);
	struct timer_limit limit;

	if (err != -ECONNRESET)
		return err;
	limit = timer_start(TIMER_CONTROL_REOPEN);
	do
		err = ask_once(link, verb, ret_answer, error);
	while (err < 0 && !timer_is_over(limit) && may_open_again(link, err));
	return err;
}

/* The socket of dagtap control, inside the recorded process; see control_door.h. */
#include "capture/control_door.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "capture/capture_session.h"
#include "capture/capture_switch.h"
#include "capture/env.h"
#include "capture/own_fd.h"
#include "record/control_message.h"

#define WHO	 "dagtap control"
#define RETRY_NS 100000000 /* after there was no descriptor or no memory */

static struct {
	char path[PATH_MAX];
	pid_t pid; /* that has opened it */
	struct own_fd listener;
	uint64_t retry_ns; /* the listener is left alone until then; 0: it is listed */
	struct own_fd clients[CONTROL_CLIENTS]; /* the oldest first */
	uint32_t client_count;
} door = {.listener = {.fd = -1}};

static bool is_wanted(void)
{
	return env_is_set(ENV_CONTROL) && strcmp(env_text(ENV_CONTROL), "0") != 0;
}

/* ---- the socket ---- */

/* Returns a descriptor of the folder, in which nobody but this user may make names; or a negative
 * errno. */
static int open_folder(const char *path)
{
	int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat status;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &status) == 0 && status.st_uid == geteuid() &&
	    !(status.st_mode & (S_IWGRP | S_IWOTH)))
		return fd;
	close(fd);
	return -EPERM;
}

/* Binds the socket FD in the folder that was checked. A socket with this name is a leftover of a
 * process that has ended: the name has our own pid. */
static int bind_in(int folder_fd, int fd)
{
	struct sockaddr_un address;

	control_address(folder_fd, getpid(), &address);
	unlinkat(folder_fd, strrchr(address.sun_path, '/') + 1, 0);
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(fd, CONTROL_CLIENTS) < 0)
		return -errno;
	return 0;
}

static int make_socket(const char *folder)
{
	int folder_fd = open_folder(folder), fd, err;

	if (folder_fd < 0)
		return folder_fd;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	err = fd < 0 ? -errno : bind_in(folder_fd, fd);
	close(folder_fd);
	if (err < 0 && fd >= 0)
		close(fd);
	return err < 0 ? err : fd;
}

static int open_door(void)
{
	const char *folder = env_text(ENV_SPOOL);
	int fd;

	if (!*folder || snprintf(door.path, sizeof(door.path), "%s/%ld" CONTROL_SUFFIX, folder,
				 (long)getpid()) >= (int)sizeof(door.path))
		return -ENAMETOOLONG;
	fd = make_socket(folder);
	if (fd < 0)
		return fd;
	door.listener = own_fd_take(fd);
	door.retry_ns = 0;
	door.pid = getpid();
	return 0;
}

static void retry_later(void)
{
	door.retry_ns = clock_now_ns() + RETRY_NS;
}

/* The program has closed the descriptor, or uses its number for a file of its own. */
static void open_again(void)
{
	own_fd_close(&door.listener);
	door.listener = own_fd_take(make_socket(env_text(ENV_SPOOL)));
	if (door.listener.fd < 0)
		retry_later();
}

/* ---- one request ---- */

static uint16_t carry_out(enum control_verb verb)
{
	switch (verb) {
	case CONTROL_START:
		return switch_start_now(WHO) ? CONTROL_OK : CONTROL_NOT_DONE;
	case CONTROL_STOP:
		switch_stop(WHO);
		return session_is_on() ? CONTROL_NOT_DONE : CONTROL_OK;
	default:
		return CONTROL_OK;
	}
}

static void describe(struct control_answer *answer)
{
	struct switch_status status;

	answer->pid = (uint32_t)getpid();
	if (!switch_read_status(&status)) {
		answer->result = CONTROL_BUSY;
		return;
	}
	answer->state = status.is_over ? CONTROL_OVER
			: status.is_on ? CONTROL_RECORDING
				       : CONTROL_DORMANT;
	answer->since_ns = status.since_ns;
	answer->recordings = status.recordings;
	answer->instances = status.instances;
	answer->selected = status.selected;
	answer->records = status.totals.stored;
	answer->lost = status.totals.lost;
	answer->overwritten = status.totals.overwritten;
	memcpy(answer->spool, status.spool, sizeof(answer->spool));
}

/* Sends no answer when the client has left, or reads nothing: nobody waits for it. */
static void answer_client(int fd, const void *bytes, size_t size)
{
	struct control_request request;
	struct control_answer answer;

	control_answer_init(&answer, CONTROL_MALFORMED);
	if (control_request_read(bytes, size, &request) == 0) {
		answer.result = carry_out((enum control_verb)request.verb);
		describe(&answer);
	}
	send(fd, &answer, sizeof(answer), MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* Returns whether the client is done with: it was answered, or has left. */
static bool take_request(int fd)
{
	/* One byte more than a request, and MSG_TRUNC: a packet that is too long is noticed. */
	char bytes[sizeof(struct control_request) + 1];
	ssize_t got = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT | MSG_TRUNC);

	if (got < 0)
		return errno != EAGAIN && errno != EINTR;
	if (got > 0)
		answer_client(fd, bytes, (size_t)got);
	return true;
}

/* ---- clients ---- */

static void remove_client(uint32_t at)
{
	own_fd_close(&door.clients[at]);
	door.client_count--;
	memmove(door.clients + at, door.clients + at + 1,
		(door.client_count - at) * sizeof(*door.clients));
}

static bool is_allowed(int fd)
{
	struct ucred peer;
	socklen_t bytes = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 &&
	       (peer.uid == geteuid() || peer.uid == 0);
}

static void accept_client(void)
{
	int fd = accept4(door.listener.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0) {
		/* The client is still there: poll would return at once. */
		if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
			retry_later();
		return;
	}
	if (!is_allowed(fd)) {
		close(fd);
		return;
	}
	if (door.client_count == CONTROL_CLIENTS)
		remove_client(0);
	door.clients[door.client_count++] = own_fd_take(fd);
}

/* ---- the table ---- */

static uint32_t list(struct pollfd *ends)
{
	ends[0] = (struct pollfd){.fd = door.retry_ns ? -1 : door.listener.fd, .events = POLLIN};
	for (uint32_t i = 0; i < door.client_count; i++)
		ends[i + 1] = (struct pollfd){.fd = door.clients[i].fd, .events = POLLIN};
	return door.client_count + 1;
}

static uint64_t due_ns(void)
{
	return door.retry_ns ? door.retry_ns : DOORS_NEVER;
}

static void serve_listener(short happened)
{
	if (door.retry_ns > clock_now_ns())
		return;
	door.retry_ns = 0;
	if (!own_fd_is_still(&door.listener))
		open_again();
	else if (happened)
		accept_client();
}

static void serve(const struct pollfd *ends, uint32_t count)
{
	/* From the last to the first: removing one does not move those before it. */
	for (uint32_t i = count - 1; i > 0; i--) {
		if (ends[i].revents && (!own_fd_is_still(&door.clients[i - 1]) ||
					take_request(door.clients[i - 1].fd)))
			remove_client(i - 1);
	}
	serve_listener(ends[0].revents);
}

static void forget_parent(void)
{
	while (door.client_count)
		remove_client(door.client_count - 1);
	own_fd_close(&door.listener);
	door.retry_ns = 0;
}

static void close_door(void)
{
	/* A child that has not run the handlers of fork is not the owner. */
	if (door.pid == getpid())
		unlink(door.path);
}

const struct door control_door = {
	.name = "dagtap control",
	.is_wanted = is_wanted,
	.open = open_door,
	.list = list,
	.due_ns = due_ns,
	.serve = serve,
	.forget_parent = forget_parent,
	.close = close_door,
};

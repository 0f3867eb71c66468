/* The socket, its thread, and as much of HTTP as a scraper needs: see metrics_door.h. */
#include "cli/metrics_door.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/timer.h"
#include "cli/cli_thread.h"
#include "stats/prometheus.h"

#define REQUEST_BYTES 4096
#define UNIX_PREFIX   "unix:"
#define LOOPBACK      "127.0.0.1:"

union address {
	struct sockaddr any;
	struct sockaddr_un local;
	struct sockaddr_in loopback;
};

struct metrics_door {
	metrics_write *write;
	void *context;
	char *address; /* owned */
	char *path;    /* owned; of a Unix socket; else NULL */
	dev_t device;  /* of what was bound at path */
	ino_t inode;
	int fd;
	int shut_fd; /* an eventfd: readable when the thread shall end */
	bool has_thread;
	pthread_t thread;
};

/* ---- the address ---- */

/* Returns the size of the address, or 0 if TEXT has another form. */
static socklen_t parse(const char *text, union address *ret_address)
{
	const char *path = text + strlen(UNIX_PREFIX);
	unsigned long port;
	char *end;

	memset(ret_address, 0, sizeof(*ret_address));
	if (!strncmp(text, UNIX_PREFIX, strlen(UNIX_PREFIX))) {
		if (!*path || strlen(path) >= sizeof(ret_address->local.sun_path))
			return 0;
		ret_address->local.sun_family = AF_UNIX;
		strcpy(ret_address->local.sun_path, path);
		return sizeof(ret_address->local);
	}
	if (strncmp(text, LOOPBACK, strlen(LOOPBACK)) != 0)
		return 0;
	text += strlen(LOOPBACK);
	if (*text < '0' || *text > '9')
		return 0;
	port = strtoul(text, &end, 10);
	if (*end || port > UINT16_MAX)
		return 0;
	ret_address->loopback.sin_family = AF_INET;
	ret_address->loopback.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	ret_address->loopback.sin_port = htons((uint16_t)port);
	return sizeof(ret_address->loopback);
}

bool metrics_address_is_sound(const char *address)
{
	union address unused;

	return parse(address, &unused) > 0;
}

/* ---- a client ---- */

/* The time up to LIMIT, for poll. */
static int timeout_of(struct timer_limit limit)
{
	uint64_t now = clock_now_ns();

	if (limit.end_ns == TIMER_NEVER)
		return -1;
	return limit.end_ns > now ? (int)((limit.end_ns - now) / 1000000 + 1) : 0;
}

/* Waits until FD can do EVENTS. Returns false at the limit, or when the door is closed. */
static bool await(const struct metrics_door *door, int fd, short events, struct timer_limit limit)
{
	struct pollfd ends[] = {{.fd = fd, .events = events},
				{.fd = door->shut_fd, .events = POLLIN}};

	if (timer_is_over(limit))
		return false;
	return poll(ends, 2, timeout_of(limit)) > 0 && !ends[1].revents && ends[0].revents;
}

/* Reads up to the end of the request's head. Returns false if it does not come, or is too long. */
static bool read_request(const struct metrics_door *door, int fd, char request[REQUEST_BYTES],
			 struct timer_limit limit)
{
	size_t got = 0;

	while (got < REQUEST_BYTES - 1) {
		ssize_t bytes;

		if (!await(door, fd, POLLIN, limit))
			return false;
		bytes = recv(fd, request + got, REQUEST_BYTES - 1 - got, MSG_DONTWAIT);
		if (bytes <= 0)
			return false;
		got += (size_t)bytes;
		request[got] = '\0';
		if (strstr(request, "\r\n\r\n") || strstr(request, "\n\n"))
			return true;
	}
	return false;
}

static void send_all(const struct metrics_door *door, int fd, const char *text, size_t bytes,
		     struct timer_limit limit)
{
	while (bytes && await(door, fd, POLLOUT, limit)) {
		ssize_t sent = send(fd, text, bytes, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (sent <= 0)
			return;
		text += sent;
		bytes -= (size_t)sent;
	}
}

static const char *status_of(const char *request)
{
	static const char *const paths[] = {"GET /metrics ", "GET /metrics?", "GET / "};

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		if (!strncmp(request, paths[i], strlen(paths[i])))
			return "200 OK";
	}
	return strncmp(request, "GET ", 4) != 0 ? "405 Method Not Allowed" : "404 Not Found";
}

static void answer(const struct metrics_door *door, int fd, const char *request,
		   struct timer_limit limit)
{
	const char *status = status_of(request);
	char *body = NULL, head[256];
	size_t bytes = 0;
	FILE *out = open_memstream(&body, &bytes);
	int err = out && *status == '2' ? door->write(door->context, out) : 0;

	if (!out)
		return;
	if (fclose(out) != 0 || err < 0) {
		status = "500 Internal Server Error";
		bytes = 0;
	}
	snprintf(head, sizeof(head),
		 "HTTP/1.1 %s\r\nContent-Type: " PROMETHEUS_CONTENT_TYPE
		 "\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n",
		 status, bytes);
	send_all(door, fd, head, strlen(head), limit);
	send_all(door, fd, body, bytes, limit);
	free(body);
}

static void serve(const struct metrics_door *door, int fd)
{
	struct timer_limit limit = timer_start(TIMER_METRICS_CLIENT);
	char request[REQUEST_BYTES];

	if (read_request(door, fd, request, limit))
		answer(door, fd, request, limit);
	close(fd);
}

/* Waits for a while, or until the door is closed: after an error of accept4, such as EMFILE, the
 * client stays in the queue, and poll would return at once again and again. */
static void pause_accepting(const struct metrics_door *door)
{
	struct timer_limit limit = timer_start(TIMER_METRICS_PAUSE);
	struct pollfd shut = {.fd = door->shut_fd, .events = POLLIN};

	poll(&shut, 1, timeout_of(limit));
}

static void *serve_all(void *context)
{
	const struct metrics_door *door = context;
	struct pollfd ends[] = {{.fd = door->fd, .events = POLLIN},
				{.fd = door->shut_fd, .events = POLLIN}};

	for (;;) {
		int fd;

		if (poll(ends, 2, -1) < 0 && errno != EINTR)
			return NULL;
		if (ends[1].revents)
			return NULL;
		fd = accept4(door->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd >= 0)
			serve(door, fd);
		else if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
			pause_accepting(door);
	}
}

/* ---- opening ---- */

static int start_thread(struct metrics_door *door)
{
	int err = cli_thread_start(&door->thread, serve_all, door);

	door->has_thread = !err;
	return err;
}

/* Locks the folder of PATH. Between another dagtap's bind and listen nobody listens at its socket
 * either. Returns a descriptor, which the caller closes, or -1: then no socket may be replaced. */
static int lock_folder(const char *path)
{
	const char *slash = strrchr(path, '/');
	char folder[sizeof(((struct sockaddr_un *)NULL)->sun_path)] = ".";
	struct timer_limit limit = timer_start(TIMER_METRICS_LOCK);
	int fd;

	if (slash)
		snprintf(folder, sizeof(folder), "%.*s", (int)(slash - path + 1), path);
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	while (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno == EWOULDBLOCK && !timer_is_over(limit)) {
			poll(NULL, 0, 1);
			continue;
		}
		close(fd);
		fd = -1;
	}
	return fd;
}

/* Whether the address is that of a Unix socket of ours at which nobody listens: its dagtap was
 * killed. */
static bool is_left(const union address *address, socklen_t bytes)
{
	struct stat status;
	int fd, code;

	if (address->any.sa_family != AF_UNIX || lstat(address->local.sun_path, &status) < 0 ||
	    !S_ISSOCK(status.st_mode) || status.st_uid != geteuid())
		return false;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return false;
	code = connect(fd, &address->any, bytes) < 0 ? errno : 0;
	close(fd);
	return code == ECONNREFUSED;
}

static int bind_to(int fd, const union address *address, socklen_t bytes, bool may_replace)
{
	if (bind(fd, &address->any, bytes) == 0)
		return 0;
	if (errno != EADDRINUSE)
		return -errno;
	if (!may_replace || !is_left(address, bytes))
		return -EADDRINUSE;
	unlink(address->local.sun_path);
	return bind(fd, &address->any, bytes) < 0 ? -errno : 0;
}

/* Keeps what was bound at PATH, for remove_socket. */
static int note_path(struct metrics_door *door, const char *path)
{
	struct stat status;

	door->path = strdup(path);
	if (!door->path)
		return -ENOMEM;
	if (lstat(path, &status) == 0) {
		door->device = status.st_dev;
		door->inode = status.st_ino;
	}
	return 0;
}

/* Somebody may have removed the socket and bound another one. The number of the inode is not used
 * again while the socket is open, and while it listens no dagtap replaces it. */
static void remove_socket(const struct metrics_door *door)
{
	struct stat status;

	if (door->path && lstat(door->path, &status) == 0 && status.st_dev == door->device &&
	    status.st_ino == door->inode)
		unlink(door->path);
}

/* A Unix socket is made so that only its user may connect. */
static int bind_and_listen(struct metrics_door *door, const union address *address, socklen_t bytes,
			   bool may_replace)
{
	mode_t before = umask(0177);
	const int yes = 1;
	int err = 0;

	/* Otherwise the last requests that were answered keep the port occupied for a minute. */
	if (address->any.sa_family == AF_INET &&
	    setsockopt(door->fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) < 0)
		err = -errno;
	if (err == 0)
		err = bind_to(door->fd, address, bytes, may_replace);
	umask(before);
	if (err == 0 && address->any.sa_family == AF_UNIX)
		err = note_path(door, address->local.sun_path);
	if (err == 0 && listen(door->fd, 8) < 0)
		err = -errno;
	return err;
}

/* The port may have been chosen by the system. */
static int tell_address(struct metrics_door *door, const char *text)
{
	struct sockaddr_in bound = {0};
	socklen_t bytes = sizeof(bound);

	if (door->path)
		door->address = strdup(text);
	else if (getsockname(door->fd, (struct sockaddr *)&bound, &bytes) < 0 ||
		 asprintf(&door->address, LOOPBACK "%u", ntohs(bound.sin_port)) < 0)
		door->address = NULL;
	return door->address ? 0 : -ENOMEM;
}

static int listen_at(struct metrics_door *door, const char *text)
{
	union address address;
	socklen_t bytes = parse(text, &address);
	int err, lock = -1;

	if (!bytes)
		return -EINVAL;
	door->fd = socket(address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	door->shut_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (door->fd < 0 || door->shut_fd < 0)
		return -errno;
	if (address.any.sa_family == AF_UNIX)
		lock = lock_folder(address.local.sun_path);
	err = bind_and_listen(door, &address, bytes, lock >= 0);
	if (lock >= 0)
		close(lock);
	if (err == 0)
		err = tell_address(door, text);
	return err == 0 ? start_thread(door) : err;
}

int metrics_door_open(const char *address, metrics_write *write, void *context,
		      struct metrics_door **ret_door, struct dagtap_error *error)
{
	struct metrics_door *door = calloc(1, sizeof(*door));
	int err;

	if (!door)
		return dagtap_error_set(error, -ENOMEM, "%s: out of memory", address);
	*door = (struct metrics_door){.write = write, .context = context, .fd = -1, .shut_fd = -1};
	err = listen_at(door, address);
	if (err < 0) {
		metrics_door_close(door);
		return dagtap_error_set(error, err, "--metrics %s: %s", address,
					strerrordesc_np(-err));
	}
	*ret_door = door;
	return 0;
}

const char *metrics_door_address(const struct metrics_door *door)
{
	return door->address;
}

void metrics_door_close(struct metrics_door *door)
{
	if (!door)
		return;
	if (door->has_thread) {
		eventfd_write(door->shut_fd, 1);
		pthread_join(door->thread, NULL);
	}
	remove_socket(door);
	if (door->fd >= 0)
		close(door->fd);
	if (door->shut_fd >= 0)
		close(door->shut_fd);
	free(door->path);
	free(door->address);
	free(door);
}

/* The door of dagtap control: a fork child has its own one, its thread waits when no descriptor is
 * left, and there is none in a folder in which others may write. */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>

#include <cmocka.h>

#include "capture/capture_session.h"
#include "capture/capture_switch.h"
#include "capture/doors.h"
#include "door_client.h"
#include "held_clock.h"
#include "in_child.h"

/* ---- fork ---- */

static unsigned count_sockets(void)
{
	unsigned count = 0;
	struct stat status;

	for (int fd = 0; fd < 256; fd++)
		count += fstat(fd, &status) == 0 && S_ISSOCK(status.st_mode);
	return count;
}

/* In the child. BEFORE: sockets that were there without a door. */
static void use_gpu_in_child(unsigned before)
{
	pid_t parent = getppid();

	expect(count_sockets() == before && door_connect(getpid()) < 0);
	expect(!session_start());
	expect(count_sockets() == before + 1);
	expect(door_ask(getpid(), CONTROL_START).state == CONTROL_RECORDING);
	expect(session_is_on());
	expect(door_ask(parent, CONTROL_STATUS).state == CONTROL_DORMANT);
	doors_close();
	_exit(0);
}

static void fork_with_a_door(void)
{
	unsigned before = count_sockets();
	int status;
	pid_t pid;

	setenv("DAGTAP_TIMERS", "limits=never", 1);
	door_arm();
	expect(door_ask(getpid(), CONTROL_STATUS).state == CONTROL_DORMANT);
	/* Its answer may be there before the client's end is closed. */
	while (count_sockets() != before + 1)
		sched_yield();
	pid = fork();
	if (!pid)
		use_gpu_in_child(before);
	expect(waitpid(pid, &status, 0) == pid && status == 0);
	expect(door_ask(getpid(), CONTROL_STATUS).recordings == 0);
	doors_close();
	expect(door_connect(getpid()) < 0);
}

static void a_child_has_its_own_door(void **state)
{
	const struct fixture *fixture = *state;

#ifdef __SANITIZE_THREAD__
	skip(); /* it does not support threads that are started after a fork with threads */
#endif
	assert_int_equal(in_child(fixture->folder, fork_with_a_door), 0);
	assert_int_equal(fixture_files(fixture, NULL, 0), 1);
}

/* ---- no descriptor is left ---- */

static struct clock_page *page;
static _Atomic bool fails_accept, fails_socket, fails_poll; /* once */
static _Thread_local bool has_failed_poll;
static _Atomic unsigned pauses; /* after a poll that failed */
static _Atomic unsigned polls_after_failure;
static _Atomic bool is_listed; /* the listener, in one of them */

static void fail_once(_Atomic bool *fails)
{
	atomic_store(fails, true);
	atomic_store(&polls_after_failure, 0);
	atomic_store(&is_listed, false);
}

/* The door's calls of the C library; the test's own sockets block. */
int __real_accept4(int fd, struct sockaddr *address, socklen_t *bytes, int flags);
int __wrap_accept4(int fd, struct sockaddr *address, socklen_t *bytes, int flags);
int __wrap_accept4(int fd, struct sockaddr *address, socklen_t *bytes, int flags)
{
	if (!atomic_exchange(&fails_accept, false))
		return __real_accept4(fd, address, bytes, flags);
	errno = EMFILE;
	return -1;
}

int __real_socket(int domain, int type, int protocol);
int __wrap_socket(int domain, int type, int protocol);
int __wrap_socket(int domain, int type, int protocol)
{
	if (!(type & SOCK_NONBLOCK) || !atomic_exchange(&fails_socket, false))
		return __real_socket(domain, type, protocol);
	errno = EMFILE;
	return -1;
}

int __real_poll(struct pollfd *ends, nfds_t count, int timeout);
int __wrap_poll(struct pollfd *ends, nfds_t count, int timeout);
int __wrap_poll(struct pollfd *ends, nfds_t count, int timeout)
{
	if (!atomic_load(&fails_accept) && !atomic_load(&fails_socket)) {
		if (ends[0].fd >= 0)
			atomic_store(&is_listed, true);
		atomic_fetch_add(&polls_after_failure, 1);
	}
	has_failed_poll = atomic_exchange(&fails_poll, false);
	if (!has_failed_poll)
		return __real_poll(ends, count, timeout);
	errno = EINVAL;
	return -1;
}

int __real_nanosleep(const struct timespec *time, struct timespec *ret_left);
int __wrap_nanosleep(const struct timespec *time, struct timespec *ret_left);
int __wrap_nanosleep(const struct timespec *time, struct timespec *ret_left)
{
	if (!has_failed_poll)
		return __real_nanosleep(time, ret_left);
	atomic_fetch_add(&pauses, 1);
	return 0;
}

/* The thread must not be woken by the listener until the time has passed. */
static void await_retry(void)
{
	while (atomic_load(&polls_after_failure) < 3)
		sched_yield();
	expect(!atomic_load(&is_listed));
	clock_step(page, 100000000);
	while (!atomic_load(&is_listed))
		sched_yield();
}

static int find_listener(void)
{
	int is_listener = 0, fd;

	for (fd = 0; fd < 256 && !is_listener; fd++) {
		socklen_t bytes = sizeof(is_listener);

		if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &is_listener, &bytes) < 0)
			is_listener = 0;
	}
	expect(is_listener);
	return fd - 1;
}

static void run_out_of_descriptors(void)
{
	struct control_request request;
	struct control_answer answer;
	int client;

	page = held_clock();
	setenv("DAGTAP_TIMERS", "limits=never", 1);
	door_arm();
	fail_once(&fails_accept);
	client = door_connect(getpid());
	control_request_init(&request, CONTROL_STATUS);
	expect(client >= 0 && send(client, &request, sizeof(request), 0) == sizeof(request));
	await_retry();
	expect(recv(client, &answer, sizeof(answer), 0) == sizeof(answer));
	close(client);

	/* The program closes the listener, and no other one can be made at once. A client wakes the
	 * thread: the listener is there until poll returns. */
	fail_once(&fails_socket);
	close(find_listener());
	client = door_connect(getpid());
	await_retry();
	close(client);
	expect(door_ask(getpid(), CONTROL_STATUS).result == CONTROL_OK);

	fail_once(&fails_poll);
	expect(door_ask(getpid(), CONTROL_STATUS).result == CONTROL_OK);
	while (!atomic_load(&pauses))
		sched_yield();
	expect(door_ask(getpid(), CONTROL_STATUS).result == CONTROL_OK);
	doors_close();
}

static void the_thread_waits_when_no_descriptor_is_left(void **state)
{
	const struct fixture *fixture = *state;

#ifdef __SANITIZE_THREAD__
	skip(); /* it takes the use of a number whose descriptor the program closed for a race */
#endif
	assert_int_equal(in_child(fixture->folder, run_out_of_descriptors), 0);
}

/* ---- where the door may be ---- */

static void come_into_an_open_folder(void)
{
	door_arm();
	expect(door_connect(getpid()) < 0);
	expect(switch_start("test"));
}

static void no_door_is_made_where_others_may_write(void **state)
{
	const struct fixture *fixture = *state;

	assert_int_equal(chmod(fixture->folder, 0777), 0);
	assert_int_equal(in_child(fixture->folder, come_into_an_open_folder), 0);
	assert_int_equal(fixture_files(fixture, NULL, 0), 1);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, door_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_child_has_its_own_door),
		CASE(the_thread_waits_when_no_descriptor_is_left),
		CASE(no_door_is_made_where_others_may_write),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * test_capture_doors [EVENTS]: starts and stops of a recording by every door, at random moments,
 * while threads put records: every record that was taken is in a spool, and none is there twice. A
 * fork child has no door of its parent's.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include <cmocka.h>

#include "base/clock.h"
#include "capture/capture_session.h"
#include "capture/capture_switch.h"
#include "capture/doors.h"
#include "capture/scope.h"
#include "held_clock.h"
#include "in_child.h"
#include "record/control_message.h"

/* Fewer under a sanitizer. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define EVENTS_SHORT 96
#else
#define EVENTS_SHORT 1000
#endif
#define WORKERS 2
#define DOORS	4 /* threads that have events */

/* Records that a worker puts into one recording: how many the files hold depends on the number of
 * recordings, not on how long each lasts. */
#define RECORDS_MOST 10000

static unsigned events = EVENTS_SHORT;

static int small_setup(void **state)
{
	setenv("DAGTAP_READY", "4M", 1);
	return fixture_setup(state);
}

static void arm(void)
{
	setenv("DAGTAP_WAIT", "1", 1);
	setenv("DAGTAP_CAPTURE_RANGE", "step", 1);
	setenv("DAGTAP_CONTROL", "1", 1);
	session_arm();
	switch_configure();
	expect(!session_start());
}

/* ---- the client of dagtap control ---- */

static int connect_to(pid_t pid)
{
	const char *folder = getenv("DAGTAP_SPOOL");
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	int folder_fd = open(folder, O_PATH | O_CLOEXEC);
	struct sockaddr_un address;

	control_address(folder_fd, pid, &address);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		close(fd);
		fd = -1;
	}
	close(folder_fd);
	return fd;
}

static struct control_answer ask(pid_t pid, enum control_verb verb)
{
	char bytes[sizeof(struct control_answer) + 1];
	struct control_request request;
	struct control_answer answer;
	int fd = connect_to(pid);
	ssize_t got;

	expect(fd >= 0);
	control_request_init(&request, verb);
	expect(send(fd, &request, sizeof(request), MSG_NOSIGNAL) == sizeof(request));
	while ((got = recv(fd, bytes, sizeof(bytes), MSG_TRUNC)) < 0 && errno == EINTR)
		;
	expect(got > 0 && !control_answer_read(bytes, (size_t)got, &answer));
	close(fd);
	return answer;
}

/* ---- dynolog's daemon ---- */

/* A datagram of dynolog's: how long what follows is, and its type. */
struct datagram_head {
	uint64_t bytes;
	char type[32];
};

static const char *const requests[] = {
	"ACTIVITIES_DURATION_MSECS=1\n",
	"ACTIVITIES_ITERATIONS=1\n",
	"ACTIVITIES_ITERATIONS=3\nPROFILE_START_ITERATION=5\nPROFILE_START_ITERATION_ROUNDUP=2\n",
};

static struct {
	char folder[32];
	int fd;
	pthread_t thread;
	_Atomic(const char *) request; /* handed out once */
	_Atomic unsigned asked;	       /* how often the door has asked for one */
	_Atomic bool is_over;
} daemon_of_dynolog;

static void answer_door(const struct datagram_head *asked, const struct sockaddr_un *door,
			socklen_t door_bytes)
{
	bool is_question = !strcmp(asked->type, "req");
	const char *text = is_question ? atomic_exchange(&daemon_of_dynolog.request, NULL) : NULL;
	struct {
		struct datagram_head head;
		char text[128];
	} answer = {0};

	memcpy(answer.head.type, asked->type, sizeof(answer.head.type));
	answer.head.bytes = text ? strlen(text) : 0;
	memcpy(answer.text, text ? text : "", answer.head.bytes);
	sendto(daemon_of_dynolog.fd, &answer, sizeof(answer.head) + answer.head.bytes, 0,
	       (const struct sockaddr *)door, door_bytes);
	if (is_question)
		atomic_fetch_add(&daemon_of_dynolog.asked, 1);
}

static void *serve_door(void *unused)
{
	while (!atomic_load(&daemon_of_dynolog.is_over)) {
		struct sockaddr_un door;
		socklen_t door_bytes = sizeof(door);
		char bytes[512] = "";

		if (recvfrom(daemon_of_dynolog.fd, bytes, sizeof(bytes), 0,
			     (struct sockaddr *)&door,
			     &door_bytes) >= (ssize_t)sizeof(struct datagram_head))
			answer_door((const struct datagram_head *)bytes, &door, door_bytes);
	}
	return unused;
}

static void start_daemon(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	strcpy(daemon_of_dynolog.folder, "/tmp/dt-XXXXXX");
	expect(mkdtemp(daemon_of_dynolog.folder));
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/dynolog",
		 daemon_of_dynolog.folder);
	daemon_of_dynolog.fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	expect(!bind(daemon_of_dynolog.fd, (struct sockaddr *)&address, sizeof(address)));
	expect(!pthread_create(&daemon_of_dynolog.thread, NULL, serve_door, NULL));
	setenv("KINETO_IPC_SOCKET_DIR", daemon_of_dynolog.folder, 1);
	setenv("DAGTAP_DYNOLOG", "1", 1);
}

/* The door looks at the time and at iterations before it asks, and asks no more often than once in
 * the time that a request lasts. So after three questions nothing of an earlier request is left
 * that could begin or end a recording, once that one is stopped. */
static void await_questions(unsigned count)
{
	unsigned before = atomic_load(&daemon_of_dynolog.asked);

	while (atomic_load(&daemon_of_dynolog.asked) < before + count)
		sched_yield();
}

static void end_daemon(void)
{
	char path[64];

	/* Its next datagram, if only a question, ends the thread. */
	atomic_store(&daemon_of_dynolog.is_over, true);
	expect(!pthread_join(daemon_of_dynolog.thread, NULL));
	doors_close();
	close(daemon_of_dynolog.fd);
	snprintf(path, sizeof(path), "%s/dynolog", daemon_of_dynolog.folder);
	unlink(path);
	/* The door's socket is removed, too. */
	expect(!rmdir(daemon_of_dynolog.folder));
}

static void record_for_dynolog(void)
{
	uint32_t number = session_current_number();

	atomic_store(&daemon_of_dynolog.request, requests[0]);
	while (session_current_number() == number || session_is_on())
		sched_yield();
	await_questions(3);
}

/* ---- events ---- */

static _Atomic uint64_t stored; /* records that the workers have put */
static _Atomic bool is_over;

static void *put_records(void *unused)
{
	const struct timespec pause = {.tv_nsec = 20000};
	uint32_t session = UINT32_MAX, left = 0;

	for (uint64_t i = 0; !atomic_load(&is_over); i++) {
		uint32_t current = session_current_number();

		if (session != current)
			left = RECORDS_MOST;
		session = current;
		if (session_is_on() && left && fixture_put(session_writer(), i, i % 8)) {
			atomic_fetch_add(&stored, 1);
			left--;
		}
		if (!session_is_on() || !left || i % 64 == 0)
			nanosleep(&pause, NULL);
	}
	return unused;
}

/* What `dagtap control PID snapshot` does: reads the spool up to one moment. */
static void read_snapshot(void)
{
	struct control_answer answer = ask(getpid(), CONTROL_STATUS);
	char path[2 * TEST_PATH_BYTES];
	struct spool_reader *reader;

	expect(answer.result == CONTROL_OK);
	if (answer.state != CONTROL_RECORDING)
		return;
	snprintf(path, sizeof(path), "%s/%s", getenv("DAGTAP_SPOOL"), answer.spool);
	expect(!spool_reader_open(path, &reader, NULL));
	expect(!fixture_damage_count(reader));
	spool_reader_close(reader);
}

static void have_event(uint64_t drawn, uint64_t *range)
{
	switch (drawn % 14) {
	case 0:
	case 1:
		switch_profiler_start("hipProfilerStart");
		break;
	case 2:
	case 3:
		switch_profiler_stop("hipProfilerStop");
		break;
	case 4:
		switch_start("dagtap_session_start");
		break;
	case 5:
		switch_stop("dagtap_session_stop");
		break;
	case 6:
		expect(ask(getpid(), CONTROL_START).result != CONTROL_MALFORMED);
		break;
	case 7:
		expect(ask(getpid(), CONTROL_STOP).result != CONTROL_MALFORMED);
		break;
	case 8:
		read_snapshot();
		break;
	case 9:
		scope_push(RECORD_SCOPE_DAGTAP, "step");
		break;
	case 10:
		scope_pop(RECORD_SCOPE_DAGTAP);
		break;
	case 11:
	case 12:
		atomic_store(&daemon_of_dynolog.request, requests[drawn / 14 % 3]);
		break;
	default:
		scope_range_stop(*range);
		*range = scope_range_start("step");
	}
}

static void *have_events(void *context)
{
	uint64_t seed = test_seed() * 1000 + (uint64_t)(uintptr_t)context, range = 0;

	for (unsigned i = 0; i < events / DOORS; i++) {
		uint64_t drawn = fixture_random(&seed);

		for (uint64_t pause = drawn >> 8 & 31; pause; pause--)
			sched_yield();
		have_event(drawn >> 16, &range);
	}
	scope_range_stop(range);
	return NULL;
}

static unsigned count_descriptors(void)
{
	DIR *folder = opendir("/proc/self/fd");
	unsigned count = 0;

	while (readdir(folder))
		count++;
	closedir(folder);
	return count;
}

static void join_all(pthread_t *threads, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		expect(!pthread_join(threads[i], NULL));
}

static int results[2]; /* a pipe */

static void record_once(void)
{
	expect(switch_start("test"));
	switch_stop("test");
	expect(!session_is_on());
}

static void start_and_stop_by_every_door(void)
{
	pthread_t workers[WORKERS], doors[DOORS];
	unsigned descriptors;
	uint64_t count;

	setenv("DAGTAP_TIMERS", "limits=never,dynolog_poll=1000000", 1);
	start_daemon();
	arm();
	descriptors = count_descriptors();
	record_once();
	record_for_dynolog();
	for (unsigned i = 0; i < WORKERS; i++)
		expect(!pthread_create(&workers[i], NULL, put_records, NULL));
	for (uintptr_t i = 0; i < DOORS; i++)
		expect(!pthread_create(&doors[i], NULL, have_events, (void *)i));
	join_all(doors, DOORS);
	atomic_store(&daemon_of_dynolog.request, NULL);
	await_questions(2);
	/* The door has read the answer of the first one: one thread serves both doors in turn. */
	ask(getpid(), CONTROL_STATUS);
	switch_stop("test");
	expect(!session_is_on());
	await_questions(3);
	atomic_store(&is_over, true);
	join_all(workers, WORKERS);
	record_once();
	/* The door closes a client's descriptor after it has answered. */
	while (count_descriptors() > descriptors)
		sched_yield();
	end_daemon();
	count = atomic_load(&stored);
	expect(write(results[1], &count, sizeof(count)) == sizeof(count));
}

static void every_record_is_in_one_spool(void **state)
{
	const struct fixture *fixture = *state;
	uint64_t count, records;
	uint32_t sessions;

	assert_int_equal(pipe(results), 0);
	assert_int_equal(in_child(fixture->folder, start_and_stop_by_every_door), 0);
	assert_int_equal(read(results[0], &count, sizeof(count)), sizeof(count));
	close(results[0]);
	close(results[1]);
	/* No other file is left: the socket is removed. */
	records = fixture_count_sessions(fixture, &sessions);
	/* Three are certain; how many the threads make depends on their order. */
	assert_true(sessions >= 3);
	assert_int_equal(records, count);
}

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

	expect(count_sockets() == before && connect_to(getpid()) < 0);
	expect(!session_start());
	expect(count_sockets() == before + 1);
	expect(ask(getpid(), CONTROL_START).state == CONTROL_RECORDING);
	expect(session_is_on());
	expect(ask(parent, CONTROL_STATUS).state == CONTROL_DORMANT);
	doors_close();
	_exit(0);
}

static void fork_with_a_door(void)
{
	unsigned before = count_sockets();
	int status;
	pid_t pid;

	setenv("DAGTAP_TIMERS", "limits=never", 1);
	arm();
	expect(ask(getpid(), CONTROL_STATUS).state == CONTROL_DORMANT);
	/* Its answer may be there before the client's end is closed. */
	while (count_sockets() != before + 1)
		sched_yield();
	pid = fork();
	if (!pid)
		use_gpu_in_child(before);
	expect(waitpid(pid, &status, 0) == pid && status == 0);
	expect(ask(getpid(), CONTROL_STATUS).recordings == 0);
	doors_close();
	expect(connect_to(getpid()) < 0);
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
	arm();
	fail_once(&fails_accept);
	client = connect_to(getpid());
	control_request_init(&request, CONTROL_STATUS);
	expect(client >= 0 && send(client, &request, sizeof(request), 0) == sizeof(request));
	await_retry();
	expect(recv(client, &answer, sizeof(answer), 0) == sizeof(answer));
	close(client);

	/* The program closes the listener, and no other one can be made at once. A client wakes the
	 * thread: the listener is there until poll returns. */
	fail_once(&fails_socket);
	close(find_listener());
	client = connect_to(getpid());
	await_retry();
	close(client);
	expect(ask(getpid(), CONTROL_STATUS).result == CONTROL_OK);

	fail_once(&fails_poll);
	expect(ask(getpid(), CONTROL_STATUS).result == CONTROL_OK);
	while (!atomic_load(&pauses))
		sched_yield();
	expect(ask(getpid(), CONTROL_STATUS).result == CONTROL_OK);
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
	arm();
	expect(connect_to(getpid()) < 0);
	expect(switch_start("test"));
}

static void no_door_is_made_where_others_may_write(void **state)
{
	const struct fixture *fixture = *state;

	assert_int_equal(chmod(fixture->folder, 0777), 0);
	assert_int_equal(in_child(fixture->folder, come_into_an_open_folder), 0);
	assert_int_equal(fixture_files(fixture, NULL, 0), 1);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, small_setup, fixture_teardown)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(every_record_is_in_one_spool),
		CASE(a_child_has_its_own_door),
		CASE(the_thread_waits_when_no_descriptor_is_left),
		CASE(no_door_is_made_where_others_may_write),
	};

	if (argc > 1)
		events = (unsigned)strtoul(argv[1], NULL, 10);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

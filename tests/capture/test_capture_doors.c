/*
 * test_capture_doors [EVENTS]: starts and stops of a recording by every door, at random moments,
 * while threads put records: every record that was taken is in a spool, and none is there twice.
 */
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

#include <cmocka.h>

#include "capture/capture_session.h"
#include "capture/capture_switch.h"
#include "capture/doors.h"
#include "capture/scope.h"
#include "door_client.h"
#include "in_child.h"

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
	struct control_answer answer = door_ask(getpid(), CONTROL_STATUS);
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
		expect(door_ask(getpid(), CONTROL_START).result != CONTROL_MALFORMED);
		break;
	case 7:
		expect(door_ask(getpid(), CONTROL_STOP).result != CONTROL_MALFORMED);
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
	door_arm();
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
	door_ask(getpid(), CONTROL_STATUS);
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

#define CASE(name) cmocka_unit_test_setup_teardown(name, door_setup, fixture_teardown)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(every_record_is_in_one_spool),
	};

	if (argc > 1)
		events = (unsigned)strtoul(argv[1], NULL, 10);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

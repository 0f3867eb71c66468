/*
 * dynolog's text, the names of its files, and a request through abstract sockets.
 * tests/cli/dynolog.py has the rest of the protocol.
 */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

#include <cmocka.h>

#include "capture/capture_session.h"
#include "capture/capture_switch.h"
#include "capture/doors.h"
#include "capture/dynolog_config.h"
#include "in_child.h"

static struct dynolog_config config;

static bool read_text(const char *text)
{
	return dynolog_config_read(text, strlen(text), &config);
}

static void a_request_is_read(void **state)
{
	assert_true(read_text("# a comment=1\nPROFILE_START_TIME=1700000000123\r\n"
			      "  ACTIVITIES_DURATION_MSECS = 250\n\nNO_SUCH_KEY=x\n"
			      "ACTIVITIES_LOG_FILE=file:///tmp/a=b.json\nREQUEST_TRACE_ID=7"));
	assert_int_equal(config.start_ms, 1700000000123);
	assert_int_equal(config.duration_ms, 250);
	assert_string_equal(config.log_file, "/tmp/a=b.json");
	assert_int_equal(config.iterations, 0);
}

static void what_is_missing_is_kinetos_default(void **state)
{
	assert_true(read_text("ACTIVITIES_DURATION_MSECS=-5\nPROFILE_START_TIME=soon"));
	assert_int_equal(config.start_ms, 0);
	assert_int_equal(config.duration_ms, DYNOLOG_DURATION_MS);
	assert_string_equal(config.log_file, "");
	assert_false(read_text(""));
	assert_false(read_text("no request\n#x=1\n"));
	assert_true(read_text("ACTIVITIES_ITERATIONS=3"));
	assert_int_equal(config.iterations, 3);
	assert_int_equal(config.first_iteration, 0);
	assert_int_equal(config.round_up, 1);
	assert_false(config.has_duration);
	assert_true(read_text("ACTIVITIES_ITERATIONS=3\nACTIVITIES_DURATION_MSECS=9\n"
			      "PROFILE_START_ITERATION=-1\nPROFILE_START_ITERATION_ROUNDUP=100"));
	assert_int_equal(config.first_iteration, 0);
	assert_int_equal(config.round_up, 100);
	assert_true(config.has_duration);
}

static void any_bytes_are_a_text(void **state)
{
	static const char *const parts[] = {"ACTIVITIES_LOG_FILE",
					    "PROFILE_START_TIME",
					    "ACTIVITIES_DURATION_MSECS",
					    "=",
					    "\n",
					    "file://",
					    "999999999999999999999",
					    "#",
					    " "};
	uint64_t seed = test_seed();

	for (int i = 0; i < 20000; i++) {
		/* Of the exact size, so that AddressSanitizer sees what is read behind it. */
		size_t size = fixture_random(&seed) % 200;
		char *bytes = malloc(size ? size : 1);

		for (size_t at = 0; at < size; at++)
			bytes[at] = (char)(fixture_random(&seed) >> 13);
		for (int part = 0; part < 8; part++) {
			const char *text = parts[fixture_random(&seed) % 9];
			size_t length = strlen(text);

			if (length < size)
				memcpy(bytes + fixture_random(&seed) % (size - length), text,
				       length);
		}
		if (dynolog_config_read(bytes, size, &config))
			assert_true(config.duration_ms > 0 && strlen(config.log_file) < size);
		free(bytes);
	}
}

static void assert_name(const char *log_file, const char *expected)
{
	char name[PATH_MAX];

	assert_true(dynolog_output_name(log_file, "/home", 42, name));
	assert_string_equal(name, expected);
}

static void files_are_named_as_kinetos(void **state)
{
	char name[PATH_MAX], longest[PATH_MAX];

	assert_name("/tmp/t.json", "/tmp/t_42.json");
	assert_name("/tmp/t.json.gz", "/tmp/t_42.json.gz");
	assert_name("/a.json/t", "/a_42.json/t");
	assert_name("t", "/home/t_42");
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	assert_false(dynolog_output_name(longest, "/home", 42, name));
}

/* ---- a daemon with an abstract name ---- */

static int open_daemon(void)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	/* A zero byte before the name, and one that is its last. */
	strcpy(address.sun_path + 1, "dynolog");
	expect(!bind(fd, (struct sockaddr *)&address, sizeof(sa_family_t) + 1 + 7 + 1));
	return fd;
}

/* Receives datagrams until one of TYPE comes, which must be for job 77, and answers it with
 * TEXT. */
static void answer(int fd, const char *type, const char *text)
{
	struct {
		uint64_t bytes;
		char type[32];
		char payload[256];
	} message;
	struct sockaddr_un client;
	socklen_t client_bytes;
	int64_t job;

	do {
		client_bytes = sizeof(client);
		expect(recvfrom(fd, &message, sizeof(message), 0, (struct sockaddr *)&client,
				&client_bytes) >= 40);
	} while (strcmp(message.type, type) != 0);
	expect(!memcmp(client.sun_path, "\0dynoconfigclient", 17));
	/* Behind two numbers of 32 bits in both types. */
	memcpy(&job, message.payload + 8, sizeof(job));
	expect(job == 77);
	message.bytes = strlen(text);
	memcpy(message.payload, text, strlen(text));
	expect(sendto(fd, &message, 40 + strlen(text), 0, (struct sockaddr *)&client,
		      client_bytes) > 0);
}

/* Abstract names belong to a network namespace. */
static void request_in_a_namespace(void)
{
	const struct timespec pause = {.tv_nsec = 100000};
	int fd;

	if (unshare(CLONE_NEWNET) && unshare(CLONE_NEWUSER | CLONE_NEWNET))
		_exit(77);
	fd = open_daemon();
	unsetenv("KINETO_IPC_SOCKET_DIR");
	setenv("SLURM_JOB_ID", "77", 1);
	setenv("DAGTAP_DYNOLOG", "1", 1);
	setenv("DAGTAP_READY", "4M", 1);
	session_arm();
	switch_configure();
	/* The program's later changes are not seen. */
	setenv("SLURM_JOB_ID", "78", 1);
	setenv("KINETO_IPC_SOCKET_DIR", "/nonexistent", 1);
	expect(!session_start());
	answer(fd, "ctxt", "\1");
	answer(fd, "req", "ACTIVITIES_DURATION_MSECS=100000000\n");
	while (!session_is_on())
		nanosleep(&pause, NULL);
	doors_close();
}

static void a_request_comes_through_abstract_sockets(void **state)
{
	const struct fixture *fixture = *state;
	int status = in_child(fixture->folder, request_in_a_namespace);

	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip(); /* no namespace may be made here */
	assert_int_equal(status, 0);
	assert_int_equal(fixture_files(fixture, NULL, 0), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_request_is_read),
		cmocka_unit_test(what_is_missing_is_kinetos_default),
		cmocka_unit_test(any_bytes_are_a_text),
		cmocka_unit_test(files_are_named_as_kinetos),
		cmocka_unit_test_setup_teardown(a_request_comes_through_abstract_sockets,
						fixture_setup, fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

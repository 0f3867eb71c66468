/* libdagtap and ROCTX together with the injected library, loaded as `dagtap record` loads it. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "spool_fixture.h"

enum door { NO_DOOR, PRELOADED };

/* AddressSanitizer's runtime must be the first preloaded library; this variable holds its path. */
static void set_preload(const char *inject)
{
	const char *sanitizer = getenv("DAGTAP_TEST_PRELOAD");
	char list[1024];

	snprintf(list, sizeof(list), "%s %s", sanitizer ? sanitizer : "", inject);
	setenv("LD_PRELOAD", list, 1);
}

static int run(const char *program, const char *mode, enum door door, const char *folder)
{
	int status;
	pid_t pid = fork();
	char inject[512];
	char path[2 * TEST_PATH_BYTES];

	if (!pid) {
		snprintf(path, sizeof(path), "%s/tests/%s", getenv("BUILD_DIR"), program);
		snprintf(inject, sizeof(inject), "%s/lib/dagtap/libdagtap-inject.so",
			 getenv("BUILD_DIR"));
		setenv("INJECT", inject, 1);
		if (door == PRELOADED)
			set_preload(inject);
		if (folder)
			setenv("DAGTAP_SPOOL", folder, 1);
		execl(path, program, mode, (char *)0);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void without_the_tool_calls_do_nothing(void **state)
{
	assert_int_equal(run("annotated", "untraced", NO_DOOR, NULL), 0);
	assert_int_equal(run("annotated_beside_roctx", "untraced", NO_DOOR, NULL), 0);
}

static void without_a_folder_calls_do_nothing(void **state)
{
	assert_int_equal(run("annotated", "untraced", PRELOADED, NULL), 0);
	assert_int_equal(run("annotated_beside_roctx", "untraced", PRELOADED, NULL), 0);
}

static void annotations_alone_leave_no_file(void **state)
{
	const struct fixture *fixture = *state;

	assert_int_equal(run("annotated", "idle", PRELOADED, fixture->folder), 0);
	assert_int_equal(fixture_files(fixture, NULL, 0), 0);
}

static void scopes_reach_the_spool(void **state)
{
	const struct fixture *fixture = *state;
	struct spool_reader *reader;

	assert_int_equal(run("annotated", "traced", PRELOADED, fixture->folder), 0);
	reader = fixture_read(fixture);
	assert_true(spool_reader_info(reader)->closed);
	/*
	 * outer, inner, r0, r1, mark and two ranges; one range is never stopped, and a mark has no
	 * end.
	 */
	assert_int_equal(fixture_count(reader, RECORD_SCOPE), 7);
	assert_int_equal(fixture_count(reader, RECORD_SCOPE_END), 5);
	assert_int_equal(fixture_count(reader, RECORD_NOTE), 1);
	fixture_assert_sound(reader);
	spool_reader_close(reader);
}

static void a_stopped_recording_can_be_followed_by_another(void **state)
{
	const struct fixture *fixture = *state;

	assert_int_equal(run("annotated", "restarted", PRELOADED, fixture->folder), 0);
	assert_int_equal(fixture_files(fixture, NULL, 0), 2);
}

static void a_library_that_comes_late_is_found(void **state)
{
	const struct fixture *fixture = *state;
	struct spool_reader *reader;

	assert_int_equal(run("annotated", "late", NO_DOOR, fixture->folder), 0);
	reader = fixture_read(fixture);
	assert_true(spool_reader_info(reader)->closed);
	assert_int_equal(fixture_count(reader, RECORD_SCOPE), 1);
	assert_int_equal(fixture_count(reader, RECORD_SCOPE_END), 1);
	spool_reader_close(reader);
}

static void a_real_roctx_is_called_too(void **state)
{
	const struct fixture *fixture = *state;
	struct spool_reader *reader;

	assert_int_equal(run("annotated_beside_roctx", "traced", PRELOADED, fixture->folder), 0);
	reader = fixture_read(fixture);
	assert_int_equal(fixture_count(reader, RECORD_SCOPE), 5);
	assert_int_equal(fixture_count(reader, RECORD_SCOPE_END), 4);
	fixture_assert_sound(reader);
	spool_reader_close(reader);
}

static void exec_leaves_a_readable_spool_and_starts_anew(void **state)
{
	const struct fixture *fixture = *state;
	DIR *folder;
	struct dirent *entry;
	int open = 0;
	int closed = 0;

	assert_int_equal(run("annotated", "exec", PRELOADED, fixture->folder), 0);
	folder = opendir(fixture->folder);
	while ((entry = readdir(folder))) {
		struct spool_reader *reader;
		char path[2 * TEST_PATH_BYTES];

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", fixture->folder, entry->d_name);
		assert_int_equal(spool_reader_open(path, &reader, NULL), 0);
		fixture_assert_sound(reader);
		if (spool_reader_info(reader)->closed)
			closed++;
		else
			open++;
		spool_reader_close(reader);
	}
	closedir(folder);
	assert_int_equal(open, 1);
	assert_int_equal(closed, 1);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(without_the_tool_calls_do_nothing),
		CASE(without_a_folder_calls_do_nothing),
		CASE(annotations_alone_leave_no_file),
		CASE(scopes_reach_the_spool),
		CASE(a_stopped_recording_can_be_followed_by_another),
		CASE(a_library_that_comes_late_is_found),
		CASE(a_real_roctx_is_called_too),
		CASE(exec_leaves_a_readable_spool_and_starts_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Fork children write their own spools, inherit their parents' scopes, and leave no trace without
 * GPU use.
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "capture/capture_session.h"
#include "capture/capture_switch.h"
#include "capture/scope.h"
#include "in_child.h"
#include "scope_story.h"

static char story[8];

static void c_forgets(void)
{
	story[strlen(story)] = 'c';
}

static const struct capture_source part_c = {.name = "c", .child = c_forgets};

static void put_some(uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		expect(fixture_put(session_writer(), i, 4));
}

static void fork_inside(void)
{
	int status;
	pid_t pid;

	session_add_source(&part_c);
	expect(session_start());
	put_some(7);
	expect(session_next_cid() == 1);
	pid = fork();
	if (!pid) {
		expect(session_state == SESSION_IDLE);
		expect(!session_writer());
		expect(!strcmp(story, "c"));
		expect(session_start());
		expect(session_next_cid() == 1);
		put_some(2);
		exit(0);
	}
	waitpid(pid, &status, 0);
	expect(status == 0);
	put_some(1);
}

static void a_fork_child_has_a_spool_of_its_own(void **state)
{
	const struct fixture *fixture = *state;
	uint64_t found[2] = {0, 0};
	DIR *folder;
	struct dirent *entry;
	int count = 0;

	assert_int_equal(in_child(fixture->folder, fork_inside), 0);
	folder = opendir(fixture->folder);
	while ((entry = readdir(folder))) {
		struct spool_reader *reader;
		char path[2 * TEST_PATH_BYTES];

		if (entry->d_name[0] == '.')
			continue;
		assert_true(count < 2);
		snprintf(path, sizeof(path), "%s/%s", fixture->folder, entry->d_name);
		assert_int_equal(spool_reader_open(path, &reader, NULL), 0);
		assert_true(spool_reader_info(reader)->closed);
		fixture_assert_sound(reader);
		found[count++] = fixture_count(reader, RECORD_API);
		spool_reader_close(reader);
	}
	closedir(folder);
	assert_int_equal(count, 2);
	assert_int_equal(found[0] + found[1], 10);
	assert_true(found[0] == 2 || found[1] == 2);
}

static void fork_without_use(void)
{
	int status;
	pid_t pid;

	expect(session_start());
	pid = fork();
	if (!pid)
		exit(0);
	waitpid(pid, &status, 0);
	expect(status == 0);
}

static void a_fork_child_without_gpu_leaves_no_file(void **state)
{
	const struct fixture *fixture = *state;

	assert_int_equal(in_child(fixture->folder, fork_without_use), 0);
	assert_int_equal(fixture_files(fixture, NULL, 0), 1);
}

static void fork_in_scope(void)
{
	int status;
	pid_t pid;

	scope_push(RECORD_SCOPE_DAGTAP, "outer");
	expect(scope_current() == ID(1, 1));
	pid = fork();
	if (!pid) {
		expect(session_start());
		scope_push(RECORD_SCOPE_DAGTAP, "inner");
		exit(0);
	}
	waitpid(pid, &status, 0);
	expect(status == 0);
}

static void a_fork_child_is_in_its_parents_scopes(void **state)
{
	assert_scopes(*state, fork_in_scope, "1:1 0 1 outer\n1:2 1 1 inner\n");
}

static void fork_in_written_scope(void)
{
	int status;
	pid_t pid;
	char *path;

	expect(session_start());
	scope_push(RECORD_SCOPE_DAGTAP, "outer");
	pid = fork();
	if (!pid) {
		/* The case reads one file only, so the parent's spool is removed. */
		path = getenv("DAGTAP_SPOOL");
		expect(chdir(path) == 0 && system("rm -f *.spool") == 0);
		expect(session_start());
		exit(0);
	}
	waitpid(pid, &status, 0);
	expect(status == 0);
}

static void a_fork_child_writes_open_scopes_anew(void **state)
{
	assert_scopes(*state, fork_in_written_scope, "1:1 0 1 outer\n");
}

/* The switch (capture_switch.h) in a child whose parent is inside a capture range. */
static void fork_in_a_scope(void)
{
	int status;
	pid_t pid;

	setenv("DAGTAP_CAPTURE_RANGE", "step", 1);
	setenv("DAGTAP_COUNT", "1", 1);
	session_arm();
	switch_configure();
	expect(!session_start());
	scope_push(RECORD_SCOPE_DAGTAP, "step");
	pid = fork();
	if (!pid) {
		expect(!session_is_on() && session_start());
		scope_pop(RECORD_SCOPE_DAGTAP);
		expect(!session_is_on());
		scope_push(RECORD_SCOPE_DAGTAP, "step"); /* the child's second one */
		expect(!session_is_on());
		exit(0);
	}
	waitpid(pid, &status, 0);
	expect(status == 0);
	expect(session_is_on());
	scope_pop(RECORD_SCOPE_DAGTAP);
	expect(!session_is_on());
}

static void a_fork_child_counts_anew(void **state)
{
	const struct fixture *fixture = *state;

	assert_int_equal(in_child(fixture->folder, fork_in_a_scope), 0);
	assert_int_equal(fixture_files(fixture, NULL, 0), 2);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_fork_child_has_a_spool_of_its_own),
		CASE(a_fork_child_without_gpu_leaves_no_file),
		CASE(a_fork_child_is_in_its_parents_scopes),
		CASE(a_fork_child_writes_open_scopes_anew),
		CASE(a_fork_child_counts_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

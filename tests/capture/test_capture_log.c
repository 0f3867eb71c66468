/* The log: our lines go to our file, whatever the program does with its descriptors. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "capture/log.h"
#include "in_child.h"

#define LOG_PATH     "dagtap.log"
#define PROGRAM_PATH "of the program"

/*
 * The program closes descriptors that it does not know, as daemons do, and opens its own files with
 * their numbers.
 */
static void close_all_and_go_on(void)
{
	int fd;

	setenv("DAGTAP_LOG", LOG_PATH, 1);
	log_open();
	log_line("one");
	close_range(3, ~0u, 0);
	fd = open(PROGRAM_PATH, O_RDWR | O_CREAT | O_EXCL, 0600);
	expect(fd == 3);
	expect(chdir("/") == 0);
	log_line("two");
	expect(lseek(fd, 0, SEEK_END) == 0);
}

static int count_lines(const char *folder)
{
	char path[2 * TEST_PATH_BYTES], line[512];
	int count = 0;
	FILE *log;

	snprintf(path, sizeof(path), "%s/" LOG_PATH, folder);
	log = fopen(path, "r");
	assert_non_null(log);
	while (fgets(line, sizeof(line), log))
		count++;
	fclose(log);
	return count;
}

static void the_programs_files_are_not_written_to(void **state)
{
	const struct fixture *fixture = *state;

	assert_int_equal(chdir(fixture->folder), 0);
	assert_int_equal(in_child(NULL, close_all_and_go_on), 0);
	assert_int_equal(chdir("/"), 0);
	assert_int_equal(count_lines(fixture->folder), 2);
}

/* The program's first descriptor has the same number as without the log. */
static void log_and_look(void)
{
	int before = dup(0), after;

	close(before);
	setenv("DAGTAP_LOG", LOG_PATH, 1);
	log_open();
	log_line("one");
	after = dup(0);
	expect(before == after);
}

static void no_descriptor_is_taken(void **state)
{
	const struct fixture *fixture = *state;

	assert_int_equal(chdir(fixture->folder), 0);
	assert_int_equal(in_child(NULL, log_and_look), 0);
	assert_int_equal(chdir("/"), 0);
}

/* A path such as /dev/fd/N stands for a descriptor and has no path of its own. */
static void log_to_a_pipe(void)
{
	char line[64] = "";
	int ends[2];

	expect(pipe2(ends, O_NONBLOCK) == 0 && dup2(ends[1], STDERR_FILENO) == STDERR_FILENO);
	setenv("DAGTAP_LOG", "/dev/stderr", 1);
	log_open();
	log_line("one");
	expect(read(ends[0], line, sizeof(line) - 1) > 0 && strstr(line, "one"));
}

static void a_log_may_be_a_pipe(void **state)
{
	(void)state;
	assert_int_equal(in_child(NULL, log_to_a_pipe), 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(the_programs_files_are_not_written_to),
		CASE(no_descriptor_is_taken),
		CASE(a_log_may_be_a_pipe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

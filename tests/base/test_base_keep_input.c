/* Outputs that would destroy what is read. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "../launched.h"
#include "base/keep_input.h"

static char folder[TEST_PATH_BYTES];

static void put_file(const char *name)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_EXCL, 0600);

	assert_true(fd >= 0);
	close(fd);
}

/* Makes the folder that all cases work in: run.spool/1.spool with a folder around it, and names. */
static int make_files(void **state)
{
	if (!mkdtemp(test_path(folder, "keep-input")) || chdir(folder) < 0 ||
	    mkdir("around", 0700) < 0 || mkdir("around/run.spool", 0700) < 0 ||
	    mkdir("around/run.spool/deep", 0700) < 0 || mkdir("empty", 0700) < 0)
		return -1;
	put_file("around/run.spool/1.spool");
	put_file("other");
	return link("around/run.spool/1.spool", "hard") < 0 ||
	       symlink("around/run.spool/1.spool", "symbolic") < 0 ||
	       symlink("around/run.spool", "linked") < 0 || symlink("nowhere", "dangling") < 0;
}

static void expect_refused(const char *output, const char *input, const char *reason)
{
	struct dagtap_error error;

	assert_int_equal(keep_input(output, input, &error), -EBUSY);
	if (!strstr(error.message, reason))
		fail_msg("\"%s\" does not say \"%s\"", error.message, reason);
	assert_int_equal(keep_input(output, input, NULL), -EBUSY);
}

static void expect_taken(const char *output, const char *input)
{
	assert_int_equal(keep_input(output, input, NULL), 0);
}

static void file_under_any_name_is_kept(void **state)
{
	expect_refused("around/run.spool/1.spool", "around/run.spool/1.spool",
		       "1.spool: is the input; give the output another name");
	expect_refused("hard", "around/run.spool/1.spool", "hard: is the input");
	expect_refused("symbolic", "hard", "symbolic: is the input");
	expect_refused("around/../hard", "symbolic", "hard: is the input");
}

static void file_of_a_folder_is_kept(void **state)
{
	expect_refused("hard", "around/run.spool", "hard: is a part of the input around/run.spool");
	expect_refused("around/run.spool", "linked", "is the input");
}

/* A reader would take it for a part of the recording, or refuse the folder because of it. */
static void folder_that_is_read_gets_no_file(void **state)
{
	expect_refused("linked/1.spool", "around/run.spool",
		       "linked/1.spool: is inside the input around/run.spool");
	expect_refused("around/run.spool/new", "around/run.spool", "is inside the input");
	expect_refused("around/run.spool/new/", "linked", "is inside the input");
	expect_refused("around/run.spool/deep/new", "around/run.spool", "is inside the input");
	expect_refused("around/run.spool/deep/../new", "around/run.spool", "is inside the input");
	expect_refused("new", ".", "is inside the input");
	expect_refused("./new", folder, "is inside the input");
	expect_refused("/new", "/", "is inside the input");
	expect_taken("around/run.spool/../new", "around/run.spool");
	expect_taken("/new", "around/run.spool");
}

static void folder_around_the_input_is_kept(void **state)
{
	expect_refused("around", "around/run.spool/1.spool",
		       "around: holds the input around/run.spool/1.spool");
	expect_refused("linked", "around/run.spool/1.spool", "holds the input");
	expect_refused("around", "linked", "holds the input");
	expect_refused("/", "hard", "holds the input");
}

static void other_outputs_are_taken(void **state)
{
	expect_taken("other", "hard");
	expect_taken("other", "around/run.spool");
	expect_taken("empty", "hard");
	/* the reader does not go into folders of a folder */
	expect_taken("hard", "around");
	expect_taken("absent", "hard");
	expect_taken("hard", "absent");
	expect_taken("dangling", "hard");
}

static void input_is_known_after_a_rename(void **state)
{
	struct kept_input input;

	put_file("before");
	assert_true(keep_input_find("before", &input));
	assert_int_equal(rename("before", "after"), 0);
	put_file("before");
	assert_int_equal(keep_input_check("after", &input, NULL), -EBUSY);
	assert_int_equal(keep_input_check("before", &input, NULL), 0);
	/* a file that was made later, with the inode of the input, which was removed */
	input.birth_ns--;
	assert_int_equal(keep_input_check("after", &input, NULL), 0);
	assert_false(keep_input_find("absent", &input));
}

static void renamed_folder_is_known(void **state)
{
	struct kept_input input;

	assert_int_equal(mkdir("old.spool", 0700), 0);
	put_file("old.spool/1.spool");
	assert_true(keep_input_find("old.spool", &input));
	assert_int_equal(rename("old.spool", "new.spool"), 0);
	assert_int_equal(mkdir("old.spool", 0700), 0);
	put_file("old.spool/1.spool");
	assert_int_equal(keep_input_check("new.spool/1.spool", &input, NULL), -EBUSY);
	assert_int_equal(keep_input_check("new.spool", &input, NULL), -EBUSY);
	assert_int_equal(keep_input_check("old.spool/1.spool", &input, NULL), 0);
}

static void standard_output_is_taken(void **state)
{
	put_file("-");
	expect_taken("-", "-");
	expect_refused("./-", "-", "is the input");
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(file_under_any_name_is_kept),
		cmocka_unit_test(file_of_a_folder_is_kept),
		cmocka_unit_test(folder_that_is_read_gets_no_file),
		cmocka_unit_test(folder_around_the_input_is_kept),
		cmocka_unit_test(other_outputs_are_taken),
		cmocka_unit_test(input_is_known_after_a_rename),
		cmocka_unit_test(renamed_folder_is_known),
		cmocka_unit_test(standard_output_is_taken),
	};

	return cmocka_run_group_tests(cases, make_files, NULL);
}

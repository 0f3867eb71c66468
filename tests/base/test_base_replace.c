/* Files that are replaced as a whole or not at all. */
#include <dirent.h>
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
#include "base/replace.h"

static char folder[TEST_PATH_BYTES], path[2 * TEST_PATH_BYTES];

/* Whether files without a name are refused, as by a file system that does not have them. */
static bool has_names_only;

int __wrap_open(const char *name, int flags, ...);
int __real_open(const char *name, int flags, ...);

int __wrap_open(const char *name, int flags, ...)
{
	va_list rest;
	mode_t mode;

	va_start(rest, flags);
	mode = va_arg(rest, mode_t);
	va_end(rest);
	if ((flags & O_TMPFILE) == O_TMPFILE && has_names_only) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return __real_open(name, flags, mode);
}

static int make_folder(void **state)
{
	int fd;

	if (!mkdtemp(test_path(folder, "replace")))
		return -1;
	/* Not every file system has them. */
	fd = has_names_only ? -1 : open(folder, O_WRONLY | O_TMPFILE, 0600);
	has_names_only |= fd < 0;
	if (fd >= 0)
		close(fd);
	snprintf(path, sizeof(path), "%s/out", folder);
	return 0;
}

static int remove_folder(void **state)
{
	return rmdir(folder);
}

static int remove_file(void **state)
{
	unlink(path);
	return 0;
}

static void put(int fd, const char *text)
{
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void put_file(const char *text)
{
	put(open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600), text);
}

static void expect_file(const char *text)
{
	char found[64] = "";
	int fd = open(path, O_RDONLY);

	assert_true(fd >= 0);
	assert_true(read(fd, found, sizeof(found) - 1) >= 0);
	close(fd);
	assert_string_equal(found, text);
}

static unsigned files_there(void)
{
	DIR *dir = opendir(folder);
	unsigned count = 0;

	assert_non_null(dir);
	for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir))
		count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
	closedir(dir);
	return count;
}

static void is_there_when_committed(void **state)
{
	struct replacement replacement;
	int fd;

	assert_int_equal(
		replace_begin(&replacement, path, false, REPLACE_NAMELESS, 0666, &fd, NULL), 0);
	put(fd, "new");
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(replace_commit(&replacement, NULL), 0);
	expect_file("new");
	assert_int_equal(files_there(), 1);
	replace_abandon(&replacement);
	assert_int_equal(files_there(), 1);
}

/* A process that is killed now leaves nothing. */
static void has_no_name_before(void **state)
{
	for (int force = 0; force <= 1; force++) {
		struct replacement replacement;
		int fd;

		if (force)
			put_file("old");
		assert_int_equal(
			replace_begin(&replacement, path, force, REPLACE_NAMELESS, 0640, &fd, NULL),
			0);
		put(fd, force ? "newer" : "new");
		assert_int_equal(files_there(), force + (int)has_names_only);
		assert_int_equal(replace_commit(&replacement, NULL), 0);
		expect_file(force ? "newer" : "new");
		assert_int_equal(files_there(), 1);
		unlink(path);
	}
}

static void leaves_nothing_when_abandoned(void **state)
{
	struct replacement replacement;
	int fd;

	assert_int_equal(
		replace_begin(&replacement, path, false, REPLACE_NAMELESS, 0666, &fd, NULL), 0);
	put(fd, "new");
	replace_abandon(&replacement);
	replace_abandon(&replacement);
	assert_int_equal(files_there(), 0);
}

static void an_existing_file_needs_force(void **state)
{
	struct replacement replacement;
	struct dagtap_error error;
	int fd;

	put_file("old");
	assert_int_equal(
		replace_begin(&replacement, path, false, REPLACE_NAMELESS, 0666, &fd, &error),
		-EEXIST);
	assert_non_null(strstr(error.message, "exists already"));
	replace_abandon(&replacement);
	expect_file("old");
	assert_int_equal(
		replace_begin(&replacement, path, true, REPLACE_NAMELESS, 0666, &fd, &error), 0);
	put(fd, "new");
	assert_int_equal(replace_commit(&replacement, &error), 0);
	expect_file("new");
}

static void a_file_that_came_meanwhile_is_kept(void **state)
{
	struct replacement replacement;
	struct dagtap_error error;
	int fd;

	assert_int_equal(
		replace_begin(&replacement, path, false, REPLACE_NAMELESS, 0666, &fd, &error), 0);
	put(fd, "new");
	put_file("meanwhile");
	assert_int_equal(replace_commit(&replacement, &error), -EEXIST);
	expect_file("meanwhile");
	assert_int_equal(files_there(), 1);
}

static void what_is_no_file_is_not_replaced(void **state)
{
	struct replacement replacement;
	struct stat status;
	int fd = -1;

	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(replace_begin(&replacement, path, true, REPLACE_NAMELESS, 0666, &fd, NULL),
			 -EINVAL);
	assert_int_equal(fd, -1);
	assert_int_equal(stat(path, &status), 0);
	assert_true(S_ISFIFO(status.st_mode));
	assert_int_equal(files_there(), 1);
}

#define PLANTED 64 /* more files than this program has begun so far */

/* A file that is replaced has a temporary name for a moment in any case. */
static void a_link_under_the_temporary_name_is_not_followed(void **state)
{
	char victim[3 * TEST_PATH_BYTES], name[3 * TEST_PATH_BYTES];
	struct replacement replacement;
	struct stat status;
	int fd;

	snprintf(victim, sizeof(victim), "%s/victim", folder);
	put(open(victim, O_WRONLY | O_CREAT | O_TRUNC, 0600), "mine");
	put_file("old");
	for (int i = 0; i < PLANTED; i++) {
		snprintf(name, sizeof(name), "%s/.dagtap.%d.%d.tmp", folder, (int)getpid(), i);
		assert_int_equal(symlink(victim, name), 0);
	}
	assert_int_equal(replace_begin(&replacement, path, true, REPLACE_NAMELESS, 0600, &fd, NULL),
			 0);
	put(fd, "written");
	assert_int_equal(replace_commit(&replacement, NULL), 0);
	expect_file("written");
	assert_int_equal(stat(victim, &status), 0);
	assert_int_equal(status.st_size, 4);
	for (int i = 0; i < PLANTED; i++) {
		snprintf(name, sizeof(name), "%s/.dagtap.%d.%d.tmp", folder, (int)getpid(), i);
		unlink(name);
	}
	unlink(victim);
}

static void a_folder_that_is_not_there_is_an_error(void **state)
{
	struct replacement replacement;
	struct dagtap_error error;
	int fd = -1;

	assert_int_equal(replace_begin(&replacement, "/nowhere/at/all", false, REPLACE_NAMELESS,
				       0666, &fd, &error),
			 -ENOENT);
	assert_string_equal(error.message, "/nowhere/at/all: No such file or directory");
	assert_int_equal(fd, -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(is_there_when_committed, remove_file),
		cmocka_unit_test_teardown(has_no_name_before, remove_file),
		cmocka_unit_test_teardown(leaves_nothing_when_abandoned, remove_file),
		cmocka_unit_test_teardown(an_existing_file_needs_force, remove_file),
		cmocka_unit_test_teardown(a_link_under_the_temporary_name_is_not_followed,
					  remove_file),
		cmocka_unit_test_teardown(a_file_that_came_meanwhile_is_kept, remove_file),
		cmocka_unit_test_teardown(what_is_no_file_is_not_replaced, remove_file),
		cmocka_unit_test(a_folder_that_is_not_there_is_an_error),
	};

	int failed = cmocka_run_group_tests(tests, make_folder, remove_folder);

	has_names_only = true;
	return failed + cmocka_run_group_tests(tests, make_folder, remove_folder);
}

/* struct dagtap_error: messages, their causes, and truncation. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/error_text.h"

static void says_file_offset_and_cause(void **state)
{
	struct dagtap_error error;

	assert_int_equal(dagtap_error_at(&error, -EINVAL, "a.spool", 4096, "no %s here", "chunk"),
			 -EINVAL);
	assert_int_equal(error.code, -EINVAL);
	assert_int_equal(error.offset, 4096);
	assert_string_equal(error.message, "a.spool: offset 4096: no chunk here");
}

static void may_have_no_offset(void **state)
{
	struct dagtap_error error;

	assert_int_equal(dagtap_error_set(&error, -ENOENT, "%s: gone", "b"), -ENOENT);
	assert_true(error.offset == DAGTAP_ERROR_NO_OFFSET);
	assert_string_equal(error.message, "b: gone");
}

static void nobody_need_listen(void **state)
{
	assert_int_equal(dagtap_error_set(NULL, -EIO, "x"), -EIO);
	assert_int_equal(dagtap_error_at(NULL, -EIO, "x", 0, "y"), -EIO);
}

static void long_names_are_cut(void **state)
{
	struct dagtap_error error;
	char name[2048];

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(dagtap_error_at(&error, -EIO, name, 1, "cause"), -EIO);
	assert_int_equal(strlen(error.message), sizeof(error.message) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(says_file_offset_and_cause),
		cmocka_unit_test(may_have_no_offset),
		cmocka_unit_test(nobody_need_listen),
		cmocka_unit_test(long_names_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

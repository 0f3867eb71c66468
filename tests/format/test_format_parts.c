/* The files of an export that one file does not hold. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "../launched.h"
#include "format/parts.h"

static char folder[TEST_PATH_BYTES];

static int make_folder(void **state)
{
	return mkdtemp(test_path(folder, "parts")) && chdir(folder) == 0 ? 0 : -1;
}

static void put_file(const char *name, const char *text)
{
	FILE *file = fopen(name, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void expect_file(const char *name, const char *text)
{
	FILE *file = fopen(name, "r");
	char found[64] = "";

	assert_non_null(file);
	assert_true(fread(found, 1, sizeof(found) - 1, file) > 0);
	fclose(file);
	assert_string_equal(found, text);
}

static void part_does_not_replace_the_input(void **state)
{
	struct kept_input inputs[2];
	struct parts parts = {.path = "run.json",
			      .inputs = inputs,
			      .inputs_count = 2,
			      .extension = ".json",
			      .force = true};
	FILE *file;

	put_file("run.2.json", "the input");
	put_file("first", "another input");
	assert_true(keep_input_find("first", &inputs[0]));
	assert_true(keep_input_find("./run.2.json", &inputs[1]));
	assert_int_equal(parts_open(&parts, &file), 0);
	assert_int_equal(parts_open(&parts, &file), -EBUSY);
	assert_non_null(strstr(parts.error.message, "run.2.json: is the input"));
	parts_abandon(&parts);
	expect_file("run.2.json", "the input");
	assert_int_equal(access("run.json", F_OK), -1);
}

static void part_replaces_another_file(void **state)
{
	struct kept_input input;
	struct parts parts = {.path = "run.json",
			      .inputs = &input,
			      .inputs_count = 1,
			      .extension = ".json",
			      .force = true};
	FILE *file;

	put_file("input", "the input");
	assert_true(keep_input_find("input", &input));
	put_file("run.2.json", "old");
	assert_int_equal(parts_open(&parts, &file), 0);
	fputs("one", file);
	assert_int_equal(parts_open(&parts, &file), 0);
	fputs("two", file);
	assert_int_equal(parts_commit(&parts, NULL), 0);
	expect_file("run.json", "one");
	expect_file("run.2.json", "two");
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(part_does_not_replace_the_input),
		cmocka_unit_test(part_replaces_another_file),
	};

	return cmocka_run_group_tests(cases, make_folder, NULL);
}

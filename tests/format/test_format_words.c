/* The texts that several formats share: scope paths, arguments, names of values and formats. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/format.h"
#include "format/words.h"
#include "sample.h"

static void scope_path_goes_from_root_to_leaf(void **state)
{
	char path[64];

	assert_string_equal(words_scope_path(sample_trace(), 1, path, sizeof(path)),
			    "step \"1\"/layer");
	assert_string_equal(words_scope_path(sample_trace(), TRACE_NONE, path, sizeof(path)), "");
}

static void long_scope_path_loses_its_root(void **state)
{
	char path[12];

	assert_string_equal(words_scope_path(sample_trace(), 1, path, sizeof(path)),
			    "...1\"/layer");
}

static void scope_that_is_its_own_parent_ends(void **state)
{
	struct trace *trace = sample_trace();
	struct trace_scope scope = {.parent = 0, .text = 1};
	const char *strings[] = {"", "x"};
	char path[4096];

	trace->scopes = &scope;
	trace->strings = strings;
	assert_int_equal(strncmp(words_scope_path(trace, 0, path, sizeof(path)), "...", 3), 0);
}

static void expect_arg(char kind, uint64_t word, uint64_t second, const char *text)
{
	const struct words_arg arg = {.name = "a", .kind = kind, .words = {word, second}};
	char buffer[WORDS_ARG_CHARS];

	assert_string_equal(words_arg_text(&arg, buffer), text);
}

static void arguments_read_as_their_kind_says(void **state)
{
	uint64_t half = UINT64_C(0x3fe0000000000000);

	expect_arg('u', UINT64_MAX, 0, "18446744073709551615");
	expect_arg('i', (uint64_t)-3, 0, "-3");
	expect_arg('p', 0x7f00, 0, "0x7f00");
	expect_arg('d', UINT64_C(2) << 32 | 64, 3, "64x2x3");
	expect_arg('f', 0x3f000000, 0, "0.5");
	expect_arg('f', half, 0, "0.5");
	expect_arg('t', UINT64_C(0x646362616463620a) | 0x61, 0, "kbcdabcd");
}

static void arguments_that_were_not_kept_are_not_reported(void **state)
{
	struct trace *trace = sample_trace();
	struct trace_call call = trace->calls[0];
	struct words_arg arg;

	assert_true(words_call_arg(trace, &call, 1, &arg));
	assert_false(words_call_arg(trace, &call, 2, &arg));
	call.arg_first = TRACE_NONE;
	assert_false(words_call_arg(trace, &call, 0, &arg));
}

static void values_out_of_range_have_no_word(void **state)
{
	assert_string_equal(words_kind((enum trace_activity_kind)99), "");
	assert_string_equal(words_node_type((enum record_node_type)99), "");
	assert_string_equal(words_untimed((enum record_untimed)99), "");
	assert_string_equal(words_wait_type((enum trace_wait_type)99), "");
	assert_string_equal(words_known((enum trace_known)99), "");
}

static void formats_are_found_by_name(void **state)
{
	assert_ptr_equal(format_find("csv"), &format_csv);
	assert_ptr_equal(format_find("perfetto"), &format_perfetto);
	assert_null(format_find("nothing"));
	assert_non_null(format_find_table(&format_csv, "calls"));
	assert_null(format_find_table(&format_csv, "nothing"));
	assert_null(format_find_table(&format_perfetto, "calls"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scope_path_goes_from_root_to_leaf),
		cmocka_unit_test(long_scope_path_loses_its_root),
		cmocka_unit_test(scope_that_is_its_own_parent_ends),
		cmocka_unit_test(arguments_read_as_their_kind_says),
		cmocka_unit_test(arguments_that_were_not_kept_are_not_reported),
		cmocka_unit_test(values_out_of_range_have_no_word),
		cmocka_unit_test(formats_are_found_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* An injected library that is older than this one, beside it: the library does without it. The test
 * stands for the injected library. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sdk/injected.h"

extern struct inject_table dagtap_inject_v1;
__attribute__((visibility("default"))) struct inject_table dagtap_inject_v1;

static const struct inject_table present = {
	.bytes = sizeof(present),
	.call_bytes = sizeof(struct inject_call),
	.mark_bytes = sizeof(struct inject_mark),
};

static void a_table_that_lacks_something_is_not_used(void **state)
{
	(void)state;
	dagtap_inject_v1 = present;
	dagtap_inject_v1.bytes = offsetof(struct inject_table, mark_bytes);
	assert_null(injected_find());
	dagtap_inject_v1 = present;
	dagtap_inject_v1.call_bytes--;
	assert_null(injected_find());
	dagtap_inject_v1 = present;
	dagtap_inject_v1.mark_bytes--;
	assert_null(injected_find());
	dagtap_inject_v1 = present;
	assert_ptr_equal(injected_find(), &dagtap_inject_v1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_table_that_lacks_something_is_not_used),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

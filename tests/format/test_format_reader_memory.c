/* Lets each allocation of a reader fail in turn. A file is then refused, never read in part. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../failing_memory.h"
#include "../launched.h"
#include "format/read.h"

/* Reads the file at PATH, from the source tree, again and again; each time the next allocation
 * fails, until a run needs fewer allocations than that. */
static void fail_each_allocation(const char *path)
{
	const char *source = getenv("SOURCE_DIR");
	char whole[4096];
	bool is_through = false;

	snprintf(whole, sizeof(whole), "%s/%s", source ? source : ".", path);
	for (uint64_t which = 1; !is_through; which++) {
		struct dagtap_error error = {.message = ""};
		uint64_t before = memory_allocations();
		struct trace *trace;
		int err;

		memory_fail(which);
		err = read_open(whole, NULL, &trace, &error);
		is_through = memory_allocations() - before < which;
		memory_fail(0);
		if (err == 0)
			trace_close(trace);
		if (is_through)
			assert_int_equal(err, 0);
		else if (err != -ENOMEM)
			fail_msg("%s: allocation %llu failed, and the result is %d", path,
				 (unsigned long long)which, err);
		else
			assert_non_null(strstr(error.message, "out of memory"));
	}
}

static void a_kineto_file_is_read_whole_or_not_at_all(void **state)
{
	fail_each_allocation("tests/data/torch-small.json");
}

static void an_xspace_file_is_read_whole_or_not_at_all(void **state)
{
	fail_each_allocation("tests/data/jax-small.xplane.pb");
}

static void a_rocpd_file_is_read_whole_or_not_at_all(void **state)
{
	fail_each_allocation("fuzz/corpus/rocpd/sample");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_kineto_file_is_read_whole_or_not_at_all),
		cmocka_unit_test(an_xspace_file_is_read_whole_or_not_at_all),
		cmocka_unit_test(a_rocpd_file_is_read_whole_or_not_at_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * HSA's dispatch tables by rocprofiler_set_api_table, alone and together with OnLoad, on the
 * software GPU.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hip_recording.h"

enum { TEXT_MOST = 8192, PACKETS = 10000 };

static struct recording *record(const char *handing, const char *then)
{
	const char *build = getenv("BUILD_DIR");
	char tools[TEXT_MOST];
	struct recording *r;

	snprintf(tools, sizeof(tools), "HSA_TOOLS_LIB=%s/tests/models/libhanding_tool.so %s%s",
		 build, then ? build : "", then ? then : "");
	setenv("HANDING", handing, 1);
	r = recording_make("examples/raw-driver", "--barrier", tools);
	assert_int_equal(r->exit_code, 0);
	assert_int_equal(r->spool_count, 1);
	return r;
}

static void assert_source(const struct recording *r, const char *name,
			  enum record_source_state state, const char *text)
{
	const struct record_source *source;
	char said[TEXT_MOST] = "";

	for (size_t i = 0; (source = recording_find(r, RECORD_SOURCE, i)); i++) {
		if (strncmp(source->name, name, sizeof(source->name)) != 0)
			continue;
		snprintf(said, sizeof(said), "%.*s", (int)source->text_bytes, source->text);
		assert_int_equal(source->header.tag, state);
	}
	if (!strstr(said, text))
		fail_msg("%s says \"%s\", without \"%s\"", name, said, text);
}

static void assert_all_recorded(const struct recording *r)
{
	assert_int_equal(recording_count(r, RECORD_DISPATCH), PACKETS);
}

static void the_table_alone(void **state)
{
	struct recording *r = record("as-is", NULL);

	assert_all_recorded(r);
	assert_source(r, "hsa.table", RECORD_SOURCE_ON, "core 1016 bytes; extensions ");
	recording_free(r);
}

static void both_doors_count_once(void **state)
{
	struct recording *r = record("as-is", "/lib/dagtap/libdagtap-inject.so");

	assert_all_recorded(r);
	recording_free(r);
}

static void another_major_version_is_left_alone(void **state)
{
	struct recording *r = record("other-major", NULL);

	assert_int_equal(recording_count(r, RECORD_DISPATCH), 0);
	assert_source(r, "hsa", RECORD_SOURCE_ABSENT, "unknown major version");
	recording_free(r);
}

/* Tables that were refused by one entry point are still examined by the other. */
static void a_refusal_does_not_close_the_other_door(void **state)
{
	struct recording *r = record("other-major", "/lib/dagtap/libdagtap-inject.so");

	assert_all_recorded(r);
	recording_free(r);
}

static void a_shorter_table_is_used_as_far_as_it_reaches(void **state)
{
	struct recording *r = record("shorter", NULL);

	assert_all_recorded(r);
	assert_source(r, "hsa.table", RECORD_SOURCE_ON, "extensions 200 bytes");
	assert_source(r, "hsa.table", RECORD_SOURCE_ON, "shorter than our list");
	recording_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_table_alone),
		cmocka_unit_test(both_doors_count_once),
		cmocka_unit_test(another_major_version_is_left_alone),
		cmocka_unit_test(a_refusal_does_not_close_the_other_door),
		cmocka_unit_test(a_shorter_table_is_used_as_far_as_it_reaches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

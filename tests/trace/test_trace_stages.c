/* The table of the stages of loading: a stage may read only what an earlier one has written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "trace/ingest.h"

/* Whether LIST, of names with ", " between them, has NAME. */
static bool has_name(const char *list, const char *name, size_t length)
{
	for (const char *at = list; at; at = strstr(at, ", ")) {
		at += at == list ? 0 : 2;
		if (strcspn(at, ",") == length && !strncmp(at, name, length))
			return true;
	}
	return false;
}

static bool is_written_before(uint32_t stage, const char *name, size_t length)
{
	for (uint32_t i = 0; i < stage; i++) {
		if (has_name(ingest_stage_at(i)->writes, name, length))
			return true;
	}
	return has_name(INGEST_FIRST_WALK, name, length);
}

static void reads_what_was_written(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < ingest_stage_count(); i++) {
		const struct ingest_stage *stage = ingest_stage_at(i);
		const char *at = stage->reads;

		while (*at) {
			size_t length = strcspn(at, ",");

			if (!is_written_before(i, at, length))
				fail_msg("%s reads %.*s, which no earlier stage writes",
					 stage->name, (int)length, at);
			at += length;
			at += strspn(at, ", ");
		}
	}
	assert_null(ingest_stage_at(ingest_stage_count()));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_what_was_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* A program with much thread-local memory: the tool's threads need stacks that hold it, too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "capture/capture_session.h"
#include "in_child.h"

#define LARGE_BYTES ((size_t)3 << 20)

static __thread volatile char large[LARGE_BYTES];

static void record_something(void)
{
	large[LARGE_BYTES - 1] = 1;
	expect(session_start());
	expect(fixture_put(session_writer(), 1, 4));
}

static void it_is_recorded(void **state)
{
	const struct fixture *fixture = *state;
	struct spool_reader *reader;

	assert_int_equal(in_child(fixture->folder, record_something), 0);
	reader = fixture_read(fixture);
	assert_true(spool_reader_info(reader)->closed);
	fixture_assert_sound(reader);
	assert_int_equal(fixture_count(reader, RECORD_API), 1);
	spool_reader_close(reader);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(it_is_recorded, fixture_setup, fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

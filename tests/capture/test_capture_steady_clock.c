/* The anchors of the steady clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <time.h>

#include <cmocka.h>

#include "capture/capture_session.h"
#include "capture/steady_clock.h"
#include "held_clock.h"
#include "in_child.h"

static struct {
	uint64_t host_ns, steady_ns;
} before, behind;
static int results[2]; /* a pipe */

static void record_once(void)
{
	session_add_source(&steady_clock_source);
	before.host_ns = clock_read_ns(CLOCK_MONOTONIC);
	before.steady_ns = clock_read_ns(CLOCK_MONOTONIC_RAW);
	expect(session_start());
	session_stop();
	behind.host_ns = clock_read_ns(CLOCK_MONOTONIC);
	behind.steady_ns = clock_read_ns(CLOCK_MONOTONIC_RAW);
	expect(write(results[1], &before, sizeof(before)) == sizeof(before));
	expect(write(results[1], &behind, sizeof(behind)) == sizeof(behind));
}

static void record_with_a_held_clock(void)
{
	held_clock();
	record_once();
}

/* Returns the number of anchors in the spool, each of which is between BEFORE and BEHIND. */
static unsigned check_anchors(const struct fixture *fixture)
{
	struct spool_reader *reader = fixture_read(fixture);
	struct spool_cursor cursor;
	struct spool_record record;
	unsigned count = 0;

	for (uint32_t w = 0; w < spool_reader_writer_count(reader); w++) {
		spool_cursor_init(&cursor, reader, w);
		while (spool_cursor_next(&cursor, &record)) {
			const struct record_anchor *anchor = (const void *)record.header;

			if (record.type != RECORD_ANCHOR)
				continue;
			count++;
			assert_int_equal(anchor->header.tag, RECORD_STEADY_CLOCK);
			assert_in_range(anchor->host_ns, before.host_ns, behind.host_ns);
			assert_in_range(anchor->tick, before.steady_ns, behind.steady_ns);
			assert_true(anchor->uncertainty_ns < behind.host_ns - before.host_ns);
		}
	}
	fixture_assert_sound(reader);
	spool_reader_close(reader);
	return count;
}

static unsigned record(const struct fixture *fixture, void (*body)(void))
{
	unsigned count;

	assert_int_equal(pipe(results), 0);
	assert_int_equal(in_child(fixture->folder, body), 0);
	assert_int_equal(read(results[0], &before, sizeof(before)), sizeof(before));
	assert_int_equal(read(results[0], &behind, sizeof(behind)), sizeof(behind));
	count = check_anchors(fixture);
	close(results[0]);
	close(results[1]);
	return count;
}

/* And at each tick between. */
static void the_start_and_the_stop_have_an_anchor(void **state)
{
	assert_true(record(*state, record_once) >= 2);
}

static void a_clock_that_a_test_holds_has_none(void **state)
{
	assert_int_equal(record(*state, record_with_a_held_clock), 0);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		CASE(the_start_and_the_stop_have_an_anchor),
		CASE(a_clock_that_a_test_holds_has_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

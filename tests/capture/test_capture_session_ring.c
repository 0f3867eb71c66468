/*
 * A session in ring mode: the size that the environment requests, and the scopes that kept records
 * refer to.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "capture/capture_session.h"
#include "capture/process_recordings.h"
#include "capture/scope.h"
#include "in_child.h"

#define CALLS	    1000000 /* 61 MiB */
#define CALLS_RUSH  20000
/* chunks: half of what is kept ready, many times what a burst of records fills */
#define READY_LEAST 256

/* Calls no faster than the housekeeping thread makes room, however slow that is. */
static void make_calls(void)
{
	for (uint64_t i = 0; i < CALLS; i++) {
		if (i % CALLS_RUSH == 0)
			fixture_await_ready(recording_spooler(), READY_LEAST);
		expect(fixture_put(session_writer(), i, 0));
	}
}

static void record_node(void)
{
	struct record_node_recorded node = {.scope = scope_current()};

	scope_keep_open();
	writer_put(session_writer(), RECORD_NODE_RECORDED, 0, &node, sizeof(node));
}

static void tell(void)
{
	expect(session_start());
	scope_push(RECORD_SCOPE_DAGTAP, "epoch");
	scope_push(RECORD_SCOPE_DAGTAP, "layer");
	record_node();
	record_node();
	scope_pop(RECORD_SCOPE_DAGTAP);
	scope_push(RECORD_SCOPE_DAGTAP, "gone");
	scope_pop(RECORD_SCOPE_DAGTAP);
	make_calls();
}

static struct spool_reader *record_with(const struct fixture *fixture, const char *ring)
{
	struct spool_reader *reader;

	setenv("DAGTAP_RING", ring, 1);
	assert_int_equal(in_child(fixture->folder, tell), 0);
	unsetenv("DAGTAP_RING");
	reader = fixture_read(fixture);
	fixture_assert_sound(reader);
	assert_int_equal(spool_reader_ledger(reader)->attempted[RECORD_CLASS_API], CALLS);
	return reader;
}

static uint64_t dropped(const struct spool_reader *reader)
{
	return spool_reader_ledger(reader)->dropped[RECORD_CLASS_API][RECORD_DROP_RING];
}

static uint32_t count_scopes(const struct spool_reader *reader, const char *text)
{
	struct spool_cursor cursor;
	struct spool_record record;
	uint32_t count = 0;

	for (uint32_t w = 0; w < spool_reader_writer_count(reader); w++) {
		spool_cursor_init(&cursor, reader, w);
		while (spool_cursor_next(&cursor, &record)) {
			const struct record_scope *scope = (const void *)record.header;

			count += record.type == RECORD_SCOPE && scope->text_bytes == strlen(text) &&
				 !memcmp(scope->text, text, scope->text_bytes);
		}
	}
	return count;
}

static void what_a_kept_record_speaks_of_is_kept(void **state)
{
	struct spool_reader *reader = record_with(*state, "4M");

	assert_true(dropped(reader) > 0);
	assert_int_equal(fixture_count(reader, RECORD_NODE_RECORDED), 2);
	assert_int_equal(count_scopes(reader, "layer"), 1);
	/* Kept for the node's sake, and open throughout. */
	assert_int_equal(count_scopes(reader, "epoch"), 2);
	assert_int_equal(count_scopes(reader, "gone"), 0);
	/* The end of the kept scope. */
	assert_int_equal(fixture_count(reader, RECORD_SCOPE_END), 1);
	assert_int_equal(fixture_count(reader, RECORD_END), 1);
	spool_reader_close(reader);
}

static void without_a_ring_all_is_there_once(void **state)
{
	struct spool_reader *reader = record_with(*state, "");

	assert_int_equal(dropped(reader), 0);
	assert_int_equal(count_scopes(reader, "epoch"), 1);
	assert_int_equal(count_scopes(reader, "layer"), 1);
	assert_int_equal(fixture_count(reader, RECORD_SCOPE_END), 2);
	spool_reader_close(reader);
}

static void what_is_no_ring_lets_nothing_go(void **state)
{
	struct spool_reader *reader = record_with(*state, "4M,,3s");

	assert_int_equal(dropped(reader), 0);
	spool_reader_close(reader);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(what_a_kept_record_speaks_of_is_kept),
		CASE(without_a_ring_all_is_there_once),
		CASE(what_is_no_ring_lets_nothing_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

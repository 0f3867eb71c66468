/* What an observer is told of roctx's calls: the number of the recording. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "capture/call_observer.h"
#include "capture/capture_session.h"
#include "capture/mark_observer.h"
#include "in_child.h"

static uint64_t told[8]; /* recordings, of the entry and the return of each call */
static size_t told_count;

static void note_recording(const struct inject_mark *mark)
{
	expect(told_count < sizeof(told) / sizeof(*told));
	told[told_count++] = mark->recording;
}

static const struct inject_observer observer = {.mark = note_recording};

static void pop(void)
{
	struct inject_mark mark;

	mark_enter(&mark, INJECT_POP, NULL, 0);
	mark_leave(&mark, 0);
}

static void call_in_each_session(void)
{
	struct inject_mark across;

	atomic_store(&call_observer, &observer);
	pop();
	expect(told_count == 0);
	expect(session_start());
	pop();
	mark_enter(&across, INJECT_PUSH, "", 0);
	session_stop();
	pop();
	expect(session_start_again());
	mark_leave(&across, 0);
	pop();
	expect(told_count == 6);
	expect(told[0] == 1 && told[1] == 1);
	expect(told[2] == 1 && told[3] == 2);
	expect(told[4] == 2 && told[5] == 2);
}

static void calls_have_the_number_of_their_recording(void **state)
{
	const struct fixture *fixture = *state;

	assert_int_equal(in_child(fixture->folder, call_in_each_session), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(calls_have_the_number_of_their_recording,
						fixture_setup, fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

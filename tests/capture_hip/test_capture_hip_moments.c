/* A recording stops, starts, or stops and starts again before any single instruction that the
 * tool executes within a call. Each recording must account for everything that it has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "capture/capture_session.h"
#include "capture/hip/hip_source.h"
#include "in_child.h"
#include "step.h"
#include "trace/ledger/ledger.h"
#include "trace/load.h"

int hipDeviceSynchronize(void);
int model_registered(void);

static void call(void)
{
	expect(hipDeviceSynchronize() == 0);
}

static void stop(void)
{
	session_stop();
}

static void start(void)
{
	expect(session_start_again());
}

static void restart(void)
{
	stop();
	start();
}

static struct moment {
	void (*meanwhile)(void);
	bool is_off_before;
} moment;

static void at_each_instruction(void)
{
	bool was_held = true;

	setenv("DAGTAP_READY", "4M", 1);
	expect(model_registered() == 0); /* forces the linker to keep the model */
	session_add_source(&hip_source);
	expect(session_start());
	for (uint32_t n = 1; was_held; n++) {
		if (!session_is_on() && !moment.is_off_before)
			start();
		call();
		if (moment.is_off_before)
			stop();
		was_held = step_until(n, call, moment.meanwhile);
		call();
	}
	stop();
}

static void assert_all_closed(void **state, const struct moment *what)
{
	const struct fixture *fixture = *state;
	struct dagtap_error error;
	struct trace *trace;

	moment = *what;
	assert_int_equal(in_child(fixture->folder, at_each_instruction), 0);
	if (trace_open(fixture->folder, NULL, &trace, &error) < 0)
		fail_msg("%s", error.message);
	assert_in_range(trace->processes_count, 10, 5000);
	for (uint32_t i = 0; i < trace->sources_count; i++) {
		if (trace->sources[i].unexplained)
			fail_msg("%s: %llu unexplained", trace_text(trace, trace->sources[i].name),
				 (unsigned long long)trace->sources[i].unexplained);
	}
	assert_true(ledger_is_closed(trace));
	trace_close(trace);
}

static void it_stops_within_a_call(void **state)
{
	assert_all_closed(state, &(struct moment){stop, false});
}

static void it_starts_again_within_a_call(void **state)
{
	assert_all_closed(state, &(struct moment){restart, false});
}

static void it_starts_within_a_call(void **state)
{
	assert_all_closed(state, &(struct moment){start, true});
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		CASE(it_stops_within_a_call),
		CASE(it_starts_again_within_a_call),
		CASE(it_starts_within_a_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* A tool leaves its function at the entry of a call by longjmp. The call does not happen, and its
 * frame is no longer in the thread's list. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "capture/call_observer.h"
#include "capture/capture_session.h"
#include "capture/hip/hip_source.h"
#include "in_child.h"
#include "trace/ledger/ledger.h"
#include "trace/load.h"

#define JUMPS 3

int hipDeviceSynchronize(void);
int model_registered(void);

static jmp_buf outside;
static unsigned jumps_left, entered, left;
static uint64_t parent; /* of the last call that entered */
static bool makes_a_call;

static void enter(const struct inject_call *call)
{
	entered++;
	parent = call->parent;
	if (makes_a_call) {
		makes_a_call = false;
		expect(hipDeviceSynchronize() == 0);
	}
	if (jumps_left)
		longjmp(outside, 1);
}

static void leave(const struct inject_call *call)
{
	left++;
	expect(call->result == 0 && call->parent == 0);
}

static const struct inject_observer observer = {.enter = enter, .leave = leave};

static void record(void)
{
	setenv("DAGTAP_READY", "4M", 1);
	expect(model_registered() == 0); /* forces the linker to keep the model */
	session_add_source(&hip_source);
	expect(session_start());
	atomic_store(&call_observer, &observer);
}

/* Overwrites the stack on which the frames were. */
static __attribute__((noinline)) void use_stack(void)
{
	volatile unsigned char bytes[2048];

	memset((unsigned char *)bytes, 0xee, sizeof(bytes));
}

static void jump(void)
{
	record();
	for (jumps_left = JUMPS; jumps_left; jumps_left--) {
		if (setjmp(outside) == 0) {
			hipDeviceSynchronize();
			expect(!"the tool has jumped");
		}
		expect(!frame_top);
	}
	expect(entered == JUMPS && left == 0);
	use_stack();
	/* The thread is in no call: what it submits has none. */
	expect(frame_take().cid == 0);
	expect(hipDeviceSynchronize() == 0);
	expect(parent == 0 && entered == JUMPS + 1 && left == 1);
	expect(!frame_top);
	session_stop();
}

static void jump_out_of_an_inner_call(void)
{
	struct frame outer = {.cid = 1, .session = 1};

	record();
	frame_push(&outer);
	jumps_left = 1;
	if (setjmp(outside) == 0)
		hipDeviceSynchronize();
	expect(parent == outer.cid && frame_top == &outer);
	expect(frame_take().cid == outer.cid && outer.activities == 1);
	frame_pop(&outer);
	session_stop();
}

/* The time of a call begins when the tool's function at its entry has returned, so a call that this
 * function makes is not inside of it. */
static void call_at_an_entry(void)
{
	record();
	makes_a_call = true;
	expect(hipDeviceSynchronize() == 0);
	expect(parent == 0 && entered == 2 && left == 2);
	session_stop();
}

/* COUNT: of calls with a record. A call that a tool has left is one that has not returned. */
static void assert_closed(const struct fixture *fixture, uint32_t count)
{
	struct dagtap_error error;
	struct trace *trace;

	if (trace_open(fixture->folder, NULL, &trace, &error) < 0)
		fail_msg("%s", error.message);
	assert_int_equal(trace->calls_count, count);
	assert_true(ledger_is_closed(trace));
	trace_close(trace);
}

static void a_thread_is_in_no_call_that_a_tool_has_left(void **state)
{
	const struct fixture *fixture = *state;

	assert_int_equal(in_child(fixture->folder, jump), 0);
	assert_closed(fixture, 1);
}

static void the_enclosing_call_is_the_innermost_again(void **state)
{
	const struct fixture *fixture = *state;

	assert_int_equal(in_child(fixture->folder, jump_out_of_an_inner_call), 0);
	assert_closed(fixture, 0);
}

static void a_call_made_at_an_entry_is_not_inside_of_the_entered_call(void **state)
{
	const struct fixture *fixture = *state;

	assert_int_equal(in_child(fixture->folder, call_at_an_entry), 0);
	assert_closed(fixture, 2);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		CASE(a_thread_is_in_no_call_that_a_tool_has_left),
		CASE(the_enclosing_call_is_the_innermost_again),
		CASE(a_call_made_at_an_entry_is_not_inside_of_the_entered_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

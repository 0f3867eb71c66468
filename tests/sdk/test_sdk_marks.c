/* Calls of roctx that a started context is told of. The test stands for the injected library. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sdk/marks.h"
#include "sdk/sdk_contexts.h"

#define CALLS 8

static unsigned told[CALLS + 1][2]; /* by correlation id: entries and returns */
static jmp_buf outside;

static void enter(uint64_t cid)
{
	marks_observe(&(struct inject_mark){
		.cid = cid, .begin_ns = 1, .function = INJECT_PUSH, .message = ""});
}

static void leave(uint64_t cid)
{
	marks_observe(&(struct inject_mark){
		.cid = cid, .begin_ns = 1, .end_ns = 2, .function = INJECT_PUSH, .message = ""});
}

/* Jumps out of the entry of call 1 and out of the return of call 2. Calls roctx at the entry of
 * call 4. */
static void take_mark(struct sdk_callback_record record, union sdk_user *user, void *data)
{
	uint64_t cid = record.correlation.internal;
	bool is_entry = record.phase == SDK_PHASE_ENTER;

	(void)user, (void)data;
	told[cid][!is_entry]++;
	if (is_entry ? cid == 1 : cid == 2)
		longjmp(outside, 1);
	if (is_entry && cid == 4) {
		enter(5);
		leave(5);
	}
}

static void make_call(uint64_t cid)
{
	enter(cid);
	leave(cid);
}

/* The frames of these are where those were that were jumped out of. */
__attribute__((noinline)) static void make_calls_below(void)
{
	volatile char variables[4096];

	for (size_t i = 0; i < sizeof(variables); i++)
		variables[i] = (char)i;
	make_call(3);
	make_call(4);
}

static void a_jump_out_of_a_callback_leaves_nothing(void **state)
{
	static const unsigned expected[CALLS + 1][2] = {
		[1] = {1, 0}, [2] = {1, 1}, [3] = {1, 1}, [4] = {1, 1}, [6] = {1, 1}};
	struct sdk_callback_service *service =
		&sdk_contexts[0].callbacks[SDK_CALLBACK_MARKER_CORE_API];

	(void)state;
	service->operations.is_on = service->operations.is_all = true;
	service->callback = take_mark;
	sdk_contexts[0].is_used = true;
	sdk_context_start(&sdk_contexts[0]);
	for (volatile uint64_t cid = 1; cid <= 2; cid++) {
		if (setjmp(outside) == 0) {
			make_call(cid);
			fail();
		}
	}
	make_calls_below();
	make_call(6);
	assert_memory_equal(told, expected, sizeof(expected));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_jump_out_of_a_callback_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

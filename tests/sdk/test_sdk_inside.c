/* What a thread is inside of, where it has more than one stack. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <cmocka.h>

#include "sdk/inside.h"

#define STACK_BYTES ((size_t)2 << 20)

/* Two stacks, one behind the other: of a thread, and of a coroutine of this thread. */
struct stacks {
	char *thread, *coroutine;
	ucontext_t outside, inside;
	bool is_inside[3]; /* as the thread was told */
};

static struct stacks *running; /* makecontext passes numbers alone */

/* The tool's callback continues outside of the coroutine. */
INSIDE_ON_STACK static void run_coroutine(void)
{
	struct inside place;

	inside_enter(&place, INSIDE_CALL);
	swapcontext(&running->inside, &running->outside);
	inside_leave(&place);
}

static void start_coroutine(struct stacks *stacks)
{
	running = stacks;
	getcontext(&stacks->inside);
	stacks->inside.uc_stack.ss_sp = stacks->coroutine;
	stacks->inside.uc_stack.ss_size = STACK_BYTES;
	stacks->inside.uc_link = &stacks->outside;
	makecontext(&stacks->inside, run_coroutine, 0);
	swapcontext(&stacks->outside, &stacks->inside);
}

/* Runs FUNCTION with its two stacks, the coroutine's above the thread's if IS_ABOVE. */
static void run_on_stacks(struct stacks *stacks, void *(*function)(void *), bool is_above)
{
	char *memory = mmap(NULL, 2 * STACK_BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_t attributes;
	pthread_t thread;

	assert_ptr_not_equal(memory, MAP_FAILED);
	stacks->thread = memory + (is_above ? 0 : STACK_BYTES);
	stacks->coroutine = memory + (is_above ? STACK_BYTES : 0);
	pthread_attr_init(&attributes);
	assert_int_equal(pthread_attr_setstack(&attributes, stacks->thread, STACK_BYTES), 0);
	assert_int_equal(pthread_create(&thread, &attributes, function, stacks), 0);
	pthread_join(thread, NULL);
	pthread_attr_destroy(&attributes);
	munmap(memory, 2 * STACK_BYTES);
}

INSIDE_ON_STACK static void *abandon_coroutine(void *data)
{
	struct stacks *stacks = data;
	struct inside place;

	start_coroutine(stacks);
	munmap(stacks->coroutine, STACK_BYTES);
	stacks->is_inside[0] = inside_is(INSIDE_CALL);
	inside_enter(&place, INSIDE_MARK);
	stacks->is_inside[1] = inside_is(INSIDE_MARK);
	inside_leave(&place);
	stacks->is_inside[2] = inside_is(INSIDE_MARK);
	return NULL;
}

static void a_stack_that_is_gone_is_not_read(void **state)
{
	struct stacks stacks = {0};

	(void)state;
	run_on_stacks(&stacks, abandon_coroutine, true);
	assert_true(stacks.is_inside[0]);
	assert_true(stacks.is_inside[1]);
	assert_false(stacks.is_inside[2]);
}

static void *go_on_outside(void *data)
{
	struct stacks *stacks = data;

	start_coroutine(stacks);
	stacks->is_inside[0] = inside_is(INSIDE_CALL);
	swapcontext(&stacks->outside, &stacks->inside);
	stacks->is_inside[1] = inside_is(INSIDE_CALL);
	return NULL;
}

static void a_callback_may_go_on_on_another_stack(void **state)
{
	(void)state;
	for (int is_above = 0; is_above < 2; is_above++) {
		struct stacks stacks = {0};

		run_on_stacks(&stacks, go_on_outside, is_above);
		assert_true(stacks.is_inside[0]);
		assert_false(stacks.is_inside[1]);
	}
}

static jmp_buf outside;

INSIDE_ON_STACK __attribute__((noinline)) static void enter_and_jump(void)
{
	struct inside place;

	inside_enter(&place, INSIDE_CALL);
	longjmp(outside, 1);
}

static void *jump(void *data)
{
	struct stacks *stacks = data;

	if (setjmp(outside) == 0)
		enter_and_jump();
	stacks->is_inside[0] = inside_is(INSIDE_CALL);
	return NULL;
}

static void a_jump_on_the_threads_stack_leaves(void **state)
{
	struct stacks stacks = {0};

	(void)state;
	run_on_stacks(&stacks, jump, true);
	assert_false(stacks.is_inside[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_callback_may_go_on_on_another_stack),
		cmocka_unit_test(a_jump_on_the_threads_stack_leaves),
		cmocka_unit_test(a_stack_that_is_gone_is_not_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

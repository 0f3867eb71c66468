/* More threads push scopes than there are thread numbers. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "capture/capture_session.h"
#include "capture/scope.h"
#include "scope_story.h"

static void *push_in_thread(void *ret_id)
{
	*(uint64_t *)ret_id = scope_push(RECORD_SCOPE_DAGTAP, "t");
	scope_pop(RECORD_SCOPE_DAGTAP);
	return NULL;
}

static uint64_t id_of_new_thread(void)
{
	uint64_t id = 0;
	pthread_t thread;

	expect(!pthread_create(&thread, NULL, push_in_thread, &id));
	pthread_join(thread, NULL);
	return id;
}

static void push_in_too_many_threads(void)
{
	for (uint64_t i = 1; i <= 32767; i++)
		expect(id_of_new_thread() == ID(i, 1));
	expect(id_of_new_thread() == ((uint64_t)1 << 63 | 1));
	expect(id_of_new_thread() == ((uint64_t)1 << 63 | 2));
}

static void threads_are_numbered_and_then_share(void **state)
{
	const struct fixture *fixture = *state;

	assert_int_equal(in_child(fixture->folder, push_in_too_many_threads), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(threads_are_numbered_and_then_share, fixture_setup,
						fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

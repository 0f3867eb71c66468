/*
 * Scopes must not allocate or take locks on the program's threads, except in a thread's first
 * scope. This program defines the functions that would do either, and they count for each thread.
 */
#include <dagtap/annotate.h>
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "capture/capture_session.h"
#include "capture/scope.h"
#include "in_child.h"

#define ROUNDS 100000

static __thread uint64_t allocations, locks;

extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *memory, size_t bytes);

void *malloc(size_t bytes)
{
	allocations++;
	return __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
	allocations++;
	return __libc_calloc(count, bytes);
}

void *realloc(void *memory, size_t bytes)
{
	allocations++;
	return __libc_realloc(memory, bytes);
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	static int (*_Atomic next)(pthread_mutex_t *);

	locks++;
	if (!next)
		next = (int (*)(pthread_mutex_t *))dlsym(RTLD_NEXT, "pthread_mutex_lock");
	return next(mutex);
}

static void use_scopes(void)
{
	const struct dagtap_attribute attributes[] = {
		dagtap_attribute_int64("layer", 7),
		dagtap_attribute_text("hlo_op", "fusion.1"),
	};
	uint64_t path[4];

	scope_step_begin("step", 3);
	scope_push(RECORD_SCOPE_DAGTAP, "scope");
	scope_push_with(RECORD_SCOPE_DAGTAP, "with attributes", attributes, 2);
	scope_attach(path, scope_path(path, 4));
	scope_mark("mark");
	scope_detach();
	scope_pop(RECORD_SCOPE_DAGTAP);
	scope_pop(RECORD_SCOPE_DAGTAP);
	scope_pop(RECORD_SCOPE_STEP);
}

static void *use_for_long(void *unused)
{
	uint64_t before;

	use_scopes();
	expect(allocations > 0);
	before = allocations;
	locks = 0;
	for (int i = 0; i < ROUNDS; i++)
		use_scopes();
	expect(allocations == before && locks == 0);
	return NULL;
}

static void use_in_threads(void)
{
	pthread_t threads[2];

	expect(session_start());
	expect(locks > 0); /* the counters work */
	for (int i = 0; i < 2; i++)
		expect(!pthread_create(&threads[i], NULL, use_for_long, NULL));
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

static void after_a_threads_first_nothing_is_allocated_or_locked(void **state)
{
	const struct fixture *fixture = *state;

	assert_int_equal(in_child(fixture->folder, use_in_threads), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			after_a_threads_first_nothing_is_allocated_or_locked, fixture_setup,
			fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

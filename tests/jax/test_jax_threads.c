/* The numbers of XLA's host tracer for the threads of a process. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "jax/thread_lines.h"

/* From a profile of jaxlib 0.10.2 on x86-64: the hash of a pthread_t that the program printed. */
static void numbers_are_those_of_libstdcxx(void **state)
{
	assert_int_equal(thread_lines_number(UINT64_C(0x7f4144049b80)),
			 UINT64_C(6331907323692259869));
}

struct other {
	pthread_barrier_t *barrier;
	uint32_t tid;
};

static void *wait_twice(void *argument)
{
	struct other *other = argument;

	other->tid = (uint32_t)gettid();
	pthread_barrier_wait(other->barrier);
	pthread_barrier_wait(other->barrier);
	return NULL;
}

static uint64_t find(const struct dagtap_export_thread *threads, size_t count, uint32_t tid)
{
	for (size_t i = 0; i < count; i++) {
		if (threads[i].tid == tid)
			return threads[i].id;
	}
	fail_msg("thread %u is not listed", tid);
	return 0;
}

static void all_threads_are_listed(void **state)
{
	struct dagtap_export_thread *threads;
	pthread_barrier_t barrier;
	struct other other = {.barrier = &barrier};
	pthread_t handle;
	size_t count;

	assert_int_equal(pthread_barrier_init(&barrier, NULL, 2), 0);
	assert_int_equal(pthread_create(&handle, NULL, wait_twice, &other), 0);
	pthread_barrier_wait(&barrier);
	count = thread_lines_list(&threads);
	assert_true(count >= 2); /* a sanitizer's runtime may have more */
	assert_int_equal(find(threads, count, (uint32_t)getpid()),
			 thread_lines_number((uint64_t)pthread_self()));
	assert_int_equal(find(threads, count, other.tid), thread_lines_number((uint64_t)handle));
	free(threads);
	pthread_barrier_wait(&barrier);
	assert_int_equal(pthread_join(handle, NULL), 0);
	pthread_barrier_destroy(&barrier);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_those_of_libstdcxx),
		cmocka_unit_test(all_threads_are_listed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

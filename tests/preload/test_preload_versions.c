/* Versions of graphs (src/preload/graph_versions.h): equal only while nothing can have changed. The
 * state is the process's, so each case has handles of its own. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "preload/graph_versions.h"

static char places[64];
static unsigned int used;

static unsigned int locks; /* taken by graph_versions.c */

/* In the place of the C library's (see the linker's --wrap). */
int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
	locks++;
	return __real_pthread_mutex_lock(mutex);
}

static void *handle(void)
{
	return &places[used++];
}

static void *made(void)
{
	void *graph = handle();

	graph_made(graph);
	return graph;
}

static void made_and_changed(void **state)
{
	void *graph = made(), *other = made(), *unknown = handle();
	uint64_t version = graph_version(graph), others = graph_version(other);

	assert_int_not_equal(version, 0);
	assert_int_equal(graph_version(unknown), 0);
	assert_int_equal(graph_version(graph), version);
	graph_changes(graph);
	assert_int_not_equal(graph_version(graph), version);
	assert_int_not_equal(graph_version(graph), 0);
	assert_int_equal(graph_version(other), others);
}

/* A change without a known graph may be inside of any. */
static void changed_inside(void **state)
{
	void *graph = made(), *inner = handle();
	uint64_t first = graph_version(graph), second, third;

	graph_any_changes();
	second = graph_version(graph);
	graph_changes(inner);
	third = graph_version(graph);
	assert_int_not_equal(first, second);
	assert_int_not_equal(second, third);
	/* An older change of another one does not hide a newer one of its own. */
	graph_changes(graph);
	assert_int_not_equal(graph_version(graph), third);
	assert_int_equal(graph_version(inner), 0);
}

static void used_again(void **state)
{
	void *graph = made();
	uint64_t version = graph_version(graph);

	graph_gone(graph);
	assert_int_equal(graph_version(graph), 0);
	/* A graph that came with another one. */
	graph_changes(graph);
	assert_int_equal(graph_version(graph), 0);
	graph_made(graph);
	assert_int_not_equal(graph_version(graph), version);
	assert_int_not_equal(graph_version(graph), 0);
}

static void captured(void **state)
{
	void *graph = handle(), *target = made();
	uint64_t version = graph_version(target);

	graph_capture_ended(graph);
	assert_int_not_equal(graph_version(graph), 0);
	graph_capture_begins(target);
	assert_int_equal(graph_version(target), 0);
	graph_changes(target);
	assert_int_equal(graph_version(target), 0);
	/* Two streams into one graph. */
	graph_capture_begins(target);
	graph_capture_ended(target);
	assert_int_equal(graph_version(target), 0);
	graph_capture_ended(target);
	assert_int_not_equal(graph_version(target), 0);
	assert_int_not_equal(graph_version(target), version);
}

/* It may be inside of any graph, and each call on the stream may change it. */
static void captured_inside(void **state)
{
	void *graph = made(), *inner = handle();
	uint64_t version = graph_version(graph);

	graph_capture_begins(inner);
	assert_int_equal(graph_version(graph), 0);
	graph_capture_begins(inner);
	graph_capture_ended(inner);
	assert_int_equal(graph_version(graph), 0);
	graph_capture_ended(inner);
	assert_int_not_equal(graph_version(graph), 0);
	assert_int_not_equal(graph_version(graph), version);
	assert_int_equal(graph_version(inner), 0);
}

/* Afterwards it is inside of PARENT, and a call on the stream still changes it. */
static void moved_while_captured(void **state)
{
	void *parent = made(), *moved = made(), *again = handle();
	uint64_t version;

	graph_capture_begins(moved);
	graph_capture_begins(moved);
	graph_moved(moved);
	graph_changes(parent);
	assert_int_equal(graph_version(parent), 0);
	graph_capture_ended(moved);
	assert_int_equal(graph_version(parent), 0);
	graph_capture_ended(moved);
	version = graph_version(parent);
	assert_int_not_equal(version, 0);
	assert_int_equal(graph_version(moved), 0);
	/* It moves again, with a capture that began when it was inside. */
	graph_capture_begins(moved);
	graph_moved(moved);
	assert_int_equal(graph_version(parent), 0);
	graph_capture_ended(moved);
	assert_int_not_equal(graph_version(parent), version);
	/* Without a capture. */
	graph_made(again);
	graph_moved(again);
	assert_int_equal(graph_version(again), 0);
	graph_changes(parent);
	assert_int_not_equal(graph_version(parent), 0);
}

static void context_gone(void **state)
{
	void *graph = made();
	uint64_t version = graph_version(graph);

	graph_all_gone();
	assert_int_equal(graph_version(graph), 0);
	graph_made(graph);
	assert_int_not_equal(graph_version(graph), version);
}

static void many(void **state)
{
	static char graphs[1000];
	uint64_t versions[1000];

	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 1000; i++) {
			graph_made(&graphs[i]);
			versions[i] = graph_version(&graphs[i]);
		}
		for (int i = 0; i < 1000; i++)
			assert_int_equal(graph_version(&graphs[i]), versions[i]);
		for (int i = round; i < 1000; i++)
			graph_gone(&graphs[i]);
	}
}

/* The last case: for good. A forked child may make the call, whose lock is held for ever if another
 * thread of the parent had it. */
static void unknown_call(void **state)
{
	void *graph = made();
	unsigned int before = locks;

	assert_int_not_equal(before, 0);
	graph_unknown_call();
	assert_int_equal(locks, before);
	assert_int_equal(graph_version(graph), 0);
	graph_made(graph);
	assert_int_equal(graph_version(graph), 0);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(made_and_changed), cmocka_unit_test(changed_inside),
		cmocka_unit_test(used_again),	    cmocka_unit_test(captured),
		cmocka_unit_test(captured_inside),  cmocka_unit_test(moved_while_captured),
		cmocka_unit_test(context_gone),	    cmocka_unit_test(many),
		cmocka_unit_test(unknown_call),
	};

	return cmocka_run_group_tests(cases, NULL, NULL);
}

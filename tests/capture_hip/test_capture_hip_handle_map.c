/* The map from handles to ids: insert, find, remove, growth, and lock-free readers beside a
 * writer. */
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "capture/handle_map.h"

static void put_get_take(void **state)
{
	struct handle_map map = HANDLE_MAP_INIT;

	assert_int_equal(handle_map_get(&map, 5), 0);
	assert_int_equal(handle_map_take(&map, 5), 0);
	assert_int_equal(handle_map_put(&map, 5, 50), 0);
	assert_int_equal(handle_map_put(&map, 5, 51), 0);
	assert_int_equal(handle_map_get(&map, 5), 51);
	assert_int_equal(handle_map_get(&map, 6), 0);
	assert_int_equal(handle_map_take(&map, 5), 51);
	assert_int_equal(handle_map_get(&map, 5), 0);
	assert_int_equal(handle_map_put(&map, 5, 52), 0);
	assert_int_equal(handle_map_get(&map, 5), 52);
	handle_map_reset(&map);
	assert_int_equal(handle_map_get(&map, 5), 0);
}

static void grows_and_forgets(void **state)
{
	struct handle_map map = HANDLE_MAP_INIT;

	for (uint64_t i = 1; i <= 20000; i++)
		assert_int_equal(handle_map_put(&map, i << 12, i), 0);
	for (uint64_t i = 1; i <= 20000; i += 2)
		assert_int_equal(handle_map_take(&map, i << 12), i);
	for (uint64_t i = 1; i <= 20000; i++)
		assert_int_equal(handle_map_get(&map, i << 12), i % 2 ? 0 : i);
	handle_map_reset(&map);
}

/* Handles that are inserted and removed at always new addresses, with few in the map at a time:
 * removed entries must not fill the table. */
static void churns(void **state)
{
	struct handle_map map = HANDLE_MAP_INIT;

	for (uint64_t i = 1; i <= 50000; i++) {
		assert_int_equal(handle_map_put(&map, i * 64, i), 0);
		if (i > 10)
			assert_int_equal(handle_map_take(&map, (i - 10) * 64), i - 10);
	}
	for (uint64_t i = 49991; i <= 50000; i++)
		assert_int_equal(handle_map_get(&map, i * 64), i);
	handle_map_reset(&map);
}

static struct handle_map shared = HANDLE_MAP_INIT;
static _Atomic int stop_reading;

static struct reader {
	pthread_t thread;
	_Atomic int is_asked;
	sem_t has_read; /* posted when the reader has read all entries since it was asked */
	int wrong;
} readers[2];

/* Entries that stay must always be found with their own values while the table grows. */
static void *read_constantly(void *argument)
{
	struct reader *reader = argument;

	while (!atomic_load(&stop_reading)) {
		int is_asked = atomic_exchange(&reader->is_asked, 0);

		for (uint64_t i = 1; i <= 100; i++)
			reader->wrong += handle_map_get(&shared, i * 8) != i;
		if (is_asked)
			sem_post(&reader->has_read);
	}
	return NULL;
}

/* Waits until both readers have completed a pass, so that reading and writing overlap. */
static void await_readers(void)
{
	for (int i = 0; i < 2; i++)
		atomic_store(&readers[i].is_asked, 1);
	for (int i = 0; i < 2; i++)
		sem_wait(&readers[i].has_read);
}

static void readers_meet_a_writer(void **state)
{
	for (uint64_t i = 1; i <= 100; i++)
		assert_int_equal(handle_map_put(&shared, i * 8, i), 0);
	for (int i = 0; i < 2; i++) {
		sem_init(&readers[i].has_read, 0, 0);
		assert_int_equal(
			pthread_create(&readers[i].thread, NULL, read_constantly, &readers[i]), 0);
	}
	for (uint64_t i = 1000; i < 200000; i++) {
		if (i % 5000 == 0)
			await_readers();
		assert_int_equal(handle_map_put(&shared, i * 8, i), 0);
		/* The table first grows, then is rebuilt at the same size again and again. */
		if (i > 10000 || i % 3 == 0)
			handle_map_take(&shared, i * 8);
	}
	atomic_store(&stop_reading, 1);
	for (int i = 0; i < 2; i++) {
		pthread_join(readers[i].thread, NULL);
		assert_int_equal(readers[i].wrong, 0);
	}
	handle_map_reset(&shared);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(put_get_take),
		cmocka_unit_test(grows_and_forgets),
		cmocka_unit_test(churns),
		cmocka_unit_test(readers_meet_a_writer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

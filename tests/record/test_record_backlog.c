/*
 * Writers fill chunks faster than new ones are made: the chunks that wait for their seal are memory
 * of the traced program, and their number must be bounded.
 */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "record/spool.h"
#include "spool_fixture.h"

#define RING_BYTES ((uint64_t)16 << 20)
#define CHUNKS	   6400 /* in all: 400 MiB, 25 times the ring */
#define LOOKS	   100	/* number of checks of the mapped size during the test */

static atomic_uint taken;
static sem_t look;

/* Returns how many bytes of the spool file are mapped now. */
static uint64_t mapped_bytes(const char *path)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long long from, to;
	uint64_t bytes = 0;
	char line[512];

	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps)) {
		if (strstr(line, path) && sscanf(line, "%llx-%llx", &from, &to) == 2)
			bytes += to - from;
	}
	fclose(maps);
	return bytes;
}

/* Takes chunks as a writer does that always has records. */
static void *take_chunks(void *spooler)
{
	while (atomic_load(&taken) < CHUNKS) {
		uint32_t index;
		struct spool_chunk *chunk = spooler_take_chunk(spooler, 0, &index);

		if (!chunk) {
			/* The keeper may need this CPU. */
			sched_yield();
			continue;
		}
		chunk->used_bytes = SPOOL_CHUNK_HEAD_BYTES;
		atomic_store_explicit(&chunk->state, SPOOL_CHUNK_FULL, memory_order_release);
		if (atomic_fetch_add(&taken, 1) % (CHUNKS / LOOKS) == 0)
			sem_post(&look);
	}
	return NULL;
}

static void *keep_house(void *spooler)
{
	while (atomic_load(&taken) < CHUNKS)
		spooler_service(spooler);
	return NULL;
}

static void full_chunks_are_sealed_while_new_ones_are_made(void **state)
{
	const struct fixture *fixture = *state;
	struct spooler *spooler;
	pthread_t taker, keeper;
	uint64_t most = 0;

	assert_int_equal(fixture_try_open(fixture, RING_BYTES, &spooler), 0);
	sem_init(&look, 0, 0);
	assert_int_equal(pthread_create(&taker, NULL, take_chunks, spooler), 0);
	assert_int_equal(pthread_create(&keeper, NULL, keep_house, spooler), 0);
	for (int i = 0; i < LOOKS; i++) {
		uint64_t bytes;

		while (sem_wait(&look))
			;
		bytes = mapped_bytes(spooler_path(spooler));
		most = bytes > most ? bytes : most;
	}
	pthread_join(taker, NULL);
	pthread_join(keeper, NULL);
	/*
	 * Chunks that wait are at most twice those that may be kept ready; the first chunks and
	 * those being made are mapped, too.
	 */
	assert_true(most <= 4 * RING_BYTES);
	assert_int_equal(spooler_close(spooler), 0);
	spooler_release(spooler);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(full_chunks_are_sealed_while_new_ones_are_made,
						fixture_setup, fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

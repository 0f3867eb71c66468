/* Random recordings, read at random cuts, and with random damage. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "live_play.h"

static uint32_t draw(uint64_t *random, uint32_t limit)
{
	*random = *random * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*random >> 33) % limit;
}

/* A call with up to five activities, launched as a graph, with memory, in scopes, in another call;
 * some activities never end. */
static void put_random_call(struct scene *scene, uint64_t *random, uint64_t *scope, uint64_t outer)
{
	uint64_t cid = scene_reserve_cid(scene);
	struct record_api call = {.cid = cid,
				  .parent = outer,
				  .scope = *scope,
				  .activities = draw(random, 6),
				  .begin_ns = scene->ns,
				  .end_ns = scene->ns + 50};

	if (draw(random, 4) == 0)
		scene_graph_launch(scene, 1 + draw(random, 3), cid, cid);
	for (uint32_t i = 0; i < call.activities; i++) {
		uint64_t packet =
			scene_dispatch(scene, cid, i, 1 + draw(random, 2), 1 + draw(random, 9));

		if (draw(random, 50))
			scene_done(scene, packet, 1000 * (packet + 1), 1000 * (packet + 1) + 100);
	}
	if (!outer && draw(random, 4) == 0)
		put_random_call(scene, random, scope, cid);
	scene_put(scene, 0, RECORD_API, SCENE_LAUNCH_BY_PTR, &call, sizeof(call));
	scene->ns += 100;
}

static void put_random_scope(struct scene *scene, uint64_t *random, uint64_t *scope, uint64_t *last)
{
	struct record_scope_end end = {.id = *scope, .ns = scene->ns};
	struct record_scope begin = {.id = ++*last, .parent = *scope, .ns = scene->ns};

	if (draw(random, 2)) {
		scene_put(scene, 0, RECORD_SCOPE, RECORD_SCOPE_DAGTAP, &begin, sizeof(begin));
		*scope = begin.id;
	} else if (*scope) {
		scene_put(scene, 0, RECORD_SCOPE_END, 0, &end, sizeof(end));
		*scope = 0;
	}
}

static void random_recordings_give_the_same_rows_at_any_cuts(void **state)
{
	uint32_t rows = 0;

	for (uint64_t seed = 1; seed <= 150; seed++) {
		uint64_t random = seed, scope = 0, last = 0;
		struct scene scene;

		scene_init(&scene, 1);
		for (uint32_t calls = draw(&random, 120); calls; calls--) {
			put_random_call(&scene, &random, &scope, 0);
			if (draw(&random, 3) == 0)
				put_random_scope(&scene, &random, &scope, &last);
			if (draw(&random, 20) == 0)
				play_anchor(&scene, 1010000000 + scene.ns * 1000);
		}
		scene_close(&scene);
		rows += follow_assert_same(scene.image, SCENE_BYTES, seed, 1u << (1 + seed % 8));
		scene_release(&scene);
	}
	print_message("%u rows\n", rows);
}

/* Follows a finished spool that may be damaged. Returns what ended it: 0, or a negative errno. */
static int follow_damaged(const void *image)
{
	int fd = memfd_create("damaged.spool", MFD_CLOEXEC), more;
	struct trace *window;
	struct live *live;

	assert_int_equal(pwrite(fd, image, SCENE_BYTES, 0), SCENE_BYTES);
	more = live_open_fd(fd, "damaged", NULL, &live, NULL);
	close(fd);
	if (more < 0)
		return more;
	do {
		more = live_poll(live, &window);
		trace_close(more < 0 ? NULL : window);
	} while (more > 0);
	while (more >= 0 && (more = live_finish(live, &window)) >= 0) {
		trace_close(window);
		if (more == 0)
			break;
	}
	live_close(live);
	return more;
}

/* Bytes of records, labels and the header are changed at random. What is given out then is not
 * looked at: only that it ends. */
static void damage_ends_nothing_but_the_following(void **state)
{
	uint64_t random = 1, scope = 0, last = 0;
	struct scene scene;
	unsigned char *image = malloc(SCENE_BYTES);

	assert_non_null(image);
	scene_init(&scene, 1);
	for (int calls = 0; calls < 100; calls++) {
		put_random_call(&scene, &random, &scope, 0);
		put_random_scope(&scene, &random, &scope, &last);
	}
	scene_close(&scene);
	for (int turn = 0; turn < 300; turn++) {
		size_t used = SPOOL_CHUNK_OFFSET + 2 * SPOOL_CHUNK_BYTES;
		int err;

		memcpy(image, scene.image, SCENE_BYTES);
		for (uint32_t i = 1 + draw(&random, 40); i; i--) {
			size_t at = draw(&random, 100) ? SPOOL_CHUNK_OFFSET : 0;

			image[at + draw(&random, (uint32_t)(used - at))] =
				(unsigned char)draw(&random, 256);
		}
		err = follow_damaged(image);
		assert_true(err == 0 || err == -EINVAL || err == -EOPNOTSUPP);
	}
	scene_release(&scene);
	free(image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_recordings_give_the_same_rows_at_any_cuts),
		cmocka_unit_test(damage_ends_nothing_but_the_following),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* What a follower gives out, when, and how much it keeps meanwhile. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "live_play.h"

static uint64_t preads; /* calls */

/* In the place of the C library's function. */
ssize_t pread(int fd, void *to, size_t bytes, off_t at)
{
	preads++;
	return syscall(SYS_pread64, fd, to, bytes, at);
}

static void a_call_is_given_out_once_all_of_it_has_ended(void **state)
{
	struct scene *scene = *state;
	uint64_t cid = scene_reserve_cid(scene), first, second;
	struct play play;

	play_begin(&play, scene, &play_at_once);
	first = scene_dispatch(scene, cid, 0, 1, 1);
	play_poll(&play);
	assert_int_equal(play.rows.count, 0);
	scene_put_call(scene, 0, cid, SCENE_LAUNCH_KERNEL, 2, (uint64_t[]){0x101, 0}, 2);
	scene_done(scene, first, 1000, 1100);
	play_poll(&play);
	assert_int_equal(play.rows.count, 0);
	second = scene_dispatch(scene, cid, 1, 2, 1);
	play_poll(&play);
	assert_int_equal(play.rows.count, 0);
	scene_done(scene, second, 2000, 2100);
	play_poll(&play);
	assert_int_equal(play.rows.count, 3);
	assert_int_equal(play_counts(&play).units_open, 0);
	assert_int_equal(play_counts(&play).open_bytes, 0);
	play_poll(&play);
	assert_int_equal(play.rows.count, 0);
	play_end(&play);
}

static void a_call_inside_another_is_given_out_with_it(void **state)
{
	struct scene *scene = *state;
	uint64_t outer = scene_reserve_cid(scene), inner = scene_reserve_cid(scene);
	struct record_api call = {.cid = inner, .parent = outer, .activities = 1};
	struct play play;

	play_begin(&play, scene, &play_at_once);
	scene_run(scene, inner, 0, 1, 1);
	scene_put(scene, 0, RECORD_API, SCENE_LAUNCH_BY_PTR, &call, sizeof(call));
	play_poll(&play);
	assert_int_equal(play.rows.count, 0);
	assert_int_equal(play_counts(&play).units_open, 1);
	scene_put_call(scene, 0, outer, SCENE_MEMSET, 0, NULL, 0);
	play_poll(&play);
	assert_int_equal(play.rows.count, 3);
	play_end(&play);
}

static void a_dispatch_waits_until_its_time_is_final(void **state)
{
	struct scene *scene = *state;
	struct play play;

	play_begin(&play, scene, NULL);
	scene_run_calls(scene, 1);
	play_poll(&play);
	assert_int_equal(play.rows.count, 0);
	/* Too near to the last one: it may yet displace that. */
	play_anchor(scene, 1000001500 + 5000000);
	play_poll(&play);
	assert_int_equal(play.rows.count, 0);
	play_anchor(scene, 1000001500 + 10000000);
	play_poll(&play);
	assert_int_equal(play.rows.count, 2);
	play_end(&play);
}

static void what_will_not_come_is_not_awaited_for_ever(void **state)
{
	struct scene *scene = *state;
	struct play play;

	play_begin(&play, scene, &play_at_once);
	/* One of its two activities has no record. */
	scene_run(scene, scene_call(scene, SCENE_LAUNCH_KERNEL, 2, (uint64_t[]){0x101, 0}, 2), 0, 1,
		  1);
	play_anchor(scene, scene->ns + 1999999000);
	play_poll(&play);
	assert_int_equal(play.rows.count, 0);
	play_anchor(scene, scene->ns + 2000001000);
	play_poll(&play);
	assert_int_equal(play.rows.count, 2);
	assert_int_equal(play_counts(&play).cut_off, 0);
	play_end(&play);
}

static void what_will_not_come_is_awaited_for_ever_if_asked(void **state)
{
	const struct live_options options = {.takes_any_time = true, .quiet_ns = UINT64_MAX};
	struct scene *scene = *state;
	struct trace *window;
	struct play play;

	play_begin(&play, scene, &options);
	scene_run(scene, scene_call(scene, SCENE_LAUNCH_KERNEL, 2, (uint64_t[]){0x101, 0}, 2), 0, 1,
		  1);
	play_anchor(scene, scene->ns + 1000000000000);
	play_poll(&play);
	assert_int_equal(play.rows.count, 0);
	assert_int_equal(live_finish(play.live, &window), 0);
	rows_add(&play.rows, window);
	trace_close(window);
	assert_int_equal(play.rows.count, 2);
	play_end(&play);
}

static void the_oldest_are_cut_off_at_the_limit(void **state)
{
	const struct live_options options = {.takes_any_time = true, .most_open_bytes = 4096};
	struct scene *scene = *state;
	struct trace *window;
	struct play play;
	uint64_t first;

	play_begin(&play, scene, &options);
	first = scene_dispatch(scene, 0, 0, 1, 1);
	for (int i = 0; i < 60; i++)
		scene_dispatch(scene, 0, 0, 1, 1);
	play_poll(&play);
	assert_in_range(play.rows.count, 20, 60);
	assert_non_null(strstr(play.rows.lines[0], "untimed=9")); /* RECORD_UNTIMED_TRUNCATED */
	assert_true(play_counts(&play).open_bytes <= 4096);
	assert_int_equal(play_counts(&play).cut_off, play.rows.count);
	/* Its completion finds nothing, and is given out at the end as nothing. */
	scene_done(scene, first, 1000, 1100);
	play_poll(&play);
	assert_int_equal(live_finish(play.live, &window), 0);
	rows_add(&play.rows, window);
	trace_close(window);
	assert_int_equal(play_counts(&play).units_open, 0);
	play_end(&play);
}

/* Many calls in many scopes, of which few are open at a time. */
static void what_is_kept_does_not_grow_with_the_recording(void **state)
{
	struct scene *scene = *state;
	size_t definitions = 0;
	struct play play;

	play_begin(&play, scene, &play_at_once);
	for (uint64_t i = 1; i <= 300; i++) {
		struct record_scope scope = {.id = i, .parent = i > 1 ? 1 : 0, .text_bytes = 0};
		struct record_scope_end end = {.id = i};
		struct record_api call = {
			.cid = scene_reserve_cid(scene), .scope = i, .activities = 1};

		scene_put(scene, 0, RECORD_SCOPE, RECORD_SCOPE_DAGTAP, &scope, sizeof(scope));
		scene_put(scene, 0, RECORD_API, SCENE_LAUNCH_BY_PTR, &call, sizeof(call));
		if (i > 1)
			scene_put(scene, 0, RECORD_SCOPE_END, 0, &end, sizeof(end));
		play_poll(&play);
		assert_int_equal(play.rows.count, 0);
		/* The scope is over, and its call is not. */
		scene_run(scene, call.cid, 0, 1, 1);
		play_poll(&play);
		assert_int_equal(play.rows.count, 2);
		if (i == 10)
			definitions = play_counts(&play).definition_bytes;
	}
	assert_int_equal(play_counts(&play).definition_bytes, definitions);
	assert_int_equal(play_counts(&play).units_open, 0);
	play_end(&play);
}

/* A scope that has its text from the body with that number, and a call in it. */
static void put_with_body(struct scene *scene, uint64_t id, uint32_t body)
{
	struct {
		struct record_scope scope;
		struct record_attribute attribute;
	} record = {{.id = id}, {.kind = RECORD_ATTRIBUTE_BODY, .value = body}};
	struct record_api call = {.cid = scene_reserve_cid(scene), .scope = id};

	scene_put(scene, 0, RECORD_SCOPE, RECORD_SCOPE_NVTX, &record, sizeof(record));
	scene_put(scene, 0, RECORD_API, SCENE_LAUNCH_BY_PTR, &call, sizeof(call));
}

static void a_text_that_scopes_share_is_awaited_and_in_each_window(void **state)
{
	struct {
		struct record_scope scope;
		char text[8];
	} body = {{.text_bytes = 6}, "shared"};
	struct scene *scene = *state;
	struct play play;

	play_begin(&play, scene, &play_at_once);
	put_with_body(scene, 1, 7);
	play_poll(&play);
	assert_int_equal(play.rows.count, 0);
	scene_put(scene, 0, RECORD_SCOPE_BODY, 7, &body, sizeof(body));
	play_poll(&play);
	assert_int_equal(play.rows.count, 1);
	assert_non_null(strstr(play.rows.lines[0], "scope=1(shared,"));
	put_with_body(scene, 2, 7);
	play_poll(&play);
	assert_int_equal(play.rows.count, 1);
	assert_non_null(strstr(play.rows.lines[0], "scope=2(shared,"));
	assert_int_equal(play_counts(&play).passed[RECORD_SCOPE_BODY], 0);
	play_end(&play);
}

static void a_mark_is_passed_when_all_before_it_is_given_out(void **state)
{
	struct scene *scene = *state;
	struct play play;
	uint64_t packet;

	play_begin(&play, scene, &play_at_once);
	packet = scene_dispatch(scene, 0, 0, 1, 1);
	play_poll(&play);
	live_mark(play.live);
	assert_false(live_has_read(play.live));
	play_poll(&play);
	assert_true(live_has_read(play.live));
	assert_false(live_is_past(play.live));
	scene_dispatch(scene, 0, 0, 1, 1);
	scene_done(scene, packet, 1000, 1100);
	play_poll(&play);
	assert_true(live_is_past(play.live));
	live_mark(play.live);
	assert_false(live_is_past(play.live));
	play_end(&play);
}

static void write_long(const struct scene *scene, int fd)
{
	const ssize_t bytes = (ssize_t)scene_bytes(scene);

	assert_int_equal(pwrite(fd, scene->image, (size_t)bytes, 0), bytes);
}

/* Adds the rows of WINDOW to ROWS and closes it. */
static void take_window(struct rows *rows, struct trace *window)
{
	if (window)
		rows_add(rows, window);
	trace_close(window);
}

/* More than a window has room for becomes ready with one anchor. */
static void what_is_ready_is_given_out_without_reading_on(void **state)
{
	enum { DISPATCHES = 60000 };
	int fd = memfd_create("long.spool", MFD_CLOEXEC), more;
	uint32_t windows = 0;
	struct rows rows = {0};
	struct trace *window;
	struct scene scene;
	struct live *live;

	scene_init_long(&scene, 1, 2 * DISPATCHES * 100 / SPOOL_CHUNK_BYTES);
	for (uint32_t i = 0; i < DISPATCHES; i++)
		scene_done(&scene, scene_dispatch(&scene, 0, 0, 1, 1), 1000, 1100);
	write_long(&scene, fd);
	assert_int_equal(live_open_fd(fd, "long", NULL, &live, NULL), 0);
	while (live_poll(live, &window))
		assert_null(window);
	play_anchor(&scene, 1000001500 + 10000000);
	write_long(&scene, fd);
	live_mark(live);
	assert_int_equal(live_poll(live, &window), 1);
	assert_true(live_has_read(live));
	take_window(&rows, window);
	/* This is behind the mark. */
	scene_done(&scene, scene_dispatch(&scene, 0, 0, 1, 1), 1000, 1100);
	write_long(&scene, fd);
	do {
		more = live_give(live, &window);
		take_window(&rows, window);
		windows++;
	} while (more > 0);
	assert_int_equal(more, 0);
	assert_true(windows > 0 && live_is_past(live));
	assert_int_equal(rows.count, DISPATCHES);
	assert_int_equal(live_poll(live, &window), 0);
	take_window(&rows, window);
	assert_int_equal(rows.count, DISPATCHES + 1);
	rows_release(&rows);
	live_close(live);
	scene_release(&scene);
	close(fd);
}

static int count_dispatch(void *count, const struct record_header *record, uint32_t tid)
{
	(void)tid;
	*(uint64_t *)count += record->type == RECORD_DISPATCH;
	return 0;
}

/* Puts dispatches of at least BYTES bytes, and writes the file anew. Returns their number. */
static uint64_t record_on(struct scene *scene, int fd, size_t bytes)
{
	size_t end = scene->chunks * (size_t)SPOOL_CHUNK_BYTES + scene->used[0] + bytes;
	uint64_t count = 0;

	for (; scene->chunks * (size_t)SPOOL_CHUNK_BYTES + scene->used[0] < end; count++)
		scene_dispatch(scene, 0, 0, 1, 1);
	assert_int_equal(pwrite(fd, scene->image, SCENE_BYTES, 0), SCENE_BYTES);
	return count;
}

static void a_mark_is_reached_though_more_is_recorded_than_read(void **state)
{
	const size_t most_bytes = SPOOL_CHUNK_BYTES / 2;
	struct scene *scene = *state;
	int fd = memfd_create("scene.spool", MFD_CLOEXEC);
	struct follower follower;
	uint64_t count = 0, before = record_on(scene, fd, most_bytes);

	assert_int_equal(follower_open(&follower, fd, "scene", false, NULL), 0);
	assert_true(follower_is_past_mark(&follower));
	assert_int_equal(follower_read(&follower, SCENE_BYTES, count_dispatch, &count), 0);
	before += record_on(scene, fd, most_bytes);
	follower_mark(&follower);
	/* The rest of the first chunk, and the next one up to the mark. */
	for (int reads = 0; reads < 3; reads++) {
		assert_false(follower_is_past_mark(&follower));
		record_on(scene, fd, most_bytes);
		assert_int_equal(follower_read(&follower, most_bytes, count_dispatch, &count), 1);
	}
	assert_true(follower_is_past_mark(&follower));
	assert_true(count >= before);
	follower_close(&follower);
	close(fd);
}

/* A process keeps thousands of places ready. */
static void places_that_no_chunk_has_taken_are_not_read(void **state)
{
	enum { READY = 1000 };
	struct scene *scene = *state;
	int fd = memfd_create("scene.spool", MFD_CLOEXEC);
	struct follower follower;
	uint64_t count = 0, expected = record_on(scene, fd, 1);

	assert_int_equal(ftruncate(fd, SCENE_BYTES + READY * (off_t)SPOOL_CHUNK_BYTES), 0);
	assert_int_equal(follower_open(&follower, fd, "scene", false, NULL), 0);
	preads = 0;
	/* A label is read twice. */
	for (int polls = 0; polls < 3; polls++) {
		expected += record_on(scene, fd, SPOOL_CHUNK_BYTES);
		assert_int_equal(follower_read(&follower, SCENE_BYTES, count_dispatch, &count), 0);
		assert_int_equal(preads, 2 * scene->chunks);
	}
	assert_int_equal(count, expected);
	follower_close(&follower);
	close(fd);
}

static void rings_are_refused_unless_asked_for(void **state)
{
	struct scene *scene = *state;
	struct spool_header *header = (struct spool_header *)scene->image;
	int fd = memfd_create("ring.spool", MFD_CLOEXEC);
	struct live *live;

	header->ring_bytes = 1 << 20;
	header->fixed_crc = spool_fixed_crc(header);
	assert_int_equal(pwrite(fd, scene->image, SCENE_BYTES, 0), SCENE_BYTES);
	assert_int_equal(live_open_fd(fd, "ring", NULL, &live, NULL), -EOPNOTSUPP);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE_CASE(a_call_is_given_out_once_all_of_it_has_ended),
		SCENE_CASE(a_call_inside_another_is_given_out_with_it),
		SCENE_CASE(a_dispatch_waits_until_its_time_is_final),
		SCENE_CASE(what_will_not_come_is_not_awaited_for_ever),
		SCENE_CASE(what_will_not_come_is_awaited_for_ever_if_asked),
		SCENE_CASE(the_oldest_are_cut_off_at_the_limit),
		SCENE_CASE(what_is_kept_does_not_grow_with_the_recording),
		SCENE_CASE(a_text_that_scopes_share_is_awaited_and_in_each_window),
		SCENE_CASE(a_mark_is_passed_when_all_before_it_is_given_out),
		SCENE_CASE(a_mark_is_reached_though_more_is_recorded_than_read),
		SCENE_CASE(places_that_no_chunk_has_taken_are_not_read),
		SCENE_CASE(rings_are_refused_unless_asked_for),
		cmocka_unit_test(what_is_ready_is_given_out_without_reading_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* What a follower gives out, when, and how much it keeps meanwhile. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "follow.h"
#include "live/units.h"
#include "scene.h"

/* A scene that is followed while it is made: the file is its image of the moment. */
struct play {
	struct scene *scene;
	struct live *live;
	int fd;
	struct rows rows; /* of the last poll */
};

static uint64_t preads; /* calls */

/* In the place of the C library's function. */
ssize_t pread(int fd, void *to, size_t bytes, off_t at)
{
	preads++;
	return syscall(SYS_pread64, fd, to, bytes, at);
}

static const struct live_options at_once = {.takes_any_time = true};

static void play_begin(struct play *play, struct scene *scene, const struct live_options *options)
{
	*play = (struct play){.scene = scene, .fd = memfd_create("scene.spool", MFD_CLOEXEC)};
	assert_int_equal(pwrite(play->fd, scene->image, SCENE_BYTES, 0), SCENE_BYTES);
	assert_int_equal(live_open_fd(play->fd, "scene", options, &play->live, NULL), 0);
}

/* Polls what the scene holds now; play->rows has what came. */
static void play_poll(struct play *play)
{
	struct trace *window;
	int more;

	rows_release(&play->rows);
	assert_int_equal(pwrite(play->fd, play->scene->image, SCENE_BYTES, 0), SCENE_BYTES);
	do {
		more = live_poll(play->live, &window);
		assert_true(more >= 0);
		if (window)
			rows_add(&play->rows, window);
		trace_close(window);
	} while (more);
}

static struct live_counts play_counts(const struct play *play)
{
	struct live_counts counts;

	live_count(play->live, &counts);
	return counts;
}

static void play_end(struct play *play)
{
	rows_release(&play->rows);
	live_close(play->live);
	close(play->fd);
}

static void put_anchor(struct scene *scene, uint64_t host_ns)
{
	struct record_anchor anchor = {
		.tick = (host_ns - 500) / 10, .host_ns = host_ns, .uncertainty_ns = 10};

	scene_put(scene, 0, RECORD_ANCHOR, 1, &anchor, sizeof(anchor));
}

static void a_call_is_given_out_once_all_of_it_has_ended(void **state)
{
	struct scene *scene = *state;
	uint64_t cid = scene_reserve_cid(scene), first, second;
	struct play play;

	play_begin(&play, scene, &at_once);
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

	play_begin(&play, scene, &at_once);
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
	put_anchor(scene, 1000001500 + 5000000);
	play_poll(&play);
	assert_int_equal(play.rows.count, 0);
	put_anchor(scene, 1000001500 + 10000000);
	play_poll(&play);
	assert_int_equal(play.rows.count, 2);
	play_end(&play);
}

static void what_will_not_come_is_not_awaited_for_ever(void **state)
{
	struct scene *scene = *state;
	struct play play;

	play_begin(&play, scene, &at_once);
	/* One of its two activities has no record. */
	scene_run(scene, scene_call(scene, SCENE_LAUNCH_KERNEL, 2, (uint64_t[]){0x101, 0}, 2), 0, 1,
		  1);
	put_anchor(scene, scene->ns + 1999999000);
	play_poll(&play);
	assert_int_equal(play.rows.count, 0);
	put_anchor(scene, scene->ns + 2000001000);
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
	put_anchor(scene, scene->ns + 1000000000000);
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

	play_begin(&play, scene, &at_once);
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

	play_begin(&play, scene, &at_once);
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

	play_begin(&play, scene, &at_once);
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
	put_anchor(&scene, 1000001500 + 10000000);
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

/* ---- CUDA ---- */

static void put_cuda_anchor(struct scene *scene, uint64_t host_ns)
{
	struct record_anchor anchor = {.tick = host_ns, .host_ns = host_ns, .uncertainty_ns = 10};

	scene_put(scene, 0, RECORD_ANCHOR, RECORD_CUDA_CLOCK, &anchor, sizeof(anchor));
}

static void put_cuda_device(struct scene *scene)
{
	struct record_agent agent = {.handle = RECORD_CUDA_AGENT_FIRST, .is_gpu = 1};

	scene_put(scene, 0, RECORD_AGENT, RECORD_CUDA_AGENT_FIRST, &agent, sizeof(agent));
}

/* A kernel without a name, which takes 100 ns. */
static void put_cuda_kernel(struct scene *scene, uint64_t cid, uint64_t end)
{
	struct record_cuda_kernel kernel = {.cid = cid, .start = end - 100, .end = end};

	scene_put(scene, 0, RECORD_CUDA_KERNEL, 0, &kernel, sizeof(kernel));
}

static void a_kernel_of_cuda_waits_until_its_time_is_final(void **state)
{
	struct scene *scene = *state;
	struct play play;

	play_begin(&play, scene, NULL);
	put_cuda_device(scene);
	put_cuda_anchor(scene, 1000000000);
	put_cuda_kernel(scene, 1, 1000005000);
	play_poll(&play);
	assert_int_equal(play.rows.count, 0);
	put_cuda_anchor(scene, 1000000000 + 10000000);
	play_poll(&play);
	assert_int_equal(play.rows.count, 0);
	put_cuda_anchor(scene, 1000000000 + 20000000);
	play_poll(&play);
	assert_int_equal(play.rows.count, 1);
	assert_non_null(strstr(play.rows.lines[0], " 1000004900-1000005000 "));
	play_end(&play);
}

/* The device that its record names never comes. */
static void a_kernel_of_cuda_that_lacks_a_definition_is_not_held_for_ever(void **state)
{
	struct scene *scene = *state;
	struct play play;

	play_begin(&play, scene, NULL);
	put_cuda_anchor(scene, 1000000000);
	put_cuda_kernel(scene, 1, 1000005000);
	put_cuda_anchor(scene, 2000000000);
	play_poll(&play);
	assert_int_equal(play.rows.count, 0);
	put_cuda_anchor(scene, 3100000000);
	play_poll(&play);
	assert_int_equal(play.rows.count, 1);
	play_end(&play);
}

static void put_api_name(struct scene *scene, uint32_t function, uint64_t domain, const char *text)
{
	struct {
		struct record_api_name name;
		char text[32];
	} record = {{.domain = domain, .text_bytes = strlen(text)}, ""};

	memcpy(record.text, text, strlen(text));
	scene_put(scene, 0, RECORD_API_NAME, function, &record, sizeof(record));
}

static void put_cuda_call(struct scene *scene, uint32_t function, uint64_t cid, uint64_t parent)
{
	struct record_api call = {.cid = cid, .parent = parent};

	scene_put(scene, 0, RECORD_API, function, &call, sizeof(call));
}

/* Kernels of one call come in two windows; both have the call and those around it. */
static void a_call_of_cuda_is_in_each_window_with_its_activities(void **state)
{
	enum { NCCL = 2050, DRIVER = RECORD_CUDA_FUNCTION_FIRST + 307 };
	struct record_cuda_inner inner = {.cid = 9, .outer = 8};
	struct scene *scene = *state;
	struct play play;

	play_begin(&play, scene, &at_once);
	put_api_name(scene, NCCL, RECORD_DOMAIN_RCCL, "ncclAllReduce");
	put_api_name(scene, DRIVER, RECORD_DOMAIN_CUDA, "cuLaunchKernel");
	put_cuda_device(scene);
	put_cuda_anchor(scene, 1000000000);
	put_cuda_anchor(scene, 1100000000);
	put_cuda_call(scene, NCCL, 7, 0);
	put_cuda_call(scene, DRIVER, 8, 7);
	scene_put(scene, 0, RECORD_CUDA_INNER, 0, &inner, sizeof(inner));
	put_cuda_call(scene, DRIVER, 10, 0);
	for (int i = 1; i <= 2; i++) {
		put_cuda_kernel(scene, 9, 1000000000 + 1000 * i);
		play_poll(&play);
		assert_int_equal(play.rows.count, 3);
		assert_non_null(strstr(play.rows.lines[0], "ncclAllReduce"));
		assert_non_null(strstr(play.rows.lines[1], "cuLaunchKernel"));
		assert_non_null(strstr(play.rows.lines[2], " call=1 "));
	}
	play_end(&play);
}

/* More calls than are kept: the oldest is forgotten, and what it used is freed. */
static void the_oldest_calls_of_cuda_are_forgotten(void **state)
{
	struct units units;

	(void)state;
	units_init(&units, 0);
	for (uint64_t cid = 1; cid <= 3 * CUDA_CALLS_MOST; cid++) {
		struct record_api call = {
			.header = {RECORD_API, sizeof(call) / 8, RECORD_CUDA_FUNCTION_FIRST},
			.cid = cid,
			.scope = cid,
		};

		assert_int_equal(units_add(&units, &call.header, 1), 0);
	}
	assert_int_equal(units.cuda_calls.rows_count, CUDA_CALLS_MOST);
	assert_int_equal(units.cuda_calls.bytes, CUDA_CALLS_MOST * sizeof(struct record_api));
	assert_int_equal(units.definitions.scope_map.count, CUDA_CALLS_MOST);
	units_release(&units);
}

/* ---- graphs that come and go ---- */

enum { GRAPH_ROUNDS = 120, LITTLE = 16 << 10 };

/* Polls what the scene holds now. Returns how many activities came, and asserts that all are of a
 * node with this name, and that this is certain: what ran agrees with the node as it was then. */
static uint32_t poll_nodes(struct play *play, const char *name)
{
	struct trace *window;
	uint32_t count = 0;
	int more;

	assert_int_equal(pwrite(play->fd, play->scene->image, SCENE_BYTES, 0), SCENE_BYTES);
	do {
		more = live_poll(play->live, &window);
		assert_true(more >= 0);
		for (uint32_t i = 0; window && i < window->activities_count; i++, count++) {
			uint32_t node = window->activities[i].node;

			assert_int_not_equal(node, TRACE_NONE);
			assert_int_equal(window->activities[i].confidence, TRACE_CONFIDENCE_EXACT);
			assert_string_equal(trace_text(window, window->nodes[node].name), name);
		}
		trace_close(window);
	} while (more);
	return count;
}

/* Launches EXEC, whose graph has a kernel in one node: FUNCTION with grid 4. */
static void launch_one(struct scene *scene, uint64_t exec, uint64_t function)
{
	uint64_t cid = scene_reserve_cid(scene);

	scene_graph_launch(scene, exec, cid, cid);
	scene_run(scene, cid, 0, (uint32_t)(function - 0x100), 4);
	scene_put_call(scene, 0, cid, SCENE_GRAPH_LAUNCH, 1,
		       (uint64_t[]){SCENE_EXEC_HANDLE(exec), 0}, 2);
}

/* Far more than LITTLE goes by; of each graph that is launched the node is known. */
static void graphs_that_were_destroyed_are_forgotten(void **state)
{
	const struct live_options options = {.takes_any_time = true, .most_graph_bytes = LITTLE};
	const uint64_t functions[] = {0x101};
	const uint32_t grids[] = {4};
	struct scene *scene = *state;
	struct play play;

	play_begin(&play, scene, &options);
	/* One that stays. */
	scene_graph(scene, 1, 1, 1, functions, grids);
	for (uint64_t id = 2; id < GRAPH_ROUNDS; id++) {
		struct record_graph_exec_gone gone = {.exec_id = id};

		scene_graph(scene, id, id, 1, functions, grids);
		launch_one(scene, id, 0x101);
		scene->ns += 1000000000;
		gone.ns = scene->ns;
		scene_put(scene, 0, RECORD_GRAPH_EXEC_GONE, 0, &gone, sizeof(gone));
		put_anchor(scene, scene->ns);
		launch_one(scene, 1, 0x101);
		assert_int_equal(poll_nodes(&play, "one"), 2);
	}
	assert_int_equal(play_counts(&play).graph_records_left_out, 0);
	play_end(&play);
}

/* A graph that is destroyed while a launch of it has not ended is kept until then. */
static void a_destroyed_graph_stays_while_it_runs(void **state)
{
	const struct live_options options = {
		.takes_any_time = true, .most_graph_bytes = LITTLE, .quiet_ns = 1000};
	const uint64_t functions[] = {0x101};
	const uint32_t grids[] = {4};
	struct record_graph_exec_gone gone = {.exec_id = 1};
	struct scene *scene = *state;
	uint64_t cid = scene_reserve_cid(scene), packet;
	struct play play;

	play_begin(&play, scene, &options);
	scene_graph(scene, 1, 1, 1, functions, grids);
	scene_graph_launch(scene, 1, 0, cid);
	packet = scene_dispatch(scene, cid, 0, 1, 4);
	scene_put_call(scene, 0, cid, SCENE_GRAPH_LAUNCH, 1, (uint64_t[]){SCENE_EXEC_HANDLE(1), 0},
		       2);
	gone.ns = scene->ns;
	scene_put(scene, 0, RECORD_GRAPH_EXEC_GONE, 0, &gone, sizeof(gone));
	for (uint64_t id = 2; id < GRAPH_ROUNDS; id++) {
		gone.exec_id = id;
		scene_graph(scene, id, id, 1, functions, grids);
		scene->ns += 1000000;
		gone.ns = scene->ns;
		scene_put(scene, 0, RECORD_GRAPH_EXEC_GONE, 0, &gone, sizeof(gone));
		put_anchor(scene, scene->ns);
		assert_int_equal(poll_nodes(&play, "one"), 0);
	}
	scene_done(scene, packet, 1000, 1100);
	assert_int_equal(poll_nodes(&play, "one"), 1);
	assert_int_equal(play_counts(&play).graph_records_left_out, 0);
	play_end(&play);
}

/* Node NODE of executable graph 1 gets FUNCTION with grid 4. */
static void update_node(struct scene *scene, uint32_t node, uint64_t function)
{
	struct record_graph_node update = {
		.graph_id = 1,
		.handle = SCENE_NODE_HANDLE(1, node),
		.type = RECORD_NODE_KERNEL,
		.function = function,
		.grid = {4, 1, 1},
		.block = {1, 1, 1},
		.cid = scene_reserve_cid(scene),
		.ns = scene->ns,
	};

	scene_put(scene, 0, RECORD_GRAPH_EXEC_UPDATE, node, &update, sizeof(update));
}

/* One node gets another kernel before each launch, the other one at the beginning. */
static void updates_that_later_ones_replaced_are_forgotten(void **state)
{
	const struct live_options options = {.takes_any_time = true, .most_graph_bytes = LITTLE};
	const uint64_t functions[] = {0x101, 0x101};
	const uint32_t grids[] = {9, 9};
	struct scene *scene = *state;
	struct play play;

	play_begin(&play, scene, &options);
	scene_graph(scene, 1, 1, 2, functions, grids);
	update_node(scene, 0, 0x102);
	for (uint32_t i = 0; i < 2 * GRAPH_ROUNDS; i++) {
		uint64_t cid;

		update_node(scene, 1, 0x101 + i % 2);
		cid = scene_reserve_cid(scene);
		scene_graph_launch(scene, 1, i, cid);
		scene_run(scene, cid, 0, 2, 4);
		scene_run(scene, cid, 1, 1 + i % 2, 4);
		scene_put_call(scene, 0, cid, SCENE_GRAPH_LAUNCH, 2,
			       (uint64_t[]){SCENE_EXEC_HANDLE(1), 0}, 2);
		scene->ns += 1000000000;
		put_anchor(scene, scene->ns);
		assert_int_equal(poll_nodes(&play, "one"), 2);
	}
	assert_int_equal(play_counts(&play).graph_records_left_out, 0);
	play_end(&play);
}

/* ---- random scenes ---- */

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
				put_anchor(&scene, 1010000000 + scene.ns * 1000);
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
		SCENE_CASE(a_kernel_of_cuda_waits_until_its_time_is_final),
		SCENE_CASE(a_kernel_of_cuda_that_lacks_a_definition_is_not_held_for_ever),
		SCENE_CASE(a_call_of_cuda_is_in_each_window_with_its_activities),
		cmocka_unit_test(the_oldest_calls_of_cuda_are_forgotten),
		SCENE_CASE(graphs_that_were_destroyed_are_forgotten),
		SCENE_CASE(a_destroyed_graph_stays_while_it_runs),
		SCENE_CASE(updates_that_later_ones_replaced_are_forgotten),
		cmocka_unit_test(what_is_ready_is_given_out_without_reading_on),
		cmocka_unit_test(random_recordings_give_the_same_rows_at_any_cuts),
		cmocka_unit_test(damage_ends_nothing_but_the_following),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

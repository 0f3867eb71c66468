/* Follows scenes while they are made: see live_play.h. */
#include "live_play.h"

#include <setjmp.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

const struct live_options play_at_once = {.takes_any_time = true};

void play_begin(struct play *play, struct scene *scene, const struct live_options *options)
{
	*play = (struct play){.scene = scene, .fd = memfd_create("scene.spool", MFD_CLOEXEC)};
	assert_int_equal(pwrite(play->fd, scene->image, SCENE_BYTES, 0), SCENE_BYTES);
	assert_int_equal(live_open_fd(play->fd, "scene", options, &play->live, NULL), 0);
}

void play_poll(struct play *play)
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

struct live_counts play_counts(const struct play *play)
{
	struct live_counts counts;

	live_count(play->live, &counts);
	return counts;
}

void play_end(struct play *play)
{
	rows_release(&play->rows);
	live_close(play->live);
	close(play->fd);
}

void play_anchor(struct scene *scene, uint64_t host_ns)
{
	struct record_anchor anchor = {
		.tick = (host_ns - 500) / 10, .host_ns = host_ns, .uncertainty_ns = 10};

	scene_put(scene, 0, RECORD_ANCHOR, 1, &anchor, sizeof(anchor));
}

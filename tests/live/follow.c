/* Follows a played spool: see follow.h. */
#include "follow.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void take_window(struct followed *followed, struct trace *window)
{
	if (!window)
		return;
	followed->windows++;
	rows_add(&followed->rows, window);
	trace_close(window);
}

/* Polls until nothing more is there now. */
static void poll_all(struct live *live, struct followed *followed)
{
	struct trace *window;
	int more;

	do {
		more = live_poll(live, &window);
		assert_true(more >= 0);
		take_window(followed, window);
		live_count(live, &followed->counts);
		if (followed->counts.open_bytes > followed->most_open_bytes)
			followed->most_open_bytes = followed->counts.open_bytes;
	} while (more > 0);
}

struct followed follow(const void *image, size_t length, uint64_t seed, uint32_t most_records,
		       const struct live_options *options)
{
	struct followed followed = {.rows.has_nodes = options && options->most_graph_bytes};
	struct player player;
	struct live *live;
	struct trace *window;
	int more;

	player_begin(&player, image, length, seed);
	assert_int_equal(live_open_fd(player.fd, "played", options, &live, NULL), 0);
	while (player_step(&player, 1 + (uint32_t)(player.random >> 40) % most_records))
		poll_all(live, &followed);
	poll_all(live, &followed);
	do {
		more = live_finish(live, &window);
		assert_true(more >= 0);
		take_window(&followed, window);
	} while (more > 0);
	live_close(live);
	player_end(&player);
	return followed;
}

uint32_t follow_assert_same(const void *image, size_t length, uint64_t seed, uint32_t most_records)
{
	/* Writers are mixed at random: an anchor may come long before an earlier record. Graphs are
	 * kept for every second seed. */
	const struct live_options options = {.quiet_ns = UINT64_MAX,
					     .most_graph_bytes = seed % 2 ? 64u << 20 : 0};
	struct followed followed = follow(image, length, seed, most_records, &options);
	struct rows whole = {.has_nodes = options.most_graph_bytes};
	struct trace *trace;
	uint32_t count;

	assert_int_equal(trace_open_memory("whole", image, length, &trace, NULL), 0);
	rows_add(&whole, trace);
	trace_close(trace);
	rows_assert_same(&whole, &followed.rows);
	count = whole.count;
	rows_release(&whole);
	rows_release(&followed.rows);
	return count;
}

/* Compares launches with deliveries: see played_deliveries.h. */
#include "played_deliveries.h"

struct deliveries deliveries_compare(struct fixture *fixture, void (*scene)(void))
{
	const struct live_options options = {.most_graph_bytes = 1u << 20,
					     .compares_launches = true};
	struct deliveries found;
	char path[TEST_PATH_BYTES];
	struct trace *window;
	struct live *live;
	int more;

	assert_int_equal(in_child(fixture->folder, scene), 0);
	assert_int_equal(fixture_files(fixture, path, sizeof(path)), 1);
	assert_int_equal(live_open(path, &options, &live, NULL), 0);
	do {
		more = live_poll(live, &window);
		assert_true(more >= 0);
		trace_close(window);
	} while (more > 0);
	do {
		more = live_finish(live, &window);
		assert_true(more >= 0);
		trace_close(window);
	} while (more > 0);
	live_compare(live, true, &found);
	live_close(live);
	assert_true(found.is_known);
	return found;
}

void deliveries_assert_kernels(const struct deliveries *found, uint64_t launched,
			       uint64_t delivered)
{
	assert_int_equal(found->launched[DELIVERY_KERNELS], launched);
	assert_int_equal(found->delivered[DELIVERY_KERNELS], delivered);
}

void deliveries_alone(uint32_t first, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct cupti_kernel kernel = play_kernel(first + i, "alone");

		play_call(first + i);
		PLAY_PUT(kernel);
	}
}

void deliveries_replay(uint32_t first, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		play_launch(first + i, EXEC);
		play_replay(first + i, EXEC, 101, "kernel");
	}
}

/* Launch attributes of kernels, read from the driver's nodes: attributes that were given,
 * captured and adopted, also after every operation that builds a new graph. */
#include <errno.h>
#include <string.h>

#include <dagpatch/model.h>

#include "suite.h"

enum { BLOCKS = 2 };

static struct dagpatch_attributes all_that_there_are(int32_t priority)
{
	return DAGPATCH_SIZED(attributes, .given = suite_bed->attributes, .priority = priority,
			      .cooperative = 1, .cluster = {BLOCKS, 1, 1},
			      .programmatic = DAGPATCH_ON_TRIGGER);
}

#define expect_attributes(handle, expected) expect_those(handle, expected, __FILE__, __LINE__)
static void expect_those(void *node, const struct dagpatch_attributes *expected, const char *file,
			 int line)
{
	struct dagpatch_attributes are = {0};
	uint32_t given = expected->given;

	suite_bed->attributes_get(node, &are);
	if ((!(given & DAGPATCH_PRIORITY) || are.priority == expected->priority) &&
	    (!(given & DAGPATCH_COOPERATIVE) || are.cooperative == expected->cooperative) &&
	    (!(given & DAGPATCH_CLUSTER) ||
	     memcmp(are.cluster, expected->cluster, sizeof(are.cluster)) == 0) &&
	    (!(given & DAGPATCH_PROGRAMMATIC) || are.programmatic == expected->programmatic))
		return;
	print_error("priority %d, cooperative %d, cluster %u %u %u, programmatic %d\n",
		    are.priority, are.cooperative, are.cluster[0], are.cluster[1], are.cluster[2],
		    (int)are.programmatic);
	_fail(file, line);
}

/* Checked only if the driver can tell. */
static void expect_by_priorities(const struct dagpatch_recording *recording, int expected)
{
	int is = suite_bed->by_priorities
			 ? suite_bed->by_priorities(dagpatch_recording_exec(recording))
			 : -1;

	assert_true(is < 0 || is == expected);
}

/* c = a OP b with two blocks. SET: changes node *NODE instead of adding one. */
static int give_kernel(struct dagpatch_recording *recording, const uint32_t slots[3],
		       const struct dagpatch_attributes *attributes,
		       const struct dagpatch_after *after, uint32_t *node, bool set)
{
	uint32_t count = WORDS;
	struct dagpatch_pointer pointers[3] = {
		{.slot = slots[0]}, {.slot = slots[1]}, {.slot = slots[2]}};
	struct dagpatch_argument arguments[4] = {
		dagpatch_address(&pointers[0]), dagpatch_address(&pointers[1]),
		dagpatch_address(&pointers[2]), dagpatch_value(&count, sizeof(count))};
	const struct dagpatch_kernel kernel = DAGPATCH_SIZED(
		kernel, .function = suite_bed->function(BED_ADD), .grid = {BLOCKS, 1, 1},
		.block = {WORDS / BLOCKS, 1, 1}, .argument_count = 4, .arguments = arguments,
		.attributes = attributes);

	return set ? dagpatch_set_kernel(recording, *node, &kernel)
		   : dagpatch_add_kernel(recording, &kernel, after, node);
}

static void what_a_driver_lacks_is_refused(void **state)
{
	struct scene *scene = *state;
	uint32_t slots[3], node;
	struct dagpatch_stats stats = {.size = sizeof(stats)};

	for (uint32_t i = 0; i < 3; i++)
		slots[i] = slot(scene->recording, NULL);
	for (uint32_t bit = DAGPATCH_PRIORITY; bit <= DAGPATCH_PROGRAMMATIC; bit *= 2) {
		if (suite_bed->attributes & bit)
			continue;
		scene_failed(scene->recording,
			     give_kernel(scene->recording, slots,
					 &DAGPATCH_SIZED(attributes, .given = bit), NULL, &node,
					 false),
			     -ENOTSUP, "no launch attribute");
	}
	scene_failed(scene->recording,
		     give_kernel(scene->recording, slots,
				 &DAGPATCH_SIZED(attributes, .given = 1u << 30), NULL, &node,
				 false),
		     -EINVAL, "unknown launch attributes");
	OK(scene->recording, dagpatch_recording_stats(scene->recording, &stats));
	assert_int_equal(stats.node_count, 0);
}

/* Two independent kernels, the second with attributes. */
static void recorded_kernels_have_what_they_were_given(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording;
	struct dagpatch_attributes attributes = all_that_there_are(-1);
	uint32_t *buffers[3], slots[3], first, second;

	if (!suite_bed->attributes)
		skip();
	for (uint32_t i = 0; i < 3; i++) {
		slots[i] = slot(recording, NULL);
		buffers[i] = buffer(i + 1);
	}
	OK(recording, give_kernel(recording, (uint32_t[]){slots[1], slots[2], slots[2]}, NULL, NULL,
				  &first, false));
	OK(recording, give_kernel(recording, (uint32_t[]){slots[0], slots[2], slots[2]},
				  &attributes, AFTER(first), &second, false));
	OK(recording, dagpatch_finalize(recording));
	for (uint32_t i = 0; i < 3; i++)
		bind(recording, slots[i], buffers[i]);
	scene_run(scene);
	expect_attributes(dagpatch_node_handle(recording, second), &attributes);
	expect_by_priorities(recording, 1);
	expect_all(buffers[0], 6);
	/* Sets other attributes, then parameters only: the attributes stay. */
	attributes.priority = 0;
	attributes.programmatic = DAGPATCH_ON_START;
	OK(recording, give_kernel(recording, (uint32_t[]){slots[0], slots[2], slots[2]},
				  &attributes, NULL, &second, true));
	scene_run(scene);
	expect_attributes(dagpatch_node_handle(recording, second), &attributes);
	OK(recording, give_kernel(recording, (uint32_t[]){slots[0], slots[0], slots[2]}, NULL, NULL,
				  &second, true));
	scene_run(scene);
	expect_attributes(dagpatch_node_handle(recording, second), &attributes);
	expect_all(buffers[0], 9);
}

static void nested_kernels_have_them_too(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording, *nested;
	struct dagpatch_attributes attributes = all_that_there_are(-1);
	uint32_t *buffers[3], slots[3], inner;
	struct dagpatch_mapping mappings[3];

	if (!suite_bed->attributes)
		skip();
	/* the kernel waits for no other kernel */
	attributes.given &= ~(uint32_t)DAGPATCH_PROGRAMMATIC;
	OK(NULL, dagpatch_recording_create(scene->context, DAGPATCH_NESTED, &nested));
	for (uint32_t i = 0; i < 3; i++) {
		slots[i] = slot(nested, NULL);
		mappings[i] = (struct dagpatch_mapping){slot(recording, NULL), 0};
		buffers[i] = buffer(i + 1);
	}
	OK(nested, give_kernel(nested, slots, &attributes, NULL, &inner, false));
	OK(nested, dagpatch_finalize(nested));
	OK(recording, dagpatch_add_empty(recording, NULL, NULL));
	OK(recording, dagpatch_add_child(recording, &DAGPATCH_SIZED(child, nested, mappings, 3),
					 NULL, &inner));
	dagpatch_recording_destroy(nested);
	OK(recording, dagpatch_finalize(recording));
	for (uint32_t i = 0; i < 3; i++)
		bind(recording, i, buffers[i]);
	scene_run(scene);
	expect_attributes(dagpatch_node_handle(recording, inner + 1), &attributes);
	expect_by_priorities(recording, 1);
	expect_all(buffers[0], 5);
}

static int capture_add(void *user, void *stream, void *const *addresses)
{
	uint32_t count = WORDS;

	return suite_bed->launch(stream, BED_ADD, BLOCKS, WORDS / BLOCKS,
				 (void *[]){(void *)&addresses[0], (void *)&addresses[1],
					    (void *)&addresses[2], &count})
		       ? -EIO
		       : 0;
}

static void adopt_kernels(struct scene *scene, bool with_exec)
{
	struct dagpatch_recording *recording = scene->recording;
	struct dagpatch_attributes attributes = all_that_there_are(-1);
	uint32_t *buffers[6];
	void *graphs[2], *exec;

	if (!suite_bed->attributes)
		skip();
	attributes.given &= ~(uint32_t)DAGPATCH_PROGRAMMATIC;
	for (uint32_t i = 0; i < 6; i++)
		buffers[i] = buffer(i + 1);
	for (uint32_t i = 0; i < 3; i++)
		slot(recording, NULL);
	for (uint32_t i = 0; i < 2; i++) {
		suite_bed->capture_begin(scene->stream);
		assert_int_equal(capture_add(NULL, scene->stream, (void **)buffers + 3 * i), 0);
		graphs[i] = suite_bed->capture_end(scene->stream);
		suite_bed->attributes_set(suite_bed->graph_node(graphs[i], 0), &attributes);
	}
	exec = with_exec ? suite_bed->instantiate(graphs[0]) : NULL;
	OK(recording,
	   dagpatch_adopt(recording,
			  &DAGPATCH_SIZED(adoption, .graph = graphs[0],
					  .addresses = {(void **)buffers, (void **)buffers + 3},
					  .other_graph = graphs[1], .exec = exec)));
	OK(recording, dagpatch_finalize(recording));
	scene_run(scene);
	expect_attributes(dagpatch_node_handle(recording, 0), &attributes);
	expect_by_priorities(recording, !with_exec);
	expect_all(buffers[0], 5);
	bind(recording, 1, buffers[4]);
	scene_run(scene);
	expect_all(buffers[0], 8);
	expect_attributes(dagpatch_node_handle(recording, 0), &attributes);
	if (with_exec) {
		scene_again(scene, 0);
		suite_bed->exec_destroy(exec);
	}
	for (uint32_t i = 0; i < 2; i++)
		suite_bed->graph_destroy(graphs[i]);
}

static void adopted_kernels_keep_theirs(void **state)
{
	adopt_kernels(*state, false);
}

/* The program instantiated its executable graph as it wanted; dagpatch must not change that. */
static void so_do_those_of_the_callers_executable_graph(void **state)
{
	adopt_kernels(*state, true);
}

/* Captures work that forks to a stream with a priority and joins it. */
static int capture_forked(void *user, void *stream, void *const *addresses)
{
	void *other = user, *fork = suite_bed->event_create(), *join = suite_bed->event_create();
	int rc = suite_bed->event_record(stream, fork) || suite_bed->event_wait(other, fork)
			 ? -EIO
			 : capture_add(NULL, other, addresses);

	if (rc == 0 &&
	    (suite_bed->event_record(other, join) || suite_bed->event_wait(stream, join)))
		rc = -EIO;
	suite_bed->event_destroy(fork);
	suite_bed->event_destroy(join);
	return rc;
}

static void captured_kernels_keep_their_streams_priority(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording;
	const struct dagpatch_attributes expected =
		DAGPATCH_SIZED(attributes, .given = DAGPATCH_PRIORITY, .priority = -1);
	uint32_t *buffers[3], slots[3], child;
	void *other = suite_bed->stream_with_priority ? suite_bed->stream_with_priority(-1) : NULL;

	if (!other)
		skip();
	for (uint32_t i = 0; i < 3; i++) {
		slots[i] = slot(recording, NULL);
		buffers[i] = buffer(i + 1);
	}
	OK(recording,
	   dagpatch_add_captured(recording,
				 &DAGPATCH_SIZED(capture, .record = capture_forked, .user = other,
						 .slots = slots, .slot_count = 3),
				 NULL, &child));
	OK(recording, dagpatch_finalize(recording));
	for (uint32_t i = 0; i < 3; i++)
		bind(recording, slots[i], buffers[i]);
	scene_run(scene);
	expect_attributes(dagpatch_node_handle(recording, child + 1), &expected);
	expect_by_priorities(recording, 1);
	expect_all(buffers[0], 5);
	bind(recording, slots[1], buffers[2]);
	scene_run(scene);
	expect_attributes(dagpatch_node_handle(recording, child + 1), &expected);
	expect_all(buffers[0], 6);
	suite_bed->stream_destroy(other);
}

static int capture_plain(void *user, void *stream, void *const *addresses)
{
	void **other = user;

	return *other ? capture_forked(*other, stream, addresses)
		      : capture_add(NULL, stream, addresses);
}

/* Makes a recording of one kernel that adds two slots and is captured again through CACHE. */
static void record_again(struct scene *scene, struct dagpatch_cache *cache, void **other,
			 uint32_t *const buffers[3])
{
	struct dagpatch_recording *recording = scene->recording;
	uint32_t slots[3], child;

	for (uint32_t i = 0; i < 3; i++)
		slots[i] = slot(recording, NULL);
	OK(recording,
	   dagpatch_add_captured(recording,
				 &DAGPATCH_SIZED(capture, .record = capture_plain, .user = other,
						 .slots = slots, .slot_count = 3,
						 .flags = DAGPATCH_RECAPTURE, .cache = cache,
						 .key = "add", .key_bytes = 3),
				 NULL, &child));
	OK(recording, dagpatch_finalize(recording));
	for (uint32_t i = 0; i < 3; i++)
		bind(recording, slots[i], buffers[i]);
}

/* The first capture has no priorities. Then a capture has one, and another recording takes that
 * capture from the cache. */
static void priorities_come_with_what_is_captured_anew(void **state)
{
	struct scene *scene = *state;
	uint32_t *buffers[4];
	void *other = NULL,
	     *first = suite_bed->stream_with_priority ? suite_bed->stream_with_priority(-1) : NULL;
	struct dagpatch_cache *cache;

	if (!first)
		skip();
	for (uint32_t i = 0; i < 4; i++)
		buffers[i] = buffer(i + 1);
	OK(NULL, dagpatch_cache_create(scene->context,
				       &DAGPATCH_SIZED(cache_options, .capacity = 4), &cache));
	record_again(scene, cache, &other, buffers);
	scene_run(scene);
	expect_by_priorities(scene->recording, 0);
	other = first;
	bind(scene->recording, 1, buffers[3]);
	scene_run(scene);
	expect_by_priorities(scene->recording, 1);
	expect_all(buffers[0], 7);
	scene_again(scene, 0);
	buffers[1] = buffers[3];
	record_again(scene, cache, &other, buffers);
	other = NULL; /* the work must not be captured again */
	scene_run(scene);
	expect_by_priorities(scene->recording, 1);
	expect_all(buffers[0], 7);
	scene_again(scene, 0);
	dagpatch_cache_destroy(cache);
	suite_bed->stream_destroy(first);
}

/* Without node priorities the priority of the launching stream counts, as without dagpatch. */
static void graphs_without_priorities_have_none(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording;
	uint32_t *a = buffer(1), to = slot(recording, NULL);

	add_three(recording, BED_ADD, (uint32_t[]){to, to, to}, NULL);
	OK(recording, dagpatch_finalize(recording));
	bind(recording, to, a);
	scene_run(scene);
	expect_by_priorities(recording, 0);
}

int suite_attributes(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(what_a_driver_lacks_is_refused),
		SCENE(recorded_kernels_have_what_they_were_given),
		SCENE(nested_kernels_have_them_too),
		SCENE(adopted_kernels_keep_theirs),
		SCENE(so_do_those_of_the_callers_executable_graph),
		SCENE(captured_kernels_keep_their_streams_priority),
		SCENE(priorities_come_with_what_is_captured_anew),
		SCENE(graphs_without_priorities_have_none),
	};

	return cmocka_run_group_tests_name("attributes", tests, NULL, NULL);
}

/* Conditional nodes, on drivers that have them: GC-7 to GC-11. */
#include <errno.h>
#include <stdlib.h>

#include "suite.h"

static uint32_t number_slot(struct dagpatch_recording *recording)
{
	uint32_t number;

	OK(recording, dagpatch_slot_add(recording, &DAGPATCH_SIZED(slot, .bytes = 4), &number));
	return number;
}

static void set_number(int32_t *at, int32_t value)
{
	suite_bed->write(at, &value, sizeof(value));
}

/* A nested recording with out = left OP right. With OP BED_KERNELS the body is empty and has the
 * same slots. */
static struct dagpatch_recording *body_of(struct scene *scene, enum bed_kernel kernel)
{
	struct dagpatch_recording *body;
	uint32_t slots[3];

	OK(NULL, dagpatch_recording_create(scene->context, DAGPATCH_NESTED, &body));
	for (uint32_t i = 0; i < 3; i++)
		slots[i] = slot(body, NULL);
	if (kernel != BED_KERNELS)
		add_three(body, kernel, slots, NULL);
	OK(body, dagpatch_finalize(body));
	return body;
}

/* GC-7, GC-9 */
static void run_case(struct scene *scene, enum bed_kernel second, const int32_t *indices,
		     const uint32_t *expected)
{
	uint32_t *buffers[4] = {buffer(0), buffer(2), buffer(3), buffer(0)};
	int32_t *index = device_memory(4), *other = device_memory(4);
	struct dagpatch_recording *bodies[2] = {body_of(scene, BED_ADD), body_of(scene, second)};
	struct dagpatch_mapping mappings[3];
	struct dagpatch_recording *recording;
	uint32_t slots[3], predicate;

	scene_again(scene, 0);
	recording = scene->recording;
	for (uint32_t i = 0; i < 3; i++) {
		slots[i] = slot(recording, NULL);
		mappings[i] = (struct dagpatch_mapping){slots[i], 0};
	}
	predicate = number_slot(recording);
	OK(recording,
	   dagpatch_add_conditional(
		   recording,
		   &DAGPATCH_SIZED(conditional, .condition = DAGPATCH_CASE,
				   .predicate_slot = predicate,
				   .bodies =
					   (struct dagpatch_child[]){
						   DAGPATCH_SIZED(child, bodies[0], mappings, 3),
						   DAGPATCH_SIZED(child, bodies[1], mappings, 3)},
				   .body_count = 2),
		   NULL, NULL));
	dagpatch_recording_destroy(bodies[0]);
	dagpatch_recording_destroy(bodies[1]);
	OK(recording, dagpatch_finalize(recording));
	for (uint32_t i = 0; i < 4; i++) {
		/* Every second launch uses other addresses, so predicate and result move. */
		OK(recording, dagpatch_bind(recording, predicate, i % 2 ? other : index, 4));
		bind(recording, slots[0], buffers[i % 2 ? 3 : 0]);
		bind(recording, slots[1], buffers[1]);
		bind(recording, slots[2], buffers[2]);
		set_number(i % 2 ? index : other, 0);
		set_number(i % 2 ? other : index, indices[i]);
		buffer_set(buffers[i % 2 ? 3 : 0], 77);
		scene_run(scene);
		expect_all(buffers[i % 2 ? 3 : 0], expected[i]);
	}
}

static void conditional_case_with_empty_body(void **state)
{
	run_case(*state, BED_KERNELS, (int32_t[]){0, 1, -1, 2}, (uint32_t[]){5, 77, 77, 77});
}

static void conditional_case(void **state)
{
	run_case(*state, BED_MUL, (int32_t[]){0, 1, -1, 2}, (uint32_t[]){5, 6, 6, 6});
}

/* GC-8: COUNT bodies; body i writes i squared to result i. */
static void run_multi_case(struct scene *scene, uint32_t count)
{
	struct dagpatch_child *bodies = calloc(count, sizeof(*bodies));
	struct dagpatch_mapping *mappings = calloc((size_t)count * 3, sizeof(*mappings));
	int32_t *index = device_memory(4);
	uint32_t **results = calloc(count, sizeof(uint32_t *));
	uint32_t **inputs = calloc(count, sizeof(uint32_t *));
	struct dagpatch_recording *body = body_of(scene, BED_MUL), *recording;
	uint32_t predicate;

	scene_again(scene, 0);
	recording = scene->recording;
	predicate = number_slot(recording);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t result = slot(recording, NULL), input = slot(recording, NULL);

		mappings[i * 3] = (struct dagpatch_mapping){result, 0};
		mappings[i * 3 + 1] = mappings[i * 3 + 2] = (struct dagpatch_mapping){input, 0};
		bodies[i] = DAGPATCH_SIZED(child, body, &mappings[(size_t)i * 3], 3);
		results[i] = buffer(0);
		inputs[i] = buffer(i);
	}
	OK(recording,
	   dagpatch_add_conditional(recording,
				    &DAGPATCH_SIZED(conditional, .condition = DAGPATCH_CASE,
						    .predicate_slot = predicate, .bodies = bodies,
						    .body_count = count),
				    NULL, NULL));
	dagpatch_recording_destroy(body);
	OK(recording, dagpatch_finalize(recording));
	OK(recording, dagpatch_bind(recording, predicate, index, 4));
	for (uint32_t i = 0; i < count; i++) {
		bind(recording, mappings[i * 3].slot, results[i]);
		bind(recording, mappings[i * 3 + 1].slot, inputs[i]);
	}
	for (int32_t value = -1; value <= (int32_t)count; value++) {
		uint32_t chosen =
			value < 0 || value >= (int32_t)count ? count - 1 : (uint32_t)value;

		for (uint32_t i = 0; i < count; i++)
			buffer_set(results[i], 0);
		set_number(index, value);
		scene_run(scene);
		for (uint32_t i = 0; i < count; i++)
			expect_all(results[i], i == chosen ? i * i : 0);
	}
	free(bodies);
	free(mappings);
	free(results);
	free(inputs);
}

static void conditional_multi_case(void **state)
{
	static const uint32_t counts[] = {1, 2, 3, 7, 8, 9, 16, 31};

	for (uint32_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
		run_multi_case(*state, counts[i]);
}

/* The body of: while (counter != 0) { sum += 10; counter-- } */
static struct dagpatch_recording *counting_body(struct scene *scene)
{
	struct dagpatch_recording *body;
	struct dagpatch_pointer pointers[2];
	struct dagpatch_argument arguments[3];
	uint32_t value = 10;

	OK(NULL, dagpatch_recording_create(scene->context, DAGPATCH_NESTED, &body));
	pointers[0] = (struct dagpatch_pointer){.slot = number_slot(body)};
	pointers[1] = (struct dagpatch_pointer){.slot = number_slot(body)};
	arguments[0] = dagpatch_address(&pointers[0]);
	arguments[1] = dagpatch_address(&pointers[1]);
	arguments[2] = dagpatch_value(&value, sizeof(value));
	OK(body, dagpatch_add_kernel(
			 body,
			 &DAGPATCH_SIZED(kernel, .function = suite_bed->function(BED_COUNT_DOWN),
					 .grid = {1, 1, 1}, .block = {1, 1, 1}, .argument_count = 3,
					 .arguments = arguments),
			 NULL, NULL));
	OK(body, dagpatch_finalize(body));
	return body;
}

static void expect_number(const void *at, int32_t expected)
{
	int32_t got;

	suite_bed->read(&got, at, sizeof(got));
	assert_int_equal(got, expected);
}

static void add_while(struct dagpatch_recording *recording, struct dagpatch_recording *body,
		      uint32_t counter, uint32_t sum)
{
	OK(recording,
	   dagpatch_add_conditional(
		   recording,
		   &DAGPATCH_SIZED(conditional, .condition = DAGPATCH_WHILE,
				   .predicate_slot = counter,
				   .bodies = &DAGPATCH_SIZED(
					   child, body,
					   (struct dagpatch_mapping[]){{counter, 0}, {sum, 0}}, 2),
				   .body_count = 1),
		   NULL, NULL));
}

/* GC-10, TH-17 */
static void conditional_while(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording;
	struct dagpatch_recording *body = counting_body(scene);
	uint32_t counter = number_slot(recording), sum = number_slot(recording);
	int32_t *numbers[4];

	for (uint32_t i = 0; i < 4; i++)
		numbers[i] = device_memory(4);
	add_while(recording, body, counter, sum);
	dagpatch_recording_destroy(body);
	OK(recording, dagpatch_finalize(recording));
	for (int32_t i = 0; i < 2; i++) {
		set_number(numbers[i], 10 - 5 * i);
		set_number(numbers[2 + i], 0);
		OK(recording, dagpatch_bind(recording, counter, numbers[i], 4));
		OK(recording, dagpatch_bind(recording, sum, numbers[2 + i], 4));
		scene_run(scene);
		expect_number(numbers[i], 0);
		expect_number(numbers[2 + i], 100 - 50 * i);
	}
	scene_run(scene);
	expect_number(numbers[3], 50);
}

/* GC-11, disabled upstream: a loop inside a condition. */
static void while_nested_in_a_condition(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording, *outer;
	struct dagpatch_recording *body = counting_body(scene);
	uint32_t slots[3];
	int32_t *numbers[3];

	OK(NULL, dagpatch_recording_create(scene->context, DAGPATCH_NESTED, &outer));
	slots[0] = number_slot(outer);
	slots[1] = number_slot(outer);
	add_while(outer, body, slots[0], slots[1]);
	OK(outer, dagpatch_finalize(outer));
	for (uint32_t i = 0; i < 3; i++) {
		slots[i] = number_slot(recording);
		numbers[i] = device_memory(4);
	}
	OK(recording,
	   dagpatch_add_conditional(
		   recording,
		   &DAGPATCH_SIZED(
			   conditional, .condition = DAGPATCH_IF, .predicate_slot = slots[2],
			   .bodies = &DAGPATCH_SIZED(
				   child, outer,
				   (struct dagpatch_mapping[]){{slots[0], 0}, {slots[1], 0}}, 2),
			   .body_count = 1),
		   NULL, NULL));
	dagpatch_recording_destroy(outer);
	dagpatch_recording_destroy(body);
	OK(recording, dagpatch_finalize(recording));
	for (uint32_t i = 0; i < 3; i++)
		OK(recording, dagpatch_bind(recording, slots[i], numbers[i], 4));
	for (int32_t taken = 0; taken < 2; taken++) {
		set_number(numbers[0], 10);
		set_number(numbers[1], 0);
		set_number(numbers[2], taken);
		scene_run(scene);
		expect_number(numbers[1], taken ? 100 : 0);
	}
}

/* A library's graph as a body: out = left + right. */
static struct dagpatch_recording *adopted_body(struct scene *scene)
{
	struct dagpatch_recording *body;
	uint32_t *at[2][3], count = WORDS;
	void *graphs[2];

	OK(NULL, dagpatch_recording_create(scene->context, DAGPATCH_NESTED, &body));
	for (uint32_t i = 0; i < 3; i++)
		slot(body, NULL);
	for (uint32_t i = 0; i < 2; i++) {
		void *stream = suite_bed->stream_create();

		for (uint32_t j = 0; j < 3; j++)
			at[i][j] = buffer(0);
		suite_bed->capture_begin(stream);
		assert_int_equal(suite_bed->launch(stream, BED_ADD, 2, WORDS / 2,
						   (void *[]){(void *)&at[i][0], (void *)&at[i][1],
							      (void *)&at[i][2], &count}),
				 0);
		graphs[i] = suite_bed->capture_end(stream);
		suite_bed->stream_destroy(stream);
	}
	OK(body, dagpatch_adopt(body, &DAGPATCH_SIZED(adoption, .graph = graphs[0],
						      .addresses = {(void **)at[0], (void **)at[1]},
						      .other_graph = graphs[1])));
	OK(body, dagpatch_finalize(body));
	for (uint32_t i = 0; i < 6; i++)
		buffer_free(at[i / 3][i % 3]);
	suite_bed->graph_destroy(graphs[0]);
	suite_bed->graph_destroy(graphs[1]);
	return body;
}

static void adopted_graph_as_a_body(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording, *body = adopted_body(scene);
	struct dagpatch_mapping mappings[3];
	int32_t *predicate = device_memory(4);
	uint32_t *buffers[4] = {buffer(7), buffer(1), buffer(2), buffer(7)};

	for (uint32_t i = 0; i < 3; i++)
		mappings[i] = (struct dagpatch_mapping){slot(recording, NULL), 0};
	number_slot(recording);
	OK(recording,
	   dagpatch_add_conditional(
		   recording,
		   &DAGPATCH_SIZED(conditional, .condition = DAGPATCH_IF, .predicate_slot = 3,
				   .bodies = &DAGPATCH_SIZED(child, body, mappings, 3),
				   .body_count = 1),
		   NULL, NULL));
	dagpatch_recording_destroy(body);
	OK(recording, dagpatch_finalize(recording));
	OK(recording, dagpatch_bind(recording, 3, predicate, 4));
	for (uint32_t i = 0; i < 3; i++)
		bind(recording, i, buffers[i]);
	set_number(predicate, 0);
	scene_run(scene);
	expect_all(buffers[0], 7);
	set_number(predicate, 1);
	bind(recording, 0, buffers[3]);
	scene_run(scene);
	expect_all(buffers[0], 7);
	expect_all(buffers[3], 3);
}

/* On a driver without conditional nodes, adding one fails with a message, and nothing of it is
 * left. */
static void conditionals_are_refused(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording, *body = body_of(scene, BED_ADD);
	struct dagpatch_mapping mappings[3];
	struct dagpatch_conditional conditional = {
		.size = sizeof(conditional),
		.bodies = &DAGPATCH_SIZED(child, body, mappings, 3),
		.body_count = 1,
	};

	for (uint32_t i = 0; i < 3; i++)
		mappings[i] = (struct dagpatch_mapping){slot(recording, NULL), 0};
	for (conditional.condition = DAGPATCH_IF; conditional.condition <= DAGPATCH_WHILE;
	     conditional.condition++)
		scene_failed(recording,
			     dagpatch_add_conditional(recording, &conditional, NULL, NULL),
			     -ENOTSUP, "have no conditional nodes");
	dagpatch_recording_destroy(body);
	OK(recording, dagpatch_add_empty(recording, NULL, NULL));
}

int suite_no_conditionals(void)
{
	const struct CMUnitTest tests[] = {SCENE(conditionals_are_refused)};

	return cmocka_run_group_tests_name("no conditionals", tests, NULL, NULL);
}

int suite_conditionals(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(conditional_case_with_empty_body), SCENE(conditional_case),
		SCENE(conditional_multi_case),		 SCENE(conditional_while),
		SCENE(while_nested_in_a_condition),	 SCENE(adopted_graph_as_a_body),
	};

	return cmocka_run_group_tests_name("conditionals", tests, NULL, NULL);
}

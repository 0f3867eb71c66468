/* Operators in Kineto files: their category, shapes and numbers, and their rows in each replay of a
 * graph. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kept.h"
#include "kineto_rows.h"
#include "sample.h"

/* Scopes of the sample; LAYER is inside of STEP. */
enum { STEP, LAYER };

struct scene {
	struct trace_scope scopes[SAMPLE_SCOPES];
	struct trace_scope_attribute attributes[8];
	struct trace_node nodes[3];
	const char *strings[80];
};

static uint32_t add_string(struct trace *trace, struct scene *scene, const char *text)
{
	scene->strings[trace->strings_count] = text;
	return trace->strings_count++;
}

static struct trace *make_scene(struct scene *scene)
{
	struct trace *trace = sample_trace();

	memset(scene, 0, sizeof(*scene));
	memcpy(scene->scopes, trace->scopes, sizeof(scene->scopes));
	memcpy(scene->nodes, trace->nodes, sizeof(scene->nodes));
	memcpy(scene->strings, trace->strings, trace->strings_count * sizeof(*scene->strings));
	trace->scopes = scene->scopes;
	trace->nodes = scene->nodes;
	trace->strings = scene->strings;
	trace->scope_attributes = scene->attributes;
	trace->scope_attributes_count = 0;
	return trace;
}

static struct trace_scope_attribute *add_attribute(struct trace *trace, struct scene *scene,
						   uint32_t scope, const char *key)
{
	struct trace_scope *row = &scene->scopes[scope];

	if (row->attribute_count++ == 0)
		row->attribute_first = trace->scope_attributes_count;
	scene->attributes[trace->scope_attributes_count].key = add_string(trace, scene, key);
	return &scene->attributes[trace->scope_attributes_count++];
}

static void add_text(struct trace *trace, struct scene *scene, uint32_t scope, const char *key,
		     const char *text)
{
	struct trace_scope_attribute *attribute = add_attribute(trace, scene, scope, key);

	attribute->kind = RECORD_ATTRIBUTE_TEXT;
	attribute->value.text = add_string(trace, scene, text);
}

static void add_number(struct trace *trace, struct scene *scene, uint32_t scope, const char *key,
		       int64_t number)
{
	struct trace_scope_attribute *attribute = add_attribute(trace, scene, scope, key);

	attribute->kind = RECORD_ATTRIBUTE_INT64;
	attribute->value.int64 = number;
}

static struct json_object *args_of(const struct kineto_file *file, const char *cat,
				   const char *name, size_t index)
{
	struct json_object *row = kineto_find(file, cat, name, index);

	assert_non_null(row);
	return kineto_get(row, "args");
}

static void operator_of_pytorchs_text_is_an_operator(void **state)
{
	struct scene scene;
	struct trace *trace = make_scene(&scene);
	struct kineto_file file;
	struct json_object *args;

	add_number(trace, &scene, LAYER, "seq", 7);
	add_number(trace, &scene, LAYER, "op_id", 3);
	add_text(trace, &scene, LAYER, "sizes", "[[8, 64], [], [[-1]]]");
	file = kineto_write(trace, NULL);
	args = args_of(&file, "cpu_op", "layer", 0);
	assert_int_equal(kineto_number(args, "Sequence number"), 7);
	assert_int_equal(kineto_number(args, "Record function id"), 3);
	assert_string_equal(json_object_to_json_string_ext(kineto_get(args, "Input Dims"),
							   JSON_C_TO_STRING_PLAIN),
			    "[[8,64],[],[[-1]]]");
	assert_int_equal(kineto_count(&file, NULL, "cpu_op"), 1);
}

static const char *list_of(const struct kineto_file *file, const char *name)
{
	return json_object_to_json_string_ext(kineto_get(args_of(file, "cpu_op", "layer", 0), name),
					      JSON_C_TO_STRING_PLAIN);
}

static void types_strides_and_values_are_lists(void **state)
{
	struct scene scene;
	struct trace *trace = make_scene(&scene);
	struct kineto_file file;

	add_text(trace, &scene, LAYER, "input_dims", "[[8, 64], []]");
	add_text(trace, &scene, LAYER, "input_types", "[\"c10::Half\", \"Scalar\"]");
	add_text(trace, &scene, LAYER, "input_strides", "[[64, 1], []]");
	add_text(trace, &scene, LAYER, "concrete_inputs", "[\"\", \"[1, 2]\"]");
	file = kineto_write(trace, NULL);
	assert_string_equal(list_of(&file, "Input type"), "[\"c10::Half\",\"Scalar\"]");
	assert_string_equal(list_of(&file, "Input Strides"), "[[64,1],[]]");
	assert_string_equal(list_of(&file, "Concrete Inputs"), "[\"\",\"[1, 2]\"]");
}

/* A text in a list that JSON would have in another form. */
static void types_that_are_no_lists_stay_texts(void **state)
{
	static const char *const texts[] = {
		"[\"a]", "[\"]", "[\"a\"b]", "[\"\\\"]", "[\"\t\"]", "[\"\xc3\"]", "\"a\"",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct scene scene;
		struct trace *trace = make_scene(&scene);
		struct kineto_file file;

		add_text(trace, &scene, LAYER, "sizes", "[]");
		add_text(trace, &scene, LAYER, "input_types", texts[i]);
		file = kineto_write(trace, NULL);
		assert_int_equal(json_object_get_type(kineto_get(
					 args_of(&file, "cpu_op", "layer", 0), "Input type")),
				 json_type_string);
	}
}

/* Of the two operators of forward with the number, the one that began last made the node: an arrow
 * goes from it to the operator that the node runs. */
static void backward_has_an_arrow_from_forward(void **state)
{
	enum { OUTER = 2, INNER = 3 };
	struct scene scene;
	struct trace *trace = make_scene(&scene);
	struct kineto_file file;
	struct json_object *from, *to;

	scene.scopes[STEP].text =
		add_string(trace, &scene, "autograd::engine::evaluate_function: AddmmBackward0");
	add_number(trace, &scene, LAYER, "seq", 7);
	add_number(trace, &scene, OUTER, "seq", 7);
	add_number(trace, &scene, INNER, "seq", 7);
	file = kineto_write(trace, NULL);
	assert_int_equal(kineto_count(&file, "s", "fwdbwd"), 1);
	assert_int_equal(kineto_count(&file, "f", "fwdbwd"), 1);
	from = kineto_find(&file, "fwdbwd", "fwdbwd", 1);
	to = kineto_find(&file, "fwdbwd", "fwdbwd", 0);
	if (!strcmp(kineto_text(to, "ph"), "s")) {
		from = to;
		to = kineto_find(&file, "fwdbwd", "fwdbwd", 1);
	}
	assert_int_equal(kineto_number(from, "id"), kineto_number(to, "id"));
	assert_string_equal(kineto_text(to, "bp"), "e");
	assert_true(json_object_equal(kineto_get(to, "ts"),
				      kineto_get(kineto_find(&file, "cpu_op", "layer", 0), "ts")));
	assert_true(json_object_equal(
		kineto_get(from, "ts"),
		kineto_get(kineto_find(&file, "cpu_op", scene.strings[scene.scopes[INNER].text], 0),
			   "ts")));
}

/* Numbers that only forward has, or only backward, give no arrow. */
static void numbers_without_a_partner_have_no_arrow(void **state)
{
	struct scene scene;
	struct trace *trace = make_scene(&scene);
	struct kineto_file file;

	scene.scopes[STEP].text =
		add_string(trace, &scene, "autograd::engine::evaluate_function: AddmmBackward0");
	add_number(trace, &scene, LAYER, "seq", 7);
	add_number(trace, &scene, 2, "seq", 8);
	file = kineto_write(trace, NULL);
	assert_int_equal(kineto_count(&file, NULL, "fwdbwd"), 0);
}

static void module_with_shapes_is_an_annotation(void **state)
{
	struct scene scene;
	struct trace *trace = make_scene(&scene);
	struct kineto_file file;

	add_text(trace, &scene, LAYER, "input_dims", "[[8]]");
	add_text(trace, &scene, LAYER, "module", "Linear");
	file = kineto_write(trace, NULL);
	assert_int_equal(kineto_length(kineto_get(args_of(&file, "user_annotation", "layer", 0),
						  "Input Dims")),
			 1);
	assert_int_equal(kineto_count(&file, NULL, "cpu_op"), 0);
}

static void category_of_another_tools_file_is_kept(void **state)
{
	static const char *const categories[] = {"cpu_op", "python_function", "user_annotation"};

	for (size_t i = 0; i < 3; i++) {
		struct scene scene;
		struct trace *trace = make_scene(&scene);
		struct kineto_file file;

		add_text(trace, &scene, LAYER, "cat", categories[i]);
		add_text(trace, &scene, LAYER, "Input Dims", "[[8]]");
		file = kineto_write(trace, NULL);
		assert_int_equal(kineto_length(kineto_get(args_of(&file, categories[i], "layer", 0),
							  "Input Dims")),
				 1);
	}
}

/* A file with it would not be JSON, or not what the program said. */
static void shapes_that_are_no_lists_stay_texts(void **state)
{
	static const char *const texts[] = {
		"",
		"8",
		"[",
		"]",
		"[8",
		"[8]]",
		"[,]",
		"[8,]",
		"[08]",
		"[-]",
		"[a]",
		"[8] 9",
		"[8 9]",
		"[1.5]",
		"[(8,9)]",
		"[\"a\"]",
		"[[8],,[9]]",
		"[8]x",
		"[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct scene scene;
		struct trace *trace = make_scene(&scene);
		struct kineto_file file;

		add_text(trace, &scene, LAYER, "sizes", texts[i]);
		file = kineto_write(trace, NULL);
		assert_string_equal(kineto_text(args_of(&file, "cpu_op", "layer", 0), "Input Dims"),
				    texts[i]);
	}
}

static void one_name_is_written_once(void **state)
{
	struct scene scene;
	struct trace *trace = make_scene(&scene);
	struct kineto_file file;

	add_text(trace, &scene, LAYER, "sizes", "[1]");
	add_text(trace, &scene, LAYER, "input_dims", "[2, 3]");
	file = kineto_write(trace, NULL);
	assert_null(strstr(strstr(file.text, "Input Dims") + 1, "Input Dims"));
	assert_int_equal(
		kineto_length(kineto_get(args_of(&file, "cpu_op", "layer", 0), "Input Dims")), 1);
}

/* Of a time that the sample has, with three decimals. */
static long long nanoseconds(struct json_object *row)
{
	const char *digits = kineto_digits(row, "ts");
	const char *point = strchr(digits, '.');

	assert_int_equal(strlen(point), 4);
	return strtoll(digits, NULL, 10) * 1000 + strtoll(point + 1, NULL, 10);
}

/* Nodes 0 and 1 were recorded inside of the operator, which is inside of another one; node 2 inside
 * of the outer one alone. Both launches take 100 ns, so 33 ns are a node's. What is
 * inside begins 2 ns later and ends 2 ns earlier. */
static void replays_have_their_operators(void **state)
{
	struct scene scene;
	struct trace *trace = make_scene(&scene);
	struct kineto_file file;

	add_text(trace, &scene, STEP, "sizes", "[[1]]");
	add_text(trace, &scene, LAYER, "sizes", "[[2]]");
	scene.nodes[0].scope = scene.nodes[1].scope = LAYER;
	scene.nodes[2].scope = STEP;
	file = kineto_write(trace, "hta");
	assert_int_equal(kineto_count(&file, NULL, "cpu_op"), 2 + 2 * 2);
	for (size_t replay = 0, outer = 0, inner = 0; replay < 2; replay++) {
		struct json_object *launch =
			kineto_find(&file, "cuda_runtime", "cudaGraphLaunch", replay);
		struct json_object *row;

		assert_non_null(launch);
		do {
			row = kineto_find(&file, "cpu_op", "step \"1\"", outer++);
		} while (!kineto_arg(row, "graph node External id"));
		assert_int_equal(nanoseconds(row) - nanoseconds(launch), 2);
		assert_string_equal(kineto_digits(row, "dur"), "0.095");
		assert_int_equal(kineto_number(kineto_get(row, "args"), "graph node External id"),
				 1);
		do {
			row = kineto_find(&file, "cpu_op", "layer", inner++);
		} while (!kineto_arg(row, "graph node External id"));
		assert_int_equal(nanoseconds(row) - nanoseconds(launch), 4);
		assert_string_equal(kineto_digits(row, "dur"), "0.058");
		assert_int_equal(kineto_number(kineto_get(row, "args"), "graph node External id"),
				 2);
	}
	assert_string_equal(
		kineto_digits(kineto_find(&file, "cuda_runtime", "cudaLaunchKernel", 0), "dur"),
		"0.021");
	/* Other readers get them from the kernels. */
	file = kineto_write(trace, NULL);
	assert_int_equal(kineto_count(&file, NULL, "cpu_op"), 2);
}

/* In a damaged file. */
static void scopes_in_a_circle_come_to_an_end(void **state)
{
	struct scene scene;
	struct trace *trace = make_scene(&scene);
	struct kineto_file file;

	add_text(trace, &scene, LAYER, "sizes", "[[2]]");
	scene.scopes[LAYER].parent = LAYER;
	scene.nodes[0].scope = scene.nodes[2].scope = LAYER;
	scene.nodes[1].scope = STEP;
	file = kineto_write(trace, "hta");
	assert_true(kineto_count(&file, NULL, "cpu_op") > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		KEPT_CASE(operator_of_pytorchs_text_is_an_operator),
		KEPT_CASE(types_strides_and_values_are_lists),
		KEPT_CASE(types_that_are_no_lists_stay_texts),
		KEPT_CASE(backward_has_an_arrow_from_forward),
		KEPT_CASE(numbers_without_a_partner_have_no_arrow),
		KEPT_CASE(module_with_shapes_is_an_annotation),
		KEPT_CASE(category_of_another_tools_file_is_kept),
		KEPT_CASE(shapes_that_are_no_lists_stay_texts),
		KEPT_CASE(one_name_is_written_once),
		KEPT_CASE(replays_have_their_operators),
		KEPT_CASE(scopes_in_a_circle_come_to_an_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

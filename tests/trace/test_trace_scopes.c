/* Scopes in the model: typed attributes, attributes in a text, trees of every shape. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "record/attribute.h"
#include "scene.h"
#include "trace/load.h"
#include "trace/load/scope_text.h"

#define ID(thread, counter) ((uint64_t)(thread) << 48 | (counter))

/* ---- texts ---- */

static void tell(FILE *out, const struct trace_scope_attribute *attribute,
		 const char *const *strings)
{
	fprintf(out, " %s=", strings[attribute->key]);
	switch (attribute->kind) {
	case RECORD_ATTRIBUTE_INT64:
		fprintf(out, "i%lld", (long long)attribute->value.int64);
		break;
	case RECORD_ATTRIBUTE_UINT64:
		fprintf(out, "u%llu", (unsigned long long)attribute->value.uint64);
		break;
	case RECORD_ATTRIBUTE_DOUBLE:
		fprintf(out, "d%g", attribute->value.float64);
		break;
	default:
		fprintf(out, "<%s>", strings[attribute->value.text]);
	}
}

/* EXPECTED: the name, then " key=value" for each attribute; text values are in <>. */
static void assert_split(const char *text, const char *expected)
{
	struct trace_scope_attribute attribute;
	struct scope_text parts;
	struct strtab strings;
	char *told;
	size_t bytes;
	FILE *out = open_memstream(&told, &bytes);

	assert_int_equal(strtab_init(&strings), 0);
	scope_text_split(text, strlen(text), &parts);
	fprintf(out, "%.*s", (int)parts.name_bytes, parts.name);
	while (scope_text_next(&parts, &strings, &attribute))
		tell(out, &attribute, strings.strings);
	fclose(out);
	assert_string_equal(told, expected);
	free(told);
	strtab_release(&strings);
}

static void only_a_text_that_ends_with_the_mark_has_attributes(void **state)
{
	assert_split("", "");
	assert_split("plain", "plain");
	assert_split(" plain ", " plain ");
	assert_split("a::b<c>::operator()", "a::b<c>::operator()");
	assert_split("name#k=v", "name#k=v");
	assert_split("#k=v#x", "#k=v#x");
	assert_split("#", "");
	assert_split("##", "");
	assert_split("name#", "name");
	assert_split(" name #k=v#", "name k=<v>");
	assert_split("XlaModule:#hlo_module=jit_f,program_id=12#",
		     "XlaModule: hlo_module=<jit_f> program_id=i12");
	assert_split("Thunk:#hlo_op=a::b.1#", "Thunk: hlo_op=<a::b.1>");
}

/* As torch.autograd.profiler.emit_nvtx writes them; the first two are from PyTorch 2.11. */
static void texts_of_pytorch_have_attributes(void **state)
{
	assert_split("aten::fill_, op_id = 1, sizes = [[1], []], input_op_ids = [(0,-1), (0,-1)]",
		     "aten::fill_ op_id=i1 sizes=<[[1], []]> input_op_ids=<[(0,-1), (0,-1)]>");
	assert_split("aten::native_layer_norm, op_id = 4, sizes = [[8, 64, 256], [], [256]]",
		     "aten::native_layer_norm op_id=i4 sizes=<[[8, 64, 256], [], [256]]>");
	assert_split("aten::mm, seq = 7", "aten::mm seq=i7");
	assert_split("a<b, c>, seq = 7, op_id = 3", "a<b, c> seq=i7 op_id=i3");
	assert_split("x, seq = 1, seq = 2", "x, seq = 1 seq=i2");
}

static void texts_that_only_resemble_pytorchs_are_names(void **state)
{
	static const char *const texts[] = {
		", seq = 7",
		"aten::mm, seq = ",
		"aten::mm, seq = 7 ",
		"aten::mm, seq = x",
		"aten::mm, op_id = 3, seq = 7x",
		"aten::mm, sizes = [[8, 64]",
		"aten::mm, sizes = [8]]",
		"aten::mm, sizes = 8",
		"aten::mm, sizes = [a]",
		"aten::mm, sizes = [8], ",
		"aten::mm, sizes = [8], more",
		"aten::mm,seq = 7",
		"a, b, c",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		assert_split(texts[i], texts[i]);
}

static void what_is_behind_a_second_mark_counts_for_nothing(void **state)
{
	assert_split("a#b=1#c=2#", "a b=i1");
	assert_split("a##c=2#", "a");
	assert_split("###", "");
}

static void quotes_and_brackets_protect_commas(void **state)
{
	assert_split("n#a=\"x,y\",b=2#", "n a=<\"x,y\"> b=i2");
	assert_split("n#a='x,y',b=2#", "n a=<'x,y'> b=i2");
	assert_split("n#a=(1,[2,{3,4}]),b=2#", "n a=<(1,[2,{3,4}])> b=i2");
	assert_split("n#a=\"it's, so\",b=2#", "n a=<\"it's, so\",b=2>");
	assert_split("n#a=(1,2],b=2#", "n a=<(1,2],b=2>");
	assert_split("n#a=1],b=2#", "n a=<1]> b=i2");
	assert_split("n#a=\xe5\xb1\x82,b=2#", "n a=<\xe5\xb1\x82> b=i2");
}

static void quotes_may_be_deeper_than_anybody_looks(void **state)
{
	char text[512] = "n#a=";

	memset(text + 4, '(', 100);
	strcpy(text + 104, ",b=2#");
	assert_split(
		text,
		"n a=<((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((("
		"(((((((((((((((((((((((((((,b=2>");
	memset(text + 4, '(', 60);
	memset(text + 64, ')', 60);
	strcpy(text + 124, ",b=2#");
	assert_split(text, "n a=<(((((((((((((((((((((((((((((((((((((((((((((((((((((((((((("
			   "))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))> b=i2");
}

static void pairs_are_trimmed_and_poor_ones_dropped(void **state)
{
	assert_split("n#,,a,=,x=,=y, k = v ,z=1,#", "n k=<v> z=i1");
	assert_split("n# = , q==r#", "n q=<=r>");
	assert_split("n#a=1,a=2#", "n a=i1 a=i2");
}

static void values_have_the_first_type_that_fits(void **state)
{
	assert_split("n#a=0,b=-1,c=+7,d=007#", "n a=i0 b=i-1 c=i7 d=i7");
	assert_split("n#a=9223372036854775807,b=9223372036854775808#",
		     "n a=i9223372036854775807 b=u9223372036854775808");
	assert_split("n#a=18446744073709551616,b=-9223372036854775809#",
		     "n a=d1.84467e+19 b=d-9.22337e+18");
	assert_split("n#a=1.5,b=-2e3,c=.5,d=inf#", "n a=d1.5 b=d-2000 c=d0.5 d=dinf");
	assert_split("n#a=0x10,b=1.5s,c=1 2,d=-,e=true#",
		     "n a=<0x10> b=<1.5s> c=<1 2> d=<-> e=<true>");
}

/* ---- records ---- */

struct scope_bytes {
	struct record_scope fixed;
	char body[512];
	size_t bytes;
};

static struct scope_bytes scope_of(uint64_t id, uint64_t parent, const char *text)
{
	struct scope_bytes scope = {.fixed = {.id = id, .parent = parent, .ns = 100}};

	scope.fixed.text_bytes = strlen(text);
	memcpy(scope.body, text, strlen(text));
	scope.bytes = record_padded(strlen(text));
	return scope;
}

static void add(struct scope_bytes *scope, enum record_attribute_kind kind, const char *key,
		uint64_t value, const char *text)
{
	struct record_attribute head = {
		.kind = (uint16_t)kind,
		.key_bytes = (uint16_t)strlen(key),
		.text_bytes = (uint32_t)strlen(text),
		.value = value,
	};
	char *at = scope->body + scope->bytes;

	memcpy(at, &head, sizeof(head));
	memcpy(at + sizeof(head), key, head.key_bytes);
	memcpy(at + sizeof(head) + head.key_bytes, text, head.text_bytes);
	scope->bytes += record_attribute_bytes(&head);
}

static void put(struct scene *scene, enum record_scope_kind kind, const struct scope_bytes *scope)
{
	scene_put(scene, 0, RECORD_SCOPE, kind, &scope->fixed, sizeof(scope->fixed) + scope->bytes);
}

static void assert_scope(const struct trace *trace, uint32_t row, const char *expected)
{
	const struct trace_scope *scope = &trace->scopes[row];
	char *told;
	size_t bytes;
	FILE *out = open_memstream(&told, &bytes);

	fputs(trace_text(trace, scope->name), out);
	for (uint32_t i = 0; i < scope->attribute_count; i++)
		tell(out, &trace->scope_attributes[scope->attribute_first + i], trace->strings);
	fclose(out);
	assert_string_equal(told, expected);
	free(told);
}

static void attributes_come_back_with_their_types(void **state)
{
	struct scope_bytes scope = scope_of(ID(1, 1), 0, "n#z=1#");
	struct scope_bytes plain = scope_of(ID(1, 2), ID(1, 1), "n#z=1#");
	struct scope_bytes step = scope_of(ID(1, 3), 0, "train");
	double half = 0.5;
	uint64_t half_bits;
	struct scene *scene = *state;
	struct trace *trace;

	memcpy(&half_bits, &half, sizeof(half_bits));
	add(&scope, RECORD_ATTRIBUTE_INT64, "layer", (uint64_t)-3, "");
	add(&scope, RECORD_ATTRIBUTE_UINT64, "id", UINT64_MAX, "");
	add(&scope, RECORD_ATTRIBUTE_DOUBLE, "loss", half_bits, "");
	add(&scope, 77, "of another time", 1, "");
	add(&scope, RECORD_ATTRIBUTE_TEXT, "op", 0, "fusion");
	add(&step, RECORD_ATTRIBUTE_INT64, RECORD_STEP_KEY, 41, "");
	put(scene, RECORD_SCOPE_STEP, &step);
	put(scene, RECORD_SCOPE_DAGTAP, &plain);
	put(scene, RECORD_SCOPE_DAGTAP, &scope);
	trace = scene_finish(scene);
	assert_int_equal(trace->scopes_count, 3);
	assert_scope(trace, 0, "n layer=i-3 id=u18446744073709551615 loss=d0.5 op=<fusion> z=i1");
	assert_string_equal(trace_text(trace, trace->scopes[0].text), "n#z=1#");
	assert_scope(trace, 1, "n z=i1");
	assert_scope(trace, 2, "train step_num=i41");
	assert_int_equal(trace->scopes[2].kind, RECORD_SCOPE_STEP);
}

static void scopes_of_one_text_share_its_attributes(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;

	for (uint64_t i = 1; i <= 50; i++) {
		struct scope_bytes scope = scope_of(ID(1, i), 0, i % 2 ? "a#k=1,l=2#" : "b");

		put(scene, RECORD_SCOPE_ROCTX, &scope);
	}
	trace = scene_finish(scene);
	assert_int_equal(trace->scopes_count, 50);
	assert_int_equal(trace->scope_attributes_count, 2);
	for (uint32_t i = 0; i < 50; i++)
		assert_scope(trace, i, i % 2 ? "b" : "a k=i1 l=i2");
}

/* Writes SCOPE as the body NUMBER. */
static void put_body(struct scene *scene, uint32_t number, const struct scope_bytes *scope)
{
	scene_put(scene, 0, RECORD_SCOPE_BODY, number, &scope->fixed,
		  sizeof(scope->fixed) + scope->bytes);
}

/* Puts a scope whose text and attributes are those of the body NUMBER. */
static void put_with_body(struct scene *scene, uint64_t id, uint32_t number)
{
	struct scope_bytes scope = scope_of(id, 0, "");

	add(&scope, RECORD_ATTRIBUTE_BODY, "", number, "");
	put(scene, RECORD_SCOPE_NVTX, &scope);
}

static void scopes_of_one_body_share_its_text_and_attributes(void **state)
{
	struct scope_bytes body = scope_of(0, 0, "a#k=1#"), other = scope_of(0, 0, "a#k=1#");
	struct scope_bytes unused = scope_of(0, 0, "u#k=2#"), own = scope_of(ID(1, 4), 0, "a#k=1#");
	struct scene *scene = *state;
	struct trace *trace;

	add(&body, RECORD_ATTRIBUTE_TEXT, "domain", 0, "TSL");
	add(&own, RECORD_ATTRIBUTE_UINT64, "payload", 5, "");
	put_with_body(scene, ID(1, 1), 7);
	put_body(scene, 7, &body);
	put_body(scene, 9, &other);
	put_with_body(scene, ID(1, 2), 9);
	put_body(scene, 7, &body);
	put_body(scene, 4000000000, &unused);
	put_with_body(scene, ID(1, 3), 7);
	put(scene, RECORD_SCOPE_NVTX, &own);
	trace = scene_finish(scene);
	assert_int_equal(trace->scopes_count, 4);
	assert_scope(trace, 0, "a domain=<TSL> k=i1");
	assert_scope(trace, 1, "a k=i1");
	assert_scope(trace, 2, "a domain=<TSL> k=i1");
	assert_scope(trace, 3, "a payload=u5 k=i1");
	assert_int_equal(trace->scopes[0].attribute_first, trace->scopes[2].attribute_first);
	assert_string_equal(trace_text(trace, trace->scopes[2].text), "a#k=1#");
	assert_int_equal(trace->scopes[0].text, trace->scopes[3].text);
}

static void a_scope_whose_body_is_lost_has_no_text(void **state)
{
	struct scope_bytes body = scope_of(0, 0, "body");
	struct scene *scene = *state;
	struct trace *trace;

	put_body(scene, 2, &body);
	put_with_body(scene, ID(1, 1), 1);
	put_with_body(scene, ID(1, 2), 2);
	trace = scene_finish(scene);
	assert_scope(trace, 0, "");
	assert_scope(trace, 1, "body");
}

/*
 * Counts by writer, then by time, although another writer's chunk lies before this one's second
 * chunk.
 */
static void of_one_id_the_first_that_was_written_counts(void **state)
{
	struct scope_bytes first = scope_of(ID(9, 1), 0, "first");
	struct scope_bytes again = scope_of(ID(9, 1), 0, "again");
	struct scene *scene = *state;
	struct trace *trace;
	uint32_t chunks;

	scene_put(scene, 1, RECORD_SCOPE, RECORD_SCOPE_DAGTAP, &again.fixed,
		  sizeof(again.fixed) + again.bytes);
	chunks = scene->chunks;
	for (uint64_t i = 1; scene->chunks == chunks; i++) {
		struct scope_bytes other = scope_of(ID(1, i), 0, "other");

		put(scene, RECORD_SCOPE_DAGTAP, &other);
	}
	put(scene, RECORD_SCOPE_DAGTAP, &first);
	trace = scene_finish(scene);
	assert_true(trace->scopes_count > 2);
	assert_true(trace->scopes[trace->scopes_count - 1].id == ID(9, 1));
	assert_true(trace->scopes[trace->scopes_count - 2].id < ID(9, 1));
	assert_scope(trace, trace->scopes_count - 1, "first");
}

/* ---- trees ---- */

static void a_path_may_pass_from_thread_to_thread(void **state)
{
	struct scope_bytes root = scope_of(ID(1, 1), 0, "root");
	struct scope_bytes task = scope_of(ID(2, 1), ID(1, 1), "task");
	struct scope_bytes pool = scope_of((uint64_t)1 << 63 | 1, ID(2, 1), "pool");
	struct scope_bytes alone = scope_of(ID(3, 1), ID(9, 9), "of nobody known");
	struct scene *scene = *state;
	struct trace *trace;

	put(scene, RECORD_SCOPE_DAGTAP, &pool);
	put(scene, RECORD_SCOPE_DAGTAP, &alone);
	put(scene, RECORD_SCOPE_DAGTAP, &task);
	put(scene, RECORD_SCOPE_DAGTAP, &root);
	trace = scene_finish(scene);
	assert_int_equal(trace->scopes_count, 4);
	assert_int_equal(trace->scopes[0].parent, TRACE_NONE);
	assert_int_equal(trace->scopes[1].parent, 0);
	assert_int_equal(trace->scopes[2].parent, TRACE_NONE);
	assert_true(trace->scopes[3].id == ((uint64_t)1 << 63 | 1));
	assert_int_equal(trace->scopes[3].parent, 1);
}

/* ---- a killed process ---- */

static void an_open_scope_lasts_as_long_as_a_scope_inside_it(void **state)
{
	struct scope_bytes outer = scope_of(ID(1, 1), 0, "outer");
	struct scope_bytes inner = scope_of(ID(1, 2), ID(1, 1), "inner");
	struct record_scope_end end = {.id = ID(1, 2), .ns = 2000000000};
	struct scene *scene = *state;
	struct trace *trace;

	put(scene, RECORD_SCOPE_DAGTAP, &outer);
	put(scene, RECORD_SCOPE_DAGTAP, &inner);
	scene_put(scene, 0, RECORD_SCOPE_END, 0, &end, sizeof(end));
	trace = scene_take(scene);
	assert_true(trace->scopes[0].open);
	assert_false(trace->scopes[1].open);
	assert_int_equal(trace->scopes[0].end_ns, trace->scopes[1].end_ns);
}

/* ---- without scopes ---- */

static void scopes_can_be_left_out(void **state)
{
	const struct trace_options options = {.without_ledger = true, .without_scopes = true};
	struct scope_bytes scope = scope_of(ID(1, 1), 0, "scope"), body = scope_of(0, 0, "body");
	struct record_dispatch dispatch = {.packet_index = 7, .kernel = 1, .scope = ID(1, 1)};
	struct scene *scene = *state;
	struct trace *all, *some;

	put(scene, RECORD_SCOPE_DAGTAP, &scope);
	put_body(scene, 1, &body);
	dispatch.cid = scene_call(scene, SCENE_LAUNCH_KERNEL, 1, NULL, 0);
	scene_put(scene, 0, RECORD_DISPATCH, 1, &dispatch, sizeof(dispatch));
	scene_done(scene, 7, 100, 200);
	scene_close(scene);
	some = scene_load_with(scene, &options);
	all = scene_take(scene);
	assert_int_equal(all->activities[0].scope, 0);
	assert_int_equal(some->scopes_count, 0);
	assert_int_equal(some->activities_count, 1);
	assert_int_equal(some->activities[0].scope, TRACE_NONE);
	assert_int_equal(some->activities[0].call, 0);
	assert_int_equal(some->activities[0].start_ns, all->activities[0].start_ns);
	trace_close(some);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_a_text_that_ends_with_the_mark_has_attributes),
		cmocka_unit_test(texts_of_pytorch_have_attributes),
		cmocka_unit_test(texts_that_only_resemble_pytorchs_are_names),
		cmocka_unit_test(what_is_behind_a_second_mark_counts_for_nothing),
		cmocka_unit_test(quotes_and_brackets_protect_commas),
		cmocka_unit_test(quotes_may_be_deeper_than_anybody_looks),
		cmocka_unit_test(pairs_are_trimmed_and_poor_ones_dropped),
		cmocka_unit_test(values_have_the_first_type_that_fits),
		SCENE_CASE(attributes_come_back_with_their_types),
		SCENE_CASE(scopes_of_one_text_share_its_attributes),
		SCENE_CASE(scopes_of_one_body_share_its_text_and_attributes),
		SCENE_CASE(a_scope_whose_body_is_lost_has_no_text),
		SCENE_CASE(of_one_id_the_first_that_was_written_counts),
		SCENE_CASE(a_path_may_pass_from_thread_to_thread),
		SCENE_CASE(an_open_scope_lasts_as_long_as_a_scope_inside_it),
		SCENE_CASE(scopes_can_be_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

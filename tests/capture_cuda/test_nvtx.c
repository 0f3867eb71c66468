/* NVTX's functions as a library's table gets them from us: ranges, marks, domains, payloads. */
#include "cuda_scene.h"

#include "capture/session.h"
#include "trace/load.h"
#include "vendor/nvtx_types.h"

int InitializeInjectionNvtx2(nvtx_get_table *get_table);

/* A library's table: places for functions, null until somebody fills them. */
static nvtx_function core_functions[16], core2_functions[16];
static nvtx_function *core_places[16], *core2_places[16];

static int get_module(int module, nvtx_function ***ret_table, unsigned int *ret_count)
{
	bool is_core = module == NVTX_MODULE_CORE;

	if (!is_core && module != NVTX_MODULE_CORE2)
		return 0;
	for (int i = 1; i < 16; i++) {
		core_places[i] = &core_functions[i];
		core2_places[i] = &core2_functions[i];
	}
	*ret_table = is_core ? core_places : core2_places;
	*ret_count = 16;
	return 1;
}

static const void *get_table(uint32_t id)
{
	static const struct nvtx_callbacks callbacks = {sizeof(callbacks), get_module};

	return id == NVTX_TABLE_CALLBACKS ? &callbacks : NULL;
}

static const void *get_nothing(uint32_t id)
{
	return NULL;
}

#define CORE(name, type)  ((type)core_functions[NVTX_CORE_##name])
#define CORE2(name, type) ((type)core2_functions[NVTX_CORE2_##name])

typedef int push_text(const char *);
typedef int pop_any(void);
typedef void *create(const char *);
typedef int push_domain(void *, const struct nvtx_attributes *);
typedef int pop_domain(void *);
typedef uint64_t start_domain(void *, const struct nvtx_attributes *);
typedef void end_domain(void *, uint64_t);
typedef void mark_ex(const struct nvtx_attributes *);
typedef void *register_in(void *, const char *);

static struct nvtx_attributes named(const char *text)
{
	return (struct nvtx_attributes){.message_type = NVTX_TEXT, .message.text = text};
}

/* ---- */

static void ranges(void)
{
	struct nvtx_attributes attributes = named("in a");
	void *a, *b;
	uint64_t id;

	session_arm();
	expect(InitializeInjectionNvtx2(get_table) == 1);
	expect(!core_functions[3]); /* wide characters: not filled */
	session_start();
	a = CORE2(DomainCreateA, create *)("a");
	b = CORE2(DomainCreateA, create *)("b");
	expect(a && b && a != b && CORE2(DomainCreateA, create *)("a") == a);
	expect(CORE(RangePushA, push_text *)("outer") == 0);
	attributes.category = 9;
	attributes.payload_type = NVTX_PAYLOAD_INT64;
	attributes.payload.int64 = -5;
	expect(CORE2(DomainRangePushEx, push_domain *)(a, &attributes) == 1);
	attributes = (struct nvtx_attributes){
		.message_type = NVTX_REGISTERED,
		.message.registered = CORE2(DomainRegisterStringA, register_in *)(b, "in b"),
		.payload_type = NVTX_PAYLOAD_FLOAT64,
		.payload.float64 = 0.5,
	};
	CORE2(DomainRangePushEx, push_domain *)(b, &attributes);
	/* Each domain ends its own, in whatever order. */
	CORE2(DomainRangePop, pop_domain *)(a);
	CORE2(DomainRangePop, pop_domain *)(b);
	attributes = named("loose");
	id = CORE2(DomainRangeStartEx, start_domain *)(a, &attributes);
	expect(id);
	CORE2(DomainRangeEnd, end_domain *)(a, id);
	attributes = named("here");
	CORE(MarkEx, mark_ex *)(&attributes);
	CORE(MarkEx, mark_ex *)(NULL);
	expect(CORE(RangePop, pop_any *)() == 0);
	expect(CORE(RangePop, pop_any *)() == -1);
	session_stop();
}

static const struct trace_scope *find_scope(const struct trace *trace, const char *text)
{
	for (uint32_t i = 0; i < trace->scopes_count; i++) {
		if (!strcmp(trace_text(trace, trace->scopes[i].text), text))
			return &trace->scopes[i];
	}
	fail_msg("no scope \"%s\"", text);
	return NULL;
}

static const struct trace_scope_attribute *
attribute(const struct trace *trace, const struct trace_scope *scope, const char *key)
{
	for (uint32_t i = 0; i < scope->attribute_count; i++) {
		const struct trace_scope_attribute *at =
			&trace->scope_attributes[scope->attribute_first + i];

		if (!strcmp(trace_text(trace, at->key), key))
			return at;
	}
	fail_msg("no attribute \"%s\"", key);
	return NULL;
}

static void ranges_are_scopes_with_their_domains(void **state)
{
	struct trace *trace = play_scene(*state, ranges);
	const struct trace_scope *outer = find_scope(trace, "outer");
	const struct trace_scope *in_a = find_scope(trace, "in a");
	const struct trace_scope *in_b = find_scope(trace, "in b");
	const struct trace_scope *loose = find_scope(trace, "loose");

	assert_int_equal(outer->kind, RECORD_SCOPE_NVTX);
	assert_int_equal(outer->attribute_count, 0);
	assert_ptr_equal(&trace->scopes[in_a->parent], outer);
	assert_ptr_equal(&trace->scopes[in_b->parent], in_a);
	assert_true(in_a->end_ns < in_b->end_ns && in_b->end_ns <= outer->end_ns);
	assert_string_equal(trace_text(trace, attribute(trace, in_a, "domain")->value.text), "a");
	assert_int_equal(attribute(trace, in_a, "category")->value.uint64, 9);
	assert_int_equal(attribute(trace, in_a, "payload")->value.int64, -5);
	assert_true(attribute(trace, in_b, "payload")->value.float64 == 0.5);
	assert_int_equal(loose->kind, RECORD_SCOPE_RANGE);
	assert_string_equal(trace_text(trace, attribute(trace, loose, "domain")->value.text), "a");
	assert_false(loose->open);
	assert_int_equal(find_scope(trace, "here")->kind, RECORD_SCOPE_MARK);
	assert_int_equal(find_scope(trace, "")->kind, RECORD_SCOPE_MARK);
	trace_close(trace);
}

static void without_a_recording(void)
{
	session_arm();
	expect(InitializeInjectionNvtx2(get_table) == 0);
	expect(!core_functions[NVTX_CORE_RangePushA]);
}

static void nothing_is_filled_when_nothing_is_recorded(void **state)
{
	assert_int_equal(in_child(NULL, without_a_recording), 0);
}

static void without_a_table(void)
{
	session_arm();
	expect(InitializeInjectionNvtx2(get_nothing) == 0);
}

static void a_library_without_a_table_is_refused(void **state)
{
	const struct fixture *fixture = *state;

	assert_int_equal(in_child(fixture->folder, without_a_table), 0);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		CASE(ranges_are_scopes_with_their_domains),
		CASE(nothing_is_filled_when_nothing_is_recorded),
		CASE(a_library_without_a_table_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

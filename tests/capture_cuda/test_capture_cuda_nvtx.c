/*
 * NVTX's functions as a library's table gets them from the tool: ranges, marks, domains, payloads.
 */
#include "cuda_scene.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wchar.h>

#include "capture/capture_session.h"
#include "vendor/nvtx_types.h"

int InitializeInjectionNvtx2(nvtx_get_table *get_table);
int InitializeInjectionNvtxExtension(struct nvtx_extension *extension);

/* A library's table: pointers to function slots, which are null until a tool fills them. */
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

/* ---- ranges and domains ---- */

static void ranges(void)
{
	struct nvtx_attributes attributes = named("in a");
	void *a, *b;
	uint64_t id;

	session_arm();
	expect(InitializeInjectionNvtx2(get_table) == 1);
	expect(!core_functions[14]); /* names of threads: the tool leaves this slot empty */
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
	/* Each domain has its own stack of ranges, in any order of pops. */
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
}

/* ---- registered texts ---- */

static void *range_domain;

static void push_registered(void *domain, void *text)
{
	struct nvtx_attributes attributes = {
		.message_type = NVTX_REGISTERED,
		.message.registered = text,
	};

	CORE2(DomainRangePushEx, push_domain *)(domain, &attributes);
}

static void push_and_pop_twice(void *domain)
{
	for (int i = 0; i < 2; i++) {
		push_registered(domain,
				CORE2(DomainRegisterStringA, register_in *)(domain, "layer"));
		CORE2(DomainRangePop, pop_domain *)(domain);
	}
}

static void registered_texts(void)
{
	session_arm();
	expect(InitializeInjectionNvtx2(get_table) == 1);
	session_start();
	range_domain = CORE2(DomainCreateA, create *)("a");
	push_and_pop_twice(range_domain);
	push_and_pop_twice(NULL);
	/* In a domain other than the text's. */
	push_registered(NULL, CORE2(DomainRegisterStringA, register_in *)(range_domain, "layer"));
	CORE2(DomainRangePop, pop_domain *)(NULL);
	session_stop();
}

/* Asserts that the scopes from FIRST on, COUNT of them, are called "layer", and share one domain,
 * which is called DOMAIN; NULL: the default. */
static void assert_layers(const struct trace *trace, uint32_t first, uint32_t count,
			  const char *domain)
{
	for (uint32_t i = first; i < first + count; i++) {
		const struct trace_scope *scope = &trace->scopes[i];

		assert_string_equal(trace_text(trace, scope->text), "layer");
		assert_int_equal(scope->kind, RECORD_SCOPE_NVTX);
		assert_false(scope->open);
		assert_int_equal(scope->attribute_count, domain ? 1 : 0);
		if (!domain)
			continue;
		assert_int_equal(scope->attribute_first, trace->scopes[first].attribute_first);
		assert_string_equal(
			trace_text(trace, attribute(trace, scope, "domain")->value.text), domain);
	}
}

static void ranges_share_a_registered_text(void **state)
{
	const struct trace *trace = play_scene(*state, registered_texts);

	assert_int_equal(trace->scopes_count, 5);
	assert_layers(trace, 0, 2, "a");
	assert_layers(trace, 2, 3, NULL);
}

/* A fork child has a session of its own, with the number of its parent's first one. */
static void sessions_and_a_fork(void)
{
	int status;
	pid_t pid;

	session_arm();
	expect(InitializeInjectionNvtx2(get_table) == 1);
	session_start();
	range_domain = CORE2(DomainCreateA, create *)("a");
	push_and_pop_twice(range_domain);
	pid = fork();
	if (!pid) {
		expect(session_start());
		push_and_pop_twice(range_domain);
		exit(0);
	}
	waitpid(pid, &status, 0);
	expect(status == 0);
	session_stop();
	expect(session_start_again());
	push_and_pop_twice(range_domain);
	session_stop();
}

static void each_spool_has_the_registered_text(void **state)
{
#ifdef __SANITIZE_THREAD__
	/* ThreadSanitizer allows no threads in a child of a process that had some. */
	skip();
#endif
	const struct trace *trace = play_scene(*state, sessions_and_a_fork);

	assert_int_equal(trace->processes_count, 3);
	assert_int_equal(trace->scopes_count, 6);
	for (uint32_t i = 0; i < 6; i += 2)
		assert_layers(trace, i, 2, "a");
}

/* ---- wide characters, names of categories, ranges that end elsewhere ---- */

typedef int push_wide(const wchar_t *);
typedef uint64_t start_wide(const wchar_t *);
typedef void mark_wide(const wchar_t *);
typedef void *create_wide(const wchar_t *);
typedef void *register_wide(void *, const wchar_t *);
typedef void name_category(uint32_t, const char *);
typedef void name_category_wide_in(void *, uint32_t, const wchar_t *);

static void wide_texts(void)
{
	struct nvtx_attributes attributes = {.message_type = NVTX_WIDE_TEXT,
					     .message.wide = L"attribut\u00e9"};
	const wchar_t odd[] = {L'x', 0xd800, 0x110000, 0x1f600, 0};
	static wchar_t longer[3000];
	void *domain;

	session_arm();
	expect(InitializeInjectionNvtx2(get_table) == 1);
	session_start();
	wmemset(longer, L'\u20ac', 2999);
	domain = CORE2(DomainCreateW, create_wide *)(L"\u30c9");
	CORE(MarkW, mark_wide *)(L"\u03bcs");
	CORE(MarkW, mark_wide *)(NULL);
	CORE(MarkW, mark_wide *)(longer);
	CORE(RangePushW, push_wide *)(odd);
	CORE2(DomainRangePushEx, push_domain *)(domain, &attributes);
	CORE2(DomainRangePop, pop_domain *)(domain);
	attributes.message_type = NVTX_REGISTERED;
	attributes.message.registered =
		CORE2(DomainRegisterStringW, register_wide *)(domain, L"registered");
	CORE2(DomainMarkEx, end_domain *)(domain, (uintptr_t)&attributes);
	CORE(RangePop, pop_any *)();
	expect(CORE(RangeStartW, start_wide *)(L"started") != 0);
	session_stop();
}

static void wide_characters_become_utf8(void **state)
{
	struct trace *trace = play_scene(*state, wide_texts);
	const struct trace_scope *inner = find_scope(trace, "attribut\u00e9");
	uint32_t longest = 0;

	find_scope(trace, "\u03bcs");
	find_scope(trace, "");
	find_scope(trace, "x\ufffd\ufffd\U0001f600");
	find_scope(trace, "started");
	assert_string_equal(trace_text(trace, attribute(trace, inner, "domain")->value.text),
			    "\u30c9");
	assert_int_equal(find_scope(trace, "registered")->kind, RECORD_SCOPE_MARK);
	/* Texts are cut after a whole character. */
	for (uint32_t i = 0; i < trace->scopes_count; i++) {
		size_t bytes = strlen(trace_text(trace, trace->scopes[i].text));

		longest = bytes > longest ? (uint32_t)bytes : longest;
	}
	assert_int_equal(longest, 1023);
}

static void categories(void)
{
	struct nvtx_attributes attributes = named("default");
	void *domain;

	session_arm();
	expect(InitializeInjectionNvtx2(get_table) == 1);
	session_start();
	domain = CORE2(DomainCreateA, create *)("d");
	CORE(NameCategoryA, name_category *)(9, "first");
	CORE(NameCategoryA, name_category *)(9, "loading");
	CORE(NameCategoryA, name_category *)(0, "no category");
	CORE(NameCategoryA, name_category *)(8, NULL);
	CORE2(DomainNameCategoryW, name_category_wide_in *)(domain, 9, L"\u03bb");
	for (uint32_t i = 0; i < 2000; i++)
		CORE(NameCategoryA, name_category *)(1000 + i, "many");
	attributes.category = 9;
	CORE(MarkEx, mark_ex *)(&attributes);
	attributes.message.text = "domain";
	CORE2(DomainMarkEx, end_domain *)(domain, (uintptr_t)&attributes);
	attributes.message.text = "nameless";
	attributes.category = 8;
	CORE(MarkEx, mark_ex *)(&attributes);
	session_stop();
}

static void categories_have_names_by_domain(void **state)
{
	struct trace *trace = play_scene(*state, categories);
	const struct trace_scope *scope = find_scope(trace, "default");

	assert_int_equal(attribute(trace, scope, "category")->value.uint64, 9);
	assert_string_equal(trace_text(trace, attribute(trace, scope, "category_name")->value.text),
			    "loading");
	scope = find_scope(trace, "domain");
	assert_string_equal(trace_text(trace, attribute(trace, scope, "category_name")->value.text),
			    "\u03bb");
	assert_int_equal(find_scope(trace, "nameless")->attribute_count, 1);
}

static void *end_it(void *id)
{
	CORE2(DomainRangeEnd, end_domain *)(NULL, *(uint64_t *)id);
	return NULL;
}

static void a_range_of_two_threads(void)
{
	struct nvtx_attributes attributes = named("both");
	pthread_t thread;
	uint64_t id;

	session_arm();
	expect(InitializeInjectionNvtx2(get_table) == 1);
	session_start();
	id = CORE2(DomainRangeStartEx, start_domain *)(NULL, &attributes);
	expect(!pthread_create(&thread, NULL, end_it, &id));
	pthread_join(thread, NULL);
	attributes = named(NULL);
	CORE2(DomainRangePushEx, push_domain *)(NULL, &attributes);
	CORE2(DomainRangePop, pop_domain *)(NULL);
	attributes = (struct nvtx_attributes){.message_type = 77, .payload_type = 77};
	CORE(MarkEx, mark_ex *)(&attributes);
	session_stop();
}

static void a_range_may_end_on_another_thread(void **state)
{
	struct trace *trace = play_scene(*state, a_range_of_two_threads);
	const struct trace_scope *both = find_scope(trace, "both");

	assert_false(both->open);
	assert_true(both->end_ns > both->begin_ns);
	assert_int_equal(trace->scopes_count, 3);
	play_assert_closed(trace);
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

/* ---- payloads ---- */

/* The slots of a library's extension; the library passes them without the first one, its state. */
static nvtx_function payload_functions[64];

static int ask_for_payloads(uint16_t id, uint16_t bytes)
{
	struct nvtx_slots segment = {.count = 63, .slots = payload_functions};
	struct nvtx_extension extension = {
		.version = 3, .bytes = bytes, .id = id, .segment_count = 1, .segments = &segment};

	return InitializeInjectionNvtxExtension(&extension);
}

#define PAYLOAD(name, type) ((type)payload_functions[NVTX_PAYLOAD_##name])

typedef void mark_payload(void *, const void *, size_t);
typedef int range_payload(void *, const void *, size_t);
typedef uint64_t start_payload(void *, const void *, size_t);
typedef void end_payload(void *, uint64_t, const void *, size_t);

static void payloads(void)
{
	const uint16_t bytes = sizeof(struct nvtx_extension);
	struct nvtx_attributes attributes = named("init");
	void *domain;
	uint64_t id;

	session_arm();
	expect(InitializeInjectionNvtx2(get_table) == 1);
	expect(ask_for_payloads(NVTX_EXTENSION_PAYLOAD + 1, bytes) == 0);
	expect(ask_for_payloads(NVTX_EXTENSION_PAYLOAD, bytes - 1) == 0);
	expect(!PAYLOAD(RangePop, range_payload *));
	expect(ask_for_payloads(NVTX_EXTENSION_PAYLOAD, bytes) == 1);
	expect(!payload_functions[7]); /* whether a domain is enabled: NVTX says so itself */
	session_start();
	domain = CORE2(DomainCreateA, create *)("NCCL");
	expect(CORE2(DomainRangePushEx, push_domain *)(domain, &attributes) == 0);
	expect(PAYLOAD(RangePop, range_payload *)(domain, "", 1) == 0);
	attributes = named("reduce");
	expect(CORE2(DomainRangePushEx, push_domain *)(domain, &attributes) == 0);
	expect(CORE2(DomainRangePop, pop_domain *)(domain) == 0);
	expect(PAYLOAD(RangePush, range_payload *)(domain, "", 1) == 0);
	PAYLOAD(Mark, mark_payload *)(domain, "", 1);
	expect(CORE2(DomainRangePop, pop_domain *)(domain) == 0);
	id = PAYLOAD(RangeStart, start_payload *)(domain, "", 1);
	expect(id);
	PAYLOAD(RangeEnd, end_payload *)(domain, id, "", 1);
	session_stop();
}

/* NCCL begins its ranges by the core's functions and ends some of them with a payload. */
static void payloads_end_ranges(void **state)
{
	struct trace *trace = play_scene(*state, payloads);

	assert_int_equal(trace->scopes_count, 5);
	for (uint32_t i = 0; i < trace->scopes_count; i++)
		assert_false(trace->scopes[i].open);
	assert_int_equal(find_scope(trace, "init")->parent, TRACE_NONE);
	assert_int_equal(find_scope(trace, "reduce")->parent, TRACE_NONE);
	assert_string_equal(
		trace_text(trace, attribute(trace, find_scope(trace, ""), "domain")->value.text),
		"NCCL");
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
	const struct CMUnitTest tests[] = {
		PLAY_CASE(ranges_are_scopes_with_their_domains),
		PLAY_CASE(ranges_share_a_registered_text),
		PLAY_CASE(each_spool_has_the_registered_text),
		PLAY_CASE(wide_characters_become_utf8),
		PLAY_CASE(categories_have_names_by_domain),
		PLAY_CASE(a_range_may_end_on_another_thread),
		PLAY_CASE(nothing_is_filled_when_nothing_is_recorded),
		PLAY_CASE(payloads_end_ranges),
		PLAY_CASE(a_library_without_a_table_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Scopes that are read from an XSpace: the scope tree and events of the host. */
#include "maker_case.h"

static const struct trace_scope *find_scope(const struct trace *trace, uint64_t id)
{
	for (uint32_t i = 0; i < trace->scopes_count; i++) {
		if (trace->scopes[i].id == id)
			return &trace->scopes[i];
	}
	fail_msg("no scope %llu", (unsigned long long)id);
	return NULL;
}

static void expect_parent(const struct trace *trace, uint64_t id, uint64_t parent)
{
	const struct trace_scope *scope = find_scope(trace, id);

	if (parent == 0)
		assert_int_equal(scope->parent, TRACE_NONE);
	else
		assert_int_equal(trace->scopes[scope->parent].id, parent);
}

static void scope_trees(void **state)
{
	struct maker *maker = *state;
	struct trace *trace;
	const uint64_t shared_pool = UINT64_C(1) << 63 | 5;

	/* A deep path, one that shares its root, one from the shared pool; 9 is in no pair. */
	maker_plane(maker, "/host:__ScopeRangeCallStack__", 0);
	for (uint64_t id = 2; id <= 300; id++)
		maker_pair(maker, id, id - 1);
	maker_pair(maker, 1000, 1);
	maker_pair(maker, shared_pool, 1000);
	maker_gpu(maker);
	maker_event(maker, "k", 0, 1000,
		    STATS(U64("correlation_id", 1), I64("scope_range_id", shared_pool),
			  REF("kernel_details", MAKER_DETAILS), REF("tf_op", "XlaModule:"),
			  REF("hlo_op", "dot.1")));
	maker_event(maker, "k", 2000, 1000,
		    STATS(U64("correlation_id", 2), I64("scope_range_id", 9000),
			  REF("kernel_details", MAKER_DETAILS), REF("tf_op", "alone")));
	trace = maker_open(maker);
	assert_int_equal(trace->scopes_count, 303);
	expect_parent(trace, 300, 299);
	expect_parent(trace, 1, 0);
	expect_parent(trace, 1000, 1);
	expect_parent(trace, shared_pool, 1000);
	expect_parent(trace, 9000, 0);
	assert_true(find_scope(trace, 300)->untimed);
	read_expect_text(trace, find_scope(trace, shared_pool)->text, "dot.1");
	read_expect_text(trace, find_scope(trace, 1)->text, "XlaModule:");
	read_expect_text(trace, find_scope(trace, 1000)->text, "");
	read_expect_text(trace, find_scope(trace, 9000)->text, "alone");
}

static void a_cyclic_tree_is_cut(void **state)
{
	struct maker *maker = *state;
	struct trace *trace;
	unsigned cut = 0;

	maker_plane(maker, "/host:__ScopeRangeCallStack__", 0);
	maker_pair(maker, 10, 20);
	maker_pair(maker, 20, 10);
	maker_pair(maker, 30, 30);
	maker_pair(maker, 40, 10);
	maker_gpu(maker);
	maker_event(maker, "k", 0, 1000,
		    STATS(U64("correlation_id", 1), I64("scope_range_id", 40),
			  REF("kernel_details", MAKER_DETAILS)));
	trace = maker_open(maker);
	for (uint32_t i = 0; i < trace->scopes_count; i++) {
		uint32_t at = i, depth = 0;

		while (at != TRACE_NONE && depth++ <= trace->scopes_count)
			at = trace->scopes[at].parent;
		assert_int_equal(at, TRACE_NONE);
		cut += trace->scopes[i].parent == TRACE_NONE;
	}
	assert_int_equal(cut, 2);
	assert_true(read_has_message(trace, "left out: 2 scopes", false));
}

/* Events without a correlation id are scopes; they nest, and calls are inside them. */
static void host_events_are_scopes(void **state)
{
	struct maker *maker = *state;
	const struct trace_scope *step, *inner, *mark;
	struct trace *trace;

	maker_plane(maker, "/host:CPU", 0);
	maker_line(maker, 6739995211100529379, "python3", 0);
	maker_event(maker, "train", 1000000, 90000000, STATS(I64("_r", 1), I64("step_num", 4)));
	maker_event(maker, "Execute#module=a#", 2000000, 80000000, STATS(U64("run_id", 17)));
	maker_event(maker, "launch", 3000000, 1000000, STATS(U64("correlation_id", 7)));
	maker_event(maker, "nested", 3500000, 1000, STATS(U64("correlation_id", 8)));
	maker_event(maker, "MemoryAllocation", 5000000, 0, NO_STATS);
	maker_event(maker, "later", 95000000, 1000, STATS(U64("correlation_id", 9)));
	trace = maker_open(maker);

	assert_int_equal(trace->scopes_count, 3);
	step = &trace->scopes[0];
	inner = &trace->scopes[1];
	mark = &trace->scopes[2];
	assert_int_equal(step->kind, RECORD_SCOPE_STEP);
	assert_false(step->untimed);
	assert_int_equal(step->attribute_count, 1);
	read_expect_text(trace, trace->scope_attributes[step->attribute_first].key, "step_num");
	assert_int_equal(trace->scope_attributes[step->attribute_first].value.int64, 4);
	assert_int_equal(inner->parent, 0);
	read_expect_text(trace, inner->text, "Execute#module=a#");
	read_expect_text(trace, inner->name, "Execute");
	assert_int_equal(inner->begin_ns, 2000);
	assert_int_equal(inner->end_ns, 82000);
	assert_int_equal(mark->kind, RECORD_SCOPE_MARK);
	assert_int_equal(mark->parent, 1);
	assert_int_equal(trace->calls[0].scope, 1);
	assert_int_equal(trace->calls[0].parent, TRACE_NONE);
	assert_int_equal(trace->calls[1].parent, 0);
	assert_int_equal(trace->calls[2].scope, TRACE_NONE);
	read_expect_text(trace, trace->threads[step->thread].name, "python3");
}

/* A module's scope is inside the scopes that were open during all its calls. */
static void a_tree_is_inside_what_was_open(void **state)
{
	struct maker *maker = *state;
	const struct trace_scope *module;
	struct trace *trace;

	maker_plane(maker, "/host:__ScopeRangeCallStack__", 0);
	maker_pair(maker, 11, 10);
	maker_pair(maker, 12, 10);
	maker_host(maker);
	maker_event(maker, "outer", 0, 100000, NO_STATS);
	maker_event(maker, "first only", 10000, 10000, NO_STATS);
	maker_event(maker, "l", 12000, 1000,
		    STATS(U64("correlation_id", 1), I64("scope_range_id", 11)));
	maker_event(maker, "l", 40000, 1000,
		    STATS(U64("correlation_id", 2), I64("scope_range_id", 12)));
	trace = maker_open(maker);
	module = find_scope(trace, 10);
	assert_int_not_equal(module->parent, TRACE_NONE);
	read_expect_text(trace, trace->scopes[module->parent].text, "outer");
	expect_parent(trace, 11, 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		MAKER_CASE(scope_trees),
		MAKER_CASE(a_cyclic_tree_is_cut),
		MAKER_CASE(host_events_are_scopes),
		MAKER_CASE(a_tree_is_inside_what_was_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

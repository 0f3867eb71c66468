/* Compares two models by content: same_trace.h. */
#include "same_trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

struct pair {
	const struct trace *a, *b;
};

static void same_text(const struct pair *pair, trace_string a, trace_string b)
{
	assert_string_equal(trace_text(pair->a, a), trace_text(pair->b, b));
}

static void same_attribute(const struct pair *pair, const struct trace_scope_attribute *a,
			   const struct trace_scope_attribute *b)
{
	same_text(pair, a->key, b->key);
	assert_int_equal(a->kind, b->kind);
	if (a->kind == RECORD_ATTRIBUTE_TEXT)
		same_text(pair, a->value.text, b->value.text);
	else
		assert_true(a->value.uint64 == b->value.uint64);
}

static void same_set(const struct pair *pair, uint32_t a, uint32_t b)
{
	const struct trace_attribute_set *of_a, *of_b;

	assert_int_equal(a == 0, b == 0);
	if (a == 0)
		return;
	of_a = &pair->a->attribute_sets[a];
	of_b = &pair->b->attribute_sets[b];
	assert_int_equal(of_a->count, of_b->count);
	for (uint32_t i = 0; i < of_a->count; i++)
		same_attribute(pair, &pair->a->scope_attributes[of_a->first + i],
			       &pair->b->scope_attributes[of_b->first + i]);
}

static uint32_t set_of(const uint32_t *sets, uint32_t row)
{
	return sets ? sets[row] : 0;
}

static void same_processes(const struct pair *pair)
{
	assert_int_equal(pair->a->processes_count, pair->b->processes_count);
	for (uint32_t i = 0; i < pair->a->processes_count; i++) {
		const struct trace_process *a = &pair->a->processes[i];
		const struct trace_process *b = &pair->b->processes[i];

		assert_int_equal(a->pid, b->pid);
		assert_int_equal(a->start_ns, b->start_ns);
		assert_int_equal(a->end_ns, b->end_ns);
		assert_int_equal(a->start_realtime_ns, b->start_realtime_ns);
		assert_int_equal(a->state, b->state);
		same_text(pair, a->host, b->host);
		same_text(pair, a->exe, b->exe);
		same_text(pair, a->command, b->command);
	}
	assert_int_equal(pair->a->threads_count, pair->b->threads_count);
	for (uint32_t i = 0; i < pair->a->threads_count; i++) {
		assert_int_equal(pair->a->threads[i].process, pair->b->threads[i].process);
		assert_int_equal(pair->a->threads[i].tid, pair->b->threads[i].tid);
		same_text(pair, pair->a->threads[i].name, pair->b->threads[i].name);
	}
}

/* XSpace has no other agents than GPUs. */
static bool is_gpu(const struct trace *trace, uint32_t agent)
{
	return agent != TRACE_NONE && trace->agents[agent].is_gpu;
}

static void same_agent(const struct pair *pair, uint32_t a, uint32_t b)
{
	const struct trace_agent *of_a, *of_b;

	assert_int_equal(is_gpu(pair->a, a), is_gpu(pair->b, b));
	if (!is_gpu(pair->a, a))
		return;
	of_a = &pair->a->agents[a];
	of_b = &pair->b->agents[b];
	assert_int_equal(of_a->process, of_b->process);
	assert_int_equal(of_a->is_gpu, of_b->is_gpu);
	assert_int_equal(of_a->gpu_ordinal, of_b->gpu_ordinal);
	assert_int_equal(of_a->memory_bytes, of_b->memory_bytes);
	assert_int_equal(of_a->compute_units, of_b->compute_units);
	assert_int_equal(of_a->memory_bytes_per_s, of_b->memory_bytes_per_s);
	assert_int_equal(of_a->clock_khz, of_b->clock_khz);
	same_text(pair, of_a->name, of_b->name);
	same_text(pair, of_a->product, of_b->product);
	same_text(pair, of_a->uuid, of_b->uuid);
	same_set(pair, of_a->attributes, of_b->attributes);
}

static void same_scope_id(const struct pair *pair, uint32_t a, uint32_t b)
{
	assert_int_equal(a == TRACE_NONE, b == TRACE_NONE);
	if (a != TRACE_NONE)
		assert_true(pair->a->scopes[a].id == pair->b->scopes[b].id);
}

static void same_scopes(const struct pair *pair)
{
	assert_int_equal(pair->a->scopes_count, pair->b->scopes_count);
	for (uint32_t i = 0; i < pair->a->scopes_count; i++) {
		const struct trace_scope *a = &pair->a->scopes[i], *b = &pair->b->scopes[i];

		assert_int_equal(a->process, b->process);
		assert_true(a->id == b->id);
		same_scope_id(pair, a->parent, b->parent);
		assert_int_equal(a->kind, b->kind);
		same_text(pair, a->name, b->name);
		assert_int_equal(a->thread, b->thread);
		assert_int_equal(a->begin_ns, b->begin_ns);
		assert_int_equal(a->end_ns, b->end_ns);
		assert_int_equal(a->open, b->open);
		assert_int_equal(a->untimed, b->untimed);
		assert_int_equal(a->attribute_count, b->attribute_count);
		for (uint32_t j = 0; j < a->attribute_count; j++)
			same_attribute(pair, &pair->a->scope_attributes[a->attribute_first + j],
				       &pair->b->scope_attributes[b->attribute_first + j]);
	}
}

static void same_launch(const struct pair *pair, uint32_t a, uint32_t b)
{
	const struct trace_launch *of_a, *of_b;

	assert_int_equal(a == TRACE_NONE, b == TRACE_NONE);
	if (a == TRACE_NONE)
		return;
	of_a = &pair->a->launches[a];
	of_b = &pair->b->launches[b];
	assert_int_equal(pair->a->execs[of_a->exec].id, pair->b->execs[of_b->exec].id);
	assert_int_equal(of_a->replay, of_b->replay);
	assert_int_equal(of_a->call, of_b->call);
}

static void same_node(const struct pair *pair, uint32_t a, uint32_t b)
{
	const struct trace_node *of_a, *of_b;

	assert_int_equal(a == TRACE_NONE, b == TRACE_NONE);
	if (a == TRACE_NONE)
		return;
	of_a = &pair->a->nodes[a];
	of_b = &pair->b->nodes[b];
	assert_int_equal(of_a->index, of_b->index);
	assert_int_equal(pair->a->graphs[of_a->graph].id, pair->b->graphs[of_b->graph].id);
}

static void same_calls(const struct pair *pair)
{
	assert_int_equal(pair->a->calls_count, pair->b->calls_count);
	for (uint32_t i = 0; i < pair->a->calls_count; i++) {
		const struct trace_call *a = &pair->a->calls[i], *b = &pair->b->calls[i];

		assert_int_equal(a->process, b->process);
		assert_true(a->cid == b->cid);
		assert_int_equal(a->begin_ns, b->begin_ns);
		assert_int_equal(a->end_ns, b->end_ns);
		assert_int_equal(a->thread, b->thread);
		assert_int_equal(a->parent, b->parent);
		same_scope_id(pair, a->scope, b->scope);
		same_launch(pair, a->launch, b->launch);
		assert_int_equal(a->result, b->result);
		assert_int_equal(a->activity_count, b->activity_count);
		if (a->activity_count)
			assert_int_equal(a->activity_first, b->activity_first);
		assert_int_equal(a->activities_expected, b->activities_expected);
		same_text(pair, pair->a->apis[a->api].name, pair->b->apis[b->api].name);
		assert_int_equal(pair->a->apis[a->api].domain, pair->b->apis[b->api].domain);
		same_set(pair, set_of(pair->a->call_attributes, i),
			 set_of(pair->b->call_attributes, i));
	}
}

static void same_work(const struct pair *pair, const struct trace_work *a,
		      const struct trace_work *b)
{
	assert_int_equal(a->kind, b->kind);
	assert_int_equal(a->blit, b->blit);
	same_text(pair, a->name, b->name);
	assert_int_equal(a->direction, b->direction);
	assert_int_equal(a->bytes, b->bytes);
	if (a->kind == TRACE_COPY) {
		same_agent(pair, a->dst_agent, b->dst_agent);
		same_agent(pair, a->src_agent, b->src_agent);
	}
	if (a->kind != TRACE_KERNEL)
		return;
	assert_memory_equal(a->grid, b->grid, sizeof(a->grid));
	assert_memory_equal(a->workgroup, b->workgroup, sizeof(a->workgroup));
	assert_int_equal(a->private_bytes, b->private_bytes);
	assert_int_equal(a->group_bytes, b->group_bytes);
}

static void same_activities(const struct pair *pair)
{
	assert_int_equal(pair->a->activities_count, pair->b->activities_count);
	for (uint32_t i = 0; i < pair->a->activities_count; i++) {
		const struct trace_activity *a = &pair->a->activities[i];
		const struct trace_activity *b = &pair->b->activities[i];

		assert_int_equal(a->process, b->process);
		assert_int_equal(a->start_ns, b->start_ns);
		assert_int_equal(a->end_ns, b->end_ns);
		assert_true(a->cid == b->cid);
		assert_int_equal(a->call, b->call);
		assert_int_equal(a->ordinal, b->ordinal);
		same_work(pair, trace_work_of(pair->a, a), trace_work_of(pair->b, b));
		same_agent(pair, a->agent, b->agent);
		assert_int_equal(a->stream == TRACE_NONE, b->stream == TRACE_NONE);
		if (a->stream != TRACE_NONE)
			assert_int_equal(pair->a->streams[a->stream].ordinal,
					 pair->b->streams[b->stream].ordinal);
		same_scope_id(pair, a->scope, b->scope);
		same_launch(pair, a->launch, b->launch);
		same_node(pair, a->node, b->node);
		assert_int_equal(a->confidence, b->confidence);
		same_set(pair, set_of(pair->a->activity_attributes, i),
			 set_of(pair->b->activity_attributes, i));
	}
}

void expect_same_trace(const struct trace *a, const struct trace *b)
{
	const struct pair pair = {a, b};

	same_processes(&pair);
	same_scopes(&pair);
	same_calls(&pair);
	same_activities(&pair);
}

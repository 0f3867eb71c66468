/* Allocations and releases of memory: which belong together, and what was held when. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/filter.h"
#include "analyze/held_memory.h"

enum { GPU, HOST };

static const char *strings[] = {"", "hipMalloc", "cudaMalloc", "cuMemAlloc_v2", "step"};
static struct trace_agent agents[] = {[GPU] = {.is_gpu = true}, [HOST] = {.index = 1}};
static struct trace_process processes[] = {{.pid = 9}};
static struct trace_api apis[] = {{.name = 1}, {.name = 2}, {.name = 3}};
static struct trace_scope scopes[] = {{.parent = TRACE_NONE, .text = 4, .name = 4, .end_ns = 1000}};

static struct trace_memory_operation operation(int64_t ns, uint64_t address, uint64_t bytes)
{
	return (struct trace_memory_operation){
		.call = TRACE_NONE,
		.agent = GPU,
		.stream = TRACE_NONE,
		.scope = TRACE_NONE,
		.kind = RECORD_MEMORY_KIND_DEVICE,
		.ns = ns,
		.address = address,
		.bytes = bytes,
		.is_release = bytes == 0,
	};
}

/* A trace with COUNT operations, which the caller keeps. */
static struct trace make_trace(struct trace_memory_operation *operations, uint32_t count)
{
	return (struct trace){
		.strings = strings,
		.strings_count = 5,
		.processes = processes,
		.processes_count = 1,
		.agents = agents,
		.agents_count = 2,
		.apis = apis,
		.apis_count = 3,
		.scopes = scopes,
		.scopes_count = 1,
		.memory_operations = operations,
		.memory_operations_count = count,
	};
}

/* Rows are ordered by call; time decides. */
static void operations_are_taken_in_order_of_time(void **state)
{
	struct trace_memory_operation operations[] = {
		operation(30, 0x1000, 0),
		operation(10, 0x1000, 64),
		operation(20, 0x2000, 32),
	};
	struct trace trace = make_trace(operations, 3);
	struct memory_blocks blocks;
	struct memory memory;

	assert_int_equal(memory_blocks_find(&trace, &blocks), 0);
	assert_int_equal(blocks.count, 2);
	assert_int_equal(blocks.rows[0].end_ns, 30);
	assert_true(blocks.rows[1].is_live);
	assert_int_equal(memory_make(&trace, &blocks, NULL, 2, &memory), 0);
	assert_int_equal(memory.places_count, 1);
	assert_int_equal(memory.places[0].peak_bytes, 96);
	assert_int_equal(memory.places[0].peak_ns, 20);
	assert_int_equal(memory.places[0].live_bytes, 32);
	assert_int_equal(memory.leaks_count, 1);
	assert_int_equal(memory.leaks[0].bytes, 32);
	/* From 10 to 20, and from 20 to 30. */
	assert_int_equal(memory.steps_count, 2);
	assert_int_equal(memory.steps[0].peak_bytes, 96);
	assert_int_equal(memory.steps[1].live_bytes, 32);
	memory_release(&memory);
	memory_blocks_release(&blocks);
}

/* An address that is allocated twice was released between; a release of an address that was never
 * allocated is of before. */
static void lost_operations_do_no_harm(void **state)
{
	struct trace_memory_operation operations[] = {
		operation(5, 0x9000, 0),  operation(10, 0x1000, 64), operation(20, 0x1000, 16),
		operation(30, 0x1000, 0), operation(40, 0x1000, 0),
	};
	struct trace trace = make_trace(operations, 5);
	struct memory_blocks blocks;
	struct memory memory;

	assert_int_equal(memory_blocks_find(&trace, &blocks), 0);
	assert_int_equal(blocks.unknown_releases, 2);
	assert_int_equal(blocks.rows[0].end_ns, 20);
	assert_int_equal(blocks.rows[1].end_ns, 30);
	assert_int_equal(memory_make(&trace, &blocks, NULL, 1, &memory), 0);
	assert_int_equal(memory.places[0].peak_bytes, 64);
	assert_int_equal(memory.places[0].live_bytes, 0);
	assert_int_equal(memory.leaks_count, 0);
	memory_release(&memory);
	memory_blocks_release(&blocks);
}

/* A driver's call inside a runtime's call fails with it: one allocation failed. A call of HIP's
 * that failed has a row of its own. */
static void calls_of_cuda_that_failed_count_once(void **state)
{
	struct trace_memory_operation operations[] = {operation(10, 0, 4096)};
	struct trace_call calls[] = {
		{.api = 1, .result = 2, .end_ns = 60, .parent = TRACE_NONE},
		{.api = 2, .result = 2, .end_ns = 50, .parent = 0},
		{.api = 1, .result = 0, .end_ns = 70, .parent = TRACE_NONE},
		{.api = 0, .result = 2, .end_ns = 10, .parent = TRACE_NONE},
	};
	struct trace trace = make_trace(operations, 1);
	struct memory_blocks blocks;
	struct memory memory;

	for (int i = 0; i < 4; i++)
		calls[i].stream = calls[i].scope = TRACE_NONE;
	operations[0].result = 2;
	trace.calls = calls;
	trace.calls_count = 4;
	assert_int_equal(memory_blocks_find(&trace, &blocks), 0);
	assert_int_equal(memory_make(&trace, &blocks, NULL, 1, &memory), 0);
	assert_int_equal(memory.places_count, 0);
	assert_int_equal(memory.failures_count, 2);
	assert_int_equal(blocks.rows[memory.failures[0]].bytes, 4096);
	assert_int_equal(blocks.rows[memory.failures[1]].call, 0);
	memory_release(&memory);
	memory_blocks_release(&blocks);
}

static uint32_t count_selected(const struct trace *trace, const struct memory_blocks *blocks,
			       struct filter filter)
{
	bool is_selected[8];
	uint32_t count;

	assert_true(blocks->count <= 8);
	assert_int_equal(filter_select_blocks(trace, &filter, blocks, is_selected, &count), 0);
	return count;
}

/* A block is in a time if it was held in it, whenever it was allocated. */
static void blocks_are_selected_by_their_lives(void **state)
{
	struct trace_memory_operation operations[] = {
		operation(10, 0x1000, 64),
		operation(20, 0x1000, 0),
		operation(30, 0x2000, 64),
		operation(40, 0x3000, 64),
	};
	struct trace trace = make_trace(operations, 4);
	struct memory_blocks blocks;
	struct filter filter = FILTER_ALL;

	operations[2].scope = 0;
	operations[3].agent = HOST;
	assert_int_equal(memory_blocks_find(&trace, &blocks), 0);
	filter.from = (struct filter_time){.is_given = true, .ns = 35};
	assert_int_equal(count_selected(&trace, &blocks, filter), 2);
	filter.to = (struct filter_time){.is_given = true, .ns = 38};
	assert_int_equal(count_selected(&trace, &blocks, filter), 1);
	filter = FILTER_ALL;
	filter.scope = "step";
	assert_int_equal(count_selected(&trace, &blocks, filter), 1);
	filter = FILTER_ALL;
	filter.device = 0;
	assert_int_equal(count_selected(&trace, &blocks, filter), 2);
	memory_blocks_release(&blocks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operations_are_taken_in_order_of_time),
		cmocka_unit_test(lost_operations_do_no_harm),
		cmocka_unit_test(calls_of_cuda_that_failed_count_once),
		cmocka_unit_test(blocks_are_selected_by_their_lives),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* What the HSA runtime does to scratch memory, told as ROCr does: it reclaims inside of an
 * allocation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "capture/hsa/gate_list.h"
#include "capture/hsa/hsa_memory.h"
#include "capture/hsa/hsa_scratch.h"
#include "capture/memory_observer.h"
#include "vendor/hsa_newer.h"

/* What the observer is told of, in its order. */
static struct inject_scratch begun[4], ended[4];
static int begun_count, ended_count;

bool memory_is_observed(void)
{
	return true;
}

void scratch_begin(struct inject_scratch *scratch)
{
	begun[begun_count++] = *scratch;
}

void scratch_end(struct inject_scratch *scratch)
{
	ended[ended_count++] = *scratch;
}

struct gate *gate_of(const hsa_queue_t *queue)
{
	(void)queue;
	return NULL;
}

struct inject_agent hsa_memory_agent_of(hsa_agent_t agent)
{
	(void)agent;
	return (struct inject_agent){0};
}

static void memory_is_reclaimed_inside_of_an_allocation(void **state)
{
	const hsa_queue_t queue = {.id = 7};
	const struct hsa_scratch_event event = {
		.queue = &queue, .dispatch = 3, .bytes = 4096, .slots = 64};
	struct hsa_newer_tools_table tools = {.version = {.minor_id = sizeof(tools)}};
	struct hsa_newer_api_table newer = {.tools = &tools};
	struct hsa_api_table *table = (struct hsa_api_table *)(void *)&newer;

	(void)state;
	table->version.minor_id = sizeof(newer);
	scratch_watch(table);
	assert_int_equal(tools.slot[HSA_SCRATCH_ALLOC_START](&event), HSA_STATUS_SUCCESS);
	assert_int_equal(tools.slot[HSA_SCRATCH_RECLAIM_START](&event), HSA_STATUS_SUCCESS);
	assert_int_equal(tools.slot[HSA_SCRATCH_RECLAIM_END](&event), HSA_STATUS_SUCCESS);
	assert_int_equal(tools.slot[HSA_SCRATCH_ALLOC_END](&event), HSA_STATUS_SUCCESS);
	assert_int_equal(begun_count, 2);
	assert_int_equal(ended_count, 2);
	assert_int_equal(begun[0].operation, INJECT_SCRATCH_ALLOCATE);
	assert_int_equal(begun[1].operation, INJECT_SCRATCH_RECLAIM);
	assert_int_equal(ended[0].operation, INJECT_SCRATCH_RECLAIM);
	assert_int_equal(ended[0].bytes, 0);
	assert_int_equal(ended[1].operation, INJECT_SCRATCH_ALLOCATE);
	assert_int_equal(ended[1].queue, 7);
	assert_int_equal(ended[1].dispatch, 3);
	assert_int_equal(ended[1].bytes, 4096);
	assert_int_equal(ended[1].slots, 64);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_is_reclaimed_inside_of_an_allocation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

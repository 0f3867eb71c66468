/* What tools are told of the scratch memory of queues. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "aql.h"
#include "softgpu/hsa_table.h"
#include "vendor/hsa_newer.h"

enum { EVENTS_MOST = 16, SLOTS = 60 * 40, WAVE = 64 }; /* gfx906 */

static struct aql aql;
static struct hsa_scratch_event events[EVENTS_MOST];
static int event_count;

static hsa_status_t take(const struct hsa_scratch_event *event)
{
	bool has_size = event->kind == HSA_SCRATCH_ALLOC_END + 1;

	assert_true(event_count < EVENTS_MOST);
	events[event_count++] = (struct hsa_scratch_event){
		.kind = event->kind,
		.queue = event->queue,
		.dispatch = event->dispatch,
		.bytes = has_size ? event->bytes : 0,
		.slots = has_size ? event->slots : 0,
	};
	return HSA_STATUS_SUCCESS;
}

static void run(hsa_queue_t *queue, uint32_t private_bytes)
{
	hsa_kernel_dispatch_packet_t packet =
		aql_dispatch(aql.scale, NULL, AQL_BARRIER, (hsa_signal_t){0});

	packet.private_segment_size = private_bytes;
	aql_submit(queue, &packet);
	aql_drain(queue);
}

static void assert_event(int at, enum hsa_scratch_slot slot, const hsa_queue_t *queue,
			 uint64_t dispatch, size_t bytes)
{
	assert_int_equal(events[at].kind, slot + 1);
	assert_ptr_equal(events[at].queue, queue);
	assert_int_equal(events[at].dispatch, dispatch);
	assert_int_equal(events[at].bytes, bytes);
	assert_int_equal(events[at].slots, bytes ? SLOTS : 0);
}

/* A queue gets scratch memory at the first packet that needs more than it has, and keeps it. */
static void a_queue_gets_what_its_kernels_need(void **state)
{
	struct hsa_newer_api_table *root = (struct hsa_newer_api_table *)table_get();
	hsa_queue_t *queue = aql_queue(&aql, 64);

	for (int i = 0; i < HSA_SCRATCH_SLOTS; i++)
		root->tools->slot[i] = take;
	run(queue, 0);
	assert_int_equal(event_count, 0);
	run(queue, 64);
	run(queue, 64);
	run(queue, 32);
	assert_int_equal(event_count, 2);
	assert_event(0, HSA_SCRATCH_ALLOC_START, queue, 2, 0);
	assert_event(1, HSA_SCRATCH_ALLOC_END, queue, 2, (size_t)SLOTS * WAVE * 64);
	run(queue, 128);
	assert_int_equal(event_count, 6);
	assert_event(2, HSA_SCRATCH_FREE_START, queue, 0, 0);
	assert_event(3, HSA_SCRATCH_FREE_END, queue, 0, 0);
	assert_event(5, HSA_SCRATCH_ALLOC_END, queue, 8, (size_t)SLOTS * WAVE * 128);
	assert_int_equal(hsa_queue_destroy(queue), HSA_STATUS_SUCCESS);
	assert_int_equal(event_count, 8);
	assert_int_equal(events[7].kind, HSA_SCRATCH_FREE_END + 1);
}

static int open_machine(void **state)
{
	aql_open("gfx906,rocr7_tables=1", &aql);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_queue_gets_what_its_kernels_need),
	};

	return cmocka_run_group_tests(tests, open_machine, NULL);
}

/* Queues that other calls than hsa_queue_create make: several by description, queues of copy
 * engines, and counted queues; and signals that a process attaches to by a handle. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <hsa/amd_hsa_queue.h>
#include <hsa/amd_hsa_signal.h>

#include "aql.h"
#include "vendor/hsa_newer.h"

#define RING_BYTES 4096u

static struct aql aql;
static uint64_t **kernarg; /* the argument of "count" */
static uint64_t *counted;

static int open_device(void **state)
{
	setenv("GPU_MAX_HW_QUEUES", "2", 1);
	aql_open("gfx906,gpus=2,kernel_ns=0,rocr7_tables=2", &aql);
	counted = machine_allocate(aql.machine.fine, 4096);
	kernarg = machine_allocate(aql.machine.kernarg, 4096);
	*kernarg = counted;
	return 0;
}

static hsa_amd_queue_create_desc_t compute(uint32_t packets)
{
	return (hsa_amd_queue_create_desc_t){
		.version = HSA_AMD_QUEUE_CREATE_DESC_VERSION,
		.queue_size_bytes = packets * 64,
		.priority = HSA_AMD_QUEUE_PRIORITY_NORMAL,
		.queue = (hsa_queue_t *)&aql,
		.engine.compute = {.type = HSA_QUEUE_TYPE_MULTI,
				   .private_segment_size = HSA_AMD_PRIVATE_SEGMENT_SIZE_DEFAULT},
	};
}

static hsa_amd_queue_create_desc_t sdma(uint32_t bytes)
{
	return (hsa_amd_queue_create_desc_t){
		.version = HSA_AMD_QUEUE_CREATE_DESC_VERSION,
		.engine_type = HSA_AMD_QUEUE_ENGINE_SDMA,
		.queue_size_bytes = bytes,
		.priority = HSA_AMD_QUEUE_PRIORITY_NORMAL,
		.engine.sdma = {.sdma_engine_id = HSA_AMD_SDMA_ENGINE_ID_ANY},
	};
}

/* Runs one dispatch and checks that it ran. */
static void expect_runs(hsa_queue_t *queue)
{
	uint64_t before = *counted;
	hsa_signal_t done = aql_signal(1);
	hsa_kernel_dispatch_packet_t packet = aql_dispatch(aql.count, kernarg, AQL_BARRIER, done);

	aql_submit(queue, &packet);
	aql_wait(done);
	hsa_signal_destroy(done);
	assert_int_equal(*counted, before + 1);
}

static void some_are_made_although_one_is_wrong(void **state)
{
	hsa_amd_queue_create_desc_t descs[4] = {compute(64), compute(100), sdma(RING_BYTES),
						compute(256)};

	assert_int_equal(hsa_amd_queue_create(aql.machine.gpu[1], descs, 4),
			 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	assert_null(descs[1].queue);
	assert_int_equal(descs[0].queue->size, 64);
	assert_int_equal(descs[2].queue->size, RING_BYTES);
	assert_int_equal(descs[3].queue->size, 256);
	assert_int_equal(descs[0].queue->features, HSA_QUEUE_FEATURE_KERNEL_DISPATCH);
	assert_int_equal(descs[2].queue->features, 0);
	expect_runs(descs[0].queue);
	expect_runs(descs[3].queue);
	for (int i = 0; i < 4; i++) {
		if (descs[i].queue)
			assert_int_equal(hsa_queue_destroy(descs[i].queue), HSA_STATUS_SUCCESS);
	}
}

static void descriptions_are_checked(void **state)
{
	hsa_amd_queue_create_desc_t descs[6] = {compute(64), compute(64), compute(64),
						compute(64), compute(64), sdma(RING_BYTES)};
	hsa_amd_queue_create_desc_t aie = compute(64);

	descs[0].version = 2;
	descs[1].reserved[19] = 1;
	descs[2].engine.compute.cu_mask_count = 31;
	descs[3].priority = 3;
	descs[4].traffic_class = 1;
	descs[5].engine.sdma.sdma_engine_id = 77;
	for (int i = 0; i < 6; i++) {
		assert_int_equal(hsa_amd_queue_create(aql.machine.gpu[0], &descs[i], 1),
				 HSA_STATUS_ERROR_INVALID_ARGUMENT);
		assert_null(descs[i].queue);
	}
	aie.engine_type = HSA_AMD_QUEUE_ENGINE_AIE;
	assert_int_equal(hsa_amd_queue_create(aql.machine.gpu[0], &aie, 1),
			 HSA_STATUS_ERROR_INVALID_QUEUE_CREATION);
	assert_int_equal(hsa_amd_queue_create(aql.machine.gpu[0], NULL, 1),
			 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	assert_int_equal(hsa_amd_queue_create(aql.machine.gpu[0], &aie, 0),
			 HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

static void put_address(uint32_t *words, const void *address)
{
	words[0] = (uint32_t)(uintptr_t)address;
	words[1] = (uint32_t)((uintptr_t)address >> 32);
}

/* A copy and a fence after it; then bytes that are not a packet. */
static void an_engines_queue_copies(void **state)
{
	hsa_amd_queue_create_desc_t desc = sdma(RING_BYTES);
	uint64_t *from = machine_allocate(aql.machine.fine, 4096);
	uint64_t *to = from + 64;
	uint32_t *fence = (uint32_t *)(from + 128), *ring, engine = UINT32_MAX;
	uint64_t copies = aql_counter("copies");

	assert_int_equal(hsa_amd_queue_create(aql.machine.gpu[0], &desc, 1), HSA_STATUS_SUCCESS);
	assert_int_equal(
		hsa_amd_queue_get_info(desc.queue, HSA_AMD_QUEUE_INFO_SDMA_ENGINE_ID, &engine),
		HSA_STATUS_SUCCESS);
	assert_true(engine < 16);
	*from = 4711;
	ring = desc.queue->base_address;
	ring[0] = 1;
	ring[1] = sizeof(*from) - 1;
	put_address(ring + 3, from);
	put_address(ring + 5, to);
	ring[7] = 5;
	put_address(ring + 8, fence);
	ring[10] = 42;
	hsa_queue_store_write_index_screlease(desc.queue, 44);
	hsa_signal_store_screlease(desc.queue->doorbell_signal, 44);
	assert_int_equal(*to, 4711);
	assert_int_equal(*fence, 42);
	assert_int_equal(hsa_queue_load_read_index_scacquire(desc.queue), 44);
	assert_int_equal(aql_counter("copies"), copies + 1);
	ring[11] = 0xff;
	hsa_signal_store_screlease(desc.queue->doorbell_signal, 48);
	hsa_signal_store_screlease(desc.queue->doorbell_signal, 52);
	assert_int_equal(hsa_queue_load_read_index_scacquire(desc.queue), 44);
	assert_int_equal(hsa_queue_destroy(desc.queue), HSA_STATUS_SUCCESS);
}

static hsa_queue_t *acquire(hsa_amd_queue_priority_t priority)
{
	hsa_queue_t *queue = NULL;

	assert_int_equal(hsa_amd_counted_queue_acquire(aql.machine.gpu[0], HSA_QUEUE_TYPE_MULTI,
						       priority, NULL, NULL, 0, &queue),
			 HSA_STATUS_SUCCESS);
	return queue;
}

static uint32_t use_count(hsa_queue_t *queue)
{
	uint32_t count = 0;

	assert_int_equal(hsa_amd_queue_get_info(queue, HSA_QUEUE_INFO_USE_COUNT, &count),
			 HSA_STATUS_SUCCESS);
	return count;
}

/* The third handle shares the ring, the doorbell and the index of one of the two queues. The words
 * of its own amd_queue_t are not used. */
static void handles_share_a_few_queues(void **state)
{
	hsa_queue_t *a = acquire(HSA_AMD_QUEUE_PRIORITY_LOW);
	hsa_queue_t *b = acquire(HSA_AMD_QUEUE_PRIORITY_LOW);
	hsa_queue_t *c = acquire(HSA_AMD_QUEUE_PRIORITY_LOW);
	hsa_queue_t *other = acquire(HSA_AMD_QUEUE_PRIORITY_HIGH);

	assert_ptr_not_equal(a, c);
	assert_ptr_not_equal(a->base_address, b->base_address);
	assert_ptr_not_equal(a->base_address, other->base_address);
	assert_ptr_equal(a->base_address, c->base_address);
	assert_int_equal(a->doorbell_signal.handle, c->doorbell_signal.handle);
	assert_int_equal(use_count(a), 2);
	assert_int_equal(use_count(b), 1);
	expect_runs(a);
	expect_runs(c);
	assert_int_equal(hsa_queue_load_write_index_relaxed(a), 2);
	assert_int_equal(((amd_queue_t *)a)->write_dispatch_id, 0);
	assert_int_equal(hsa_queue_destroy(a), HSA_STATUS_ERROR_INVALID_QUEUE);
	assert_int_equal(hsa_amd_queue_set_priority(a, HSA_AMD_QUEUE_PRIORITY_HIGH),
			 HSA_STATUS_ERROR_INVALID_QUEUE);
	assert_int_equal(hsa_amd_counted_queue_release(a), HSA_STATUS_SUCCESS);
	assert_int_equal(use_count(c), 1);
	expect_runs(c);
	assert_int_equal(hsa_amd_counted_queue_release(b), HSA_STATUS_SUCCESS);
	assert_int_equal(hsa_amd_counted_queue_release(c), HSA_STATUS_SUCCESS);
	assert_int_equal(hsa_amd_counted_queue_release(other), HSA_STATUS_SUCCESS);
}

static void counted_requests_are_checked(void **state)
{
	hsa_agent_t gpu = aql.machine.gpu[0];
	hsa_queue_t *queue;

	assert_int_equal(hsa_amd_counted_queue_acquire(gpu, HSA_QUEUE_TYPE_SINGLE,
						       HSA_AMD_QUEUE_PRIORITY_LOW, NULL, NULL, 0,
						       &queue),
			 HSA_STATUS_ERROR_INVALID_QUEUE_CREATION);
	assert_int_equal(hsa_amd_counted_queue_acquire(gpu, HSA_QUEUE_TYPE_MULTI,
						       HSA_AMD_QUEUE_PRIORITY_LOW, NULL, NULL, 0,
						       NULL),
			 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	assert_int_equal(hsa_amd_counted_queue_acquire(aql.machine.cpu, HSA_QUEUE_TYPE_MULTI,
						       HSA_AMD_QUEUE_PRIORITY_LOW, NULL, NULL, 0,
						       &queue),
			 HSA_STATUS_ERROR_INVALID_AGENT);
	assert_int_equal(hsa_amd_counted_queue_release(NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

static void a_signal_lives_for_all_who_attached(void **state)
{
	hsa_amd_ipc_signal_t handle;
	hsa_signal_t made, again, plain = aql_signal(1);

	assert_int_equal(hsa_amd_ipc_signal_create(plain, &handle),
			 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	hsa_signal_destroy(plain);
	assert_int_equal(hsa_amd_signal_create(7, 0, NULL, HSA_AMD_SIGNAL_IPC, &made),
			 HSA_STATUS_SUCCESS);
	assert_int_equal(hsa_amd_ipc_signal_create(made, &handle), HSA_STATUS_SUCCESS);
	assert_int_equal(hsa_amd_ipc_signal_attach(&handle, &again), HSA_STATUS_SUCCESS);
	assert_int_equal(hsa_signal_destroy(made), HSA_STATUS_SUCCESS);
	assert_int_equal(hsa_signal_load_relaxed(again), 7);
	assert_int_equal(hsa_signal_destroy(again), HSA_STATUS_SUCCESS);
	assert_int_equal(hsa_amd_ipc_signal_attach(&handle, &again),
			 HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(some_are_made_although_one_is_wrong),
		cmocka_unit_test(descriptions_are_checked),
		cmocka_unit_test(an_engines_queue_copies),
		cmocka_unit_test(handles_share_a_few_queues),
		cmocka_unit_test(counted_requests_are_checked),
		cmocka_unit_test(a_signal_lives_for_all_who_attached),
	};

	return cmocka_run_group_tests_name("queue_create", tests, open_device, NULL);
}

/* Queues and the packet processor: when packets are taken, and in which order they end. "scale"
 * takes 50 ms, "count" no time. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dagtap/softgpu.h>
#include <hsa/amd_hsa_queue.h>
#include <hsa/amd_hsa_signal.h>

#include "aql.h"

#define LONG_NS	  50000000
#define PRODUCERS 4
#define EACH	  2000

static struct aql aql;
static uint64_t **kernarg; /* the argument of "count" */
static uint64_t *counted;

static int open_device(void **state)
{
	aql_open("gfx906,kernel_ns=0,kernel:scale=50000000,overlap=4", &aql);
	counted = machine_allocate(aql.machine.fine, 4096);
	kernarg = machine_allocate(aql.machine.kernarg, 4096);
	*kernarg = counted;
	return 0;
}

static const hsa_signal_t no_signal;

static amd_signal_t *amd_signal(hsa_signal_t signal)
{
	return (amd_signal_t *)(uintptr_t)signal.handle;
}

static void creation_checks_its_arguments(void **state)
{
	const struct {
		hsa_agent_t agent;
		uint32_t size;
		hsa_queue_type32_t type;
		hsa_status_t status;
	} wrong[] = {
		{aql.machine.gpu[0], 0, HSA_QUEUE_TYPE_MULTI, HSA_STATUS_ERROR_INVALID_ARGUMENT},
		{aql.machine.gpu[0], 100, HSA_QUEUE_TYPE_MULTI, HSA_STATUS_ERROR_INVALID_ARGUMENT},
		{aql.machine.gpu[0], 262144, HSA_QUEUE_TYPE_MULTI,
		 HSA_STATUS_ERROR_INVALID_ARGUMENT},
		{aql.machine.gpu[0], 64, 7, HSA_STATUS_ERROR_INVALID_ARGUMENT},
		{{99}, 64, HSA_QUEUE_TYPE_MULTI, HSA_STATUS_ERROR_INVALID_AGENT},
		{aql.machine.cpu, 64, HSA_QUEUE_TYPE_MULTI,
		 HSA_STATUS_ERROR_INVALID_QUEUE_CREATION},
	};
	hsa_queue_t *queue = NULL;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(hsa_queue_create(wrong[i].agent, wrong[i].size, wrong[i].type,
						  NULL, NULL, 0, 0, &queue),
				 wrong[i].status);
	assert_null(queue);
	assert_int_equal(hsa_queue_create(aql.machine.gpu[0], 64, HSA_QUEUE_TYPE_MULTI, NULL, NULL,
					  0, 0, NULL),
			 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	assert_int_equal(hsa_queue_destroy(NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	assert_int_equal(hsa_queue_destroy((hsa_queue_t *)&aql), HSA_STATUS_ERROR_INVALID_QUEUE);
	assert_int_equal(hsa_queue_add_write_index_relaxed(NULL, 1), 0);
}

/* Slots of a new ring must have the type INVALID, because the device takes every other type. */
static void a_new_ring_holds_invalid_packets(void **state)
{
	hsa_queue_t *queue = aql_queue(&aql, 131072);
	const uint8_t *ring = queue->base_address;

	for (uint32_t i = 0; i < queue->size; i++)
		assert_int_equal(*(const uint16_t *)(ring + (size_t)i * 64),
				 HSA_PACKET_TYPE_INVALID);
	assert_int_equal(hsa_queue_destroy(queue), HSA_STATUS_SUCCESS);
	assert_int_equal(hsa_queue_destroy(queue), HSA_STATUS_ERROR_INVALID_QUEUE);
}

static void indices_obey(void **state)
{
	hsa_queue_t *queue = aql_queue(&aql, 64);

	assert_int_equal(hsa_queue_add_write_index_scacq_screl(queue, 5), 0);
	assert_int_equal(hsa_queue_load_write_index_relaxed(queue), 5);
	assert_int_equal(hsa_queue_cas_write_index_scacquire(queue, 5, 7), 5);
	assert_int_equal(hsa_queue_cas_write_index_screlease(queue, 5, 9), 7);
	hsa_queue_store_write_index_screlease(queue, 0);
	assert_int_equal(hsa_queue_load_write_index_scacquire(queue), 0);
	hsa_queue_store_read_index_relaxed(queue, 3);
	assert_int_equal(hsa_queue_load_read_index_scacquire(queue), 3);
	hsa_queue_store_read_index_screlease(queue, 0);
	hsa_queue_destroy(queue);
}

static void a_small_ring_wraps(void **state)
{
	hsa_queue_t *queue = aql_queue(&aql, 4);
	uint64_t before = *counted;

	for (int i = 0; i < 1000; i++) {
		hsa_kernel_dispatch_packet_t packet =
			aql_dispatch(aql.count, kernarg, AQL_BARRIER, no_signal);

		aql_submit(queue, &packet);
	}
	aql_drain(queue);
	assert_int_equal(*counted, before + 1000);
	assert_int_equal(hsa_queue_load_read_index_scacquire(queue), 1001);
	hsa_queue_destroy(queue);
}

static void *produce(void *argument)
{
	hsa_queue_t *queue = argument;

	for (int i = 0; i < EACH; i++) {
		hsa_kernel_dispatch_packet_t packet = aql_dispatch(
			aql.count, kernarg, i % 3 ? AQL_OVERLAP : AQL_BARRIER, no_signal);

		aql_submit(queue, &packet);
	}
	return NULL;
}

static void producers_share_a_ring(void **state)
{
	hsa_queue_t *queue = aql_queue(&aql, 128);
	uint64_t before = *counted, packets = aql_counter("packets_kernel_dispatch");
	uint64_t doorbells = aql_counter("doorbells");
	pthread_t threads[PRODUCERS];

	for (int i = 0; i < PRODUCERS; i++)
		pthread_create(&threads[i], NULL, produce, queue);
	for (int i = 0; i < PRODUCERS; i++)
		pthread_join(threads[i], NULL);
	aql_drain(queue);
	assert_int_equal(*counted, before + PRODUCERS * EACH);
	assert_int_equal(aql_counter("packets_kernel_dispatch"), packets + PRODUCERS * EACH);
	assert_int_equal(aql_counter("doorbells"), doorbells + PRODUCERS * EACH + 1);
	hsa_queue_destroy(queue);
}

/* The device takes a slot only if the write index covers it and its header is valid. */
static void a_slot_counts_when_index_and_header_say_so(void **state)
{
	hsa_queue_t *queue = aql_queue(&aql, 64);
	hsa_signal_t first = aql_signal(1), second = aql_signal(1);
	hsa_kernel_dispatch_packet_t packet = aql_dispatch(aql.count, kernarg, AQL_BARRIER, second);

	/* The second slot is written and rung for; the first one is not written yet. */
	hsa_queue_add_write_index_relaxed(queue, 2);
	aql_put(queue, 1, &packet);
	aql_ring_for_nothing(queue, 1);
	packet = aql_dispatch(aql.count, kernarg, AQL_BARRIER, first);
	assert_int_equal(hsa_signal_load_scacquire(second), 1);
	/* A slot beyond the write index, as tools with a virtual index have. */
	aql_put(queue, 2, &packet);
	packet.completion_signal = first;
	aql_put(queue, 0, &packet);
	/* The value is lower than that of the previous ring; it must wake the device
	 * nevertheless. */
	hsa_signal_store_relaxed(queue->doorbell_signal, 0);
	aql_wait(first);
	aql_wait(second);
	assert_int_equal(hsa_queue_load_read_index_scacquire(queue), 2);
	hsa_queue_destroy(queue);
	hsa_signal_destroy(first);
	hsa_signal_destroy(second);
}

/* With a held clock: waits until the device has begun a dispatch of "scale", after DISPATCHES
 * other ones, and lets it end. */
static void end_long_one(uint64_t dispatches, hsa_signal_t signal)
{
	softgpu_await("packets_kernel_dispatch", dispatches + 1);
	softgpu_clock_step(LONG_NS);
	aql_wait(signal);
}

/* Submits a long and a short dispatch; returns true if the short one ended first. */
static bool short_one_ends_first(enum aql_order order)
{
	hsa_queue_t *queue = aql_queue(&aql, 64);
	hsa_signal_t slow = aql_signal(1), fast = aql_signal(1);
	uint64_t dispatches = aql_counter("packets_kernel_dispatch");
	hsa_kernel_dispatch_packet_t packet;
	bool overtook;

	hsa_amd_profiling_set_profiler_enabled(queue, 1);
	softgpu_clock_hold();
	packet = aql_dispatch(aql.scale, NULL, AQL_BARRIER, slow);
	aql_write(queue, &packet);
	packet = aql_dispatch(aql.count, kernarg, order, fast);
	aql_submit(queue, &packet);
	if (order == AQL_OVERLAP)
		aql_wait(fast);
	end_long_one(dispatches, slow);
	aql_wait(fast);
	softgpu_clock_release();
	overtook = amd_signal(fast)->end_ts < amd_signal(slow)->end_ts;
	hsa_queue_destroy(queue);
	hsa_signal_destroy(slow);
	hsa_signal_destroy(fast);
	return overtook;
}

static void packets_overtake_without_the_barrier_bit(void **state)
{
	assert_true(short_one_ends_first(AQL_OVERLAP));
	assert_false(short_one_ends_first(AQL_BARRIER));
}

/* Without profiling on the queue the device writes no times into the completion signal. */
static void ticks_need_the_profiling_bit(void **state)
{
	hsa_queue_t *queue = aql_queue(&aql, 64);
	hsa_signal_t signal = aql_signal(1);
	hsa_kernel_dispatch_packet_t packet = aql_dispatch(aql.scale, NULL, AQL_BARRIER, signal);
	uint64_t dispatches = aql_counter("packets_kernel_dispatch");
	hsa_amd_profiling_dispatch_time_t time;

	softgpu_clock_hold();
	aql_submit(queue, &packet);
	assert_int_equal(hsa_amd_profiling_get_dispatch_time(aql.machine.gpu[0], signal, &time),
			 HSA_STATUS_SUCCESS);
	end_long_one(dispatches, signal);
	assert_int_equal(amd_signal(signal)->start_ts, 0);
	assert_int_equal(amd_signal(signal)->end_ts, 0);
	hsa_signal_store_relaxed(signal, 1);
	assert_int_equal(hsa_amd_profiling_set_profiler_enabled(queue, 1), HSA_STATUS_SUCCESS);
	aql_submit(queue, &packet);
	end_long_one(dispatches + 1, signal);
	softgpu_clock_release();
	assert_int_equal(hsa_amd_profiling_get_dispatch_time(aql.machine.gpu[0], signal, &time),
			 HSA_STATUS_SUCCESS);
	assert_in_range(time.end - time.start, LONG_NS - 20, LONG_NS + 20);
	assert_int_equal(hsa_amd_profiling_get_dispatch_time(aql.machine.cpu, signal, &time),
			 HSA_STATUS_ERROR_INVALID_AGENT);
	assert_int_equal(hsa_amd_profiling_get_dispatch_time(aql.machine.gpu[0], no_signal, &time),
			 HSA_STATUS_ERROR_INVALID_SIGNAL);
	hsa_queue_destroy(queue);
	hsa_signal_destroy(signal);
}

/* Waits until the device has reached the barrier packet and waits there. */
static void submit_and_block(hsa_queue_t *queue, const void *barrier, hsa_signal_t signal)
{
	uint64_t blocked = aql_counter("barriers_blocked");

	aql_submit(queue, barrier);
	assert_int_equal(softgpu_await("barriers_blocked", blocked + 1), 0);
	assert_int_equal(hsa_signal_load_scacquire(signal), 1);
}

static void barrier_and_waits_for_all(void **state)
{
	hsa_queue_t *queue = aql_queue(&aql, 64);
	hsa_signal_t one = aql_signal(1), two = aql_signal(1), done = aql_signal(1);
	hsa_barrier_and_packet_t barrier =
		aql_barrier(HSA_PACKET_TYPE_BARRIER_AND, AQL_OVERLAP, done);

	barrier.dep_signal[0] = one;
	barrier.dep_signal[4] = two;
	hsa_signal_store_relaxed(one, 0);
	submit_and_block(queue, &barrier, done);
	hsa_signal_store_relaxed(two, 0);
	aql_wait(done);
	hsa_queue_destroy(queue);
	hsa_signal_destroy(one);
	hsa_signal_destroy(two);
	hsa_signal_destroy(done);
}

static void barrier_or_waits_for_one(void **state)
{
	hsa_queue_t *queue = aql_queue(&aql, 64);
	hsa_signal_t one = aql_signal(1), two = aql_signal(1), done = aql_signal(1);
	hsa_barrier_and_packet_t barrier =
		aql_barrier(HSA_PACKET_TYPE_BARRIER_OR, AQL_BARRIER, done);

	barrier.dep_signal[1] = one;
	barrier.dep_signal[2] = two;
	submit_and_block(queue, &barrier, done);
	hsa_signal_store_relaxed(two, 0);
	aql_wait(done);
	hsa_queue_destroy(queue);
	hsa_signal_destroy(one);
	hsa_signal_destroy(two);
	hsa_signal_destroy(done);
}

static void barrier_value_waits_for_its_condition(void **state)
{
	hsa_queue_t *queue = aql_queue(&aql, 64);
	hsa_signal_t signal = aql_signal(0x10), done = aql_signal(1);
	hsa_amd_barrier_value_packet_t packet = {
		.header = {HSA_PACKET_TYPE_VENDOR_SPECIFIC, HSA_AMD_PACKET_TYPE_BARRIER_VALUE, 0},
		.signal = signal,
		.value = 3,
		.mask = 0xf,
		.cond = HSA_SIGNAL_CONDITION_GTE,
		.completion_signal = done,
	};

	submit_and_block(queue, &packet, done);
	hsa_signal_store_relaxed(signal, 0x25);
	aql_wait(done);
	hsa_queue_destroy(queue);
	hsa_signal_destroy(signal);
	hsa_signal_destroy(done);
}

/* Newer runtimes place signals in device memory that they allocate themselves. */
static void a_signal_in_pool_memory_is_completed(void **state)
{
	hsa_queue_t *queue = aql_queue(&aql, 64);
	amd_signal_t *block = machine_allocate(aql.machine.vram[0], 4096);
	hsa_signal_t signal = {(uint64_t)(uintptr_t)block};
	hsa_kernel_dispatch_packet_t packet = aql_dispatch(aql.count, kernarg, AQL_BARRIER, signal);

	block->kind = AMD_SIGNAL_KIND_USER;
	block->value = 1;
	hsa_amd_profiling_set_profiler_enabled(queue, 1);
	aql_submit(queue, &packet);
	aql_drain(queue);
	assert_int_equal(block->value, 0);
	assert_int_not_equal(block->end_ts, 0);
	hsa_queue_destroy(queue);
	hsa_amd_memory_pool_free(block);
}

static void an_inactive_queue_takes_nothing(void **state)
{
	hsa_queue_t *queue = aql_queue(&aql, 64);
	hsa_signal_t done = aql_signal(1);
	hsa_barrier_and_packet_t barrier =
		aql_barrier(HSA_PACKET_TYPE_BARRIER_AND, AQL_BARRIER, done);

	aql_ring_for_nothing(queue, 0);
	assert_int_equal(hsa_queue_inactivate(queue), HSA_STATUS_SUCCESS);
	aql_write(queue, &barrier);
	aql_ring_for_nothing(queue, 0);
	assert_int_equal(hsa_signal_load_scacquire(done), 1);
	hsa_queue_destroy(queue);
	hsa_signal_destroy(done);
}

/* If a doorbell covered a slot before it was written, the writer of the slot need not ring
 * again. */
static void covered_slots_are_awaited(void **state)
{
	hsa_queue_t *queue = aql_queue(&aql, 64);
	hsa_signal_t done = aql_signal(1);
	hsa_kernel_dispatch_packet_t first =
		aql_dispatch(aql.count, kernarg, AQL_BARRIER, no_signal);
	hsa_kernel_dispatch_packet_t second = aql_dispatch(aql.count, kernarg, AQL_BARRIER, done);
	uint64_t index = hsa_queue_add_write_index_screlease(queue, 2);

	(void)state;
	*counted = 0;
	aql_ring_for_nothing(queue, 0);
	aql_put(queue, index + 1, &second);
	aql_ring_for_nothing(queue, index + 1);
	assert_int_equal(__atomic_load_n(counted, __ATOMIC_RELAXED), 0);
	aql_put(queue, index, &first);
	aql_wait(done);
	assert_int_equal(__atomic_load_n(counted, __ATOMIC_RELAXED), 2);
	hsa_signal_destroy(done);
	hsa_queue_destroy(queue);
}

/* A queue can be destroyed while a kernel runs and a barrier packet waits for a signal that
 * never changes. */
static void a_busy_queue_can_be_destroyed(void **state)
{
	hsa_queue_t *queue = aql_queue(&aql, 64);
	hsa_signal_t never = aql_signal(1), done = aql_signal(1);
	hsa_kernel_dispatch_packet_t packet = aql_dispatch(aql.scale, NULL, AQL_OVERLAP, done);
	hsa_barrier_and_packet_t barrier =
		aql_barrier(HSA_PACKET_TYPE_BARRIER_AND, AQL_OVERLAP, done);

	aql_submit(queue, &packet);
	barrier.dep_signal[0] = never;
	aql_submit(queue, &barrier);
	assert_int_equal(hsa_queue_destroy(queue), HSA_STATUS_SUCCESS);
	hsa_signal_destroy(never);
	hsa_signal_destroy(done);
}

static void queues_run_beside_each_other(void **state)
{
	hsa_queue_t *blocked = aql_queue(&aql, 64), *free_one = aql_queue(&aql, 64);
	hsa_signal_t release = aql_signal(1), done = aql_signal(1);
	hsa_barrier_and_packet_t barrier =
		aql_barrier(HSA_PACKET_TYPE_BARRIER_AND, AQL_BARRIER, done);

	barrier.dep_signal[0] = release;
	aql_submit(blocked, &barrier);
	/* The barrier packet of the other queue releases this queue. */
	barrier = aql_barrier(HSA_PACKET_TYPE_BARRIER_AND, AQL_BARRIER, release);
	aql_submit(free_one, &barrier);
	aql_wait(done);
	hsa_queue_destroy(blocked);
	hsa_queue_destroy(free_one);
	hsa_signal_destroy(release);
	hsa_signal_destroy(done);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(creation_checks_its_arguments),
		cmocka_unit_test(a_new_ring_holds_invalid_packets),
		cmocka_unit_test(indices_obey),
		cmocka_unit_test(a_small_ring_wraps),
		cmocka_unit_test(producers_share_a_ring),
		cmocka_unit_test(a_slot_counts_when_index_and_header_say_so),
		cmocka_unit_test(packets_overtake_without_the_barrier_bit),
		cmocka_unit_test(ticks_need_the_profiling_bit),
		cmocka_unit_test(barrier_and_waits_for_all),
		cmocka_unit_test(barrier_or_waits_for_one),
		cmocka_unit_test(barrier_value_waits_for_its_condition),
		cmocka_unit_test(a_signal_in_pool_memory_is_completed),
		cmocka_unit_test(an_inactive_queue_takes_nothing),
		cmocka_unit_test(covered_slots_are_awaited),
		cmocka_unit_test(a_busy_queue_can_be_destroyed),
		cmocka_unit_test(queues_run_beside_each_other),
	};

	return cmocka_run_group_tests(tests, open_device, NULL);
}

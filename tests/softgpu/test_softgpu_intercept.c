/* Intercept queues, used as a tool uses them. The program runs twice: with one packet per call,
 * and (argument "batch") with all contiguous packets in one call. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <hsa/amd_hsa_signal.h>

#include "aql.h"
#include "softgpu/api.h"
#include "softgpu/hsa_table.h"

#define PACKETS	  100
#define PRODUCERS 4
#define EACH	  500
#define COPIES	  300

static bool is_batch;
static struct aql aql;
static uint64_t **kernarg;
static uint64_t *counted;
static const hsa_signal_t no_signal;

static int open_device(void **state)
{
	aql_open(is_batch ? "gfx906,kernel_ns=0,intercept_batch=1" : "gfx906,kernel_ns=0", &aql);
	counted = machine_allocate(aql.machine.fine, 4096);
	kernarg = machine_allocate(aql.machine.kernarg, 4096);
	*kernarg = counted;
	return 0;
}

static const struct hsa_amd_ext_table *tool_table(void)
{
	return table_get()->amd_ext;
}

static hsa_queue_t *make_proxy(uint32_t size)
{
	hsa_queue_t *queue;

	assert_int_equal(tool_table()->hsa_amd_queue_intercept_create_fn(aql.machine.gpu[0], size,
									 HSA_QUEUE_TYPE_MULTI, NULL,
									 NULL, 0, 0, &queue),
			 HSA_STATUS_SUCCESS);
	return queue;
}

static void add_handler(hsa_queue_t *queue, hsa_amd_queue_intercept_handler handler, void *data)
{
	assert_int_equal(tool_table()->hsa_amd_queue_intercept_register_fn(queue, handler, data),
			 HSA_STATUS_SUCCESS);
}

static void arguments_are_checked(void **state)
{
	hsa_queue_t *plain = aql_queue(&aql, 64);
	hsa_queue_t *queue = make_proxy(64);

	assert_int_equal(tool_table()->hsa_amd_queue_intercept_create_fn(aql.machine.gpu[0], 63,
									 HSA_QUEUE_TYPE_MULTI, NULL,
									 NULL, 0, 0, &queue),
			 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	assert_int_equal(tool_table()->hsa_amd_queue_intercept_create_fn((hsa_agent_t){1}, 64,
									 HSA_QUEUE_TYPE_MULTI, NULL,
									 NULL, 0, 0, &queue),
			 HSA_STATUS_ERROR_INVALID_AGENT);
	assert_int_equal(tool_table()->hsa_amd_queue_intercept_register_fn(plain, NULL, NULL),
			 HSA_STATUS_ERROR_INVALID_QUEUE);
	assert_int_equal(tool_table()->hsa_amd_queue_intercept_register_fn(queue, NULL, NULL),
			 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	hsa_queue_destroy(plain);
	hsa_queue_destroy(queue);
}

static void without_handlers_packets_go_through(void **state)
{
	hsa_queue_t *queue = make_proxy(16);
	uint64_t before = *counted;

	for (int i = 0; i < PACKETS; i++) {
		hsa_kernel_dispatch_packet_t packet =
			aql_dispatch(aql.count, kernarg, AQL_BARRIER, no_signal);

		aql_submit(queue, &packet);
	}
	aql_drain(queue);
	assert_int_equal(*counted, before + PACKETS);
	hsa_queue_destroy(queue);
}

struct seen {
	uint64_t calls, packets, next_index;
	bool in_order;
	pthread_t thread;
	int id;
	int *order; /* shared; the id of the last handler that ran */
};

static void watch(const void *packets, uint64_t count, uint64_t index, void *data,
		  hsa_amd_queue_intercept_packet_writer writer)
{
	struct seen *seen = data;

	seen->in_order &= seen->next_index == index;
	seen->next_index = index + count;
	seen->calls++;
	seen->packets += count;
	seen->thread = pthread_self();
	if (seen->order)
		*seen->order = *seen->order * 10 + seen->id;
	writer(packets, count);
}

static void handlers_run_where_it_rings_last_registered_first(void **state)
{
	hsa_queue_t *queue = make_proxy(256);
	int order = 0;
	struct seen first = {.id = 1, .order = &order, .in_order = true};
	struct seen second = {.id = 2, .order = &order, .in_order = true};
	hsa_kernel_dispatch_packet_t packet =
		aql_dispatch(aql.count, kernarg, AQL_BARRIER, no_signal);

	add_handler(queue, watch, &first);
	add_handler(queue, watch, &second);
	aql_submit(queue, &packet);
	assert_int_equal(order, 21);
	assert_true(pthread_equal(first.thread, pthread_self()));
	aql_drain(queue);
	assert_true(first.in_order && second.in_order);
	hsa_queue_destroy(queue);
}

static void one_ring_hands_over_all_that_is_written(void **state)
{
	hsa_queue_t *queue = make_proxy(256);
	struct seen seen = {.in_order = true};
	hsa_kernel_dispatch_packet_t packet =
		aql_dispatch(aql.count, kernarg, AQL_BARRIER, no_signal);
	uint64_t before = *counted, rings = aql_counter("doorbells"), last = 0;

	add_handler(queue, watch, &seen);
	for (int i = 0; i < PACKETS; i++)
		last = aql_write(queue, &packet);
	hsa_signal_store_relaxed(queue->doorbell_signal, (hsa_signal_value_t)last);
	assert_int_equal(seen.packets, PACKETS);
	assert_int_equal(seen.calls, is_batch ? 1 : PACKETS);
	assert_int_equal(aql_counter("doorbells"), rings + seen.calls);
	assert_int_equal(hsa_queue_load_read_index_relaxed(queue), PACKETS);
	aql_drain(queue);
	assert_true(seen.in_order);
	assert_int_equal(*counted, before + PACKETS);
	hsa_queue_destroy(queue);
}

/* Writes each packet many times in one call: more packets than the hardware ring holds. */
static void multiply(const void *packets, uint64_t count, uint64_t index, void *data,
		     hsa_amd_queue_intercept_packet_writer writer)
{
	const uint8_t *first = packets;
	uint8_t copies[COPIES * 64];

	if ((first[0] & 0xff) != HSA_PACKET_TYPE_KERNEL_DISPATCH) {
		writer(packets, count);
		return;
	}
	for (uint64_t i = 0; i < COPIES; i++)
		memcpy(copies + i * 64, packets, 64);
	writer(copies, COPIES);
}

static void a_batch_may_exceed_the_hardware_ring(void **state)
{
	hsa_queue_t *queue = make_proxy(16);
	hsa_kernel_dispatch_packet_t packet =
		aql_dispatch(aql.count, kernarg, AQL_OVERLAP, no_signal);
	uint64_t before = *counted;

	add_handler(queue, multiply, NULL);
	aql_submit(queue, &packet);
	aql_drain(queue);
	assert_int_equal(*counted, before + COPIES);
	hsa_queue_destroy(queue);
}

static void swallow(const void *packets, uint64_t count, uint64_t index, void *data,
		    hsa_amd_queue_intercept_packet_writer writer)
{
	*(uint64_t *)data += count;
}

/* A handler may discard packets. */
static void a_handler_may_write_nothing(void **state)
{
	hsa_queue_t *queue = make_proxy(16);
	uint64_t swallowed = 0, before = *counted;
	hsa_kernel_dispatch_packet_t packet =
		aql_dispatch(aql.count, kernarg, AQL_BARRIER, no_signal);

	add_handler(queue, swallow, &swallowed);
	for (int i = 0; i < PACKETS; i++)
		aql_submit(queue, &packet);
	assert_int_equal(swallowed, PACKETS);
	assert_int_equal(*counted, before);
	hsa_queue_destroy(queue);
}

/* Submits to its own queue from inside the handler. The submission must not recurse forever and
 * must not be lost. */
static void submit_once_more(const void *packets, uint64_t count, uint64_t index, void *data,
			     hsa_amd_queue_intercept_packet_writer writer)
{
	hsa_queue_t **again = data;
	hsa_queue_t *queue = *again;

	*again = NULL;
	if (queue)
		aql_submit(queue, packets);
	writer(packets, count);
}

/* A doorbell that a handler rings is served when the handler has returned. */
static void ringing_from_a_handler_is_served_after_it(void **state)
{
	hsa_queue_t *queue = make_proxy(16);
	hsa_queue_t *again = queue;
	uint64_t before = *counted;
	hsa_kernel_dispatch_packet_t packet =
		aql_dispatch(aql.count, kernarg, AQL_BARRIER, no_signal);

	add_handler(queue, submit_once_more, &again);
	aql_submit(queue, &packet);
	aql_drain(queue);
	assert_int_equal(*counted, before + 2);
	hsa_queue_destroy(queue);
}

static void *produce(void *argument)
{
	for (int i = 0; i < EACH; i++) {
		hsa_kernel_dispatch_packet_t packet =
			aql_dispatch(aql.count, kernarg, AQL_BARRIER, no_signal);

		aql_submit(argument, &packet);
	}
	return NULL;
}

static void producers_share_a_proxy(void **state)
{
	hsa_queue_t *queue = make_proxy(64);
	struct seen seen = {.in_order = true};
	uint64_t before = *counted;
	pthread_t threads[PRODUCERS];

	add_handler(queue, watch, &seen);
	for (int i = 0; i < PRODUCERS; i++)
		pthread_create(&threads[i], NULL, produce, queue);
	for (int i = 0; i < PRODUCERS; i++)
		pthread_join(threads[i], NULL);
	aql_drain(queue);
	assert_true(seen.in_order);
	assert_int_equal(seen.packets, PRODUCERS * EACH + 1);
	assert_int_equal(*counted, before + PRODUCERS * EACH);
	hsa_queue_destroy(queue);
}

static void profiling_reaches_the_queue_behind(void **state)
{
	hsa_queue_t *queue = make_proxy(64);
	hsa_signal_t done = aql_signal(1);
	hsa_kernel_dispatch_packet_t packet = aql_dispatch(aql.count, kernarg, AQL_BARRIER, done);

	assert_int_equal(hsa_amd_profiling_set_profiler_enabled(queue, 1), HSA_STATUS_SUCCESS);
	aql_submit(queue, &packet);
	aql_wait(done);
	assert_int_not_equal(((amd_signal_t *)(uintptr_t)done.handle)->start_ts, 0);
	hsa_queue_destroy(queue);
	hsa_signal_destroy(done);
}

static void tell(hsa_status_t status, hsa_queue_t *source, void *data)
{
	__atomic_store_n((hsa_queue_t **)data, source, __ATOMIC_RELEASE);
}

/* The error callback gets the intercept queue (the proxy), not the hardware queue behind it. */
static void errors_name_the_proxy(void **state)
{
	hsa_queue_t *told = NULL, *queue;
	hsa_barrier_and_packet_t broken = aql_barrier(9, AQL_BARRIER, no_signal);

	assert_int_equal(tool_table()->hsa_amd_queue_intercept_create_fn(aql.machine.gpu[0], 64,
									 HSA_QUEUE_TYPE_MULTI, tell,
									 &told, 0, 0, &queue),
			 HSA_STATUS_SUCCESS);
	aql_submit(queue, &broken);
	while (!__atomic_load_n(&told, __ATOMIC_ACQUIRE))
		;
	assert_ptr_equal(told, queue);
	hsa_queue_destroy(queue);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arguments_are_checked),
		cmocka_unit_test(without_handlers_packets_go_through),
		cmocka_unit_test(handlers_run_where_it_rings_last_registered_first),
		cmocka_unit_test(one_ring_hands_over_all_that_is_written),
		cmocka_unit_test(a_batch_may_exceed_the_hardware_ring),
		cmocka_unit_test(a_handler_may_write_nothing),
		cmocka_unit_test(ringing_from_a_handler_is_served_after_it),
		cmocka_unit_test(producers_share_a_proxy),
		cmocka_unit_test(profiling_reaches_the_queue_behind),
		cmocka_unit_test(errors_name_the_proxy),
	};

	is_batch = argc > 1 && !strcmp(argv[1], "batch");
	return cmocka_run_group_tests(tests, open_device, NULL);
}

/* Many threads at once on queues, signals, handlers and copies, for ThreadSanitizer and for
 * defects that only appear under load. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "aql.h"

#define THREADS	   4
#define QUEUES	   2
#define ROUNDS	   400
#define COPY_BYTES 4096

static struct aql aql;
static hsa_queue_t *queues[QUEUES];
static uint64_t *counted;
static uint64_t **kernarg;
static _Atomic uint64_t handled;

static int open_device(void **state)
{
	aql_open("gfx906,kernel_ns=200,copy_ns=200,overlap=8", &aql);
	counted = machine_allocate(aql.machine.fine, 4096);
	kernarg = machine_allocate(aql.machine.kernarg, 4096);
	*kernarg = counted;
	for (int i = 0; i < QUEUES; i++)
		queues[i] = aql_queue(&aql, 128);
	return 0;
}

static bool count_and_destroy(hsa_signal_value_t value, void *argument)
{
	hsa_signal_t signal = {(uint64_t)(uintptr_t)argument};

	hsa_signal_destroy(signal);
	atomic_fetch_add(&handled, 1);
	return false;
}

static void dispatch_with_handler(hsa_queue_t *queue)
{
	hsa_signal_t signal = aql_signal(1);
	hsa_kernel_dispatch_packet_t packet = aql_dispatch(aql.count, kernarg, AQL_OVERLAP, signal);

	hsa_amd_signal_async_handler(signal, HSA_SIGNAL_CONDITION_LT, 1, count_and_destroy,
				     (void *)(uintptr_t)signal.handle);
	aql_submit(queue, &packet);
}

static void dispatch_and_wait(hsa_queue_t *queue)
{
	hsa_signal_t signal = aql_signal(1);
	hsa_kernel_dispatch_packet_t packet = aql_dispatch(aql.count, kernarg, AQL_BARRIER, signal);

	aql_submit(queue, &packet);
	aql_wait(signal);
	hsa_signal_destroy(signal);
}

/* A copy that waits for a packet of one queue, and a packet of another queue that waits for the
 * copy. */
static void chain(int turn, uint8_t *host, uint8_t *device)
{
	hsa_signal_t first = aql_signal(1), copied = aql_signal(1), last = aql_signal(1);
	hsa_kernel_dispatch_packet_t packet = aql_dispatch(aql.count, kernarg, AQL_OVERLAP, first);
	hsa_barrier_and_packet_t barrier =
		aql_barrier(HSA_PACKET_TYPE_BARRIER_AND, AQL_OVERLAP, last);

	assert_int_equal(hsa_amd_memory_async_copy(device, aql.machine.gpu[0], host,
						   aql.machine.cpu, COPY_BYTES, 1, &first, copied),
			 HSA_STATUS_SUCCESS);
	barrier.dep_signal[0] = copied;
	aql_submit(queues[turn % QUEUES], &packet);
	aql_submit(queues[(turn + 1) % QUEUES], &barrier);
	aql_wait(last);
	assert_memory_equal(host, device, COPY_BYTES);
	hsa_signal_destroy(first);
	hsa_signal_destroy(copied);
	hsa_signal_destroy(last);
}

static void *work(void *argument)
{
	int self = (int)(intptr_t)argument;
	uint8_t *host = machine_allocate(aql.machine.fine, COPY_BYTES);
	uint8_t *device = machine_allocate(aql.machine.vram[0], COPY_BYTES);

	for (int i = 0; i < ROUNDS; i++) {
		hsa_queue_t *queue = queues[(i + self) % QUEUES];

		memset(host, i, COPY_BYTES);
		dispatch_with_handler(queue);
		if (i % 4 == 0)
			dispatch_and_wait(queue);
		if (i % 8 == 0)
			chain(i, host, device);
		if (i % 50 == 0)
			hsa_queue_destroy(aql_queue(&aql, 64));
	}
	hsa_amd_memory_pool_free(host);
	hsa_amd_memory_pool_free(device);
	return NULL;
}

static void nothing_is_lost_under_load(void **state)
{
	const uint64_t each = ROUNDS + ROUNDS / 4 + ROUNDS / 8;
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < QUEUES; i++)
		aql_drain(queues[i]);
	while (atomic_load(&handled) < THREADS * ROUNDS)
		;
	assert_int_equal(*counted, THREADS * each);
	assert_int_equal(aql_counter("packets_kernel_dispatch"), THREADS * each);
	assert_int_equal(aql_counter("signal_errors"), 0);
	for (int i = 0; i < QUEUES; i++)
		hsa_queue_destroy(queues[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_lost_under_load),
	};

	return cmocka_run_group_tests(tests, open_device, NULL);
}

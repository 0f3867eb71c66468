/* Wrong packets and signals: what is counted as an error, and what stops the queue. "scale" takes
 * 50 ms, "count" no time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include <dagtap/softgpu.h>
#include <hsa/amd_hsa_signal.h>

#include "aql.h"

#define LONG_NS 50000000

static struct aql aql;
static uint64_t **kernarg; /* the argument of "count" */

static int open_device(void **state)
{
	aql_open("gfx906,kernel_ns=0,kernel:scale=50000000,overlap=4", &aql);
	kernarg = machine_allocate(aql.machine.kernarg, 4096);
	*kernarg = machine_allocate(aql.machine.fine, 4096);
	return 0;
}

static const hsa_signal_t no_signal;

static amd_signal_t *amd_signal(hsa_signal_t signal)
{
	return (amd_signal_t *)(uintptr_t)signal.handle;
}

/* A barrier packet whose dependency is a destroyed signal is counted as an error and ends. */
static void a_dead_dependency_is_an_error_and_no_hang(void **state)
{
	hsa_queue_t *queue = aql_queue(&aql, 64);
	hsa_signal_t dead = aql_signal(1), done = aql_signal(1);
	hsa_barrier_and_packet_t barrier =
		aql_barrier(HSA_PACKET_TYPE_BARRIER_AND, AQL_BARRIER, done);
	uint64_t errors = aql_counter("signal_errors");

	hsa_signal_destroy(dead);
	barrier.dep_signal[0] = dead;
	aql_submit(queue, &barrier);
	aql_wait(done);
	assert_int_equal(aql_counter("signal_errors"), errors + 1);
	hsa_queue_destroy(queue);
	hsa_signal_destroy(done);
}

/* A completion signal that does not exist is counted as an error and not written. */
static void bad_completion_signals_are_counted(void **state)
{
	hsa_queue_t *queue = aql_queue(&aql, 64);
	hsa_signal_t dead = aql_signal(1);
	hsa_kernel_dispatch_packet_t packet = aql_dispatch(aql.count, kernarg, AQL_BARRIER, dead);
	uint64_t errors = aql_counter("signal_errors");
	uint64_t dispatches = aql_counter("packets_kernel_dispatch");

	hsa_signal_destroy(dead);
	aql_submit(queue, &packet);
	packet.completion_signal.handle = 0xdead0000beefull;
	aql_submit(queue, &packet);
	aql_drain(queue);
	assert_int_equal(aql_counter("signal_errors"), errors + 2);
	assert_int_equal(amd_signal(dead)->value, 1);
	/* A signal that is destroyed while its packet runs. */
	packet = aql_dispatch(aql.scale, NULL, AQL_BARRIER, aql_signal(1));
	dead = packet.completion_signal;
	softgpu_clock_hold();
	aql_submit(queue, &packet);
	softgpu_await("packets_kernel_dispatch", dispatches + 3);
	hsa_signal_destroy(dead);
	softgpu_clock_step(LONG_NS);
	aql_drain(queue);
	softgpu_clock_release();
	assert_int_equal(aql_counter("signal_errors"), errors + 3);
	hsa_queue_destroy(queue);
}

/* Kernel objects that are unknown or have no host function, and bad argument addresses, are
 * counted and do not stop the queue. */
static void unknown_kernels_and_arguments_are_counted(void **state)
{
	hsa_queue_t *queue = aql_queue(&aql, 64);
	uint64_t unknown = aql_counter("dispatches_unknown_kernel_object");
	uint64_t without = aql_counter("dispatches_without_host_kernel");
	uint64_t bad = aql_counter("dispatches_bad_kernarg");
	hsa_kernel_dispatch_packet_t packet = aql_dispatch(0x1000, kernarg, AQL_BARRIER, no_signal);

	aql_submit(queue, &packet);
	packet = aql_dispatch(aql.scale, NULL, AQL_BARRIER, no_signal);
	aql_submit(queue, &packet);
	packet = aql_dispatch(aql.count, (void *)0x10, AQL_BARRIER, no_signal);
	aql_submit(queue, &packet);
	packet = aql_dispatch(aql.count, NULL, AQL_BARRIER, no_signal);
	aql_submit(queue, &packet);
	aql_drain(queue);
	assert_int_equal(aql_counter("dispatches_unknown_kernel_object"), unknown + 1);
	assert_int_equal(aql_counter("dispatches_without_host_kernel"), without + 1);
	assert_int_equal(aql_counter("dispatches_bad_kernarg"), bad + 2);
	hsa_queue_destroy(queue);
}

static void remember_error(hsa_status_t status, hsa_queue_t *source, void *data)
{
	hsa_signal_t *told = data;

	/* The queue's own thread cannot destroy the queue. */
	if (hsa_queue_destroy(source) == HSA_STATUS_ERROR)
		hsa_signal_store_screlease(*told, (hsa_signal_value_t)status);
}

/* Checks that PACKET stops the queue with STATUS: packets after it are not taken. */
static void stops_the_queue(const void *packet, hsa_status_t status)
{
	hsa_signal_t told = aql_signal(1), after = aql_signal(1);
	hsa_barrier_and_packet_t behind =
		aql_barrier(HSA_PACKET_TYPE_BARRIER_AND, AQL_BARRIER, after);
	hsa_queue_t *queue;

	assert_int_equal(hsa_queue_create(aql.machine.gpu[0], 64, HSA_QUEUE_TYPE_SINGLE,
					  remember_error, &told, 0, 0, &queue),
			 HSA_STATUS_SUCCESS);
	aql_submit(queue, packet);
	aql_submit(queue, &behind);
	assert_int_equal(hsa_signal_wait_scacquire(told, HSA_SIGNAL_CONDITION_NE, 1, UINT64_MAX,
						   HSA_WAIT_STATE_BLOCKED),
			 status);
	aql_ring_for_nothing(queue, 1);
	assert_int_equal(hsa_signal_load_scacquire(after), 1);
	assert_int_equal(hsa_queue_destroy(queue), HSA_STATUS_SUCCESS);
	hsa_signal_destroy(told);
	hsa_signal_destroy(after);
}

static void invalid_packets_stop_the_queue(void **state)
{
	hsa_barrier_and_packet_t type = aql_barrier(9, AQL_BARRIER, no_signal);
	hsa_kernel_dispatch_packet_t good =
		aql_dispatch(aql.count, kernarg, AQL_BARRIER, no_signal);
	hsa_kernel_dispatch_packet_t bad = good;

	stops_the_queue(&type, HSA_STATUS_ERROR_INVALID_PACKET_FORMAT);
	bad.setup = 0;
	stops_the_queue(&bad, HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS);
	bad = good;
	bad.workgroup_size_z = 0;
	stops_the_queue(&bad, HSA_STATUS_ERROR_INVALID_ARGUMENT);
	bad.workgroup_size_z = 17;
	stops_the_queue(&bad, HSA_STATUS_ERROR_INVALID_ARGUMENT);
	bad = good;
	bad.kernel_object = 0;
	stops_the_queue(&bad, HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_dead_dependency_is_an_error_and_no_hang),
		cmocka_unit_test(bad_completion_signals_are_counted),
		cmocka_unit_test(unknown_kernels_and_arguments_are_counted),
		cmocka_unit_test(invalid_packets_stop_the_queue),
	};

	return cmocka_run_group_tests(tests, open_device, NULL);
}

/* AQL packets for the tests of queues (aql.h). */
#include "aql.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include <dagtap/softgpu.h>

#define MAX_COUNTERS 64
#define PACKET_BYTES 64

static void count_on_host(const void *kernarg, const struct hsa_kernel_dispatch_packet_s *packet)
{
	uint64_t *word = *(uint64_t *const *)kernarg;

	__atomic_fetch_add(word, 1, __ATOMIC_RELAXED);
}

static uint64_t kernel_object(hsa_executable_t executable, hsa_agent_t agent, const char *name)
{
	hsa_executable_symbol_t symbol;
	uint64_t object = 0;

	assert_int_equal(hsa_executable_get_symbol_by_name(executable, name, &agent, &symbol),
			 HSA_STATUS_SUCCESS);
	assert_int_equal(hsa_executable_symbol_get_info(
				 symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &object),
			 HSA_STATUS_SUCCESS);
	return object;
}

void aql_open(const char *configuration, struct aql *ret_aql)
{
	hsa_agent_t agent;
	hsa_code_object_reader_t reader;
	hsa_executable_t executable;
	size_t bytes;
	uint8_t *code;

	machine_open(configuration, &ret_aql->machine);
	agent = ret_aql->machine.gpu[0];
	code = machine_read_data("kernels.gfx906.co", &bytes);
	assert_int_equal(softgpu_kernel_register("count", count_on_host), 0);
	assert_int_equal(hsa_code_object_reader_create_from_memory(code, bytes, &reader), 0);
	assert_int_equal(hsa_executable_create_alt(HSA_PROFILE_BASE,
						   HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL,
						   &executable),
			 0);
	assert_int_equal(
		hsa_executable_load_agent_code_object(executable, agent, reader, NULL, NULL), 0);
	assert_int_equal(hsa_executable_freeze(executable, NULL), 0);
	hsa_code_object_reader_destroy(reader);
	free(code);
	ret_aql->count = kernel_object(executable, agent, "count.kd");
	ret_aql->scale = kernel_object(executable, agent, "scale.kd");
}

hsa_queue_t *aql_queue(const struct aql *aql, uint32_t size)
{
	hsa_queue_t *queue;

	assert_int_equal(hsa_queue_create(aql->machine.gpu[0], size, HSA_QUEUE_TYPE_MULTI, NULL,
					  NULL, UINT32_MAX, UINT32_MAX, &queue),
			 HSA_STATUS_SUCCESS);
	return queue;
}

hsa_signal_t aql_signal(hsa_signal_value_t initial)
{
	hsa_signal_t signal;

	assert_int_equal(hsa_signal_create(initial, 0, NULL, &signal), HSA_STATUS_SUCCESS);
	return signal;
}

static uint16_t make_header(hsa_packet_type_t type, enum aql_order order)
{
	return (uint16_t)(type << HSA_PACKET_HEADER_TYPE |
			  (order == AQL_BARRIER) << HSA_PACKET_HEADER_BARRIER |
			  HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
			  HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE);
}

hsa_kernel_dispatch_packet_t aql_dispatch(uint64_t kernel, void *kernarg, enum aql_order order,
					  hsa_signal_t completion)
{
	return (hsa_kernel_dispatch_packet_t){
		.header = make_header(HSA_PACKET_TYPE_KERNEL_DISPATCH, order),
		.setup = 1,
		.workgroup_size_x = 64,
		.workgroup_size_y = 1,
		.workgroup_size_z = 1,
		.grid_size_x = 64,
		.grid_size_y = 1,
		.grid_size_z = 1,
		.kernel_object = kernel,
		.kernarg_address = kernarg,
		.completion_signal = completion,
	};
}

hsa_barrier_and_packet_t aql_barrier(hsa_packet_type_t type, enum aql_order order,
				     hsa_signal_t completion)
{
	return (hsa_barrier_and_packet_t){.header = make_header(type, order),
					  .completion_signal = completion};
}

void aql_put(hsa_queue_t *queue, uint64_t index, const void *packet)
{
	const struct timespec pause = {0, 20000};
	uint8_t *slot = (uint8_t *)queue->base_address + (index & (queue->size - 1)) * PACKET_BYTES;
	uint16_t header;

	while (index - hsa_queue_load_read_index_scacquire(queue) >= queue->size)
		nanosleep(&pause, NULL);
	memcpy(&header, packet, sizeof(header));
	memcpy(slot + sizeof(header), (const uint8_t *)packet + sizeof(header),
	       PACKET_BYTES - sizeof(header));
	__atomic_store_n((uint16_t *)slot, header, __ATOMIC_RELEASE);
}

uint64_t aql_write(hsa_queue_t *queue, const void *packet)
{
	uint64_t index = hsa_queue_add_write_index_screlease(queue, 1);

	aql_put(queue, index, packet);
	return index;
}

void aql_submit(hsa_queue_t *queue, const void *packet)
{
	uint64_t index = aql_write(queue, packet);

	hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
}

void aql_wait(hsa_signal_t signal)
{
	assert_int_equal(hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
						   HSA_WAIT_STATE_BLOCKED),
			 0);
}

void aql_drain(hsa_queue_t *queue)
{
	hsa_signal_t done = aql_signal(1);
	hsa_barrier_and_packet_t barrier =
		aql_barrier(HSA_PACKET_TYPE_BARRIER_AND, AQL_BARRIER, done);

	aql_submit(queue, &barrier);
	aql_wait(done);
	hsa_signal_destroy(done);
}

uint64_t aql_counter(const char *name)
{
	uint64_t values[MAX_COUNTERS];
	const char *names[MAX_COUNTERS];
	uint32_t count = softgpu_counters(values, names, MAX_COUNTERS);

	for (uint32_t i = 0; i < count; i++)
		if (!strcmp(names[i], name))
			return values[i];
	fail_msg("no counter %s", name);
	return 0;
}

void aql_ring_for_nothing(hsa_queue_t *queue, uint64_t index)
{
	uint64_t looks = aql_counter("idle_looks");

	hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
	assert_int_equal(softgpu_await("idle_looks", looks + 1), 0);
}

/* Arguments of calls of RCCL, as a C struct has them, and as texts; those of roctx as texts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sdk/abi.h"
#include "sdk/arguments.h"
#include "sdk/functions.h"
#include "sdk/names.h"

/* What the functions take, in their order, from RCCL's header. */
struct unique_id {
	char internal[128];
};

union arguments {
	uint8_t bytes[SDK_RCCL_ARGS_BYTES];
	struct {
		const void *sendbuff;
		void *recvbuff;
		size_t count;
		int datatype, reduction;
		void *comm, *stream;
	} all_reduce;
	struct {
		void **comm;
		int nranks;
		struct unique_id id;
		int rank;
		void *config;
	} init_rank_config;
	struct {
		const void *send_buff, *send_counts, *send_places;
		void *recv_buff;
		const void *recv_counts, *recv_places;
		size_t count;
		int datatype, root, peer, reduction, algo;
		void *comm, *stream;
	} run_algo;
};

static void fill(const char *name, const uint64_t *words, union arguments *ret)
{
	int operation = sdk_rccl_operation_find(name);
	struct sdk_arguments arguments;

	assert_in_range(operation, 0, sdk_rccl_operation_count - 1);
	arguments_learn(sdk_rccl_parameters[operation], SDK_RCCL_ARGS_BYTES, &arguments);
	memset(ret, 0, sizeof(*ret));
	arguments_fill(&arguments, words, ret);
}

static void words_become_members(void **state)
{
	const uint64_t words[] = {0x1000, 0x2000, 3, 4, (uint64_t)-5, 0x6000, 0x7000};
	union arguments made;

	(void)state;
	fill("ncclAllReduce", words, &made);
	assert_ptr_equal(made.all_reduce.sendbuff, (void *)0x1000);
	assert_ptr_equal(made.all_reduce.recvbuff, (void *)0x2000);
	assert_int_equal(made.all_reduce.count, 3);
	assert_int_equal(made.all_reduce.datatype, 4);
	assert_int_equal(made.all_reduce.reduction, -5);
	assert_ptr_equal(made.all_reduce.comm, (void *)0x6000);
	assert_ptr_equal(made.all_reduce.stream, (void *)0x7000);
}

static void an_odd_number_of_ints_is_padded(void **state)
{
	uint64_t words[14];
	union arguments made;

	(void)state;
	for (unsigned i = 0; i < 14; i++)
		words[i] = i + 1;
	fill("mscclRunAlgo", words, &made);
	assert_ptr_equal(made.run_algo.recv_places, (void *)6);
	assert_int_equal(made.run_algo.count, 7);
	assert_int_equal(made.run_algo.algo, 12);
	assert_ptr_equal(made.run_algo.comm, (void *)13);
	assert_ptr_equal(made.run_algo.stream, (void *)14);
}

static void an_id_by_value_is_copied(void **state)
{
	struct unique_id id = {"an id"};
	const uint64_t words[] = {0x1000, 2, (uintptr_t)&id, 1, 0x5000};
	union arguments made;

	(void)state;
	id.internal[127] = 'e';
	fill("ncclCommInitRankConfig", words, &made);
	assert_ptr_equal(made.init_rank_config.comm, (void *)0x1000);
	assert_int_equal(made.init_rank_config.nranks, 2);
	assert_memory_equal(&made.init_rank_config.id, &id, sizeof(id));
	assert_int_equal(made.init_rank_config.rank, 1);
	assert_ptr_equal(made.init_rank_config.config, (void *)0x5000);
	assert_int_equal(sizeof(made.init_rank_config), SDK_RCCL_ARGS_BYTES);
}

struct told {
	unsigned count;
	char line[512];
};

static int take(int kind, int operation, uint32_t number, const void *address, int32_t indirections,
		const char *type, const char *name, const char *value, int32_t followed, void *data)
{
	struct told *told = data;
	size_t used = strlen(told->line);

	(void)kind, (void)operation, (void)address, (void)followed;
	assert_int_equal(number, told->count);
	assert_int_equal(indirections, strchr(type, '*') != NULL);
	told->count++;
	strncat(told->line, name, sizeof(told->line) - used - 1);
	strcat(strcat(strcat(told->line, "="), value), " ");
	return 0;
}

static void iteration_has_the_interfaces_names(void **state)
{
	struct unique_id id = {""};
	void *made_communicator = (void *)0xc0;
	const uint64_t words[] = {(uintptr_t)&made_communicator, 2, (uintptr_t)&id, 1, 0};
	struct sdk_rccl_data data = {.size = sizeof(data)};
	struct sdk_callback_record record = {
		.kind = SDK_CALLBACK_RCCL_API,
		.operation = sdk_rccl_operation_find("ncclCommInitRankConfig"),
		.phase = SDK_PHASE_EXIT,
		.payload = &data,
	};
	struct told told = {0};

	(void)state;
	fill("ncclCommInitRankConfig", words, (union arguments *)data.args);
	assert_int_equal(
		rocprofiler_iterate_callback_tracing_kind_operation_args(record, take, 1, &told),
		SDK_SUCCESS);
	assert_string_equal(told.line, "comm=0xc0 nranks=2 commId={} myrank=1 config=0 ");
	/* A call that has failed has made nothing. */
	told = (struct told){0};
	data.result = 1;
	assert_int_equal(
		rocprofiler_iterate_callback_tracing_kind_operation_args(record, take, 1, &told),
		SDK_SUCCESS);
	assert_null(strstr(told.line, "comm=0xc0 "));
	record.operation = sdk_rccl_operation_count;
	assert_int_equal(
		rocprofiler_iterate_callback_tracing_kind_operation_args(record, take, 1, &told),
		SDK_ERROR_OPERATION_NOT_FOUND);
}

static void iteration_has_messages_and_ranges(void **state)
{
	struct sdk_mark_data data = {.size = sizeof(data), .argument = (uintptr_t) "a message"};
	struct sdk_callback_record record = {
		.kind = SDK_CALLBACK_MARKER_CORE_API, .phase = SDK_PHASE_ENTER, .payload = &data};
	struct told told = {0};

	(void)state;
	assert_int_equal(
		rocprofiler_iterate_callback_tracing_kind_operation_args(record, take, 1, &told),
		SDK_SUCCESS);
	assert_string_equal(told.line, "message=a message ");
	told = (struct told){0};
	data.argument = 12;
	record.operation = 4; /* roctxRangeStop */
	assert_int_equal(
		rocprofiler_iterate_callback_tracing_kind_operation_args(record, take, 1, &told),
		SDK_SUCCESS);
	assert_string_equal(told.line, "id=12 ");
	record.operation = 6;
	assert_int_equal(
		rocprofiler_iterate_callback_tracing_kind_operation_args(record, take, 1, &told),
		SDK_ERROR_OPERATION_NOT_FOUND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_become_members),
		cmocka_unit_test(an_odd_number_of_ints_is_padded),
		cmocka_unit_test(an_id_by_value_is_copied),
		cmocka_unit_test(iteration_has_the_interfaces_names),
		cmocka_unit_test(iteration_has_messages_and_ranges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

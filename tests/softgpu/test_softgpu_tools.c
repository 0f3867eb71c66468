/* HSA_TOOLS_LIB: which libraries are loaded, what they may do, and that they are unloaded by the
 * last shut-down. */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "aql.h"
#include "due_tool.h"
#include "softgpu/softgpu_tools.h"
#include "table_tool.h"

static char tool_path[4096], refusing_path[4096], due_path[4096];
struct due_story due_story;

static struct tool_log *open_log(void)
{
	void *library = dlopen(tool_path, RTLD_NOW);
	tool_get_log_fn get_log;
	void *address;

	assert_non_null(library);
	address = dlsym(library, "tool_get_log");
	assert_non_null(address);
	memcpy(&get_log, &address, sizeof(get_log));
	return get_log();
}

static void the_list_is_split_as_the_runtime_does(void **state)
{
	char *names[4];

	assert_int_equal(tools_split_names("one.so  \"with space.so\" a\\\"b", names, 4), 3);
	assert_string_equal(names[0], "one.so");
	assert_string_equal(names[1], "with space.so");
	assert_string_equal(names[2], "a\"b");
	for (int i = 0; i < 3; i++)
		free(names[i]);
	assert_int_equal(tools_split_names("  ", names, 4), 0);
	assert_int_equal(tools_split_names("a b c d e", names, 2), 2);
	free(names[0]);
	free(names[1]);
}

static void a_tool_sees_every_packet(void **state)
{
	struct tool_log *tool_log = open_log();
	struct aql aql;
	uint64_t **kernarg;
	hsa_queue_t *queue;

	aql_open("gfx906,kernel_ns=0", &aql);
	assert_int_equal(tool_log->loads, 1);
	assert_int_equal(tool_log->version, 1);
	/* The libraries before this one that were missing or refused to load. */
	assert_int_equal(tool_log->failed_count, 2);
	assert_string_equal(tool_log->failed, "/nowhere/absent.so");
	kernarg = machine_allocate(aql.machine.kernarg, 4096);
	kernarg[0] = (uint64_t *)&kernarg[1];
	queue = aql_queue(&aql, 64);
	assert_int_equal(tool_log->queues, 1);
	for (int i = 0; i < 50; i++) {
		hsa_kernel_dispatch_packet_t packet =
			aql_dispatch(aql.count, kernarg, AQL_BARRIER, (hsa_signal_t){0});

		aql_submit(queue, &packet);
	}
	aql_drain(queue);
	assert_int_equal(tool_log->packets, 51);
	assert_int_equal((uintptr_t)kernarg[1], 50);
	assert_int_equal(hsa_queue_destroy(queue), HSA_STATUS_SUCCESS);
}

static void the_last_shut_down_unloads(void **state)
{
	struct tool_log *tool_log = open_log();
	hsa_signal_t signal;

	assert_int_equal(hsa_init(), HSA_STATUS_SUCCESS);
	assert_int_equal(tool_log->loads, 1);
	assert_int_equal(hsa_shut_down(), HSA_STATUS_SUCCESS);
	assert_int_equal(tool_log->unloads, 0);
	assert_int_equal(hsa_shut_down(), HSA_STATUS_SUCCESS);
	assert_int_equal(tool_log->unloads, 1);
	assert_int_equal(hsa_shut_down(), HSA_STATUS_ERROR_NOT_INITIALIZED);
	assert_int_equal(hsa_signal_create(1, 0, NULL, &signal), HSA_STATUS_ERROR_NOT_INITIALIZED);
}

/* When the runtime starts again without tools, its tables have no function of the unloaded tool. */
static void the_table_is_clean_after_it(void **state)
{
	struct tool_log *tool_log = open_log();
	struct machine machine;
	hsa_queue_t *queue;

	unsetenv("HSA_TOOLS_LIB");
	machine_open("gfx906", &machine);
	assert_int_equal(hsa_queue_create(machine.gpu[0], 64, HSA_QUEUE_TYPE_MULTI, NULL, NULL, 0,
					  0, &queue),
			 HSA_STATUS_SUCCESS);
	assert_int_equal(tool_log->queues, 1);
	/* The runtime's shut-down destroys the queue. */
	assert_int_equal(hsa_shut_down(), HSA_STATUS_SUCCESS);
}

/* As in ROCr, the thread that runs handlers ends before the tool libraries are closed. */
static void a_tool_is_closed_behind_its_last_handler(void **state)
{
	struct machine machine;

	sem_init(&due_story.unloading, 0, 0);
	setenv("HSA_TOOLS_LIB", due_path, 1);
	machine_open("gfx906", &machine);
	unsetenv("HSA_TOOLS_LIB");
	assert_int_equal(due_story.loads, 1);
	assert_int_equal(due_story.ran, 0);
	assert_int_equal(hsa_shut_down(), HSA_STATUS_SUCCESS);
	assert_int_equal(due_story.closes, 1);
	assert_int_equal(due_story.ran_before_close, DUE_HANDLERS);
	assert_int_equal(due_story.signals_destroyed, DUE_HANDLERS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_list_is_split_as_the_runtime_does),
		cmocka_unit_test(a_tool_sees_every_packet),
		cmocka_unit_test(the_last_shut_down_unloads),
		cmocka_unit_test(the_table_is_clean_after_it),
		cmocka_unit_test(a_tool_is_closed_behind_its_last_handler),
	};
	char list[8192 + 64];

	snprintf(tool_path, sizeof(tool_path), "%s/tests/libsoftgpu-tool.so", getenv("BUILD_DIR"));
	snprintf(refusing_path, sizeof(refusing_path), "%s/tests/libsoftgpu-tool-refusing.so",
		 getenv("BUILD_DIR"));
	snprintf(due_path, sizeof(due_path), "%s/tests/libsoftgpu-due-tool.so",
		 getenv("BUILD_DIR"));
	snprintf(list, sizeof(list), "/nowhere/absent.so \"%s\" %s", refusing_path, tool_path);
	setenv("HSA_TOOLS_LIB", list, 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

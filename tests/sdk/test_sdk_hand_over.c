/* How the dispatch table of HIP reaches the injected library that the SDK has loaded: registered
 * inside of HIP's first call, or searched. The test stands for the injected library; each case is a
 * process of its own, whose HIP has made no table yet. */
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "model_registering.h"
#include "sdk/first_call.h"
#include "sdk/injected.h"
#include "sdk/other_sdk.h"
#include "sdk/table_doors.h"

#define SEARCHED   70200 /* the version by the file's name */
#define REGISTERED 70201

set_api_table rocprofiler_set_api_table;

static bool is_loaded;		   /* the injected library */
static void (*seek)(void);	   /* what looking for a tool does; NULL: nothing */
static _Atomic int taken;	   /* tables */
static _Atomic uint64_t version;   /* of the last one */
static sem_t inside, other_enters; /* of the case with two threads */

static int take(const char *name, uint64_t lib_version, uint64_t instance, void **tables,
		uint64_t count)
{
	(void)instance, (void)count;
	taken += !strcmp(name, "hip") && tables[0] == model_table();
	version = lib_version;
	return 0;
}

void *injected_own_symbol(const char *symbol)
{
	return is_loaded && !strcmp(symbol, SET_API_TABLE) ? (void *)take : NULL;
}

void *other_sdk_symbol(const char *symbol)
{
	(void)symbol;
	return NULL;
}

void first_call_seek(void)
{
	if (seek)
		seek();
}

static void register_table(void)
{
	rocprofiler_set_api_table("hip", REGISTERED, 0, (void *[]){model_table()}, 1);
}

static bool has_taken(uint64_t of_version)
{
	return taken == 1 && version == of_version;
}

static void assert_in_child(bool (*scenario)(void))
{
	pid_t child = fork();
	int status;

	if (child == 0)
		_exit(scenario() ? 0 : 1);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static bool search_twice(void)
{
	is_loaded = true;
	table_doors_take_tables();
	table_doors_take_tables();
	return has_taken(SEARCHED);
}

static void a_table_that_nobody_registers_is_searched(void **state)
{
	(void)state;
	assert_in_child(search_twice);
}

static bool register_early(void)
{
	model_registers = register_table;
	hipGetErrorName(0);
	if (taken)
		return false;
	is_loaded = true;
	table_doors_take_tables();
	return has_taken(SEARCHED);
}

static void a_table_that_nobody_has_taken_is_searched_later(void **state)
{
	(void)state;
	assert_in_child(register_early);
}

static bool register_when_prepared(void)
{
	model_registers = register_table;
	is_loaded = true;
	table_doors_take_tables();
	table_doors_take_tables();
	return has_taken(REGISTERED);
}

static void a_table_that_is_registered_while_it_is_prepared_is_taken(void **state)
{
	(void)state;
	assert_in_child(register_when_prepared);
}

static void load_and_search(void)
{
	is_loaded = true;
	table_doors_take_tables();
}

static bool configure_inside(void)
{
	model_registers = register_table;
	seek = load_and_search;
	hipGetErrorName(0);
	return has_taken(REGISTERED);
}

/* Calling the library again would wait for its first call for ever. */
static void a_tool_may_be_configured_inside_of_the_first_call(void **state)
{
	(void)state;
	assert_in_child(configure_inside);
}

static void enter_second(void)
{
	sem_post(&other_enters);
}

static void register_while_another_waits(void)
{
	model_entered = enter_second;
	sem_post(&inside);
	sem_wait(&other_enters);
	register_table();
}

static void *call_first(void *unused)
{
	hipGetErrorName(0);
	return unused;
}

static bool prepare_beside_the_first_call(void)
{
	pthread_t thread;

	sem_init(&inside, 0, 0);
	sem_init(&other_enters, 0, 0);
	is_loaded = true;
	model_registers = register_while_another_waits;
	if (pthread_create(&thread, NULL, call_first, NULL))
		return false;
	sem_wait(&inside);
	table_doors_take_tables();
	pthread_join(thread, NULL);
	return has_taken(REGISTERED);
}

static void a_thread_may_be_inside_of_the_first_call(void **state)
{
	(void)state;
	assert_in_child(prepare_beside_the_first_call);
}

/* Whether HSA_TOOLS_LIB is BEFORE, and behind it a path if HAS_PATH. */
static bool is_variable(const char *before, bool has_path)
{
	const char *text = getenv("HSA_TOOLS_LIB");
	size_t chars = strlen(before);

	if (!text || strncmp(text, before, chars) != 0)
		return false;
	return has_path ? strchr(text + chars, '/') != NULL : !text[chars];
}

/* Another thread may use the text of the variable at any moment, so its memory stays. */
static bool start_hsa_twice(const char *before)
{
	const char *text;

	table_doors_open();
	text = getenv("HSA_TOOLS_LIB");
	for (int i = 0; i < 2; i++) {
		if (!is_variable(before, true))
			return false;
		table_doors_hsa_opened();
		if (!is_variable(before, false))
			return false;
		table_doors_hsa_closed();
	}
	return is_variable(before, true) && getenv("HSA_TOOLS_LIB") == text;
}

static bool start_hsa_alone(void)
{
	unsetenv("HSA_TOOLS_LIB");
	return start_hsa_twice("");
}

static bool start_hsa_behind(void)
{
	setenv("HSA_TOOLS_LIB", "libfirst.so", 1);
	return start_hsa_twice("libfirst.so");
}

static bool start_hsa_of_program(void)
{
	table_doors_open();
	setenv("HSA_TOOLS_LIB", "libown.so", 1);
	table_doors_hsa_opened();
	if (!is_variable("libown.so", false))
		return false;
	table_doors_hsa_closed();
	return is_variable("libown.so", false);
}

static void hsas_variable_names_the_library_until_hsa_has_read_it(void **state)
{
	(void)state;
	assert_in_child(start_hsa_alone);
	assert_in_child(start_hsa_behind);
	assert_in_child(start_hsa_of_program);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_table_that_nobody_registers_is_searched),
		cmocka_unit_test(a_table_that_nobody_has_taken_is_searched_later),
		cmocka_unit_test(a_table_that_is_registered_while_it_is_prepared_is_taken),
		cmocka_unit_test(a_tool_may_be_configured_inside_of_the_first_call),
		cmocka_unit_test(a_thread_may_be_inside_of_the_first_call),
		cmocka_unit_test(hsas_variable_names_the_library_until_hsa_has_read_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

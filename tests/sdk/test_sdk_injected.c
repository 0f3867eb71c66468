/* The injected library that the SDK loads for itself, and its recordings. No runtime of a GPU is in
 * the process. */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/inject.h"
#include "sdk/abi.h"
#include "sdk/functions.h"

static struct sdk_id contexts[2], buffer;
static const struct inject_table *own;
static int (*pause_profiler)(uint64_t tid), (*resume_profiler)(uint64_t tid);

static void take_records(struct sdk_id from, struct sdk_id into, struct sdk_record_header **headers,
			 size_t count, void *data, uint64_t dropped)
{
	(void)from, (void)into, (void)headers, (void)count, (void)data, (void)dropped;
}

static int configure_context(struct sdk_id *ret_context)
{
	return rocprofiler_create_context(ret_context) ||
	       rocprofiler_create_buffer(*ret_context, 8192, 8192, SDK_POLICY_LOSSLESS,
					 take_records, NULL, &buffer) ||
	       rocprofiler_configure_buffer_tracing_service(
		       *ret_context, SDK_BUFFER_HIP_RUNTIME_API, NULL, 0, buffer);
}

static int initialize(void (*finalize)(struct sdk_client), void *data)
{
	(void)finalize, (void)data;
	return configure_context(&contexts[0]) || configure_context(&contexts[1]);
}

static struct sdk_configuration *configure(uint32_t version, const char *text, uint32_t priority,
					   struct sdk_client *client)
{
	static struct sdk_configuration configuration = {sizeof(configuration), initialize, NULL,
							 NULL};

	(void)version, (void)text, (void)priority, (void)client;
	return &configuration;
}

/* While the library is loaded: a thread of the program may read the environment. */
static bool is_loading;
static int changes; /* of dagtap's variables */

static void note_change(const char *name)
{
	changes += is_loading && !strncmp(name, "DAGTAP_", strlen("DAGTAP_"));
}

__attribute__((visibility("default"))) int setenv(const char *name, const char *value, int replace)
{
	int (*next)(const char *, const char *, int);

	*(void **)&next = dlsym(RTLD_NEXT, "setenv");
	note_change(name);
	return next(name, value, replace);
}

__attribute__((visibility("default"))) int putenv(char *text)
{
	int (*next)(char *);

	*(void **)&next = dlsym(RTLD_NEXT, "putenv");
	note_change(text);
	return next(text);
}

__attribute__((visibility("default"))) int clearenv(void)
{
	int (*next)(void);

	*(void **)&next = dlsym(RTLD_NEXT, "clearenv");
	note_change("DAGTAP_");
	return next();
}

__attribute__((visibility("default"))) int unsetenv(const char *name)
{
	int (*next)(const char *);

	*(void **)&next = dlsym(RTLD_NEXT, "unsetenv");
	note_change(name);
	return next(name);
}

static int load(void **state)
{
	void *library;

	(void)state;
	setenv("DAGTAP_SPOOL", "", 1);
	unsetenv("DAGTAP_CALLS");
	unsetenv("DAGTAP_WAIT");
	is_loading = true;
	if (rocprofiler_force_configure(configure) != SDK_SUCCESS)
		return -1;
	is_loading = false;
	library = dlopen(INJECTED, RTLD_NOW | RTLD_NOLOAD);
	if (!library)
		return -1;
	own = dlsym(library, INJECT_SYMBOL);
	pause_profiler = (int (*)(uint64_t))dlsym(library, "roctxProfilerPause");
	resume_profiler = (int (*)(uint64_t))dlsym(library, "roctxProfilerResume");
	return own && pause_profiler && resume_profiler ? 0 : -1;
}

static void start(int context)
{
	assert_int_equal(rocprofiler_start_context(contexts[context]), SDK_SUCCESS);
}

/* The flush returns when the recording has ended. */
static void stop_all(void)
{
	for (int i = 0; i < 2; i++)
		assert_int_equal(rocprofiler_stop_context(contexts[i]), SDK_SUCCESS);
	assert_int_equal(rocprofiler_flush_buffer(buffer), SDK_SUCCESS);
	assert_false(own->is_recording());
}

static void dagtaps_variables_are_left_alone(void **state)
{
	static const struct {
		const char *name;
		void *own;
	} functions[] = {
		{"setenv", (void *)setenv},
		{"unsetenv", (void *)unsetenv},
		{"putenv", (void *)putenv},
		{"clearenv", (void *)clearenv},
	};

	(void)state;
	/* What a library that is loaded later calls is this program's functions. */
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		assert_ptr_equal(dlsym(RTLD_DEFAULT, functions[i].name), functions[i].own);
	assert_int_equal(changes, 0);
}

static void an_empty_variable_counts_as_unset_and_is_kept(void **state)
{
	(void)state;
	assert_string_equal(getenv("DAGTAP_SPOOL"), "");
	assert_null(getenv("DAGTAP_CALLS"));
	assert_false(own->is_recording());
	start(0);
	assert_true(own->is_recording());
	stop_all();
}

static void a_recording_that_was_stopped_begins_again_with_a_context(void **state)
{
	(void)state;
	start(0);
	own->stop();
	assert_false(own->is_recording());
	start(1);
	assert_true(own->is_recording());
	stop_all();
}

static void calls_of_profilers_start_and_stop_nothing(void **state)
{
	(void)state;
	resume_profiler(0);
	assert_false(own->is_recording());
	start(0);
	pause_profiler(0);
	assert_true(own->is_recording());
	stop_all();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dagtaps_variables_are_left_alone),
		cmocka_unit_test(an_empty_variable_counts_as_unset_and_is_kept),
		cmocka_unit_test(a_recording_that_was_stopped_begins_again_with_a_context),
		cmocka_unit_test(calls_of_profilers_start_and_stop_nothing),
	};

	return cmocka_run_group_tests(tests, load, NULL);
}

/*
 * The injected library among model libraries that hand out dispatch tables: every call is counted
 * once, whether it came by symbol or by table, and every model function is reached as often as it
 * is called.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hip_recording.h"

enum { TEXT_MOST = 8192 };

/* What is preloaded next to the tool, and in which place. */
enum beside { NOTHING, BEFORE, BEHIND };

static struct recording *record_beside(const char *scene, enum beside beside)
{
	const char *build = getenv("BUILD_DIR"), *runtime = getenv("SANITIZER_RUNTIME");
	char second[TEXT_MOST / 4] = "", preload[TEXT_MOST];
	struct recording *r;

	if (beside != NOTHING)
		snprintf(second, sizeof(second), "%s/tests/models/libsecond_tool.so", build);
	snprintf(preload, sizeof(preload), "LD_PRELOAD=%s %s %s/lib/dagtap/libdagtap-inject.so %s",
		 runtime ? runtime : "", beside == BEFORE ? second : "", build,
		 beside == BEHIND ? second : "");
	r = recording_make("tests/tables-caller", scene, preload);
	assert_int_equal(r->exit_code, 0);
	assert_int_equal(r->spool_count, 1);
	return r;
}

static struct recording *record(const char *scene)
{
	return record_beside(scene, NOTHING);
}

static size_t count_calls(const struct recording *r, const char *name)
{
	size_t count = 0;

	while (recording_find_call(r, name, count))
		count++;
	return count;
}

static void assert_calls(const struct recording *r, const char *name, size_t expected)
{
	size_t count = count_calls(r, name);

	if (count != expected)
		fail_msg("%s: %zu records instead of %zu", name, count, expected);
}

/* Returns the last state that a source has reported. */
static const struct record_source *find_source(const struct recording *r, const char *name)
{
	const struct record_source *source, *last = NULL;

	for (size_t i = 0; (source = recording_find(r, RECORD_SOURCE, i)); i++)
		if (!strncmp(source->name, name, sizeof(source->name)))
			last = source;
	return last;
}

static void assert_source(const struct recording *r, const char *name,
			  enum record_source_state state, const char *text)
{
	const struct record_source *source = find_source(r, name);
	char said[TEXT_MOST];

	assert_non_null(source);
	snprintf(said, sizeof(said), "%.*s", (int)source->text_bytes, source->text);
	if (!strstr(said, text))
		fail_msg("%s says \"%s\", without \"%s\"", name, said, text);
	assert_int_equal(source->header.tag, state);
}

/* Asserts that every wrapped call has its row. The wrappers count calls apart from the writer. */
static void assert_complete(const struct recording *r, size_t rccl_calls)
{
	assert_int_equal(recording_witness(r, "hip", "calls") + rccl_calls,
			 recording_count(r, RECORD_API));
	assert_int_equal(recording_witness(r, "hip", "open"), 0);
}

/*
 * Asserts the calls that the scenes make by symbols: 5 copies, 3 launches, 2 synchronizations, 1
 * query.
 */
static void assert_symbols_seen(const struct recording *r, size_t more_copies, size_t more_waits)
{
	assert_calls(r, "hipMemcpyAsync", 5 + more_copies);
	assert_calls(r, "hipLaunchKernel", 3);
	assert_calls(r, "hipStreamSynchronize", 2 + more_waits);
	assert_calls(r, "hipOccupancyAvailableDynamicSMemPerBlock", 1);
	assert_complete(r, 0);
}

static void assert_reached(const struct recording *r, uint64_t copies, uint64_t waits)
{
	assert_int_equal(recording_said(r, "memcpys", 0), copies);
	assert_int_equal(recording_said(r, "launches", 0), 3);
	assert_int_equal(recording_said(r, "synchronizes", 0), waits);
	assert_int_equal(recording_said(r, "occupancies", 0), 1);
}

static void both_doors_count_once(void **state)
{
	struct recording *r = record("both-ways");

	assert_symbols_seen(r, 7, 4);
	assert_reached(r, 12, 6);
	assert_source(r, "hip.table", RECORD_SOURCE_ON, "7.2: 5 of its 506 functions wrapped");
	assert_int_equal(
		recording_argument(r, recording_find_call(r, "hipMemcpyAsync", 9), "sizeBytes"),
		64);
	recording_free(r);
}

/* Debian's builds hand over no table. */
static void without_a_table_symbols_are_seen(void **state)
{
	struct recording *r = record("silent");

	assert_symbols_seen(r, 0, 0);
	assert_reached(r, 12, 6);
	assert_null(find_source(r, "hip.table"));
	recording_free(r);
}

/* The table ends before hipStreamSynchronize, which is then seen only by its symbol. */
static void a_shorter_table(void **state)
{
	struct recording *r = record("shorter");

	assert_symbols_seen(r, 7, 0);
	assert_reached(r, 12, 6);
	assert_source(r, "hip.table", RECORD_SOURCE_ON,
		      "3 of its 346 functions wrapped, 160 fewer than this tool knows");
	recording_free(r);
}

static void a_longer_table(void **state)
{
	struct recording *r = record("longer");

	assert_symbols_seen(r, 0, 0);
	assert_reached(r, 5, 2);
	assert_int_equal(recording_said(r, "beyond", 0), 1);
	assert_source(r, "hip.table", RECORD_SOURCE_ON,
		      "5 of its 507 functions wrapped, 1 are newer than this tool");
	recording_free(r);
}

static void another_major_version(void **state)
{
	struct recording *r = record("other-major");

	assert_symbols_seen(r, 0, 0);
	assert_reached(r, 12, 6);
	assert_source(r, "hip.table", RECORD_SOURCE_ABSENT, "version 8.0");
	recording_free(r);
}

static void what_is_no_table(void **state)
{
	struct recording *r = record("no-table");

	assert_symbols_seen(r, 0, 0);
	assert_reached(r, 12, 6);
	assert_source(r, "hip.table", RECORD_SOURCE_ABSENT, "7 bytes");
	recording_free(r);
}

static void a_table_handed_over_again(void **state)
{
	struct recording *r = record("again");

	assert_symbols_seen(r, 7, 4);
	assert_reached(r, 12, 6);
	recording_free(r);
}

static void unknown_names_are_accepted(void **state)
{
	struct recording *r = record("unknown-names");

	assert_symbols_seen(r, 0, 0);
	recording_free(r);
	r = record_beside("unknown-names", BEHIND);
	assert_int_equal(recording_said(r, "second_tables", 0), 2);
	recording_free(r);
}

/* Calls into a second runtime reach its own functions; a third runtime's table is not changed. */
static void two_instances(void **state)
{
	struct recording *r = record("second-instance");

	assert_symbols_seen(r, 6, 0);
	assert_reached(r, 5, 2);
	assert_int_equal(recording_said(r, "second_instance_memcpys", 0), 6);
	assert_int_equal(recording_said(r, "events", 0), 2);
	assert_calls(r, "hipEventRecord", 2);
	assert_source(r, "hip.table", RECORD_SOURCE_PARTIAL, "1 more tables are left alone");
	recording_free(r);
}

static void assert_second_tool_saw(const struct recording *r, uint64_t copies, uint64_t waits)
{
	assert_int_equal(recording_said(r, "second_memcpys", 0), copies);
	assert_int_equal(recording_said(r, "second_launches", 0), 3);
	assert_int_equal(recording_said(r, "second_synchronizes", 0), waits);
}

static void another_tool_behind_ours(void **state)
{
	struct recording *r = record_beside("both-ways", BEHIND);

	assert_symbols_seen(r, 7, 4);
	assert_reached(r, 12, 6);
	assert_second_tool_saw(r, 12, 6);
	recording_free(r);
}

static void another_tool_before_ours(void **state)
{
	struct recording *r = record_beside("both-ways", BEFORE);

	assert_symbols_seen(r, 7, 4);
	assert_reached(r, 12, 6);
	assert_second_tool_saw(r, 12, 6);
	recording_free(r);
}

/* Like AMD's own tool, it comes first and passes no table on. Calls by symbol are still seen. */
static void another_tool_that_keeps_the_tables(void **state)
{
	struct recording *r = record_beside("keeps", BEFORE);

	assert_symbols_seen(r, 0, 0);
	assert_reached(r, 5, 2);
	assert_second_tool_saw(r, 5, 2);
	recording_free(r);
}

/* The other tool is not preloaded: the library that hands over the tables would have loaded it. */
static void another_tool_by_its_variable(void **state)
{
	char path[TEXT_MOST];
	struct recording *r;

	snprintf(path, sizeof(path), "%s/tests/models/libsecond_tool.so", getenv("BUILD_DIR"));
	setenv("ROCPROFILER_REGISTER_LIBRARY", path, 1);
	r = record("both-ways");
	unsetenv("ROCPROFILER_REGISTER_LIBRARY");
	assert_symbols_seen(r, 7, 4);
	assert_reached(r, 12, 6);
	assert_second_tool_saw(r, 12, 6);
	recording_free(r);
}

static const struct record_api *enclosing(const struct recording *r, const struct record_api *call)
{
	const struct record_api *api;

	for (size_t i = 0; (api = recording_find(r, RECORD_API, i)); i++)
		if (api->cid == call->parent)
			return api;
	return NULL;
}

static void assert_all_reduce(const struct recording *r, size_t n, const char *comm, int64_t rank,
			      uint64_t sequence)
{
	const struct record_api *call = recording_find_call(r, "ncclAllReduce", n);

	assert_non_null(call);
	assert_int_equal(recording_argument(r, call, "comm"), recording_said(r, comm, 0));
	assert_int_equal(recording_argument(r, call, "rank"), rank);
	assert_int_equal(recording_argument(r, call, "seq"), sequence);
}

/*
 * Two communicators with three operations each, then an operation on the second one's handle, which
 * is used again, called by a pointer.
 */
static void rccl_calls_have_their_communicator(void **state)
{
	struct recording *r = record("rccl");
	const struct record_api *last = recording_find_call(r, "ncclAllReduce", 6), *launch;

	for (size_t i = 0; i < 6; i++)
		assert_all_reduce(r, i, i % 2 ? "other" : "comm", (int64_t)i % 2, i / 2 + 1);
	assert_all_reduce(r, 6, "other", 3, 1);
	assert_null(recording_find_call(r, "ncclAllReduce", 7));
	assert_int_equal(recording_argument(r, last, "count"), 8);
	assert_int_equal(recording_argument(r, last, "datatype"), 0);
	assert_int_equal(recording_argument(r, last, "op"), 2);
	assert_int_equal(recording_argument(r, last, "stream"), 0x6000);
	assert_calls(r, "ncclGroupStart", 1);
	assert_calls(r, "ncclCommDestroy", 1);
	assert_calls(r, "ncclCommUserRank", 0);
	assert_calls(r, "hipLaunchKernel", 7);
	for (size_t i = 0; (launch = recording_find_call(r, "hipLaunchKernel", i)); i++)
		assert_ptr_equal(enclosing(r, launch), recording_find_call(r, "ncclAllReduce", i));
	assert_int_equal(recording_said(r, "rank_questions", 0), 3);
	assert_int_equal(recording_witness(r, "rccl", "calls"), 10);
	assert_int_equal(recording_witness(r, "rccl", "open"), 0);
	assert_complete(r, 10);
	assert_source(r, "rccl.table", RECORD_SOURCE_ON, "2.27: 5 of its 41 functions wrapped");
	recording_free(r);
}

static size_t count_scopes(const struct recording *r, enum record_scope_kind kind, const char *text)
{
	const struct record_scope *scope;
	size_t count = 0;

	for (size_t i = 0; (scope = recording_find(r, RECORD_SCOPE, i)); i++)
		count += scope->header.tag == kind && scope->text_bytes == strlen(text) &&
			 !memcmp(scope->text, text, scope->text_bytes);
	return count;
}

static void roctx_ranges_count_once(void **state)
{
	struct recording *r = record("roctx");

	assert_int_equal(count_scopes(r, RECORD_SCOPE_MARK, "a mark"), 1);
	assert_int_equal(count_scopes(r, RECORD_SCOPE_ROCTX, "by symbols"), 1);
	assert_int_equal(count_scopes(r, RECORD_SCOPE_ROCTX, "by pointers"), 1);
	assert_int_equal(recording_count(r, RECORD_SCOPE_END), 2);
	assert_source(r, "roctx.table", RECORD_SOURCE_ON, "1.0: 6 of its 6 functions wrapped");
	recording_free(r);
}

static void roctx_pauses_and_resumes(void **state)
{
	struct recording *r;

	setenv("DAGTAP_WAIT", "1", 1);
	r = record("control");
	unsetenv("DAGTAP_WAIT");
	assert_calls(r, "hipMemcpyAsync", 2);
	assert_complete(r, 0);
	/* Its begin, its end, and what was not followed. */
	assert_int_equal(recording_count(r, RECORD_NOTE), 3);
	assert_source(r, "roctx.control", RECORD_SOURCE_ON, "1.0: 2 of its 2 functions wrapped");
	assert_source(r, "roctx.names", RECORD_SOURCE_ON, "1.0: 4 of its 4 functions wrapped");
	recording_free(r);
}

static size_t count_functions(const struct recording *r, uint64_t handle, const char *name)
{
	const struct record_function *function;
	size_t count = 0;

	for (size_t i = 0; (function = recording_find(r, RECORD_FUNCTION, i)); i++)
		count += function->handle == handle && function->header.tag == strlen(name) &&
			 !memcmp(function->name, name, strlen(name));
	return count;
}

static void kernels_are_registered_by_both_doors(void **state)
{
	struct recording *r = record("kernels");

	assert_int_equal(recording_count(r, RECORD_FUNCTION), 2);
	assert_int_equal(count_functions(r, 0x100, "by symbol"), 1);
	assert_int_equal(count_functions(r, 0x200, "by pointer"), 1);
	assert_calls(r, "hipLaunchKernel", 4);
	assert_source(r, "hip.compiler", RECORD_SOURCE_ON, "7.2: 2 of its 9 functions wrapped");
	recording_free(r);
}

/* Neither door records a call that was not asked for, and both reach the function. */
static void calls_that_only_read_pass_both_doors(void **state)
{
	struct recording *r;

	unsetenv("DAGTAP_CALLS");
	r = record("both-ways");
	setenv("DAGTAP_CALLS", "all", 1);
	assert_calls(r, "hipLaunchKernel", 3);
	assert_calls(r, "hipOccupancyAvailableDynamicSMemPerBlock", 0);
	assert_complete(r, 0);
	assert_reached(r, 12, 6);
	recording_free(r);
}

/* The library may be in a process that records nothing. */
static void a_tool_that_is_off_touches_nothing(void **state)
{
	struct recording *r;
	char preload[TEXT_MOST];

	snprintf(preload, sizeof(preload), "DAGTAP_SPOOL=");
	r = recording_make("tests/tables-caller", "both-ways", preload);
	assert_int_equal(r->exit_code, 0);
	assert_int_equal(r->spool_count, 0);
	assert_reached(r, 12, 6);
	recording_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_doors_count_once),
		cmocka_unit_test(without_a_table_symbols_are_seen),
		cmocka_unit_test(a_shorter_table),
		cmocka_unit_test(a_longer_table),
		cmocka_unit_test(another_major_version),
		cmocka_unit_test(what_is_no_table),
		cmocka_unit_test(a_table_handed_over_again),
		cmocka_unit_test(unknown_names_are_accepted),
		cmocka_unit_test(two_instances),
		cmocka_unit_test(another_tool_behind_ours),
		cmocka_unit_test(another_tool_before_ours),
		cmocka_unit_test(another_tool_that_keeps_the_tables),
		cmocka_unit_test(another_tool_by_its_variable),
		cmocka_unit_test(rccl_calls_have_their_communicator),
		cmocka_unit_test(roctx_ranges_count_once),
		cmocka_unit_test(roctx_pauses_and_resumes),
		cmocka_unit_test(kernels_are_registered_by_both_doors),
		cmocka_unit_test(calls_that_only_read_pass_both_doors),
		cmocka_unit_test(a_tool_that_is_off_touches_nothing),
	};

	/* A model function stands for those that only read, too. */
	setenv("DAGTAP_CALLS", "all", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

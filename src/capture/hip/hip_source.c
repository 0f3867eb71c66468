/* The capture source of HIP: hooks, counters, what it reports about itself; see hip_source.h. */
#include "capture/hip/hip_source.h"

#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/env.h"
#include "capture/hip/compiler.h"
#include "capture/hip/function.h"
#include "capture/hip/graph_exec.h"
#include "capture/hip/graph_node.h"
#include "capture/hip/hip_runtime.h"
#include "capture/hip/stream_capture.h"
#include "capture/hsa/hsa_source.h"

struct table_door hip_table = {
	.name = "hip.table",
	.major_first = HIP_TABLE_MAJOR_FIRST,
	.major_last = HIP_TABLE_MAJOR_LAST,
	.nexts = {hip_nexts[DOOR_TABLE], hip_nexts[DOOR_TABLE + 1]},
	.state = {.lock = PTHREAD_MUTEX_INITIALIZER},
};

/* Weak: tests of capture/hip alone do not link capture/hsa. */
#pragma weak hsa_dispatches_without_context

_Atomic bool hip_unsubscribes;

static struct call_counters counters;
__thread struct call_counter *hip_counter;

void hip_count_entered(void)
{
	if (!hip_counter)
		hip_counter = call_counters_take(&counters);
	call_count(hip_counter, &hip_counter->entered);
}

/* count_unseen when the session started. */
static uint64_t unseen_before;

struct library_search {
	bool found;
	char path[256];
};

static int is_hip_library(struct dl_phdr_info *info, size_t size, void *context)
{
	struct library_search *search = context;
	const char *name = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;

	name = name ? name + 1 : info->dlpi_name;
	if (!name || strncmp(name, "libamdhip64.so", strlen("libamdhip64.so")) != 0)
		return 0;
	search->found = true;
	snprintf(search->path, sizeof(search->path), "%s", info->dlpi_name);
	return 1;
}

bool hip_is_loaded(void)
{
	struct library_search search = {0};

	dl_iterate_phdr(is_hip_library, &search);
	return search.found;
}

static void write_names(void)
{
	for (uint32_t function = 1; function < HIP_FUNCTION_COUNT; function++) {
		size_t bytes = strlen(hip_functions[function].text);
		struct record_api_name record = {
			.domain = RECORD_DOMAIN_HIP,
			.text_bytes = writer_text_bytes(bytes),
		};

		writer_put_text(session_writer(), RECORD_API_NAME, function, &record,
				sizeof(record), hip_functions[function].text, bytes);
	}
}

/* Returns the likely reason why dispatches have no call. */
static const char *why_unseen(void)
{
	const char *direct = getenv("AMD_DIRECT_DISPATCH");

	if (direct && !strcmp(direct, "0"))
		return "with AMD_DIRECT_DISPATCH=0 a thread of HIP's own sends them";
	if (session_current_number() > 1)
		return "they were under way when the recording began, or the program takes HIP's "
		       "functions with dlsym";
	if (!call_counters_sum(&counters).entered)
		return "the tool was not preloaded, or the program takes HIP's functions with "
		       "dlsym";
	return "the program takes HIP's functions with dlsym, or uses HSA itself";
}

/* Dispatches so far that were submitted in no known call. */
static uint64_t count_unseen(void)
{
	return hsa_dispatches_without_context ? hsa_dispatches_without_context() : 0;
}

static void write_source(void)
{
	struct library_search search = {0};
	uint64_t unseen = count_unseen() - unseen_before;
	char text[512];

	dl_iterate_phdr(is_hip_library, &search);
	if (!search.found) {
		session_source("hip", RECORD_SOURCE_ABSENT, "libamdhip64 is not in the process");
		return;
	}
	if (unseen)
		snprintf(text, sizeof(text),
			 "the calls of %" PRIu64 " dispatches could not be seen: %s", unseen,
			 why_unseen());
	else
		snprintf(text, sizeof(text), "%s, %d functions wrapped", search.path,
			 HIP_FUNCTION_COUNT - 1);
	session_source("hip", unseen ? RECORD_SOURCE_PARTIAL : RECORD_SOURCE_ON, text);
}

static void write_witness(void)
{
	session_witness(WITNESS_HIP_CALLS, call_counters_since(&counters).entered);
}

/* Runs before the session is on, so no call of it has been counted. Calls that are still open
 * from the last session count in none. */
static void start(void)
{
	unseen_before = count_unseen();
	atomic_store_explicit(&hip_unsubscribes, env_calls_are_selected(), memory_order_relaxed);
	call_counters_begin(&counters);
	function_trace_begins();
	if (graph_exec_has_switched())
		session_witness(WITNESS_HIP_NODES_SWITCHED, 1);
	if (env_calls_are_selected())
		session_witness(WITNESS_HIP_CALLS_SELECTED, 1);
	write_names();
	table_tell(&hip_table);
	table_tell(&hip_compiler_table);
}

static void stop(void)
{
	struct call_counts calls = call_counters_since(&counters);

	session_witness(WITNESS_HIP_OPEN, calls.entered - calls.left);
	session_witness(WITNESS_HIP_CALLS, calls.entered);
	write_source();
}

static void child(void)
{
	call_counters_forget(&counters);
	table_reset(&hip_table);
	table_reset(&hip_compiler_table);
	function_reset();
	graph_exec_reset();
	graph_node_reset();
	stream_capture_reset();
}

const struct capture_source hip_source = {
	.name = "hip",
	.start = start,
	.tick = write_witness,
	.stop = stop,
	.child = child,
};

/*
 * One step of the reference run, read by src/trace, has the properties that the benchmark claims to
 * measure.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "../launched.h"
#include "record/spool_reader.h"
#include "reference_gpu.h"
#include "reference_graphs.h"
#include "reference_spool.h"
#include "trace/ledger/ledger.h"
#include "trace/load.h"

#define STEPS 1

struct fixture {
	char folder[TEST_PATH_BYTES];
	char path[2 * TEST_PATH_BYTES];
	struct trace *trace;
};

static int set_up(void **state)
{
	static struct fixture fixture;
	struct dagtap_error error;

	assert_non_null(mkdtemp(test_path(fixture.folder, "reference")));
	snprintf(fixture.path, sizeof(fixture.path), "%s/run.spool", fixture.folder);
	assert_int_equal(reference_spool_write(fixture.path, 1, STEPS), 0);
	if (trace_open(fixture.path, NULL, &fixture.trace, &error) < 0)
		fail_msg("%s", error.message);
	*state = &fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	trace_close(fixture->trace);
	if (test_files_are_left())
		return 0;
	unlink(fixture->path);
	rmdir(fixture->folder);
	return 0;
}

static void counts_are_exact(void **state)
{
	const struct trace *trace = ((struct fixture *)*state)->trace;
	struct reference_counts counts = reference_spool_counts(STEPS);
	uint64_t submitting = 0, barriers_apart = 0;

	for (uint32_t i = 0; i < trace->calls_count; i++) {
		submitting += trace->calls[i].activity_count > 0;
		barriers_apart +=
			trace->calls[i].activities_expected > trace->calls[i].activity_count;
	}
	assert_int_equal(trace->activities_count, counts.device_events);
	assert_int_equal(trace->calls_count, counts.host_events);
	assert_int_equal(submitting, counts.submitting_calls);
	assert_int_equal(trace->launches_count, counts.graph_launches);
	assert_true(barriers_apart > 0);
}

static void whole_run_is_the_published_one(void **state)
{
	struct reference_counts counts = reference_spool_counts(REFERENCE_STEPS);

	assert_int_equal(counts.device_events, 3776488);
	assert_int_equal(counts.host_events, 4744882);
	assert_int_equal(counts.submitting_calls, 1270346);
}

static void nothing_is_unexplained(void **state)
{
	const struct trace *trace = ((struct fixture *)*state)->trace;

	for (uint32_t i = 0; i < trace->sources_count; i++) {
		const struct trace_source *source = &trace->sources[i];

		if (source->unexplained || source->untimed || source->drop_count ||
		    source->orphan_calls || source->orphan_activities)
			fail_msg("%s does not close", trace_text(trace, source->name));
	}
	assert_true(ledger_is_closed(trace));
	assert_false(trace->truncated);
}

static uint32_t distinct(const bool *seen, uint32_t count)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < count; i++)
		sum += seen[i];
	return sum;
}

/*
 * Counts all kernel names, and those that remain when a collector keeps only each call's first
 * activity, as XLA's does.
 */
static void names_of_kernels(void **state)
{
	const struct trace *trace = ((struct fixture *)*state)->trace;
	bool *all = calloc(trace->strings_count, sizeof(*all));
	bool *first = calloc(trace->strings_count, sizeof(*first));

	for (uint32_t i = 0; i < trace->activities_count; i++) {
		const struct trace_activity *row = &trace->activities[i];

		const struct trace_work *work = trace_work_of(trace, row);

		if (work->kind != TRACE_KERNEL)
			continue;
		all[work->name] = true;
		first[work->name] |= trace->calls[row->call].activity_first == i;
	}
	assert_int_equal(distinct(all, trace->strings_count), REFERENCE_KERNELS);
	assert_int_equal(distinct(first, trace->strings_count), REFERENCE_KERNELS_FIRST);
	free(all);
	free(first);
}

static void every_activity_is_placed(void **state)
{
	const struct trace *trace = ((struct fixture *)*state)->trace;
	uint32_t copies = 0, fills = 0, in_graphs = 0;

	for (uint32_t i = 0; i < trace->activities_count; i++) {
		const struct trace_activity *row = &trace->activities[i];

		assert_int_equal(row->untimed, RECORD_UNTIMED_NO);
		assert_true(row->submit_ns < row->start_ns && row->start_ns < row->end_ns);
		assert_true(row->end_ns < trace->processes[0].end_ns);
		assert_int_not_equal(row->scope, TRACE_NONE);
		assert_int_not_equal(row->stream, TRACE_NONE);
		assert_int_not_equal(row->thread, TRACE_NONE);
		copies += trace_work_of(trace, row)->kind == TRACE_COPY;
		fills += trace_work_of(trace, row)->kind == TRACE_MEMSET;
		in_graphs += row->launch != TRACE_NONE;
	}
	assert_true(copies > 0 && fills > 0);
	assert_int_equal(in_graphs, STEPS * REFERENCE_GPUS * REFERENCE_GRAPH_ACTIVITIES);
}

static void graph_nodes_are_exact(void **state)
{
	const struct trace *trace = ((struct fixture *)*state)->trace;

	assert_int_equal(trace->graphs_count, REFERENCE_GPUS * REFERENCE_GRAPHS);
	for (uint32_t i = 0; i < trace->launches_count; i++)
		assert_true(trace->launches[i].exact);
	for (uint32_t i = 0; i < trace->nodes_count; i++)
		assert_int_not_equal(trace->nodes[i].scope, TRACE_NONE);
}

/* Thunks are in modules, modules in steps; all scopes are closed and each call is in its scope. */
static void scopes_nest(void **state)
{
	const struct trace *trace = ((struct fixture *)*state)->trace;
	uint32_t deepest = 0;

	for (uint32_t i = 0; i < trace->scopes_count; i++) {
		uint32_t depth = 1;

		assert_false(trace->scopes[i].open);
		for (uint32_t at = trace->scopes[i].parent; at != TRACE_NONE;
		     at = trace->scopes[at].parent)
			depth++;
		deepest = depth > deepest ? depth : deepest;
	}
	assert_int_equal(deepest, 3);
	for (uint32_t i = 0; i < trace->calls_count; i++) {
		const struct trace_call *call = &trace->calls[i];

		if (call->scope == TRACE_NONE)
			continue;
		assert_int_equal(trace->scopes[call->scope].thread, call->thread);
		assert_true(trace->scopes[call->scope].begin_ns <= call->begin_ns);
		assert_true(call->end_ns <= trace->scopes[call->scope].end_ns);
	}
}

static void gpus_and_their_clocks(void **state)
{
	const struct trace *trace = ((struct fixture *)*state)->trace;
	uint32_t gpus = 0;

	for (uint32_t i = 0; i < trace->agents_count; i++) {
		if (!trace->agents[i].is_gpu)
			continue;
		gpus++;
		assert_true(trace->agents[i].anchor_count >= 2);
		assert_true(trace->agents[i].fit_error_ns < 1000);
	}
	assert_int_equal(gpus, REFERENCE_GPUS);
}

static char *read_all(const char *path, size_t *ret_bytes)
{
	struct stat status;
	char *bytes;
	int fd = open(path, O_RDONLY);

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &status), 0);
	bytes = malloc((size_t)status.st_size);
	assert_non_null(bytes);
	assert_int_equal(read(fd, bytes, (size_t)status.st_size), status.st_size);
	close(fd);
	*ret_bytes = (size_t)status.st_size;
	return bytes;
}

static void seed_decides_the_bytes(void **state)
{
	const struct fixture *fixture = *state;
	size_t bytes, same_bytes, other_bytes;
	char *run = read_all(fixture->path, &bytes);
	char path[2 * TEST_PATH_BYTES], *same, *other;

	snprintf(path, sizeof(path), "%s/again.spool", fixture->folder);
	assert_int_equal(reference_spool_write(path, 1, STEPS), 0);
	same = read_all(path, &same_bytes);
	/* The file exists and must not be overwritten. */
	assert_int_equal(reference_spool_write(path, 2, STEPS), -EEXIST);
	unlink(path);
	assert_int_equal(reference_spool_write(path, 2, STEPS), 0);
	other = read_all(path, &other_bytes);
	unlink(path);
	assert_true(bytes == same_bytes && !memcmp(run, same, bytes));
	assert_true(bytes != other_bytes || memcmp(run, other, bytes) != 0);
	free(run);
	free(same);
	free(other);
}

/* Completions are recorded after later submissions, and not in the order of their packets. */
static void completions_are_late_and_mixed(void **state)
{
	const struct fixture *fixture = *state;
	struct spool_reader *reader;
	struct spool_cursor cursor;
	struct spool_record record;
	uint64_t last[64] = {0};
	uint32_t turns = 0, switches = 0, queue = 0;

	assert_int_equal(spool_reader_open(fixture->path, &reader, NULL), 0);
	for (uint32_t w = 0; w < spool_reader_writer_count(reader); w++) {
		spool_cursor_init(&cursor, reader, w);
		while (spool_cursor_next(&cursor, &record)) {
			const struct record_dispatch_done *done = (const void *)record.header;

			if (record.type != RECORD_DISPATCH_DONE)
				continue;
			assert_true(record.header->tag < 64);
			turns += done->packet_index < last[record.header->tag];
			switches += record.header->tag != queue;
			queue = record.header->tag;
			last[queue] = done->packet_index;
		}
	}
	spool_reader_close(reader);
	assert_true(turns > 100);
	assert_true(switches > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_are_exact),
		cmocka_unit_test(whole_run_is_the_published_one),
		cmocka_unit_test(nothing_is_unexplained),
		cmocka_unit_test(names_of_kernels),
		cmocka_unit_test(every_activity_is_placed),
		cmocka_unit_test(graph_nodes_are_exact),
		cmocka_unit_test(scopes_nest),
		cmocka_unit_test(gpus_and_their_clocks),
		cmocka_unit_test(seed_decides_the_bytes),
		cmocka_unit_test(completions_are_late_and_mixed),
	};

	return cmocka_run_group_tests_name("reference", tests, set_up, tear_down);
}

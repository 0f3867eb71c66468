/*
 * Truncated or changed spools load with the damage reported, or are refused in one line; there is
 * never a crash or an unreported difference.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../launched.h"
#include "analyze/advise.h"
#include "analyze/graph_overlap.h"
#include "analyze/idle.h"
#include "analyze/path_report.h"
#include "analyze/summary.h"
#include "scene.h"
#include "trace/ledger/ledger.h"
#include "trace/load.h"

#define WRITERS_IN_USE (SPOOL_HEADER_BYTES + SCENE_WRITERS * SPOOL_WRITER_BYTES)

static void make_scene(struct scene *scene)
{
	static const uint64_t functions[] = {0x101, 0x102, 0x101};
	static const uint32_t grids[] = {4, 4, 8};
	struct record_graph_node update = {.graph_id = 31, .type = RECORD_NODE_KERNEL};

	scene_init(scene, 1);
	scene_graph(scene, 7, 31, 3, functions, grids);
	update.cid = scene_call(scene, SCENE_GRAPH_SET_PARAMS, 0, (uint64_t[]){0, 0x55, 0}, 3);
	scene_put(scene, 0, RECORD_GRAPH_EXEC_UPDATE, 1, &update, sizeof(update));
	scene_call(scene, SCENE_GRAPH_SET_PARAMS, 0, (uint64_t[]){0, 0x55, 0}, 3);
	for (uint64_t replay = 0; replay < 3; replay++) {
		uint64_t cid = scene_call(scene, SCENE_GRAPH_LAUNCH, 3, (uint64_t[]){1, 0x5000}, 2);

		scene_graph_launch(scene, 31, replay, cid);
		for (uint32_t i = 0; i < 3; i++)
			scene_run(scene, cid, i, (uint32_t)functions[i] - 0x100, grids[i]);
	}
	scene_close(scene);
}

/* The parts of the path sum up, whatever the times are. */
static void use_path(const struct trace *trace)
{
	const struct path_query query = {.by = PATH_WINDOW_ALL};
	struct path_windows windows;
	struct path_report report;
	struct dependencies deps;
	struct idle idle;
	struct path path;

	assert_int_equal(dependencies_make(trace, &deps), 0);
	assert_int_equal(path_windows_find(trace, &query, &windows), 0);
	assert_int_equal(idle_init(&idle, &deps), 0);
	path_report_init(&report, &deps);
	if (windows.count) {
		assert_int_equal(path_find(&deps, &windows.rows[0], &path), 0);
		assert_int_equal(path_report_add(&report, &windows, 0, &path), 0);
		assert_int_equal(report.total_ns,
				 tally_span(windows.rows[0].begin_ns, windows.rows[0].end_ns));
		path_release(&path);
		assert_int_equal(idle_add(&idle, &windows, 0), 0);
	}
	path_report_release(&report);
	idle_release(&idle);
	path_windows_release(&windows);
	dependencies_release(&deps);
}

/* Asks every question of this trace. */
static void use(const struct trace *trace)
{
	struct summary_totals totals = summary_count(trace);
	struct graph_analysis analysis;
	struct graph_overlap *overlaps;
	struct summary_table table;
	struct advice advice;

	assert_true(totals.kernels <= trace->activities_count);
	for (int by = SUMMARY_BY_KERNEL; by <= SUMMARY_BY_API; by++) {
		assert_int_equal(summary_make(trace, (enum summary_by)by, &table), 0);
		summary_release(&table);
	}
	assert_int_equal(graph_analysis_make(trace, NULL, &analysis), 0);
	assert_int_equal(graph_overlap_make(trace, &analysis, &overlaps), 0);
	free(overlaps);
	use_path(trace);
	graph_analysis_release(&analysis);
	assert_int_equal(advise(trace, &advice), 0);
	advice_release(&advice);
}

/* Returns whether the bytes were accepted as an undamaged recording. */
static bool passes(const void *bytes, size_t size)
{
	struct dagtap_error error = {0};
	struct trace *trace;
	bool closed;

	if (trace_open_memory("name", bytes, size, &trace, &error) < 0) {
		assert_int_equal(strncmp(error.message, "name: ", 6), 0);
		assert_null(strchr(error.message, '\n'));
		return false;
	}
	use(trace);
	closed = ledger_is_closed(trace);
	trace_close(trace);
	return closed;
}

static void sound_spool_passes(void **state)
{
	struct scene scene;

	make_scene(&scene);
	assert_true(passes(scene.image, scene_bytes(&scene)));
	scene_release(&scene);
}

/* Both nodes of a graph hold the graph itself: who followed them all would take 2^64 steps. */
static void a_graph_inside_itself_is_entered_once(void **state)
{
	const struct record_graph graph = {.graph_id = 7, .node_count = 2, .parent_graph_id = 7};
	const struct record_graph_node node = {
		.graph_id = 7, .type = RECORD_NODE_CHILD, .child_graph_id = 7};
	const struct record_graph_exec exec = {.exec_id = 31, .graph_id = 7};
	const struct record_cuda_stream stream = {.context = 1};
	const struct record_cuda_kernel kernel = {
		.start = 1, .end = 2, .node = 31ull << 32, .graph = 31, .context = 1};
	struct scene scene;

	scene_init(&scene, 1);
	scene_put(&scene, 0, RECORD_GRAPH, 0, &graph, sizeof(graph));
	for (uint32_t i = 0; i < 2; i++)
		scene_put(&scene, 0, RECORD_GRAPH_NODE, i, &node, sizeof(node));
	scene_put(&scene, 0, RECORD_GRAPH_EXEC, 0, &exec, sizeof(exec));
	scene_put(&scene, 0, RECORD_CUDA_STREAM, 0, &stream, sizeof(stream));
	scene_put(&scene, 0, RECORD_CUDA_KERNEL, 0, &kernel, sizeof(kernel));
	scene_close(&scene);
	passes(scene.image, scene_bytes(&scene));
	scene_release(&scene);
}

static void flip_each(struct scene *scene, size_t first, size_t stop, size_t step)
{
	for (size_t i = first; i < stop; i += step * TEST_BYTE_STEP) {
		scene->image[i] ^= 0x41;
		if (passes(scene->image, scene_bytes(scene)))
			fail_msg("byte %zu changed and nobody saw it", i);
		scene->image[i] ^= 0x41;
	}
}

static void flipped_byte_is_found_wherever_a_sum_covers_it(void **state)
{
	struct scene scene;
	const struct spool_chunk *chunks;

	make_scene(&scene);
	chunks = (const struct spool_chunk *)(scene.image + SPOOL_CHUNK_OFFSET);
	flip_each(&scene, 0, offsetof(struct spool_header, fixed_crc), 7);
	flip_each(&scene, SPOOL_HEADER_BYTES, WRITERS_IN_USE, 5);
	for (uint32_t i = 0; i < scene.chunks; i++) {
		size_t start = SPOOL_CHUNK_OFFSET + (size_t)i * SPOOL_CHUNK_BYTES;

		flip_each(&scene, start, start + offsetof(struct spool_chunk, reserved), 1);
		flip_each(&scene, start + SPOOL_CHUNK_HEAD_BYTES, start + chunks[i].used_bytes, 3);
	}
	scene_release(&scene);
}

/* Where no checksum covers a change it may change any value, but nothing may break. */
static void changed_records_of_a_killed_process_break_nothing(void **state)
{
	struct scene scene;
	struct spool_chunk *chunks;

	make_scene(&scene);
	((struct spool_header *)scene.image)->live.state = SPOOL_OPEN;
	chunks = (struct spool_chunk *)(scene.image + SPOOL_CHUNK_OFFSET);
	for (uint32_t i = 0; i < scene.chunks; i++) {
		uint32_t used = chunks[i].used_bytes;
		unsigned char *bytes = (unsigned char *)&chunks[i];

		chunks[i].state = SPOOL_CHUNK_OPEN;
		chunks[i].used_bytes = 0;
		for (uint32_t at = SPOOL_CHUNK_HEAD_BYTES; at < used; at += TEST_BYTE_STEP) {
			unsigned char before = bytes[at];

			bytes[at] = at % 2 ? 0xff : (unsigned char)(before + 1);
			passes(scene.image, scene_bytes(&scene));
			bytes[at] = before;
		}
	}
	scene_release(&scene);
}

static void cut_spool_is_found(void **state)
{
	struct scene scene;

	make_scene(&scene);
	for (size_t size = 0; size < scene_bytes(&scene); size += 4093) {
		unsigned char *copy = aligned_alloc(8, (size + 8) & ~(size_t)7);

		memcpy(copy, scene.image, size);
		assert_false(passes(copy, size));
		free(copy);
	}
	scene_release(&scene);
}

static void missing_chunk_is_found(void **state)
{
	struct scene scene;

	make_scene(&scene);
	memset(scene.image + SPOOL_CHUNK_OFFSET, 0, SPOOL_CHUNK_BYTES);
	assert_false(passes(scene.image, scene_bytes(&scene)));
	scene_release(&scene);
}

static void other_files_are_refused(void **state)
{
	static const char text[] = "this is not a trace, and long enough to be mistaken for one, "
				   "had somebody looked at its size alone\n";
	unsigned char noise[4096];
	uint64_t random = test_seed();

	for (size_t i = 0; i < sizeof(noise); i++) {
		random = random * 6364136223846793005ull + 1;
		noise[i] = (unsigned char)(random >> 56);
	}
	assert_false(passes("", 0));
	assert_false(passes(text, sizeof(text)));
	assert_false(passes(noise, sizeof(noise)));
}

/* A spool's chunks may be in any order. */
static void order_of_chunks_does_not_matter(void **state)
{
	struct scene scene;
	struct trace *first, *second;
	unsigned char *kept = malloc(SPOOL_CHUNK_BYTES);
	unsigned char *chunks;

	make_scene(&scene);
	first = scene_load(&scene);
	chunks = scene.image + SPOOL_CHUNK_OFFSET;
	memcpy(kept, chunks, SPOOL_CHUNK_BYTES);
	memcpy(chunks, chunks + SPOOL_CHUNK_BYTES, SPOOL_CHUNK_BYTES);
	memcpy(chunks + SPOOL_CHUNK_BYTES, kept, SPOOL_CHUNK_BYTES);
	second = scene_load(&scene);
	assert_int_equal(first->activities_count, second->activities_count);
	assert_memory_equal(first->activities, second->activities,
			    first->activities_count * sizeof(*first->activities));
	assert_memory_equal(first->calls, second->calls,
			    first->calls_count * sizeof(*first->calls));
	assert_int_equal(first->strings_count, second->strings_count);
	assert_true(ledger_is_closed(second));
	trace_close(first);
	trace_close(second);
	free(kept);
	scene_release(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sound_spool_passes),
		cmocka_unit_test(flipped_byte_is_found_wherever_a_sum_covers_it),
		cmocka_unit_test(changed_records_of_a_killed_process_break_nothing),
		cmocka_unit_test(cut_spool_is_found),
		cmocka_unit_test(a_graph_inside_itself_is_entered_once),
		cmocka_unit_test(missing_chunk_is_found),
		cmocka_unit_test(other_files_are_refused),
		cmocka_unit_test(order_of_chunks_does_not_matter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The host times of records: which types have one, and what the end of a killed process and the
 * index of a pack take from them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pack_memory.h"
#include "record/record_check.h"
#include "scene.h"
#include "trace/pack/pack_section.h"
#include "trace/record_facts.h"

#define LATEST_NS 2000000000 /* later than all that a scene begins with */

/* By type: where the record has its last host time (docs/format/spool.md); 0: nowhere. */
static const size_t time_at[RECORD_TYPE_COUNT] = {
#define NS(id, structure) [RECORD_##id] = offsetof(struct structure, ns)
	NS(THREAD, record_thread),
	NS(KERNEL, record_kernel),
	NS(KERNEL_GONE, record_kernel_gone),
	NS(FUNCTION, record_function),
	NS(QUEUE, record_queue),
	NS(QUEUE_COUNT, record_queue_count),
	NS(DISPATCH, record_dispatch),
	NS(BARRIER, record_barrier),
	NS(COPY, record_copy),
	[RECORD_API] = offsetof(struct record_api, end_ns),
	NS(SCOPE, record_scope),
	NS(SCOPE_END, record_scope_end),
	NS(GRAPH, record_graph),
	NS(GRAPH_NODE, record_graph_node),
	NS(GRAPH_EXEC, record_graph_exec),
	NS(GRAPH_EXEC_UPDATE, record_graph_node),
	NS(GRAPH_EXEC_GONE, record_graph_exec_gone),
	NS(NODE_RECORDED, record_node_recorded),
	[RECORD_ANCHOR] = offsetof(struct record_anchor, host_ns),
	NS(WITNESS, record_witness),
	NS(SOURCE, record_source),
	NS(NOTE, record_note),
	NS(END, record_end),
	NS(CUDA_GRAPH, record_cuda_graph),
	NS(CUDA_UPDATE, record_cuda_update),
	NS(QUEUE_TAKEN, record_queue_taken),
	NS(FAULT, record_fault),
	NS(CUDA_STREAM_HANDLE, record_cuda_stream_handle),
	NS(MEMORY, record_memory),
#undef NS
};

static void other_fields_are_no_times(void **state)
{
	/* Behind the last type: one that this reader does not know. */
	for (uint16_t type = RECORD_NONE + 1; type <= RECORD_TYPE_COUNT; type++) {
		size_t at = type < RECORD_TYPE_COUNT ? time_at[type] : 0;
		uint64_t words[64];

		memset(words, 0xff, sizeof(words));
		words[at / 8] = LATEST_NS;
		*(struct record_header *)words = (struct record_header){.type = type};
		assert_int_equal(record_times((struct record_header *)words).last_ns,
				 at ? LATEST_NS : 0);
	}
}

static void a_call_has_the_times_of_its_begin_and_its_end(void **state)
{
	struct record_api api = {.header.type = RECORD_API, .begin_ns = 5, .end_ns = 9};

	assert_int_equal(record_times(&api.header).first_ns, 5);
	assert_int_equal(record_times(&api.header).last_ns, 9);
}

/* A scene whose process was killed after it wrote a record of TYPE, the only one of LATEST_NS. */
static void make_killed(struct scene *scene, enum record_type type)
{
	uint64_t words[64] = {0};

	scene_again(scene);
	words[time_at[type] / 8] = LATEST_NS;
	scene_put(scene, 0, type, 0, words, record_shapes[type].least_bytes);
}

static void killed_process_ends_with_its_latest_time(void **state)
{
	struct scene *scene = *state;

	for (enum record_type type = RECORD_NONE; type < RECORD_TYPE_COUNT; type++) {
		if (!time_at[type])
			continue;
		make_killed(scene, type);
		assert_int_equal(scene_take(scene)->processes[0].end_ns, LATEST_NS);
	}
}

/* Returns the latest time in the pack's index. */
static uint64_t latest_in_index(const struct pack_memory *memory)
{
	struct pack_end end;
	uint64_t latest_ns = 0;

	memcpy(&end, memory->bytes + memory->size - sizeof(end), sizeof(end));
	for (uint32_t i = 0; i < end.block_count; i++) {
		struct pack_entry entry;

		memcpy(&entry,
		       memory->bytes + end.facts_offset + end.facts_bytes + i * end.entry_bytes,
		       sizeof(entry));
		if (entry.last_ns > latest_ns)
			latest_ns = entry.last_ns;
	}
	return latest_ns;
}

static void index_of_a_pack_has_the_latest_time(void **state)
{
	struct scene *scene = *state;

	for (enum record_type type = RECORD_NONE; type < RECORD_TYPE_COUNT; type++) {
		struct dagtap_error error;
		struct spool_reader *spool;
		struct pack_memory memory;

		if (!time_at[type])
			continue;
		make_killed(scene, type);
		assert_int_equal(spool_reader_open_memory(scene->image, scene_bytes(scene), "scene",
							  &spool, &error),
				 0);
		memory = pack_memory_make(spool);
		spool_reader_close(spool);
		assert_int_equal(latest_in_index(&memory), LATEST_NS);
		free(memory.bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(other_fields_are_no_times),
		cmocka_unit_test(a_call_has_the_times_of_its_begin_and_its_end),
		SCENE_CASE(killed_process_ends_with_its_latest_time),
		SCENE_CASE(index_of_a_pack_has_the_latest_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* A packed process has the content of its spool, or reports what it no longer has. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <xxhash.h>

#include "../launched.h"
#include "pack_memory.h"
#include "scene.h"
#include "spool_fixture.h"
#include "trace/pack/pack_section.h"

static struct spool_reader *open_scene(const struct scene *scene)
{
	struct dagtap_error error;
	struct spool_reader *reader;

	if (spool_reader_open_memory(scene->image, scene_bytes(scene), "scene", &reader, &error))
		fail_msg("%s", error.message);
	return reader;
}

static void make_scene(struct scene *scene)
{
	static const uint64_t functions[] = {0x101, 0x102, 0x101};
	static const uint32_t grids[] = {4, 4, 8};

	scene_init(scene, 1);
	scene_graph(scene, 7, 31, 3, functions, grids);
	for (uint64_t replay = 0; replay < 300; replay++) {
		uint64_t cid = scene_call(scene, SCENE_GRAPH_LAUNCH, 3, (uint64_t[]){1, 0x5000}, 2);

		scene_graph_launch(scene, 31, replay, cid);
		for (uint32_t i = 0; i < 3; i++)
			scene_run(scene, cid, i, (uint32_t)functions[i] - 0x100, grids[i]);
	}
}

static void expect_same(const struct scene *scene)
{
	struct spool_reader *spool = open_scene(scene);
	struct pack_memory memory = pack_memory_make(spool);
	struct pack_reader *pack = pack_memory_open(&memory);

	assert_true(memory.progress_calls > 0);
	pack_memory_assert_same(spool, pack);
	pack_reader_rewind(pack);
	pack_memory_assert_same(spool, pack);
	pack_reader_close(pack);
	spool_reader_close(spool);
	free(memory.bytes);
}

static uint64_t damages_of(const struct scene *scene)
{
	struct spool_reader *spool = open_scene(scene);
	uint64_t count = fixture_damage_count(spool);

	spool_reader_close(spool);
	return count;
}

/* ---- the spool's content ---- */

static void closed_spool_comes_back(void **state)
{
	struct scene scene;

	make_scene(&scene);
	scene_drop(&scene, RECORD_CLASS_API, RECORD_DROP_FULL);
	scene_close(&scene);
	assert_int_equal(damages_of(&scene), 0);
	expect_same(&scene);
	scene_release(&scene);
}

static void killed_process_comes_back(void **state)
{
	struct scene scene;

	make_scene(&scene);
	expect_same(&scene);
	scene_release(&scene);
}

static void spool_without_records_comes_back(void **state)
{
	struct spool_header *header;
	struct scene scene;

	scene_init(&scene, 1);
	header = (struct spool_header *)scene.image;
	memset(scene.image + SPOOL_CHUNK_OFFSET, 0, SCENE_BYTES - SPOOL_CHUNK_OFFSET);
	memset(scene.image + SPOOL_HEADER_BYTES, 0, SPOOL_WRITER_BYTES * SCENE_WRITERS);
	header->live.writers_used = 0;
	header->live.chunks_taken = 0;
	expect_same(&scene);
	scene_release(&scene);
}

static void damaged_spool_keeps_its_damages_and_the_rest(void **state)
{
	struct scene scene;

	make_scene(&scene);
	scene_close(&scene);
	scene.image[SPOOL_CHUNK_OFFSET + 2 * SPOOL_CHUNK_BYTES + 5000] ^= 1;
	assert_int_equal(damages_of(&scene), 1);
	expect_same(&scene);
	memset(scene.image + SPOOL_CHUNK_OFFSET + SPOOL_CHUNK_BYTES, 0, SPOOL_CHUNK_BYTES);
	assert_true(damages_of(&scene) > 1);
	expect_same(&scene);
	scene_release(&scene);
}

static void unknown_records_stay(void **state)
{
	static const uint64_t words[12] = {0, 1, 2, 3};
	struct record_header *header;
	struct spool_reader *spool;
	struct scene scene;

	make_scene(&scene);
	for (int i = 0; i < 40; i++) {
		scene_put(&scene, 1, RECORD_NOTE, 0, words, sizeof(words));
		header = (struct record_header *)((char *)scene.chunk[1] + scene.used[1] -
						  sizeof(words));
		header->type = RECORD_TYPE_COUNT + 7;
	}
	spool = open_scene(&scene);
	assert_int_equal(spool_reader_ledger(spool)->unknown, 40);
	spool_reader_close(spool);
	expect_same(&scene);
	scene_release(&scene);
}

#define WRITERS	      3
#define MANY_RECORDS  60000
#define RECORDS_APART 7

/*
 * More than one block for each writer, their chunks interleaved in the file; one writer stops
 * early.
 */
static void many_chunks_of_several_writers_come_back(void **state)
{
	const struct fixture *fixture = *state;
	struct spooler *spooler = fixture_open_spool(fixture);
	struct writer *writers[WRITERS];
	struct spool_reader *spool;
	struct pack_memory memory, again;
	struct pack_reader *pack;

	for (int i = 0; i < WRITERS; i++)
		writers[i] = fixture_writer(spooler, "several");
	for (uint64_t i = 0; i < MANY_RECORDS; i++) {
		for (int w = 0; w < WRITERS; w++)
			if (w < 2 || i < MANY_RECORDS / RECORDS_APART)
				assert_true(fixture_put(writers[w], i * 3 + (uint64_t)w, i % 5));
		if (i % 1000 == 0)
			assert_true(spooler_service(spooler) >= 0);
	}
	assert_int_equal(spooler_close(spooler), 0);
	spool = fixture_read(fixture);
	memory = pack_memory_make(spool);
	again = pack_memory_make(spool);
	assert_int_equal(memory.size, again.size);
	assert_memory_equal(memory.bytes, again.bytes, again.size);
	pack = pack_memory_open(&memory);
	pack_memory_assert_same(spool, pack);
	pack_reader_close(pack);
	spool_reader_close(spool);
	spooler_release(spooler);
	free(memory.bytes);
	free(again.bytes);
}

static void counts_are_in_the_index(void **state)
{
	uint64_t counts[RECORD_TYPE_COUNT];
	struct pack_memory memory;
	struct spool_reader *spool;
	struct pack_reader *pack;
	struct scene scene;

	make_scene(&scene);
	spool = open_scene(&scene);
	memory = pack_memory_make(spool);
	pack = pack_memory_open(&memory);
	pack_reader_counts(pack, counts);
	assert_int_equal(counts[RECORD_DISPATCH], 900);
	assert_int_equal(counts[RECORD_DISPATCH_DONE], 900);
	assert_int_equal(counts[RECORD_GRAPH_LAUNCH], 300);
	assert_int_equal(counts[RECORD_NONE], 0);
	pack_reader_close(pack);
	spool_reader_close(spool);
	free(memory.bytes);
	scene_release(&scene);
}

struct packed_scene {
	struct scene scene;
	struct spool_reader *spool;
	struct pack_memory memory;
};

static void make_packed(struct packed_scene *packed)
{
	make_scene(&packed->scene);
	scene_close(&packed->scene);
	packed->spool = open_scene(&packed->scene);
	packed->memory = pack_memory_make(packed->spool);
}

static void release_packed(struct packed_scene *packed)
{
	spool_reader_close(packed->spool);
	free(packed->memory.bytes);
	scene_release(&packed->scene);
}

/* A copy of a batch. */
struct kept_batch {
	unsigned char *bytes;
	size_t size;
};

/*
 * Reads only the records of WANTED types; asserts that all that were packed are there and returns
 * their number.
 */
static uint64_t expect_wanted(struct pack_reader *pack, struct kept_batch *whole, uint64_t wanted)
{
	struct pack_batch batch;
	uint64_t count = 0;

	pack_reader_want(pack, wanted);
	pack_reader_rewind(pack);
	while (pack_reader_next(pack, &batch) > 0) {
		const unsigned char *have = batch.records;
		const unsigned char *want = whole[batch.order].bytes;

		assert_int_equal(batch.bytes, whole[batch.order].size);
		for (size_t at = 0; at < batch.bytes;) {
			const struct record_header *header =
				(const struct record_header *)(want + at);

			assert_memory_equal(have + at, want + at, 4);
			if (header->type == RECORD_THREAD || wanted >> header->type & 1) {
				assert_memory_equal(have + at, want + at, header->words * 8u);
				count++;
			}
			at += header->words * 8u;
		}
	}
	return count;
}

static void only_what_is_wanted_is_unpacked(void **state)
{
	struct kept_batch whole[SCENE_CHUNKS] = {{0}};
	uint64_t counts[RECORD_TYPE_COUNT];
	struct packed_scene packed;
	struct pack_reader *pack;
	struct pack_batch batch;

	make_packed(&packed);
	pack = pack_memory_open(&packed.memory);
	while (pack_reader_next(pack, &batch) > 0) {
		struct kept_batch *kept = &whole[batch.order];

		kept->bytes = malloc(batch.bytes);
		kept->size = batch.bytes;
		memcpy(kept->bytes, batch.records, batch.bytes);
	}
	pack_reader_counts(pack, counts);
	for (uint32_t type = 1; type < RECORD_TYPE_COUNT; type++) {
		uint64_t found = expect_wanted(pack, whole, (uint64_t)1 << type);

		assert_true(found >= counts[type] && found <= counts[type] + counts[RECORD_THREAD]);
		assert_true(counts[type] || found == 0);
	}
	pack_reader_want(pack, UINT64_MAX);
	pack_reader_rewind(pack);
	pack_memory_assert_same(packed.spool, pack);
	for (int i = 0; i < SCENE_CHUNKS; i++)
		free(whole[i].bytes);
	pack_reader_close(pack);
	release_packed(&packed);
}

static void full_disk_is_passed_on(void **state)
{
	struct pack_memory memory = {.room_left = 1000};
	struct pack_sink sink = pack_memory_sink(&memory);
	struct spool_reader *spool;
	struct scene scene;

	make_scene(&scene);
	spool = open_scene(&scene);
	assert_int_equal(pack_write(spool, &sink), -ENOSPC);
	spool_reader_close(spool);
	free(memory.bytes);
	scene_release(&scene);
}

/* ---- damage of the section ---- */

/*
 * Opens a copy that ends where its allocation ends, so that a read behind it is detected. NULL:
 * refused, with one line that names the file and a place in it.
 */
static struct pack_reader *try_open(const void *bytes, size_t size, void **ret_copy)
{
	void *copy = malloc(size ? size : 1);
	const struct pack_section section = {"packed", 1000, copy, size};
	struct dagtap_error error = {0};
	struct pack_reader *reader;
	int result;

	memcpy(copy, bytes, size);
	*ret_copy = copy;
	result = pack_reader_open(&section, &reader, &error);
	if (result == 0)
		return reader;
	assert_int_equal(result, -EINVAL);
	assert_int_equal(strncmp(error.message, "packed: offset ", 15), 0);
	assert_null(strchr(error.message, '\n'));
	assert_in_range(error.offset, 1000, 1000 + size);
	return NULL;
}

static void read_all(struct pack_reader *reader)
{
	struct pack_batch batch;
	int result;

	while ((result = pack_reader_next(reader, &batch)) > 0)
		assert_true(batch.bytes > 0);
	assert_int_equal(result, 0);
}

static void assert_block_is_reported(struct pack_reader *reader, const struct spool_ledger *whole)
{
	const struct spool_ledger *ledger = pack_reader_ledger(reader);
	const struct spool_damage *damages;
	uint64_t missing = 0, total;
	size_t kept;

	damages = pack_reader_damages(reader, &kept, &total);
	assert_int_equal(total, 1);
	assert_int_equal(damages[0].kind, SPOOL_DAMAGE_BLOCK);
	assert_true(damages[0].chunks > 0);
	for (int class = 0; class < RECORD_CLASS_COUNT; class ++) {
		assert_int_equal(ledger->found[class] + ledger->missing[class],
				 whole->found[class]);
		missing += ledger->missing[class];
	}
	assert_true(missing > 0);
}

static void every_flipped_byte_is_refused_or_told(void **state)
{
	struct packed_scene packed;
	uint64_t refused = 0, told = 0;

	make_packed(&packed);
	for (size_t i = 0; i < packed.memory.size; i++) {
		struct pack_reader *reader;
		void *copy;

		packed.memory.bytes[i] ^= 0x11;
		reader = try_open(packed.memory.bytes, packed.memory.size, &copy);
		if (reader) {
			assert_block_is_reported(reader, spool_reader_ledger(packed.spool));
			read_all(reader);
			told++;
		} else {
			refused++;
		}
		pack_reader_close(reader);
		free(copy);
		packed.memory.bytes[i] ^= 0x11;
	}
	assert_true(refused > 100 && told > 1000);
	release_packed(&packed);
}

static void every_cut_is_refused(void **state)
{
	struct packed_scene packed;
	void *copy;

	make_packed(&packed);
	for (size_t size = 0; size < packed.memory.size; size++) {
		assert_null(try_open(packed.memory.bytes, size, &copy));
		free(copy);
	}
	release_packed(&packed);
}

static struct pack_end *end_of(const struct pack_memory *memory)
{
	return (struct pack_end *)(memory->bytes + memory->size - sizeof(struct pack_end));
}

/* Corrects all checksums, as an attacker would. */
static void sum_again(const struct pack_memory *memory)
{
	struct pack_end end;
	unsigned char *index;

	memcpy(&end, end_of(memory), sizeof(end));
	index = memory->bytes + end.facts_offset + end.facts_bytes;
	for (uint32_t i = 0; i < end.block_count; i++) {
		struct pack_entry entry;

		memcpy(&entry, index + i * end.entry_bytes, sizeof(entry));
		if (entry.offset < memory->size && entry.stored_bytes < memory->size - entry.offset)
			entry.checksum =
				XXH3_64bits(memory->bytes + entry.offset, entry.stored_bytes);
		memcpy(index + i * end.entry_bytes, &entry, sizeof(entry));
	}
	end.checksum = XXH3_64bits(memory->bytes + end.facts_offset,
				   memory->size - end.facts_offset - 2 * sizeof(uint64_t));
	memcpy(end_of(memory), &end, sizeof(end));
}

/* Changes all bytes except the section's end, whose checksums could not be corrected. */
static void changed_bytes_with_right_sums_are_survived(void **state)
{
	struct packed_scene packed;
	unsigned char *whole;

	make_packed(&packed);
	whole = malloc(packed.memory.size);
	memcpy(whole, packed.memory.bytes, packed.memory.size);
	for (size_t i = 0; i < packed.memory.size - sizeof(struct pack_end); i += TEST_BYTE_STEP) {
		struct pack_reader *reader;
		void *copy;

		packed.memory.bytes[i] ^= (unsigned char)(1 << i % 8);
		sum_again(&packed.memory);
		reader = try_open(packed.memory.bytes, packed.memory.size, &copy);
		if (reader)
			read_all(reader);
		pack_reader_close(reader);
		free(copy);
		memcpy(packed.memory.bytes, whole, packed.memory.size);
	}
	free(whole);
	release_packed(&packed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(closed_spool_comes_back),
		cmocka_unit_test(killed_process_comes_back),
		cmocka_unit_test(spool_without_records_comes_back),
		cmocka_unit_test(damaged_spool_keeps_its_damages_and_the_rest),
		cmocka_unit_test(unknown_records_stay),
		cmocka_unit_test_setup_teardown(many_chunks_of_several_writers_come_back,
						fixture_setup, fixture_teardown),
		cmocka_unit_test(counts_are_in_the_index),
		cmocka_unit_test(only_what_is_wanted_is_unpacked),
		cmocka_unit_test(full_disk_is_passed_on),
		cmocka_unit_test(every_flipped_byte_is_refused_or_told),
		cmocka_unit_test(every_cut_is_refused),
		cmocka_unit_test(changed_bytes_with_right_sums_are_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

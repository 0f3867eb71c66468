/* Packs spools into memory and compares: pack_memory.h. */
#include "pack_memory.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int put(void *context, const void *bytes, size_t size)
{
	struct pack_memory *memory = context;

	if (size > memory->room_left)
		return -ENOSPC;
	memory->room_left -= size;
	memory->bytes = realloc(memory->bytes, memory->size + size);
	assert_non_null(memory->bytes);
	memcpy(memory->bytes + memory->size, bytes, size);
	memory->size += size;
	return 0;
}

static void count_progress(void *context, uint64_t done, uint64_t total)
{
	struct pack_memory *memory = context;

	assert_true(done <= total);
	memory->progress_calls++;
}

struct pack_sink pack_memory_sink(struct pack_memory *memory)
{
	return (struct pack_sink){put, count_progress, memory};
}

struct pack_memory pack_memory_make(const struct spool_reader *spool)
{
	struct pack_memory memory = {.room_left = SIZE_MAX};
	struct pack_sink sink = pack_memory_sink(&memory);

	assert_int_equal(pack_write(spool, &sink), 0);
	return memory;
}

struct pack_reader *pack_memory_open(const struct pack_memory *memory)
{
	const struct pack_section section = {"packed", 1000, memory->bytes, memory->size};
	struct dagtap_error error;
	struct pack_reader *reader;

	if (pack_reader_open(&section, &reader, &error) < 0)
		fail_msg("%s", error.message);
	return reader;
}

static void assert_same_info(const struct spool_info *a, const struct spool_info *b)
{
	assert_int_equal(a->closed, b->closed);
	assert_int_equal(a->pid, b->pid);
	assert_int_equal(a->ppid, b->ppid);
	assert_int_equal(a->session, b->session);
	assert_int_equal(a->session_id, b->session_id);
	assert_int_equal(a->start_ns, b->start_ns);
	assert_int_equal(a->start_realtime_ns, b->start_realtime_ns);
	assert_int_equal(a->end_ns, b->end_ns);
	assert_string_equal(a->host, b->host);
	assert_string_equal(a->exe, b->exe);
	assert_int_equal(a->cmdline_bytes, b->cmdline_bytes);
	assert_memory_equal(a->cmdline, b->cmdline, a->cmdline_bytes);
}

static void assert_same_damages(const struct spool_reader *spool, const struct pack_reader *pack)
{
	size_t kept, packed_kept;
	uint64_t total, packed_total;
	const struct spool_damage *damages = spool_reader_damages(spool, &kept, &total);
	const struct spool_damage *packed = pack_reader_damages(pack, &packed_kept, &packed_total);

	assert_int_equal(total, packed_total);
	assert_int_equal(kept, packed_kept);
	for (size_t i = 0; i < kept; i++) {
		assert_int_equal(damages[i].kind, packed[i].kind);
		assert_int_equal(damages[i].writer, packed[i].writer);
		assert_int_equal(damages[i].offset, packed[i].offset);
		assert_int_equal(damages[i].chunks, packed[i].chunks);
		assert_string_equal(damages[i].cause, packed[i].cause);
	}
}

/* The records of one writer in sequence. */
struct stream {
	unsigned char *bytes;
	size_t size;
};

static void add(struct stream *stream, const void *bytes, size_t size)
{
	if (size == 0)
		return;
	stream->bytes = realloc(stream->bytes, stream->size + size);
	assert_non_null(stream->bytes);
	memcpy(stream->bytes + stream->size, bytes, size);
	stream->size += size;
}

static void read_spool(const struct spool_reader *spool, struct stream *streams)
{
	for (uint32_t i = 0; i < spool_reader_chunk_count(spool); i++) {
		struct spool_stretch stretch;

		spool_reader_stretch(spool, i, &stretch);
		add(&streams[stretch.writer], stretch.records, stretch.bytes);
	}
}

static void read_pack(struct pack_reader *pack, struct stream *streams)
{
	uint32_t orders[SPOOL_WRITER_COUNT] = {0};
	struct pack_batch batch;
	int result;

	while ((result = pack_reader_next(pack, &batch)) > 0) {
		const struct record_header *first = batch.records;

		assert_true(batch.writer < pack_reader_writer_count(pack));
		assert_int_equal(first->type, RECORD_THREAD);
		assert_int_equal(first->tag, batch.tid);
		assert_true(batch.order + 1 > orders[batch.writer]);
		orders[batch.writer] = batch.order + 1;
		add(&streams[batch.writer], batch.records, batch.bytes);
	}
	assert_int_equal(result, 0);
}

void pack_memory_assert_same(const struct spool_reader *spool, struct pack_reader *pack)
{
	uint32_t writers = spool_reader_writer_count(spool);
	struct stream *want = calloc(writers + 1u, sizeof(*want));
	struct stream *have = calloc(writers + 1u, sizeof(*have));

	assert_same_info(spool_reader_info(spool), pack_reader_info(pack));
	assert_memory_equal(spool_reader_ledger(spool), pack_reader_ledger(pack),
			    sizeof(struct spool_ledger));
	assert_same_damages(spool, pack);
	assert_int_equal(writers, pack_reader_writer_count(pack));
	read_spool(spool, want);
	read_pack(pack, have);
	for (uint32_t i = 0; i < writers; i++) {
		assert_int_equal(want[i].size, have[i].size);
		if (want[i].size)
			assert_memory_equal(want[i].bytes, have[i].bytes, want[i].size);
		free(want[i].bytes);
		free(have[i].bytes);
	}
	free(want);
	free(have);
}

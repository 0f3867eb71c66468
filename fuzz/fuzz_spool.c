/*
 * Fuzzes the spool reader. The first byte says what the rest is:
 * - bit 0 set: the file itself. Clear: a recipe for a spool with a valid header, because a whole
 *   file has at least 640 KiB, too much for a fuzzer to explore.
 * - bit 1: the spool is closed.
 * - bit 2: all checksums are corrected.
 *
 * A recipe holds: writers used, chunks taken; for each of two writers its number of chunks and its
 * attempts by class; then chunks: writer, sequence, state, the length in words (16 bits), and that
 * many bytes.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "record/spool_reader.h"

#define CHUNKS_MOST 4
#define WRITERS	    2
#define SPOOL_BYTES (SPOOL_CHUNK_OFFSET + CHUNKS_MOST * SPOOL_CHUNK_BYTES)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct recipe {
	const uint8_t *data;
	size_t size;
};

static uint8_t take_byte(struct recipe *recipe)
{
	if (!recipe->size)
		return 0;
	recipe->size--;
	return *recipe->data++;
}

static size_t take_bytes(struct recipe *recipe, void *memory, size_t wanted)
{
	size_t taken = wanted < recipe->size ? wanted : recipe->size;

	if (taken)
		memcpy(memory, recipe->data, taken);
	recipe->data += taken;
	recipe->size -= taken;
	return taken;
}

static void make_header(struct spool_header *header, struct recipe *recipe, bool closed)
{
	spool_header_init(header);
	header->session_id = 42;
	header->fixed_crc = spool_fixed_crc(header);
	header->live.state = closed ? SPOOL_CLOSED : SPOOL_OPEN;
	header->live.writers_used = take_byte(recipe);
	header->live.chunks_taken = take_byte(recipe);
}

static void make_writer(struct spool_writer *spool_writer, struct recipe *recipe)
{
	spool_writer->chunks = take_byte(recipe);
	for (int class = 0; class < RECORD_CLASS_COUNT; class ++)
		spool_writer->counts.attempted[class] = take_byte(recipe);
}

static void make_chunk(struct spool_chunk *chunk, struct recipe *recipe, bool sums)
{
	size_t words;

	chunk->magic = SPOOL_CHUNK_MAGIC;
	chunk->session_id = 42;
	chunk->writer = take_byte(recipe);
	chunk->sequence = take_byte(recipe);
	chunk->state = take_byte(recipe);
	words = take_byte(recipe);
	words |= (size_t)take_byte(recipe) << 8;
	chunk->used_bytes = (uint32_t)(SPOOL_CHUNK_HEAD_BYTES + words * 8);
	if (words * 8 > sizeof(chunk->records))
		words = sizeof(chunk->records) / 8;
	take_bytes(recipe, chunk->records, words * 8);
	if (sums && chunk->used_bytes <= SPOOL_CHUNK_BYTES)
		chunk->crc = spool_chunk_crc(chunk, chunk->used_bytes);
}

static size_t make_spool(unsigned char *memory, struct recipe *recipe, uint8_t flags)
{
	struct spool_header *header = (struct spool_header *)memory;
	struct spool_writer *spool_writers = (struct spool_writer *)(memory + SPOOL_HEADER_BYTES);
	bool sums = flags & 4;
	size_t count = 0;

	make_header(header, recipe, flags & 2);
	for (int i = 0; i < WRITERS; i++)
		make_writer(&spool_writers[i], recipe);
	for (; recipe->size && count < CHUNKS_MOST; count++)
		make_chunk((struct spool_chunk *)(memory + SPOOL_CHUNK_OFFSET +
						  count * SPOOL_CHUNK_BYTES),
			   recipe, sums);
	if (sums && header->live.writers_used <= SPOOL_WRITER_COUNT)
		header->live.counts_crc =
			spool_counts_crc(&header->live, spool_writers, header->live.writers_used);
	return SPOOL_CHUNK_OFFSET + count * SPOOL_CHUNK_BYTES;
}

/* Reads every byte that the reader has declared valid. */
static void read_all(const struct spool_reader *reader)
{
	struct spool_cursor cursor;
	struct spool_record record;
	volatile unsigned char sum = 0;

	for (uint32_t w = 0; w < spool_reader_writer_count(reader); w++) {
		spool_cursor_init(&cursor, reader, w);
		while (spool_cursor_next(&cursor, &record)) {
			const unsigned char *bytes = (const unsigned char *)record.header;

			if (record.type == RECORD_NONE || record.type >= RECORD_TYPE_COUNT)
				abort();
			for (uint32_t i = 0; i < record.bytes; i++)
				sum = (unsigned char)(sum + bytes[i]);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct recipe recipe = {data, size};
	uint8_t flags = take_byte(&recipe);
	size_t length = flags & 1 ? recipe.size : SPOOL_BYTES;
	unsigned char *memory = calloc(1, length + 1);
	struct spool_reader *reader;
	struct dagtap_error error;

	if (flags & 1)
		take_bytes(&recipe, memory, length);
	else
		length = make_spool(memory, &recipe, flags);
	if (!spool_reader_open_memory(memory, length, "fuzz", &reader, &error)) {
		read_all(reader);
		spool_reader_close(reader);
	}
	free(memory);
	return 0;
}

/*
 * Fuzzes the reader of packed recordings. The first byte says what the rest is:
 * 0: a section
 * 1: a section whose checksums are corrected first
 * 2: a block, after four bytes with the number of words of its records
 * 3: records, which must be the same after packing and unpacking
 */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "trace/pack/pack.h"
#include "trace/pack/pack_block.h"
#include "trace/pack/pack_section.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint8_t seen;

static void look_at(const void *bytes, size_t size)
{
	const uint8_t *from = bytes;
	uint8_t sum = 0;

	for (size_t i = 0; i < size; i++)
		sum = (uint8_t)(sum + from[i]);
	seen = sum;
}

static void make_sums_right(uint8_t *bytes, size_t size)
{
	struct pack_end end;
	uint8_t *index;

	if (size < sizeof(end))
		return;
	memcpy(&end, bytes + size - sizeof(end), sizeof(end));
	if (end.facts_offset > size - sizeof(end) || end.entry_bytes < sizeof(struct pack_entry))
		return;
	index = bytes + end.facts_offset + end.facts_bytes;
	for (uint64_t i = 0; i < end.block_count; i++) {
		uint64_t at = end.facts_offset + end.facts_bytes + i * end.entry_bytes;
		struct pack_entry entry;

		if (at > size - sizeof(end) - sizeof(entry) || size < sizeof(end) + sizeof(entry))
			break;
		memcpy(&entry, index + i * end.entry_bytes, sizeof(entry));
		if (entry.offset > size || entry.stored_bytes > size - entry.offset)
			break;
		entry.checksum = XXH3_64bits(bytes + entry.offset, entry.stored_bytes);
		memcpy(index + i * end.entry_bytes, &entry, sizeof(entry));
	}
	end.checksum =
		XXH3_64bits(bytes + end.facts_offset, size - end.facts_offset - sizeof(end) +
							      offsetof(struct pack_end, checksum));
	memcpy(bytes + size - sizeof(end), &end, sizeof(end));
}

static void read_section(const void *bytes, size_t size)
{
	const struct pack_section section = {"fuzz", 0, bytes, size};
	const struct spool_damage *damages;
	struct pack_reader *reader;
	struct pack_batch batch;
	uint64_t total;
	size_t kept;

	if (pack_reader_open(&section, &reader, NULL) < 0)
		return;
	look_at(pack_reader_info(reader)->cmdline, pack_reader_info(reader)->cmdline_bytes);
	look_at(pack_reader_info(reader)->exe, strlen(pack_reader_info(reader)->exe));
	while (pack_reader_next(reader, &batch) > 0)
		look_at(batch.records, batch.bytes);
	/* Reads again, with some record types only, which the bytes choose. */
	pack_reader_want(reader, XXH3_64bits(bytes, size));
	pack_reader_rewind(reader);
	while (pack_reader_next(reader, &batch) > 0)
		look_at(batch.records, batch.bytes);
	damages = pack_reader_damages(reader, &kept, &total);
	for (size_t i = 0; i < kept; i++)
		look_at(damages[i].cause, strlen(damages[i].cause));
	pack_reader_close(reader);
}

static void read_block(const uint8_t *bytes, size_t size)
{
	struct pack_decoder *decoder;
	const void *records;
	uint32_t words;

	if (size < sizeof(words) || pack_decoder_create(&decoder) < 0)
		return;
	memcpy(&words, bytes, sizeof(words));
	words %= 1 << 14;
	if (pack_decode(decoder, bytes + sizeof(words), size - sizeof(words), words * 8u,
			&records) == 0)
		look_at(records, words * 8u);
	pack_decoder_destroy(decoder);
}

/* Corrects the records' lengths and leaves everything else. Returns how many bytes are records. */
static size_t make_records(uint8_t *bytes, size_t size)
{
	size_t at = 0;

	while (size - at >= 8) {
		uint16_t words = (uint16_t)(1 + bytes[at + 2] % 24);

		if (words * 8u > size - at)
			words = (uint16_t)((size - at) / 8);
		bytes[at + 1] &= 1;
		memcpy(bytes + at + 2, &words, sizeof(words));
		at += words * 8u;
	}
	return at;
}

static void go_round(uint8_t *bytes, size_t size)
{
	struct pack_encoder *encoder;
	struct pack_decoder *decoder;
	const void *block, *back;
	size_t block_size;

	size = make_records(bytes, size);
	if (size == 0 || pack_encoder_create(&encoder) < 0)
		return;
	if (pack_decoder_create(&decoder) == 0) {
		if (pack_encode(encoder, bytes, size, &block, &block_size) < 0 ||
		    pack_decode(decoder, block, block_size, size, &back) < 0 ||
		    memcmp(bytes, back, size) != 0)
			abort();
		pack_decoder_destroy(decoder);
	}
	pack_encoder_destroy(encoder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy;

	if (size < 2)
		return 0;
	copy = malloc(size - 1);
	if (!copy)
		return 0;
	memcpy(copy, data + 1, size - 1);
	switch (data[0] % 4) {
	case 1:
		make_sums_right(copy, size - 1);
		read_section(copy, size - 1);
		break;
	case 2:
		read_block(copy, size - 1);
		break;
	case 3:
		go_round(copy, size - 1);
		break;
	default:
		read_section(copy, size - 1);
	}
	free(copy);
	return 0;
}

/* Opens a PACKED section and returns its blocks as batches of records (pack.h). */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/workers.h"
#include "record/record_check.h"
#include "record/writer.h"
#include "trace/pack/pack.h"
#include "trace/pack/pack_block.h"
#include "trace/pack/pack_section.h"

#define DAMAGES_ADDED_MOST 64 /* damages of the section that are kept; further ones are counted */

/* The first record of a batch is a THREAD, which names the thread of the batch. */
#define WANT_THREAD ((uint64_t)1 << RECORD_THREAD)

struct block {
	struct pack_entry entry; /* from the index */
	uint32_t order;		 /* pack_batch.order */
	bool is_damaged;
};

struct pack_reader {
	struct pack_section section;
	char *file;
	struct pack_end end;
	const uint8_t *index; /* in the section's memory */
	struct block *blocks;
	uint32_t next; /* block of the next pack_reader_next */
	struct pack_facts facts;
	size_t damages_room;
	uint64_t wanted;			     /* bits 1 << type */
	struct pack_decoder *decoders[WORKERS_MOST]; /* by worker; NULL until needed */
};

/* ---- the section's end ---- */

static int refuse(const struct pack_reader *reader, uint64_t at, const char *cause,
		  struct dagtap_error *error)
{
	return dagtap_error_at(error, -EINVAL, reader->file, reader->section.offset + at, "%s",
			       cause);
}

static const char *find_end_fault(const struct pack_reader *reader)
{
	const struct pack_end *end = &reader->end;
	uint64_t room = reader->section.size - sizeof(*end);
	uint64_t index_bytes = (uint64_t)end->block_count * end->entry_bytes;

	if (memcmp(end->magic, PACK_MAGIC, sizeof(end->magic)) != 0)
		return "packed section has no end";
	if (end->facts_offset > room || room - end->facts_offset != end->facts_bytes + index_bytes)
		return "packed section's index is not where it should be";
	if (XXH3_64bits((const uint8_t *)reader->section.bytes + end->facts_offset,
			room - end->facts_offset + offsetof(struct pack_end, checksum)) !=
	    end->checksum)
		return "packed section's index is damaged (checksum)";
	if (end->version != PACK_VERSION)
		return "packed section of a version that this dagtap does not read";
	if (end->entry_bytes < sizeof(struct pack_entry) ||
	    end->type_count > (end->entry_bytes - sizeof(struct pack_entry)) / sizeof(uint32_t))
		return "packed section's index cannot be";
	return NULL;
}

static int read_end(struct pack_reader *reader, struct dagtap_error *error)
{
	const struct pack_section *section = &reader->section;
	const uint8_t *bytes = section->bytes;
	const char *fault;

	if (section->size < sizeof(reader->end))
		return refuse(reader, 0, "packed section is too short", error);
	memcpy(&reader->end, bytes + section->size - sizeof(reader->end), sizeof(reader->end));
	fault = find_end_fault(reader);
	if (fault)
		return refuse(reader, section->size - sizeof(reader->end), fault, error);
	reader->index = bytes + reader->end.facts_offset + reader->end.facts_bytes;
	return 0;
}

/* ---- damage ---- */

static uint32_t count_at(const struct pack_reader *reader, uint32_t block, uint32_t type)
{
	uint32_t count;

	memcpy(&count,
	       reader->index + (size_t)block * reader->end.entry_bytes + sizeof(struct pack_entry) +
		       type * sizeof(count),
	       sizeof(count));
	return count;
}

/* The facts count the records of all blocks as found. Counts those of a damaged block as
 * missing. */
static void move_to_missing(struct pack_reader *reader, uint32_t block)
{
	struct spool_ledger *ledger = &reader->facts.ledger;

	for (uint32_t type = 1; type < reader->end.type_count && type < RECORD_TYPE_COUNT; type++) {
		enum record_class class = record_class_of((enum record_type)type);
		uint64_t count = count_at(reader, block, type);

		if (count > ledger->found[class])
			count = ledger->found[class];
		ledger->found[class] -= count;
		ledger->missing[class] += count;
	}
}

static void lose_block(struct pack_reader *reader, uint32_t number, const char *cause)
{
	struct block *block = &reader->blocks[number];
	struct pack_facts *facts = &reader->facts;

	block->is_damaged = true;
	move_to_missing(reader, number);
	facts->damages_total++;
	if (facts->damages_kept == reader->damages_room)
		return;
	facts->damages[facts->damages_kept++] = (struct spool_damage){
		.kind = SPOOL_DAMAGE_BLOCK,
		.writer = block->entry.writer,
		.offset = reader->section.offset + block->entry.offset,
		.chunks = block->entry.chunks,
		.cause = cause,
	};
}

/* ---- index ---- */

static const char *find_entry_fault(const struct pack_entry *entry, uint64_t offset, uint64_t limit)
{
	if (entry->offset != offset || entry->stored_bytes > limit - offset)
		return "a block's place in the index is wrong";
	if (entry->record_bytes == 0 || entry->record_bytes > PACK_BLOCK_BYTES_MOST ||
	    entry->record_bytes % 8)
		return "a block's size in the index cannot be";
	if (entry->writer >= SPOOL_WRITER_COUNT)
		return "a block of a writer that cannot be";
	return NULL;
}

static void number_blocks(struct pack_reader *reader)
{
	uint32_t firsts[SPOOL_WRITER_COUNT + 1] = {0};

	for (uint32_t i = 0; i < reader->end.block_count; i++)
		firsts[reader->blocks[i].entry.writer + 1]++;
	for (uint32_t writer = 0; writer < SPOOL_WRITER_COUNT; writer++)
		firsts[writer + 1] += firsts[writer];
	for (uint32_t i = 0; i < reader->end.block_count; i++)
		reader->blocks[i].order = firsts[reader->blocks[i].entry.writer]++;
}

static int read_index(struct pack_reader *reader, struct dagtap_error *error)
{
	const uint8_t *bytes = reader->section.bytes;
	uint64_t offset = 0;

	reader->blocks = calloc(reader->end.block_count + 1u, sizeof(*reader->blocks));
	if (!reader->blocks)
		return dagtap_error_set(error, -ENOMEM, "%s: out of memory", reader->file);
	for (uint32_t i = 0; i < reader->end.block_count; i++) {
		struct pack_entry *entry = &reader->blocks[i].entry;
		const char *fault;

		memcpy(entry, reader->index + (size_t)i * reader->end.entry_bytes, sizeof(*entry));
		fault = find_entry_fault(entry, offset, reader->end.facts_offset);
		if (fault)
			return refuse(reader, offset, fault, error);
		if (XXH3_64bits(bytes + offset, entry->stored_bytes) != entry->checksum)
			lose_block(reader, i, "block does not match its checksum");
		offset += entry->stored_bytes;
	}
	if (offset != reader->end.facts_offset)
		return refuse(reader, offset, "bytes that belong to no block", error);
	number_blocks(reader);
	return 0;
}

/* ---- open and close ---- */

static int read_facts(struct pack_reader *reader, struct dagtap_error *error)
{
	const uint8_t *facts = (const uint8_t *)reader->section.bytes + reader->end.facts_offset;
	struct spool_damage *damages;
	int err = pack_facts_read(facts, reader->end.facts_bytes, &reader->facts);

	if (err == -EINVAL)
		return refuse(reader, reader->end.facts_offset,
			      "packed section's facts make no sense", error);
	if (err == 0) {
		reader->damages_room = reader->facts.damages_kept + DAMAGES_ADDED_MOST;
		damages =
			reallocarray(reader->facts.damages, reader->damages_room, sizeof(*damages));
		reader->facts.damages = damages ? damages : reader->facts.damages;
		err = damages ? 0 : -ENOMEM;
	}
	return err < 0 ? dagtap_error_set(error, err, "%s: out of memory", reader->file) : 0;
}

int pack_reader_open(const struct pack_section *section, struct pack_reader **ret_reader,
		     struct dagtap_error *error)
{
	struct pack_reader *reader = calloc(1, sizeof(*reader));
	int err = -ENOMEM;

	if (reader)
		reader->file = strdup(section->file);
	if (!reader || !reader->file) {
		pack_reader_close(reader);
		return dagtap_error_set(error, -ENOMEM, "%s: out of memory", section->file);
	}
	reader->section = *section;
	reader->wanted = PACK_WANT_ALL;
	err = read_end(reader, error);
	if (err == 0)
		err = read_facts(reader, error);
	if (err == 0)
		err = read_index(reader, error);
	if (err < 0) {
		pack_reader_close(reader);
		return err;
	}
	*ret_reader = reader;
	return 0;
}

void pack_reader_close(struct pack_reader *reader)
{
	if (!reader)
		return;
	for (unsigned i = 0; i < WORKERS_MOST; i++)
		pack_decoder_destroy(reader->decoders[i]);
	free(reader->facts.damages);
	free(reader->blocks);
	free(reader->file);
	free(reader);
}

/* ---- answers ---- */

const struct spool_info *pack_reader_info(const struct pack_reader *reader)
{
	return &reader->facts.info;
}

const struct spool_ledger *pack_reader_ledger(const struct pack_reader *reader)
{
	return &reader->facts.ledger;
}

uint32_t pack_reader_writer_count(const struct pack_reader *reader)
{
	return reader->facts.writer_count;
}

const struct spool_damage *pack_reader_damages(const struct pack_reader *reader, size_t *ret_kept,
					       uint64_t *ret_total)
{
	*ret_kept = reader->facts.damages_kept;
	*ret_total = reader->facts.damages_total;
	return reader->facts.damages;
}

void pack_reader_counts(const struct pack_reader *reader, uint64_t ret_counts[RECORD_TYPE_COUNT])
{
	memset(ret_counts, 0, RECORD_TYPE_COUNT * sizeof(*ret_counts));
	for (uint32_t i = 0; i < reader->end.block_count; i++) {
		if (reader->blocks[i].is_damaged)
			continue;
		for (uint32_t type = 0; type < reader->end.type_count; type++)
			ret_counts[type < RECORD_TYPE_COUNT ? type : RECORD_NONE] +=
				count_at(reader, i, type);
	}
}

/* ---- batches ---- */

/* Makes the same checks as the spool reader makes for the records of a chunk. Of a blank record
 * only the type is checked; pack_decode has checked the size. NULL: no fault. */
static const char *find_records_fault(const uint8_t *records, uint32_t bytes, uint64_t wanted)
{
	const struct record_header *first = (const struct record_header *)records;
	const char *fault = NULL;

	if (first->type != RECORD_THREAD)
		return "block does not begin with its thread";
	for (uint32_t at = 0; at < bytes && !fault;) {
		const struct record_header *header = (const struct record_header *)(records + at);

		if (!header->type)
			fault = "record of no type";
		else if (header->type >= 64 || wanted >> header->type & 1)
			fault = record_check(header, bytes - at);
		at += header->words * 8u;
	}
	return fault;
}

static struct pack_decoder *use_decoder(struct pack_reader *reader, unsigned worker)
{
	struct pack_decoder **decoder = &reader->decoders[worker];

	if (!*decoder && pack_decoder_create(decoder) < 0)
		return NULL;
	pack_decoder_want(*decoder, reader->wanted | WANT_THREAD);
	return *decoder;
}

/* 1: RET_BATCH is set; 0: the block is damaged, *RET_FAULT says how; -ENOMEM. */
static int read_block(const struct pack_reader *reader, struct pack_decoder *decoder,
		      uint32_t number, struct pack_batch *ret_batch, const char **ret_fault)
{
	const struct block *block = &reader->blocks[number];
	const struct pack_entry *entry = &block->entry;
	const uint8_t *stored = (const uint8_t *)reader->section.bytes + entry->offset;
	const char *fault = "block cannot be unpacked";
	const void *records;
	int err = pack_decode(decoder, stored, entry->stored_bytes, entry->record_bytes, &records);

	if (err == -ENOMEM)
		return err;
	if (err == 0)
		fault = find_records_fault(records, entry->record_bytes,
					   reader->wanted | WANT_THREAD);
	if (fault) {
		*ret_fault = fault;
		return 0;
	}
	*ret_batch = (struct pack_batch){
		.writer = entry->writer,
		.tid = ((const struct record_header *)records)->tag,
		.order = block->order,
		.records = records,
		.bytes = entry->record_bytes,
	};
	return 1;
}

void pack_reader_want(struct pack_reader *reader, uint64_t types)
{
	reader->wanted = types;
}

/* Whether the block holds records of a wanted type, by the counts of the index. */
static bool is_wanted(const struct pack_reader *reader, uint32_t block)
{
	uint32_t types = reader->end.type_count < 64 ? reader->end.type_count : 64;

	if (reader->wanted == PACK_WANT_ALL)
		return true;
	for (uint32_t type = 0; type < types; type++) {
		if (reader->wanted >> type & 1 && count_at(reader, block, type))
			return true;
	}
	return false;
}

uint32_t pack_reader_block_count(const struct pack_reader *reader)
{
	return reader->end.block_count;
}

int pack_reader_block(struct pack_reader *reader, unsigned worker, uint32_t number,
		      struct pack_batch *ret_batch, const char **ret_fault)
{
	struct pack_decoder *decoder;

	*ret_fault = NULL;
	if (reader->blocks[number].is_damaged || !is_wanted(reader, number))
		return 0;
	decoder = use_decoder(reader, worker);
	return decoder ? read_block(reader, decoder, number, ret_batch, ret_fault) : -ENOMEM;
}

void pack_reader_lose(struct pack_reader *reader, uint32_t number, const char *cause)
{
	lose_block(reader, number, cause);
}

int pack_reader_next(struct pack_reader *reader, struct pack_batch *ret_batch)
{
	int result = 0;

	while (result == 0 && reader->next < reader->end.block_count) {
		uint32_t number = reader->next++;
		const char *fault;

		result = pack_reader_block(reader, 0, number, ret_batch, &fault);
		if (fault)
			lose_block(reader, number, fault);
	}
	return result;
}

void pack_reader_rewind(struct pack_reader *reader)
{
	reader->next = 0;
}

/* Writes a PACKED section (pack.h). It goes through the chunks of the spool in file order and
 * collects the chunks of each writer into blocks. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "trace/pack/pack.h"
#include "trace/pack/pack_block.h"
#include "trace/pack/pack_section.h"
#include "trace/record_facts.h"

/* Chunks of one writer that make a block. */
#define BLOCK_CHUNKS 16

/* A writer's chunks are packed before they are BLOCK_CHUNKS if the first of them has waited for
 * this many chunks of the file. The limit keeps the blocks roughly ordered by time and limits the
 * memory that waiting chunks take. */
#define WINDOW_CHUNKS 1024

#define PROGRESS_CHUNKS 64 /* chunks between two progress reports */

/* The state of one writer. Chunks [packed, next), by chunk number, wait to be packed. */
struct block_series {
	uint32_t packed;
	uint32_t next;
	uint32_t waiting_since; /* position in the file of the first waiting chunk */
};

struct packer {
	const struct spool_reader *spool;
	const struct pack_sink *sink;
	struct pack_encoder *encoder;
	struct block_series *series; /* by writer */
	uint32_t chunk_count;
	uint8_t *records;	  /* of the block that is being made */
	struct pack_buffer index; /* the entries so far */
	uint32_t block_count;
	uint64_t offset; /* bytes of the section that were written */
};

_Static_assert(BLOCK_CHUNKS *SPOOL_CHUNK_BYTES <= PACK_BLOCK_BYTES_MOST,
	       "a block holds its chunks");

static void note_times(struct pack_entry *entry, const struct record_header *header)
{
	struct record_times times = record_times(header);

	if (times.first_ns && (!entry->first_ns || times.first_ns < entry->first_ns))
		entry->first_ns = times.first_ns;
	if (times.last_ns > entry->last_ns)
		entry->last_ns = times.last_ns;
}

/* Fills the counts by type, and the times and the record count of ENTRY. */
static void survey(const uint8_t *records, struct pack_entry *entry,
		   uint32_t counts[RECORD_TYPE_COUNT])
{
	for (uint32_t at = 0; at < entry->record_bytes;) {
		const struct record_header *header = (const void *)(records + at);

		counts[header->type < RECORD_TYPE_COUNT ? header->type : RECORD_NONE]++;
		note_times(entry, header);
		entry->record_count++;
		at += header->words * 8u;
	}
}

static int put(struct packer *packer, const void *bytes, size_t size)
{
	int err = size ? packer->sink->put(packer->sink->context, bytes, size) : 0;

	packer->offset += err == 0 ? size : 0;
	return err;
}

/* Copies the records of chunks [FIRST, END) and gives the chunks' pages back. */
static size_t gather_records(struct packer *packer, uint32_t first, uint32_t end)
{
	struct spool_stretch stretch;
	size_t size = 0;

	for (uint32_t i = first; i < end; i++) {
		spool_reader_stretch(packer->spool, i, &stretch);
		memcpy(packer->records + size, stretch.records, stretch.bytes);
		size += stretch.bytes;
		spool_reader_forget(packer->spool, i);
	}
	return size;
}

/* Packs all waiting chunks of WRITER into one block. */
static int put_block(struct packer *packer, uint32_t writer)
{
	struct block_series *block_series = &packer->series[writer];
	size_t size = gather_records(packer, block_series->packed, block_series->next);
	struct pack_entry entry = {
		.offset = packer->offset,
		.record_bytes = (uint32_t)size,
		.chunks = (uint32_t)(block_series->next - block_series->packed),
		.writer = writer,
	};
	uint32_t counts[RECORD_TYPE_COUNT] = {0};
	const void *block;
	size_t block_size;
	int err;

	block_series->packed = block_series->next;
	if (size == 0)
		return 0;
	err = pack_encode(packer->encoder, packer->records, size, &block, &block_size);
	if (err < 0)
		return err;
	survey(packer->records, &entry, counts);
	entry.stored_bytes = (uint32_t)block_size;
	entry.checksum = XXH3_64bits(block, block_size);
	pack_put_bytes(&packer->index, &entry, sizeof(entry));
	pack_put_bytes(&packer->index, counts, sizeof(counts));
	packer->block_count++;
	return packer->index.failed ? -ENOMEM : put(packer, block, block_size);
}

static uint32_t writer_at(const struct packer *packer, uint32_t place)
{
	struct spool_stretch stretch;

	spool_reader_stretch(packer->spool, spool_reader_chunk_in_file(packer->spool, place),
			     &stretch);
	return stretch.writer;
}

/* Takes the chunk at PLACE in the file. The file order is nearly the order in which the writers
 * began their chunks. The next chunk of the same writer starts to wait; a writer whose chunks fill
 * a block or have waited long enough is packed. */
static int step(struct packer *packer, uint32_t place)
{
	uint32_t writer = writer_at(packer, place);
	struct block_series *block_series = &packer->series[writer];
	uint32_t oldest;

	if (block_series->packed == block_series->next)
		block_series->waiting_since = place;
	block_series->next++;
	if (block_series->next - block_series->packed == BLOCK_CHUNKS)
		return put_block(packer, writer);
	if (place < WINDOW_CHUNKS)
		return 0;
	oldest = writer_at(packer, place - WINDOW_CHUNKS);
	block_series = &packer->series[oldest];
	if (block_series->packed < block_series->next &&
	    block_series->waiting_since <= place - WINDOW_CHUNKS)
		return put_block(packer, oldest);
	return 0;
}

static int put_blocks(struct packer *packer)
{
	uint32_t writers = spool_reader_writer_count(packer->spool);
	const struct pack_sink *sink = packer->sink;
	int err = 0;

	for (uint32_t i = 0; i < packer->chunk_count && err == 0; i++) {
		if (sink->progress && i % PROGRESS_CHUNKS == 0)
			sink->progress(sink->context, i, packer->chunk_count);
		err = step(packer, i);
	}
	for (uint32_t writer = 0; writer < writers && err == 0; writer++) {
		if (packer->series[writer].packed < packer->series[writer].next)
			err = put_block(packer, writer);
	}
	if (sink->progress && err == 0)
		sink->progress(sink->context, packer->chunk_count, packer->chunk_count);
	return err;
}

/* Writes the facts, the index and struct pack_end, with one checksum over all three. */
static int put_end(struct packer *packer)
{
	struct pack_buffer tail = {0};
	struct pack_end end = {
		.facts_offset = packer->offset,
		.block_count = packer->block_count,
		.entry_bytes = sizeof(struct pack_entry) + RECORD_TYPE_COUNT * sizeof(uint32_t),
		.type_count = RECORD_TYPE_COUNT,
		.version = PACK_VERSION,
		.magic = PACK_MAGIC,
	};
	int err = -ENOMEM;

	pack_facts_write(&tail, packer->spool);
	end.facts_bytes = (uint32_t)tail.size;
	pack_put_bytes(&tail, packer->index.bytes, packer->index.size);
	pack_put_bytes(&tail, &end, offsetof(struct pack_end, checksum));
	if (!tail.failed) {
		end.checksum = XXH3_64bits(tail.bytes, tail.size);
		pack_put_bytes(&tail, (const char *)&end + offsetof(struct pack_end, checksum),
			       sizeof(end) - offsetof(struct pack_end, checksum));
	}
	if (!tail.failed)
		err = put(packer, tail.bytes, tail.size);
	pack_buffer_release(&tail);
	return err;
}

/* The spool reader numbers chunks by (writer, sequence), so each block_series starts at its
 * writer's first chunk. */
static int make_series(struct packer *packer)
{
	uint32_t writers = spool_reader_writer_count(packer->spool);
	struct spool_stretch stretch;

	packer->chunk_count = spool_reader_chunk_count(packer->spool);
	packer->series = calloc(writers + 1u, sizeof(*packer->series));
	if (!packer->series)
		return -ENOMEM;
	for (uint32_t i = packer->chunk_count; i-- > 0;) {
		spool_reader_stretch(packer->spool, i, &stretch);
		packer->series[stretch.writer].packed = i;
		packer->series[stretch.writer].next = i;
	}
	return 0;
}

int pack_write(const struct spool_reader *spool, const struct pack_sink *sink)
{
	struct packer packer = {.spool = spool, .sink = sink};
	int err = pack_encoder_create(&packer.encoder);

	packer.records = malloc((size_t)BLOCK_CHUNKS * SPOOL_CHUNK_BYTES);
	if (err == 0)
		err = packer.records ? make_series(&packer) : -ENOMEM;
	if (err == 0)
		err = put_blocks(&packer);
	if (err == 0)
		err = put_end(&packer);
	pack_encoder_destroy(packer.encoder);
	pack_buffer_release(&packer.index);
	free(packer.records);
	free(packer.series);
	return err;
}

/* Gives out the records that spool_reader.c found well-formed: one by one, or by chunk. */
#include <sys/mman.h>

#include "record/spool_reader_state.h"

static void give_back(const struct spool_reader *r, uint64_t offset, uint64_t bytes)
{
	if (r->mapping && !r->cut)
		madvise((char *)r->mapping + offset, bytes, MADV_DONTNEED);
}

void reader_give_back_part(const struct spool_reader *r, uint32_t number)
{
	uint64_t first, end;

	reader_part_places(r, number, &first, &end);
	give_back(r, reader_offset_of(first), (end - first) * SPOOL_CHUNK_BYTES);
}

void reader_map_part(const struct spool_reader *r, uint32_t number)
{
	uint64_t first, end;

	reader_part_places(r, number, &first, &end);
	if (r->mapping)
		madvise((char *)r->mapping + reader_offset_of(first),
			(end - first) * SPOOL_CHUNK_BYTES, MADV_POPULATE_READ);
}

/* ---- cursor ---- */

/* Index of the first chunk whose writer is WRITER or higher. */
static size_t first_chunk_of(const struct spool_reader *r, uint64_t writer)
{
	size_t low = 0;
	size_t high = r->chunk_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (r->chunks[middle].writer < writer)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void spool_cursor_init(struct spool_cursor *cursor, const struct spool_reader *r, uint32_t writer)
{
	*cursor = (struct spool_cursor){
		.reader = r,
		.chunk = first_chunk_of(r, writer),
		.chunks_end = first_chunk_of(r, (uint64_t)writer + 1),
		.at = SPOOL_CHUNK_HEAD_BYTES,
	};
}

/* The record at the cursor, which moves to the next chunk where needed; NULL after the last
 * record. */
static const struct record_header *next_header(struct spool_cursor *cursor)
{
	const struct spool_reader *r = cursor->reader;

	while (cursor->chunk < cursor->chunks_end) {
		const struct found_chunk *chunk = &r->chunks[cursor->chunk];

		if (cursor->at < chunk->end)
			return (const struct record_header *)(r->bytes + chunk->offset +
							      cursor->at);
		cursor->chunk++;
		cursor->at = SPOOL_CHUNK_HEAD_BYTES;
	}
	return NULL;
}

bool spool_cursor_next(struct spool_cursor *cursor, struct spool_record *ret_record)
{
	const struct record_header *header;

	while ((header = next_header(cursor))) {
		const struct found_chunk *chunk = &cursor->reader->chunks[cursor->chunk];
		uint64_t offset = chunk->offset + cursor->at;

		cursor->at += header->words * 8u;
		if (header->type >= RECORD_TYPE_COUNT)
			continue;
		if (header->type == RECORD_THREAD)
			cursor->tid = header->tag;
		*ret_record = (struct spool_record){
			.header = header,
			.type = (enum record_type)header->type,
			.bytes = header->words * 8u,
			.tid = cursor->tid,
			.writer = chunk->writer,
			.offset = offset,
		};
		return true;
	}
	return false;
}

/* ---- chunks ---- */

uint32_t spool_reader_chunk_count(const struct spool_reader *r)
{
	return (uint32_t)r->chunk_count;
}

uint32_t spool_reader_chunk_in_file(const struct spool_reader *r, uint32_t place)
{
	return r->file_order[place];
}

uint32_t spool_reader_step_count(const struct spool_reader *r)
{
	return (uint32_t)((r->places + KEEP_CHUNKS - 1) / KEEP_CHUNKS);
}

/* Number of chunks before PLACE in the file. */
static uint32_t chunks_before(const struct spool_reader *r, uint64_t place)
{
	uint64_t offset = reader_offset_of(place);
	uint32_t low = 0, high = (uint32_t)r->chunk_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (r->chunks[r->file_order[middle]].offset < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct spool_step spool_reader_step(const struct spool_reader *r, uint32_t number)
{
	uint64_t first, end;

	reader_part_places(r, number, &first, &end);
	return (struct spool_step){chunks_before(r, first), chunks_before(r, end)};
}

struct spool_step spool_reader_step_begin(const struct spool_reader *r, uint32_t number)
{
	reader_map_part(r, number);
	return spool_reader_step(r, number);
}

void spool_reader_step_end(const struct spool_reader *r, uint32_t number)
{
	reader_give_back_part(r, number);
}

void reader_fill_stretch(const struct spool_reader *r, const struct found_chunk *found,
			 struct spool_stretch *ret_stretch)
{
	*ret_stretch = (struct spool_stretch){
		.writer = found->writer,
		.order = (uint64_t)found->writer << 32 | found->sequence,
		.types = found->types,
		.records = reader_chunk_at(r, found->offset)->records,
		.bytes = found->end ? found->end - SPOOL_CHUNK_HEAD_BYTES : 0,
	};
}

void spool_reader_stretch(const struct spool_reader *r, uint32_t chunk,
			  struct spool_stretch *ret_stretch)
{
	reader_fill_stretch(r, &r->chunks[chunk], ret_stretch);
}

void spool_reader_forget(const struct spool_reader *r, uint32_t chunk)
{
	give_back(r, r->chunks[chunk].offset, SPOOL_CHUNK_BYTES);
}

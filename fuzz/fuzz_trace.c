/*
 * Fuzzes everything behind the spool reader with arbitrary records: the model, the analyses, the
 * exporters. Bit 0 of the first byte says whether the process was killed; the rest are the records
 * of one chunk, as they follow the chunk's own THREAD record in a spool.
 */
#include <stdlib.h>
#include <string.h>

#include "ask_everything.h"
#include "record/spool.h"
#include "trace/load.h"

#define SESSION	    42
#define SPOOL_BYTES (SPOOL_CHUNK_OFFSET + SPOOL_CHUNK_BYTES)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void make_header(struct spool_header *header)
{
	spool_header_init(header);
	header->session_id = SESSION;
	header->fixed_crc = spool_fixed_crc(header);
	header->live.writers_used = 1;
	header->live.chunks_ready = 1;
	header->live.chunks_taken = 1;
	header->live.state = SPOOL_OPEN;
}

static void make_chunk(struct spool_chunk *chunk, const uint8_t *data, size_t size)
{
	const struct record_header thread = {RECORD_THREAD, sizeof(struct record_thread) / 8, 10};
	size_t room = sizeof(chunk->records) - sizeof(struct record_thread);

	chunk->magic = SPOOL_CHUNK_MAGIC;
	chunk->session_id = SESSION;
	chunk->state = SPOOL_CHUNK_OPEN;
	memcpy(chunk->records, &thread, sizeof(thread));
	memcpy(chunk->records + sizeof(struct record_thread), data, size < room ? size : room);
}

static void close_spool(struct spool_header *header, struct spool_chunk *chunk, size_t size)
{
	const struct spool_writer *spool_writers = (const struct spool_writer *)(header + 1);
	size_t used = SPOOL_CHUNK_HEAD_BYTES + sizeof(struct record_thread) + (size & ~(size_t)7);

	chunk->used_bytes = (uint32_t)(used < SPOOL_CHUNK_BYTES ? used : SPOOL_CHUNK_BYTES);
	chunk->crc = spool_chunk_crc(chunk, chunk->used_bytes);
	chunk->state = SPOOL_CHUNK_SEALED;
	header->live.counts_crc = spool_counts_crc(&header->live, spool_writers, 1);
	header->live.state = SPOOL_CLOSED;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned char *image;
	struct trace *trace;

	image = calloc(1, SPOOL_BYTES);
	if (size == 0 || !image) {
		free(image);
		return 0;
	}
	make_header((struct spool_header *)image);
	((struct spool_writer *)(image + SPOOL_HEADER_BYTES))->chunks = 1;
	make_chunk((struct spool_chunk *)(image + SPOOL_CHUNK_OFFSET), data + 1, size - 1);
	if (!(data[0] & 1))
		close_spool((struct spool_header *)image,
			    (struct spool_chunk *)(image + SPOOL_CHUNK_OFFSET), size - 1);
	if (trace_open_memory("fuzz", image, SPOOL_BYTES, &trace, NULL) == 0) {
		ask_everything(trace);
		trace_close(trace);
	}
	free(image);
	return 0;
}

/*
 * Writes a spool file (docs/format/spool.md) from one thread that plays all threads of a program.
 * The writers' chunks lie in the order in which they were taken. Unlike a recorded spool the file
 * contains nothing of the running process, so the same records give the same bytes.
 *
 * spool_file_create(path, &identity, &file); stream = spool_file_stream(file, &thread);
 * stream->now_ns = ...; record = spool_stream_put(stream, RECORD_API, bytes, function); ...fill all
 * but the header... spool_file_close(file, end_ns);
 *
 * spool_file_close reports failed writes.
 */
#ifndef DAGTAP_BENCH_SPOOL_FILE_H
#define DAGTAP_BENCH_SPOOL_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "record/spool.h"
#include "record/writer.h"

#define SPOOL_FILE_STREAMS_MOST 32

struct spool_file;

struct spool_file_identity {
	uint32_t pid;
	uint64_t session_id;
	uint64_t start_ns;
	uint64_t start_realtime_ns;
	const char *host;
	const char *exe;
	const char *cmdline; /* arguments, each ended by a zero byte */
	uint32_t cmdline_bytes;
};

/* One writer and its current chunk. */
struct spool_stream {
	struct spool_file *file;
	struct spool_chunk *chunk;
	uint32_t used_bytes; /* of the chunk */
	uint32_t spool_writer;
	uint32_t sequence; /* of the next chunk */
	struct writer_thread thread;
	uint64_t now_ns; /* set by the caller; the time of the THREAD records */
	uint64_t attempted[RECORD_CLASS_COUNT];
};

/* Fails with -EEXIST when PATH exists. */
int spool_file_create(const char *path, const struct spool_file_identity *identity,
		      struct spool_file **ret_file);

/* Adds a writer, at most SPOOL_FILE_STREAMS_MOST of them; FILE owns it. */
struct spool_stream *spool_file_stream(struct spool_file *file, const struct writer_thread *thread);

/* Seals all chunks and frees FILE. Returns 0, or the first error of any write. */
int spool_file_close(struct spool_file *file, uint64_t end_ns);

/* Seals the stream's chunk and begins the next one with a THREAD record. */
void spool_stream_turn(struct spool_stream *stream);

/* Returns zeroed memory for a record; its header is set. */
static inline void *spool_stream_put(struct spool_stream *stream, enum record_type type,
				     size_t bytes, uint32_t tag)
{
	uint32_t size = (uint32_t)(bytes + 7) & ~7u;
	struct record_header *header;

	if (stream->used_bytes + size > SPOOL_CHUNK_BYTES)
		spool_stream_turn(stream);
	header = (struct record_header *)((char *)stream->chunk + stream->used_bytes);
	stream->used_bytes += size;
	stream->attempted[record_class_of(type)]++;
	*header = (struct record_header){(uint16_t)type, (uint16_t)(size / 8), tag};
	return header;
}

/* Appends a record that ends with TEXT; FIXED's header is ignored. */
void spool_stream_put_text(struct spool_stream *stream, enum record_type type, uint32_t tag,
			   const void *fixed, size_t fixed_bytes, const char *text);

#endif

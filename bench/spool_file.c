/* Writes chunks, spool_writers and header of a made-up spool: spool_file.h. */
#include "spool_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct spool_file {
	int fd;
	int error; /* of the first write that failed */
	uint32_t chunks_taken;
	uint32_t stream_count;
	struct spool_header header;
	struct spool_writer spool_writers[SPOOL_FILE_STREAMS_MOST];
	struct spool_stream streams[SPOOL_FILE_STREAMS_MOST];
};

static void write_at(struct spool_file *file, const void *bytes, size_t length, uint64_t offset)
{
	const char *rest = bytes;

	while (length && !file->error) {
		ssize_t written = pwrite(file->fd, rest, length, (off_t)offset);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0) {
			file->error = written < 0 ? -errno : -EIO;
			return;
		}
		rest += written;
		length -= (size_t)written;
		offset += (uint64_t)written;
	}
}

static void fill_header(struct spool_header *header, const struct spool_file_identity *identity)
{
	spool_header_init(header);
	header->pid = identity->pid;
	header->ppid = 1;
	header->session_id = identity->session_id;
	header->start_ns = identity->start_ns;
	header->start_realtime_ns = identity->start_realtime_ns;
	snprintf(header->host, sizeof(header->host), "%s", identity->host);
	snprintf(header->exe, sizeof(header->exe), "%s", identity->exe);
	header->cmdline_bytes = identity->cmdline_bytes < sizeof(header->cmdline)
					? identity->cmdline_bytes
					: sizeof(header->cmdline);
	memcpy(header->cmdline, identity->cmdline, header->cmdline_bytes);
	header->fixed_crc = spool_fixed_crc(header);
	header->live.state = SPOOL_OPEN;
}

int spool_file_create(const char *path, const struct spool_file_identity *identity,
		      struct spool_file **ret_file)
{
	struct spool_file *file = calloc(1, sizeof(*file));

	if (!file)
		return -ENOMEM;
	file->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (file->fd < 0) {
		free(file);
		return -errno;
	}
	fill_header(&file->header, identity);
	*ret_file = file;
	return 0;
}

struct spool_stream *spool_file_stream(struct spool_file *file, const struct writer_thread *thread)
{
	struct spool_stream *stream;

	if (file->stream_count == SPOOL_FILE_STREAMS_MOST)
		return NULL;
	stream = &file->streams[file->stream_count];
	/*
	 * An empty buffer that spool_stream_put finds full, so that the first record takes a chunk.
	 */
	*stream = (struct spool_stream){
		.file = file,
		.chunk = calloc(1, SPOOL_CHUNK_BYTES),
		.used_bytes = SPOOL_CHUNK_BYTES,
		.spool_writer = file->stream_count,
		.thread = *thread,
		.now_ns = file->header.start_ns,
	};
	if (!stream->chunk)
		return NULL;
	file->stream_count++;
	return stream;
}

static void seal(struct spool_stream *stream)
{
	struct spool_chunk *chunk = stream->chunk;

	if (!stream->sequence)
		return;
	chunk->used_bytes = stream->used_bytes;
	chunk->crc = spool_chunk_crc(chunk, chunk->used_bytes);
	chunk->state = SPOOL_CHUNK_SEALED;
	write_at(stream->file, chunk, SPOOL_CHUNK_BYTES,
		 SPOOL_CHUNK_OFFSET + (uint64_t)chunk->index * SPOOL_CHUNK_BYTES);
}

void spool_stream_turn(struct spool_stream *stream)
{
	struct record_thread *thread;

	seal(stream);
	memset(stream->chunk, 0, SPOOL_CHUNK_BYTES);
	stream->chunk->magic = SPOOL_CHUNK_MAGIC;
	stream->chunk->index = stream->file->chunks_taken++;
	stream->chunk->session_id = stream->file->header.session_id;
	stream->chunk->writer = stream->spool_writer;
	stream->chunk->sequence = stream->sequence++;
	stream->used_bytes = SPOOL_CHUNK_HEAD_BYTES;
	thread = spool_stream_put(stream, RECORD_THREAD, sizeof(*thread), stream->thread.tid);
	thread->ns = stream->now_ns;
	thread->scope_number = stream->thread.scope_number;
	memcpy(thread->name, stream->thread.name, sizeof(thread->name));
}

void spool_stream_put_text(struct spool_stream *stream, enum record_type type, uint32_t tag,
			   const void *fixed, size_t fixed_bytes, const char *text)
{
	uint32_t text_bytes = writer_text_bytes(strlen(text));
	char *record = spool_stream_put(stream, type, fixed_bytes + text_bytes, tag);
	const size_t header_bytes = sizeof(struct record_header);

	memcpy(record + header_bytes, (const char *)fixed + header_bytes,
	       fixed_bytes - header_bytes);
	memcpy(record + fixed_bytes, text, text_bytes);
}

static void count_writer(struct spool_writer *spool_writer, const struct spool_stream *stream)
{
	for (int class = 0; class < RECORD_CLASS_COUNT; class ++)
		spool_writer->counts.attempted[class] = stream->attempted[class];
	spool_writer->chunks = stream->sequence;
}

static void finish_head(struct spool_file *file, uint64_t end_ns)
{
	struct spool_live *live = &file->header.live;

	for (uint32_t i = 0; i < file->stream_count; i++)
		count_writer(&file->spool_writers[i], &file->streams[i]);
	live->writers_used = file->stream_count;
	live->chunks_ready = file->chunks_taken;
	live->chunks_taken = file->chunks_taken;
	live->end_ns = end_ns;
	live->counts_crc = spool_counts_crc(live, file->spool_writers, file->stream_count);
	live->state = SPOOL_CLOSED;
	write_at(file, &file->header, sizeof(file->header), 0);
	write_at(file, file->spool_writers, file->stream_count * sizeof(*file->spool_writers),
		 SPOOL_HEADER_BYTES);
}

int spool_file_close(struct spool_file *file, uint64_t end_ns)
{
	int error;

	for (uint32_t i = 0; i < file->stream_count; i++) {
		seal(&file->streams[i]);
		free(file->streams[i].chunk);
	}
	finish_head(file, end_ns);
	if (close(file->fd) && !file->error)
		file->error = -errno;
	error = file->error;
	free(file);
	return error;
}

/* Checksums and constant fields of the spool's layout. */
#include "record/spool.h"

#include <string.h>

#include "base/crc32c.h"

void spool_header_init(struct spool_header *header)
{
	memcpy(header->magic, SPOOL_MAGIC, sizeof(header->magic));
	header->version = SPOOL_VERSION;
	header->header_bytes = SPOOL_HEADER_BYTES;
	header->writer_bytes = SPOOL_WRITER_BYTES;
	header->writer_count = SPOOL_WRITER_COUNT;
	header->chunk_bytes = SPOOL_CHUNK_BYTES;
	header->class_count = SPOOL_CLASS_COUNT;
	header->cause_count = SPOOL_CAUSE_COUNT;
	header->chunk_offset = SPOOL_CHUNK_OFFSET;
}

uint32_t spool_fixed_crc(const struct spool_header *header)
{
	return crc32c(0, header, offsetof(struct spool_header, fixed_crc));
}

uint32_t spool_chunk_crc(const struct spool_chunk *chunk, uint32_t used_bytes)
{
	uint32_t crc = crc32c(0, chunk, offsetof(struct spool_chunk, state));

	return crc32c(crc, chunk->records, used_bytes - SPOOL_CHUNK_HEAD_BYTES);
}

uint32_t spool_counts_crc(const struct spool_live *live, const struct spool_writer *writers,
			  uint64_t writers_used)
{
	uint32_t crc = crc32c(0, &writers_used, sizeof(writers_used));

	crc = crc32c(crc, (const char *)live + SPOOL_SUMMED_OFFSET + sizeof(writers_used),
		     SPOOL_SUMMED_BYTES - sizeof(writers_used));
	return crc32c(crc, writers, writers_used * sizeof(*writers));
}

/* The layout of a spool file: the C form of docs/format/spool.md. record.h has the records.
 *
 * A file consists of a header (struct spool_header), one block of counters per writer
 * (struct spool_writer), and chunks (struct spool_chunk) at fixed steps from
 * SPOOL_CHUNK_OFFSET on.
 *
 * The writing process maps the file, and a reader may map it at the same time. Fields that are
 * stored while another thread or a reader may load them are atomic. Plain fields are stored
 * before the file gets its name, or by the one thread that owns the chunk before it publishes the
 * chunk's magic or state with release. */
#ifndef DAGTAP_RECORD_SPOOL_H
#define DAGTAP_RECORD_SPOOL_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "record/record.h"

#define SPOOL_MAGIC	       "DAGTAPSP"
#define SPOOL_VERSION	       4 /* a reader refuses any other */
#define SPOOL_HEADER_BYTES     4096
#define SPOOL_LIVE_OFFSET      3072 /* of struct spool_live in the header */
#define SPOOL_WRITER_BYTES     512
#define SPOOL_WRITER_COUNT     1024
#define SPOOL_CHUNK_BYTES      65536
#define SPOOL_CHUNK_HEAD_BYTES 64	   /* the chunk's label, before its records */
#define SPOOL_CHUNK_MAGIC      0x4b435444u /* "DTCK" */
#define SPOOL_CLASS_COUNT      8
#define SPOOL_CAUSE_COUNT      6
#define SPOOL_SUFFIX	       ".spool"
#define SPOOL_LOST_SUFFIX      ".lost" /* an empty file: its process could not make a spool */

/* OPEN: still written, or its process was killed, or a thread ended within a record. */
enum spool_state { SPOOL_OPEN = 1, SPOOL_CLOSED };

/* OPEN: its writer stores records. FULL: no more records come. SEALED: has its checksum. */
enum spool_chunk_state { SPOOL_CHUNK_OPEN = 1, SPOOL_CHUNK_FULL, SPOOL_CHUNK_SEALED };

/* Records that were attempted, and of these the dropped ones, by class. The records in the chunks
 * are the difference. One writer's thread stores to them; the counters in struct spool_live are
 * shared, and incremented by atomic additions. */
struct spool_counts {
	_Atomic uint64_t attempted[SPOOL_CLASS_COUNT];
	_Atomic uint64_t dropped[SPOOL_CLASS_COUNT][SPOOL_CAUSE_COUNT];
};

/* Intent log of a ring: the counters that a writer gets when one of its chunks is reused. While
 * `writer` is not 0, readers use these values instead of the writer's own `chunks_reused` and RING
 * counters, and do not read the chunk. So the counts are exact whenever the process is killed.
 * Stored by the housekeeper only (ring_reuse). */
struct spool_reuse {
	_Atomic uint64_t writer; /* index of the writer + 1; 0: no chunk is being reused */
	uint64_t place;		 /* number of the chunk's place in the file, from 0 */
	uint64_t chunks;	 /* the new value of chunks_reused */
	uint64_t records[SPOOL_CLASS_COUNT]; /* the new values of dropped[class][RING] */
};

/* The part of the header that changes while the process runs. */
struct spool_live {
	_Atomic uint32_t state;	       /* enum spool_state */
	uint32_t counts_crc;	       /* spool_counts_crc; valid when closed */
	_Atomic uint64_t writers_used; /* writers 0 to writers_used - 1 are in use */
	_Atomic uint64_t chunks_ready; /* chunks that the housekeeper made ready, in all */
	_Atomic uint64_t chunks_taken; /* of these, chunks that writers have taken, in all */
	_Atomic uint64_t places;       /* chunks that the file has room for */
	uint64_t end_ns;	       /* host ns; valid when closed */
	struct spool_counts counts;    /* records that no writer could count: see writer_refuse */
	_Atomic uint64_t late[SPOOL_CLASS_COUNT]; /* offered after the end; in no other counter */
	struct spool_reuse reuse;
};

/* The bytes of struct spool_live that counts_crc covers. The counters of the writers in use
 * follow. */
#define SPOOL_SUMMED_OFFSET offsetof(struct spool_live, writers_used)
#define SPOOL_SUMMED_BYTES  (offsetof(struct spool_live, late) - SPOOL_SUMMED_OFFSET)

/* The file's first SPOOL_HEADER_BYTES. All but `live` is constant once the file has its name. */
struct spool_header {
	char magic[8];
	uint32_t version;
	uint32_t header_bytes;
	uint32_t writer_bytes;
	uint32_t writer_count;
	uint32_t chunk_bytes;
	uint32_t class_count;
	uint32_t cause_count;
	uint32_t pid;
	uint32_t ppid;
	uint32_t session; /* number of earlier sessions of this process */
	uint64_t chunk_offset;
	uint64_t session_id;	    /* random; repeated in every chunk */
	uint64_t start_ns;	    /* CLOCK_MONOTONIC */
	uint64_t start_realtime_ns; /* CLOCK_REALTIME, read directly after start_ns */
	uint64_t ring_bytes; /* size that a ring recording keeps; 0: no ring, the file grows */
	uint64_t ring_ns;    /* age after which a ring's chunks are reused; 0: no limit of age */
	char host[64];
	char exe[512];
	uint32_t cmdline_bytes;
	char cmdline[2048]; /* arguments, each ended by a zero byte */
	uint32_t fixed_crc; /* spool_fixed_crc: over everything before it */
	char padding[SPOOL_LIVE_OFFSET - 2728];
	struct spool_live live;
	char tail[SPOOL_HEADER_BYTES - SPOOL_LIVE_OFFSET - sizeof(struct spool_live)];
};

/* The counters of one writer. The writer's thread stores to them; the housekeeper stores to
 * chunks_reused and to dropped[class][RING], which are 0 without a ring. */
struct spool_writer {
	struct spool_counts counts;
	_Atomic uint64_t chunks; /* chunks that this writer has labelled, in all */
	_Atomic uint64_t
		chunks_reused; /* of these, the first chunks_reused have been reused by the ring */
	uint64_t reserved[6];
};

/* A chunk: its label, then records. The writer that took the chunk stores label and records; the
 * housekeeper stores crc, and clears the chunk when a ring reuses it. A reader identifies a chunk
 * by its label, not by its place in the file. */
struct spool_chunk {
	_Atomic uint32_t magic; /* SPOOL_CHUNK_MAGIC; the label's last store; 0: no label */
	uint32_t index;		/* number of the chunk in the order in which chunks were taken */
	uint64_t session_id;	/* the header's */
	uint32_t writer;	/* index of the writer */
	uint32_t sequence;	/* number among the chunks of this writer, from 0 */
	uint32_t used_bytes;	/* label and records; 0 while open */
	uint32_t reserved;
	uint64_t full_ns; /* host ns when it became full; 0 while open */
	uint32_t more_reserved[4];
	_Atomic uint32_t state; /* enum spool_chunk_state */
	uint32_t crc;		/* spool_chunk_crc; valid when sealed */
	unsigned char records[SPOOL_CHUNK_BYTES - SPOOL_CHUNK_HEAD_BYTES];
};

/* Chunk-sized units that the header and the counters take, rounded up. */
#define SPOOL_HEAD_CHUNKS                                                                          \
	(1 + (SPOOL_HEADER_BYTES + SPOOL_WRITER_COUNT * SPOOL_WRITER_BYTES - 1) / SPOOL_CHUNK_BYTES)
#define SPOOL_CHUNK_OFFSET ((uint64_t)SPOOL_HEAD_CHUNKS * SPOOL_CHUNK_BYTES)

_Static_assert(offsetof(struct spool_header, padding) == 2728, "header layout");
_Static_assert(offsetof(struct spool_header, live) == SPOOL_LIVE_OFFSET, "header layout");
_Static_assert(sizeof(struct spool_header) == SPOOL_HEADER_BYTES, "header layout");
_Static_assert(sizeof(struct spool_writer) == SPOOL_WRITER_BYTES, "layout of a writer's counters");
_Static_assert(offsetof(struct spool_chunk, state) == 56, "chunk layout");
_Static_assert(offsetof(struct spool_chunk, records) == SPOOL_CHUNK_HEAD_BYTES, "chunk layout");
_Static_assert(sizeof(struct spool_chunk) == SPOOL_CHUNK_BYTES, "chunk layout");
_Static_assert((int)RECORD_CLASS_COUNT <= SPOOL_CLASS_COUNT, "room for every class");
_Static_assert((int)RECORD_DROP_COUNT <= SPOOL_CAUSE_COUNT, "room for every cause");

/* Sets the magic, the version, sizes and counts, which are equal in every spool of this version.
 * The other fields stay as they are. */
void spool_header_init(struct spool_header *header);

/* CRC-32C of the header's bytes before fixed_crc. */
uint32_t spool_fixed_crc(const struct spool_header *header);

/* CRC-32C of a chunk's label without state and crc, and of its records up to USED_BYTES, which
 * must be from SPOOL_CHUNK_HEAD_BYTES to SPOOL_CHUNK_BYTES. */
uint32_t spool_chunk_crc(const struct spool_chunk *chunk, uint32_t used_bytes);

/* CRC-32C of the live counts and of writers 0 to WRITERS_USED - 1. The writer takes it when it
 * closes the spool. WRITERS_USED stands for live->writers_used, which a thread that enters at the
 * end may still be raising to this value. */
uint32_t spool_counts_crc(const struct spool_live *live, const struct spool_writer *writers,
			  uint64_t writers_used);

#endif

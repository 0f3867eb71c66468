/* The layout of a spool file: docs/format/spool.md in C. Records are in record.h.
 *
 * The writing process and a reader see the same bytes, so every field that is stored while
 * others may look is atomic; plain fields are set before the file gets its name, or by a chunk's
 * one owner. */
#ifndef DAGTAP_RECORD_SPOOL_H
#define DAGTAP_RECORD_SPOOL_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "record/record.h"

#define SPOOL_MAGIC	       "DAGTAPSP"
#define SPOOL_VERSION	       4
#define SPOOL_HEADER_BYTES     4096
#define SPOOL_LIVE_OFFSET      3072
#define SPOOL_LANE_BYTES       512
#define SPOOL_LANE_COUNT       1024
#define SPOOL_CHUNK_BYTES      65536
#define SPOOL_CHUNK_HEAD_BYTES 64
#define SPOOL_CHUNK_MAGIC      0x4b435444u /* "DTCK" */
#define SPOOL_CLASS_COUNT      8
#define SPOOL_CAUSE_COUNT      6
#define SPOOL_SUFFIX	       ".spool"
#define SPOOL_LOST_SUFFIX      ".lost"

enum spool_state { SPOOL_OPEN = 1, SPOOL_CLOSED };
enum spool_chunk_state { SPOOL_CHUNK_OPEN = 1, SPOOL_CHUNK_FULL, SPOOL_CHUNK_SEALED };

/* Offered and lost, by class; what was found makes up the difference. */
struct spool_counts {
	_Atomic uint64_t attempted[SPOOL_CLASS_COUNT];
	_Atomic uint64_t dropped[SPOOL_CLASS_COUNT][SPOOL_CAUSE_COUNT];
};

/* One chunk on its way out of a ring: what its lane's counts are to be. While it is set it stands in
 * for them, so that a process may be killed between any two of its stores. */
struct spool_letting_go {
	_Atomic uint64_t lane; /* + 1; 0: nothing is let go just now */
	uint64_t place;	       /* of the chunk, which is not to be read any more */
	uint64_t chunks;
	uint64_t records[SPOOL_CLASS_COUNT];
};

struct spool_live {
	_Atomic uint32_t state; /* enum spool_state */
	uint32_t counts_crc;	/* set when closed */
	_Atomic uint64_t lanes_used;
	_Atomic uint64_t chunks_ready;
	_Atomic uint64_t chunks_taken;
	_Atomic uint64_t places; /* chunks that the file has room for */
	uint64_t end_ns;
	struct spool_counts counts; /* records that had no lane */
	_Atomic uint64_t late[SPOOL_CLASS_COUNT];
	struct spool_letting_go letting_go;
};

/* What counts_crc covers, before the lanes. */
#define SPOOL_SUMMED_OFFSET offsetof(struct spool_live, lanes_used)
#define SPOOL_SUMMED_BYTES  (offsetof(struct spool_live, late) - SPOOL_SUMMED_OFFSET)

struct spool_header {
	char magic[8];
	uint32_t version;
	uint32_t header_bytes;
	uint32_t lane_bytes;
	uint32_t lane_count;
	uint32_t chunk_bytes;
	uint32_t class_count;
	uint32_t cause_count;
	uint32_t pid;
	uint32_t ppid;
	uint32_t session;
	uint64_t chunk_offset;
	uint64_t session_id;
	uint64_t start_ns;
	uint64_t start_realtime_ns;
	uint64_t ring_bytes; /* 0: nothing is let go */
	uint64_t ring_ns;    /* 0: whatever its age */
	char host[64];
	char exe[512];
	uint32_t cmdline_bytes;
	char cmdline[2048]; /* arguments, each ended by a zero byte */
	uint32_t fixed_crc; /* of everything before it */
	char padding[SPOOL_LIVE_OFFSET - 2728];
	struct spool_live live;
	char tail[SPOOL_HEADER_BYTES - SPOOL_LIVE_OFFSET - sizeof(struct spool_live)];
};

struct spool_lane {
	struct spool_counts counts;
	_Atomic uint64_t chunks; /* labelled by this writer */
	_Atomic uint64_t let_go; /* of these, the first ones, by the housekeeping thread */
	uint64_t reserved[6];
};

struct spool_chunk {
	_Atomic uint32_t magic;
	uint32_t index;
	uint64_t session_id;
	uint32_t writer;
	uint32_t sequence;
	uint32_t used_bytes; /* 0 while open */
	uint32_t reserved;
	uint64_t full_ns; /* when its last record had come; 0 while open */
	uint32_t more_reserved[4];
	_Atomic uint32_t state; /* enum spool_chunk_state */
	uint32_t crc;
	unsigned char records[SPOOL_CHUNK_BYTES - SPOOL_CHUNK_HEAD_BYTES];
};

/* Header and lanes, up to the next whole chunk. */
#define SPOOL_HEAD_CHUNKS                                                                          \
	(1 + (SPOOL_HEADER_BYTES + SPOOL_LANE_COUNT * SPOOL_LANE_BYTES - 1) / SPOOL_CHUNK_BYTES)
#define SPOOL_CHUNK_OFFSET ((uint64_t)SPOOL_HEAD_CHUNKS * SPOOL_CHUNK_BYTES)

_Static_assert(offsetof(struct spool_header, padding) == 2728, "header layout");
_Static_assert(offsetof(struct spool_header, live) == SPOOL_LIVE_OFFSET, "header layout");
_Static_assert(sizeof(struct spool_header) == SPOOL_HEADER_BYTES, "header layout");
_Static_assert(sizeof(struct spool_lane) == SPOOL_LANE_BYTES, "lane layout");
_Static_assert(offsetof(struct spool_chunk, state) == 56, "chunk layout");
_Static_assert(offsetof(struct spool_chunk, records) == SPOOL_CHUNK_HEAD_BYTES, "chunk layout");
_Static_assert(sizeof(struct spool_chunk) == SPOOL_CHUNK_BYTES, "chunk layout");
_Static_assert((int)RECORD_CLASS_COUNT <= SPOOL_CLASS_COUNT, "room for every class");
_Static_assert((int)RECORD_DROP_COUNT <= SPOOL_CAUSE_COUNT, "room for every cause");

/* What is the same in every spool of this version; the rest is left as it is. */
void spool_header_init(struct spool_header *header);

/* The sum over the fixed part of the header. */
uint32_t spool_fixed_crc(const struct spool_header *header);

/* The sum that seals a chunk: its label and its records, without state and crc. */
uint32_t spool_chunk_crc(const struct spool_chunk *chunk, uint32_t used_bytes);

/* The sum over the live counts and the lanes in use, taken when a spool is closed. */
uint32_t spool_counts_crc(const struct spool_live *live, const struct spool_lane *lanes,
			  uint64_t lanes_used);

#endif

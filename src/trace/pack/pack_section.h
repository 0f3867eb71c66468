/* Inside trace/pack/: the layout of a PACKED section, shared by pack_writer.c and pack_reader.c
 * (docs/format/dagtap.md). In file order: blocks, facts, index, struct pack_end. */
#ifndef DAGTAP_TRACE_PACK_SECTION_H
#define DAGTAP_TRACE_PACK_SECTION_H

#include <stddef.h>
#include <stdint.h>

#include "record/spool_reader.h"
#include "trace/pack/pack_buffer.h"

#define PACK_MAGIC   "DTPACKED"
#define PACK_VERSION 2

/* The last bytes of the section. */
struct pack_end {
	uint64_t facts_offset; /* in the section; the blocks fill [0, facts_offset) */
	uint32_t facts_bytes;  /* the index begins directly after the facts */
	uint32_t block_count;  /* entries of the index */
	uint32_t entry_bytes;  /* size of one entry, with its counts */
	uint32_t type_count;   /* counts in each entry */
	uint32_t version;
	uint32_t reserved;
	uint64_t checksum; /* XXH3-64 of all bytes from facts_offset up to this field */
	char magic[8];
};

/* The index entry of one block. After it follow type_count counts of 4 bytes: the block's records
 * by record type. */
struct pack_entry {
	uint64_t offset;   /* in the section */
	uint64_t checksum; /* XXH3-64 of the stored bytes */
	uint64_t first_ns; /* earliest host time in the records; both 0: there is none */
	uint64_t last_ns;
	uint32_t stored_bytes; /* packed size */
	uint32_t record_bytes; /* unpacked size, a multiple of 8 */
	uint32_t record_count;
	uint32_t chunks; /* chunks of the spool whose records it holds */
	uint32_t writer;
	uint32_t reserved;
};

_Static_assert(sizeof(struct pack_end) == 48, "section end");
_Static_assert(sizeof(struct pack_entry) == 56, "index entry");

/* The content of a spool except its records. The texts end with a zero byte and belong to the
 * memory that was read. */
struct pack_facts {
	struct spool_info info;
	struct spool_ledger ledger;
	uint32_t writer_count;
	struct spool_damage *damages;
	size_t damages_kept;
	uint64_t damages_total;
};

/* Appends the facts of SPOOL to OUT. Failures set OUT->failed. */
void pack_facts_write(struct pack_buffer *out, const struct spool_reader *spool);

/* Reads the facts from SIZE bytes. The texts point into BYTES; the caller frees ret_facts->damages.
 * 0, -ENOMEM, or -EINVAL: the bytes are not valid facts. */
int pack_facts_read(const void *bytes, size_t size, struct pack_facts *ret_facts);

#endif

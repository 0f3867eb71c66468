/* Inside the packing of records: the layout of a PACKED section, shared by its writer and reader. */
#ifndef DAGTAP_TRACE_PACK_SECTION_H
#define DAGTAP_TRACE_PACK_SECTION_H

#include <stddef.h>
#include <stdint.h>

#include "record/reader.h"
#include "trace/pack/pack_buffer.h"

#define PACK_MAGIC   "DTPACKED"
#define PACK_VERSION 2

/* Ends the section. */
struct pack_end {
	uint64_t facts_offset; /* in the section; the blocks lie before it */
	uint32_t facts_bytes;
	uint32_t block_count;
	uint32_t entry_bytes; /* of the index, which lies behind the facts */
	uint32_t type_count;  /* in each entry's counts */
	uint32_t version;
	uint32_t reserved;
	uint64_t checksum; /* XXH3-64 of everything from facts_offset up to here */
	char magic[8];
};

/* One block in the index; behind it type_count counts of 4 bytes, by record type. */
struct pack_entry {
	uint64_t offset; /* in the section */
	uint64_t checksum;
	uint64_t first_ns; /* host time; both 0: no record of the block knows */
	uint64_t last_ns;
	uint32_t stored_bytes;
	uint32_t record_bytes;
	uint32_t record_count;
	uint32_t chunks; /* of the spool */
	uint32_t writer;
	uint32_t reserved;
};

_Static_assert(sizeof(struct pack_end) == 48, "section end");
_Static_assert(sizeof(struct pack_entry) == 56, "index entry");

/* What a spool says beside its records. Text is terminated and somebody else's. */
struct pack_facts {
	struct spool_info info;
	struct spool_ledger ledger;
	uint32_t writer_count;
	struct spool_damage *damages;
	size_t damages_kept;
	uint64_t damages_total;
};

void pack_facts_write(struct pack_buffer *out, const struct spool_reader *spool);

/* Text points into BYTES, damages is the caller's to free. 0, -EINVAL or -ENOMEM. */
int pack_facts_read(const void *bytes, size_t size, struct pack_facts *ret_facts);

#endif

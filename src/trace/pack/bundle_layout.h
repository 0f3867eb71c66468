/* The layout of docs/format/dagtap.md as C structs, little-endian. Shared by bundle.c and
 * bundle_writer.c; the document explains the fields. */
#ifndef DAGTAP_TRACE_BUNDLE_LAYOUT_H
#define DAGTAP_TRACE_BUNDLE_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#define BUNDLE_ALIGN	      64
#define BUNDLE_SECTION_MAX    65536
#define BUNDLE_VERSION_OLDEST 1

struct bundle_header {
	uint8_t magic[8];
	uint32_t version;
	uint32_t section_count;
	uint64_t file_bytes;
	uint64_t index_offset;
	uint64_t index_checksum;
	uint64_t created_ns;
	uint64_t reserved;
	uint64_t header_checksum;
};

struct bundle_entry {
	uint32_t type;
	uint32_t pid;
	uint64_t offset;
	uint64_t bytes;
	uint64_t stored_bytes;
	uint64_t checksum;
	uint64_t reserved[3];
};

_Static_assert(sizeof(struct bundle_header) == BUNDLE_ALIGN, "bundle header");
_Static_assert(sizeof(struct bundle_entry) == BUNDLE_ALIGN, "bundle entry");

#endif

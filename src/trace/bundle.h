/* The .dagtap container (docs/format/dagtap.md): one recording in one file.
 *
 * Reading checks the file against its checksums before anything is used, but for what lies in PACKED
 * sections, which have their own (trace/pack/pack.h); contents stay valid until bundle_close. Writing goes to a temporary name; bundle_finish gives it the
 * final one. One bundle belongs to one thread at a time. */
#ifndef DAGTAP_TRACE_BUNDLE_H
#define DAGTAP_TRACE_BUNDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define BUNDLE_MAGIC                                                                               \
	"\x89"                                                                                     \
	"DAGTAP\n"
#define BUNDLE_MAGIC_BYTES 8
#define BUNDLE_VERSION	   2

enum bundle_type { BUNDLE_META = 1, BUNDLE_SPOOL, BUNDLE_PACKED };

struct bundle_section {
	uint32_t type; /* enum bundle_type, or one that only a later version knows */
	uint32_t pid;
	const uint8_t *bytes;
	uint64_t size;
	uint64_t offset; /* in the file */
};

struct bundle_meta {
	char *version;
	char *command;
	uint64_t start_ns;
	int32_t exit_status; /* -1 unknown */
	char *losses;	     /* processes that used a GPU unrecorded, a line each; may be NULL */
};

struct bundle {
	struct bundle_section *sections;
	uint32_t section_count;
	struct bundle_meta meta;
	void *map; /* NULL when opened from memory */
	size_t map_bytes;
};

/* Do these first bytes of a file claim to be a bundle? */
bool bundle_is_magic(const void *bytes, size_t size);

/* 0, or -errno with ERROR naming file, offset and cause. */
int bundle_open(const char *path, struct bundle *ret_bundle, struct dagtap_error *error);

/* BYTES stay the caller's and outlive the bundle; NAME is for messages. */
int bundle_open_memory(const char *name, const void *bytes, size_t size, struct bundle *ret_bundle,
		       struct dagtap_error *error);

void bundle_close(struct bundle *bundle);

struct bundle_writer;

/* With FORCE an existing file is replaced at bundle_finish; without, -EEXIST here or there. */
int bundle_create(const char *path, bool force, struct bundle_writer **ret_writer,
		  struct dagtap_error *error);

/* META comes first, once. */
int bundle_put_meta(struct bundle_writer *writer, const struct bundle_meta *meta,
		    struct dagtap_error *error);
int bundle_put_spool(struct bundle_writer *writer, uint32_t pid, const void *bytes, uint64_t size,
		     struct dagtap_error *error);

/* A section in pieces: begin, any number of appends, end. */
int bundle_begin_section(struct bundle_writer *writer, enum bundle_type type, uint32_t pid,
			 struct dagtap_error *error);
int bundle_append(struct bundle_writer *writer, const void *bytes, uint64_t size,
		  struct dagtap_error *error);
int bundle_end_section(struct bundle_writer *writer, struct dagtap_error *error);

/* Completes the file under its final name; frees the writer in any case. */
int bundle_finish(struct bundle_writer *writer, struct dagtap_error *error);

/* Throws away what was written. Accepts NULL. */
void bundle_abandon(struct bundle_writer *writer);

#endif

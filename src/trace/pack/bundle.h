/* The .dagtap container (docs/format/dagtap.md): one recording in one file, made of sections.
 *
 * Reading checks the file against its checksums before anything is used, except the contents of
 * PACKED sections, which have their own (trace/pack/pack.h). Writing goes to a temporary name;
 * bundle_finish gives the file its final name.
 *
 * Threading: one bundle or writer belongs to one thread at a time. Cost: opening reads every
 * section that is not PACKED once. */
#ifndef DAGTAP_TRACE_BUNDLE_H
#define DAGTAP_TRACE_BUNDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error_text.h"
#include "trace/pack/ranks.h"

#define BUNDLE_MAGIC                                                                               \
	"\x89"                                                                                     \
	"DAGTAP\n"
#define BUNDLE_MAGIC_BYTES 8
/* Of a merged recording: a reader of version 2 would not convert its times. Any other has
 * BUNDLE_VERSION_ONE. */
#define BUNDLE_VERSION	   3
#define BUNDLE_VERSION_ONE 2

/* META: text about the recording. SPOOL: the bytes of a spool. PACKED: a spool's records,
 * packed. RANKS: of a merged recording, whose the sections are, and the clocks. */
enum bundle_type { BUNDLE_META = 1, BUNDLE_SPOOL, BUNDLE_PACKED, BUNDLE_RANKS };

/* A section of an open bundle. */
struct bundle_section {
	uint32_t type;	      /* enum bundle_type, or a number that only a later version knows */
	uint32_t pid;	      /* process of a SPOOL or PACKED section */
	const uint8_t *bytes; /* in the file's mapping; valid until bundle_close */
	uint64_t size;
	uint64_t offset; /* of `bytes` in the file */
};

/* The META section. Texts of an open bundle belong to it; a missing one is NULL. A writer borrows
 * them during bundle_put_meta; there, version and command must not be NULL. */
struct bundle_meta {
	char *version;	     /* of the dagtap that recorded */
	char *command;	     /* command line that was recorded */
	uint64_t start_ns;   /* CLOCK_REALTIME at which `dagtap record` began */
	int32_t exit_status; /* of the recorded program; -1 = unknown */
	/* Processes that used a GPU and were not recorded, one line each; may be NULL. */
	char *losses;
};

/* An open bundle. Zero is a closed one. */
struct bundle {
	struct bundle_section *sections;
	uint32_t section_count;
	struct bundle_meta meta;
	struct ranks ranks; /* empty unless the recording is a merged one */
	void *map;	    /* NULL if opened from memory */
	size_t map_bytes;
};

/* True if the first bytes of a file are the magic of a bundle; SIZE is how many there are. */
bool bundle_is_magic(const void *bytes, size_t size);

/* Maps PATH and checks it. Returns 0; close *RET_BUNDLE with bundle_close. On failure returns a
 * negative errno, with a line in ERROR that names file, offset and cause; *RET_BUNDLE is untouched.
 * -EINVAL: damaged or not a bundle; -ENOTSUP: a version that this program does not read. */
int bundle_open(const char *path, struct bundle *ret_bundle, struct dagtap_error *error);

/* The same for a file in memory. BYTES stay the caller's and must outlive the bundle; NAME is used
 * in messages. */
int bundle_open_memory(const char *name, const void *bytes, size_t size, struct bundle *ret_bundle,
		       struct dagtap_error *error);

/* Unmaps the file and frees the bundle's memory; the struct itself is the caller's. */
void bundle_close(struct bundle *bundle);

/* A bundle that is being written. If a call on it other than bundle_finish fails, the caller must
 * still call bundle_abandon. */
struct bundle_writer;

/* Begins a file that will be named PATH, readable for its owner alone. An existing PATH is replaced
 * at bundle_finish if FORCE is set; otherwise -EEXIST, here or there. On success *RET_WRITER is the
 * caller's until bundle_finish or bundle_abandon. */
int bundle_create(const char *path, bool force, struct bundle_writer **ret_writer,
		  struct dagtap_error *error);

/* Write a whole section. META must be the first section, and there is one. Return 0, or a negative
 * errno with a line in ERROR. */
int bundle_put_meta(struct bundle_writer *writer, const struct bundle_meta *meta,
		    struct dagtap_error *error);
/* RANKS must be the second section, if there is one. */
int bundle_put_ranks(struct bundle_writer *writer, const struct ranks *ranks,
		     struct dagtap_error *error);
int bundle_put_spool(struct bundle_writer *writer, uint32_t pid, const void *bytes, uint64_t size,
		     struct dagtap_error *error);

/* Write a section in pieces: begin, any number of appends, end. Return 0, or a negative errno with
 * a line in ERROR. -E2BIG: too many sections. */
int bundle_begin_section(struct bundle_writer *writer, enum bundle_type type, uint32_t pid,
			 struct dagtap_error *error);
int bundle_append(struct bundle_writer *writer, const void *bytes, uint64_t size,
		  struct dagtap_error *error);
int bundle_end_section(struct bundle_writer *writer, struct dagtap_error *error);

/* Completes the file and gives it its final name. Frees the writer, also on failure; then there is
 * no file. */
int bundle_finish(struct bundle_writer *writer, struct dagtap_error *error);

/* Removes what was written and frees the writer. Accepts NULL. */
void bundle_abandon(struct bundle_writer *writer);

#endif

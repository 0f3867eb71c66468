/* Writing the .dagtap container (see bundle.h). */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/clock.h"
#include "base/replace.h"
#include "base/table.h"
#include "trace/pack/bundle.h"
#include "trace/pack/bundle_layout.h"
#include "trace/pack/meta_text.h"

/* For its owner alone, whatever the umask, because it contains the command line. */
#define BUNDLE_MODE 0600

struct bundle_writer {
	struct replacement file;
	int fd;
	uint32_t version;
	uint64_t offset;
	struct bundle_entry *entries; /* the last one may belong to a section that has not ended */
	uint32_t entry_count;
	XXH3_state_t *sum; /* checksum of the section that is being written */
};

static int fail(const struct bundle_writer *writer, int code, struct dagtap_error *error)
{
	return dagtap_error_at(error, code, writer->file.path, writer->offset, "%s",
			       strerrordesc_np(-code));
}

int bundle_create(const char *path, bool force, struct bundle_writer **ret_writer,
		  struct dagtap_error *error)
{
	struct bundle_writer *writer = calloc(1, sizeof(*writer));
	int err;

	if (!writer)
		return dagtap_error_set(error, -ENOMEM, "%s: out of memory", path);
	writer->version = BUNDLE_VERSION_ONE;
	writer->offset = sizeof(struct bundle_header);
	writer->sum = XXH3_createState();
	err = writer->sum ? replace_begin(&writer->file, path, force, REPLACE_NAMELESS, BUNDLE_MODE,
					  &writer->fd, error)
			  : dagtap_error_set(error, -ENOMEM, "%s: out of memory", path);
	if (err < 0) {
		XXH3_freeState(writer->sum);
		free(writer);
		return err;
	}
	*ret_writer = writer;
	return 0;
}

static void bundle_writer_release(struct bundle_writer *writer)
{
	close(writer->fd);
	XXH3_freeState(writer->sum);
	free(writer->entries);
	free(writer);
}

void bundle_abandon(struct bundle_writer *writer)
{
	if (!writer)
		return;
	replace_abandon(&writer->file);
	bundle_writer_release(writer);
}

static int write_at(int fd, const void *bytes, uint64_t size, uint64_t offset)
{
	const char *from = bytes;

	while (size) {
		ssize_t written = pwrite(fd, from, size, (off_t)offset);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return -errno;
		from += written;
		offset += (uint64_t)written;
		size -= (uint64_t)written;
	}
	return 0;
}

int bundle_begin_section(struct bundle_writer *writer, enum bundle_type type, uint32_t pid,
			 struct dagtap_error *error)
{
	struct bundle_entry *entry;

	if (writer->entry_count == BUNDLE_SECTION_MAX)
		return fail(writer, -E2BIG, error);
	entry = table_add((void **)&writer->entries, &writer->entry_count, sizeof(*entry));
	if (!entry)
		return fail(writer, -ENOMEM, error);
	entry->type = type;
	entry->pid = pid;
	entry->offset = writer->offset;
	XXH3_64bits_reset(writer->sum);
	return 0;
}

static int append(struct bundle_writer *writer, const void *bytes, uint64_t size,
		  struct dagtap_error *error)
{
	int err = write_at(writer->fd, bytes, size, writer->offset);

	if (err < 0)
		return fail(writer, err, error);
	XXH3_64bits_update(writer->sum, bytes, size);
	writer->offset += size;
	return 0;
}

int bundle_append(struct bundle_writer *writer, const void *bytes, uint64_t size,
		  struct dagtap_error *error)
{
	writer->entries[writer->entry_count - 1].bytes += size;
	return append(writer, bytes, size, error);
}

int bundle_end_section(struct bundle_writer *writer, struct dagtap_error *error)
{
	static const uint8_t zeros[BUNDLE_ALIGN];
	struct bundle_entry *entry = &writer->entries[writer->entry_count - 1];
	int err = append(writer, zeros, -entry->bytes % BUNDLE_ALIGN, error);

	if (err < 0)
		return err;
	entry->stored_bytes = writer->offset - entry->offset;
	if (entry->type != BUNDLE_PACKED)
		entry->checksum = XXH3_64bits_digest(writer->sum);
	return 0;
}

static int put_section(struct bundle_writer *writer, enum bundle_type type, uint32_t pid,
		       const void *bytes, uint64_t size, struct dagtap_error *error)
{
	int err = bundle_begin_section(writer, type, pid, error);

	if (err == 0)
		err = bundle_append(writer, bytes, size, error);
	return err == 0 ? bundle_end_section(writer, error) : err;
}

int bundle_put_meta(struct bundle_writer *writer, const struct bundle_meta *meta,
		    struct dagtap_error *error)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);
	int err;

	if (!out)
		return fail(writer, -ENOMEM, error);
	meta_text_put(out, "version", meta->version);
	meta_text_put(out, "command", meta->command);
	fprintf(out, "start_ns %" PRIu64 "\n", meta->start_ns);
	fprintf(out, "exit_status %" PRId32 "\n", meta->exit_status);
	if (meta->losses && *meta->losses)
		meta_text_put(out, "losses", meta->losses);
	if (fclose(out) != 0) {
		free(text);
		return fail(writer, -ENOMEM, error);
	}
	err = put_section(writer, BUNDLE_META, 0, text, bytes, error);
	free(text);
	return err;
}

int bundle_put_ranks(struct bundle_writer *writer, const struct ranks *ranks,
		     struct dagtap_error *error)
{
	char *text;
	size_t bytes;
	int err = ranks_write(ranks, &text, &bytes);

	if (err < 0)
		return fail(writer, err, error);
	writer->version = BUNDLE_VERSION;
	err = put_section(writer, BUNDLE_RANKS, 0, text, bytes, error);
	free(text);
	return err;
}

int bundle_put_spool(struct bundle_writer *writer, uint32_t pid, const void *bytes, uint64_t size,
		     struct dagtap_error *error)
{
	return put_section(writer, BUNDLE_SPOOL, pid, bytes, size, error);
}

static int write_index(struct bundle_writer *writer)
{
	uint64_t index_bytes = (uint64_t)writer->entry_count * sizeof(*writer->entries);
	struct bundle_header header = {
		.version = writer->version,
		.section_count = writer->entry_count,
		.file_bytes = writer->offset + index_bytes,
		.index_offset = writer->offset,
		.index_checksum = XXH3_64bits(writer->entries, index_bytes),
		.created_ns = clock_read_ns(CLOCK_REALTIME),
	};
	int err;

	memcpy(header.magic, BUNDLE_MAGIC, sizeof(header.magic));
	header.header_checksum =
		XXH3_64bits(&header, offsetof(struct bundle_header, header_checksum));
	err = write_at(writer->fd, writer->entries, index_bytes, writer->offset);
	if (err < 0)
		return err;
	return write_at(writer->fd, &header, sizeof(header), 0);
}

int bundle_finish(struct bundle_writer *writer, struct dagtap_error *error)
{
	int err = write_index(writer);

	if (err < 0) {
		fail(writer, err, error);
		bundle_abandon(writer);
		return err;
	}
	err = replace_commit(&writer->file, error);
	bundle_writer_release(writer);
	return err;
}

/* Reading the .dagtap container (see bundle.h). */
#include "trace/pack/bundle.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "trace/pack/bundle_layout.h"
#include "trace/pack/meta_text.h"
#include "trace/statistics_file.h"

/* The index is at the end of the file, so nothing is read of a file that was cut off. */
#define CUT_ADVICE                                                                                 \
	"; copy it again from where it was recorded; if its folder of spools (--keep-spool) is "   \
	"still there, every command reads that"

/* The file that is being checked, and where errors are reported. */
struct input {
	const char *name;
	const uint8_t *bytes;
	size_t size;
	struct dagtap_error *error;
};

bool bundle_is_magic(const void *bytes, size_t size)
{
	return size >= BUNDLE_MAGIC_BYTES && !memcmp(bytes, BUNDLE_MAGIC, BUNDLE_MAGIC_BYTES);
}

static int check_header(const struct input *in, struct bundle_header *ret_header)
{
	struct bundle_header header;
	int err = statistics_file_refuse(in->name, in->bytes, in->size, in->error);

	if (err < 0)
		return err;
	if (in->size == 0)
		return dagtap_error_at(in->error, -EINVAL, in->name, 0, "the file is empty");
	if (in->size < sizeof(header) && bundle_is_magic(in->bytes, in->size))
		return dagtap_error_at(in->error, -EINVAL, in->name, in->size,
				       "cut off inside the 64-byte header" CUT_ADVICE);
	if (!bundle_is_magic(in->bytes, in->size))
		return dagtap_error_at(in->error, -EINVAL, in->name, 0,
				       "not a .dagtap file (wrong magic bytes)");
	memcpy(&header, in->bytes, sizeof(header));
	if (XXH3_64bits(&header, offsetof(struct bundle_header, header_checksum)) !=
	    header.header_checksum)
		return dagtap_error_at(in->error, -EINVAL, in->name, 0,
				       "header is damaged (checksum)");
	if (header.version < BUNDLE_VERSION_OLDEST || header.version > BUNDLE_VERSION)
		return dagtap_error_at(in->error, -ENOTSUP, in->name, 8,
				       "container version %u, this dagtap reads %d to %d",
				       header.version, BUNDLE_VERSION_OLDEST, BUNDLE_VERSION);
	if (header.file_bytes > in->size)
		return dagtap_error_at(in->error, -EINVAL, in->name, in->size,
				       "cut off here: the header says %" PRIu64 " bytes" CUT_ADVICE,
				       header.file_bytes);
	if (header.file_bytes < in->size)
		return dagtap_error_at(in->error, -EINVAL, in->name, header.file_bytes,
				       "%" PRIu64 " bytes follow the end of the recording",
				       in->size - header.file_bytes);
	*ret_header = header;
	return 0;
}

static int check_index(const struct input *in, const struct bundle_header *header)
{
	uint64_t index_bytes = (uint64_t)header->section_count * sizeof(struct bundle_entry);

	if (header->section_count == 0 || header->section_count > BUNDLE_SECTION_MAX)
		return dagtap_error_at(in->error, -EINVAL, in->name, 12, "%u sections cannot be",
				       header->section_count);
	if (index_bytes > in->size - sizeof(*header) ||
	    header->index_offset != in->size - index_bytes)
		return dagtap_error_at(in->error, -EINVAL, in->name, 24,
				       "the index does not lie at the end of the file");
	if (XXH3_64bits(in->bytes + header->index_offset, index_bytes) != header->index_checksum)
		return dagtap_error_at(in->error, -EINVAL, in->name, header->index_offset,
				       "index is damaged (checksum)");
	return 0;
}

/* Checks the zeros behind a section that has its own checksums, because only its reader finds its
 * end. */
static int check_padding(const struct input *in, const struct bundle_entry *entry)
{
	for (uint64_t i = entry->bytes; i < entry->stored_bytes; i++) {
		if (in->bytes[entry->offset + i])
			return dagtap_error_at(in->error, -EINVAL, in->name, entry->offset + i,
					       "bytes that belong to no section");
	}
	return 0;
}

static int check_section(const struct input *in, const struct bundle_entry *entry, uint64_t offset,
			 uint64_t limit)
{
	if (entry->offset != offset || entry->stored_bytes > limit - offset ||
	    entry->bytes > entry->stored_bytes ||
	    entry->stored_bytes - entry->bytes >= BUNDLE_ALIGN)
		return dagtap_error_at(in->error, -EINVAL, in->name, offset,
				       "a section's place in the index is wrong");
	if (entry->type == BUNDLE_PACKED)
		return check_padding(in, entry);
	if (XXH3_64bits(in->bytes + offset, entry->stored_bytes) != entry->checksum)
		return dagtap_error_at(in->error, -EINVAL, in->name, offset,
				       "section is damaged (checksum over %" PRIu64 " bytes)",
				       entry->stored_bytes);
	return 0;
}

static int read_sections(const struct input *in, const struct bundle_header *header,
			 struct bundle *bundle)
{
	uint64_t offset = sizeof(*header);
	int err;

	bundle->sections = calloc(header->section_count, sizeof(*bundle->sections));
	if (!bundle->sections)
		return dagtap_error_set(in->error, -ENOMEM, "%s: out of memory", in->name);
	for (uint32_t i = 0; i < header->section_count; i++) {
		struct bundle_entry entry;

		memcpy(&entry, in->bytes + header->index_offset + i * sizeof(entry), sizeof(entry));
		err = check_section(in, &entry, offset, header->index_offset);
		if (err < 0)
			return err;
		bundle->sections[i] = (struct bundle_section){
			.type = entry.type,
			.pid = entry.pid,
			.bytes = in->bytes + offset,
			.size = entry.bytes,
			.offset = offset,
		};
		offset += entry.stored_bytes;
	}
	bundle->section_count = header->section_count;
	if (offset != header->index_offset)
		return dagtap_error_at(in->error, -EINVAL, in->name, offset,
				       "bytes that belong to no section");
	return 0;
}

/* Stores one line of META, "KEY VALUE"; ignores keys of later versions. If a text key is repeated,
 * the first line counts. Returns 0 or -ENOMEM. */
static int put_meta_line(struct bundle_meta *meta, const char *line, size_t bytes)
{
	const char *space = memchr(line, ' ', bytes);
	size_t key_bytes = space ? (size_t)(space - line) : bytes;
	char *value;

	if (!space)
		return 0;
	value = meta_text_read(space + 1, bytes - key_bytes - 1);
	if (!value)
		return -ENOMEM;
	if (key_bytes == 7 && !memcmp(line, "version", 7) && !meta->version) {
		meta->version = value;
		return 0;
	}
	if (key_bytes == 7 && !memcmp(line, "command", 7) && !meta->command) {
		meta->command = value;
		return 0;
	}
	if (key_bytes == 6 && !memcmp(line, "losses", 6) && !meta->losses) {
		meta->losses = value;
		return 0;
	}
	if (key_bytes == 8 && !memcmp(line, "start_ns", 8))
		meta->start_ns = strtoull(value, NULL, 10);
	if (key_bytes == 11 && !memcmp(line, "exit_status", 11))
		meta->exit_status = (int32_t)strtol(value, NULL, 10);
	free(value);
	return 0;
}

static int read_meta(const struct input *in, struct bundle *bundle)
{
	const struct bundle_section *section = &bundle->sections[0];
	const char *line = (const char *)section->bytes;
	const char *end = line + section->size;

	if (section->type != BUNDLE_META)
		return dagtap_error_at(in->error, -EINVAL, in->name, sizeof(struct bundle_header),
				       "the first section is not META");
	bundle->meta.exit_status = -1;
	while (line < end) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));

		if (!stop)
			stop = end;
		if (put_meta_line(&bundle->meta, line, (size_t)(stop - line)) < 0)
			return dagtap_error_set(in->error, -ENOMEM, "%s: out of memory", in->name);
		line = stop + 1;
	}
	return 0;
}

/* Reads the RANKS section, if there is one. It must be the second. */
static int read_ranks(const struct input *in, struct bundle *bundle)
{
	const struct bundle_section *section = &bundle->sections[1];
	int err;

	if (bundle->section_count < 2 || section->type != BUNDLE_RANKS)
		return 0;
	err = ranks_read((const char *)section->bytes, section->size, &bundle->ranks);
	if (err == -ENOMEM)
		return dagtap_error_set(in->error, err, "%s: out of memory", in->name);
	return err == 0 ? 0
			: dagtap_error_at(in->error, err, in->name, section->offset,
					  "the clocks of the ranks cannot be read");
}

int bundle_open_memory(const char *name, const void *bytes, size_t size, struct bundle *ret_bundle,
		       struct dagtap_error *error)
{
	struct input in = {.name = name, .bytes = bytes, .size = size, .error = error};
	struct bundle bundle = {0};
	struct bundle_header header = {0};
	int result = check_header(&in, &header);

	if (result == 0)
		result = check_index(&in, &header);
	if (result == 0)
		result = read_sections(&in, &header, &bundle);
	if (result == 0)
		result = read_meta(&in, &bundle);
	if (result == 0)
		result = read_ranks(&in, &bundle);
	if (result < 0) {
		bundle_close(&bundle);
		return result;
	}
	*ret_bundle = bundle;
	return 0;
}

static int map_file(const char *path, void **ret_map, size_t *ret_bytes, struct dagtap_error *error)
{
	struct stat status;
	void *map = NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int code;

	if (fd < 0 || fstat(fd, &status) < 0)
		goto fail;
	if (!S_ISREG(status.st_mode)) {
		close(fd);
		return dagtap_error_set(error, -EINVAL, "%s: not a regular file", path);
	}
	if (status.st_size) {
		map = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (map == MAP_FAILED)
			goto fail;
	}
	close(fd);
	*ret_map = map;
	*ret_bytes = (size_t)status.st_size;
	return 0;
fail:
	code = -errno;
	if (fd >= 0)
		close(fd);
	return dagtap_error_set(error, code, "%s: %s", path, strerrordesc_np(-code));
}

int bundle_open(const char *path, struct bundle *ret_bundle, struct dagtap_error *error)
{
	size_t bytes = 0;
	void *map = NULL;
	int err = map_file(path, &map, &bytes, error);

	if (err < 0)
		return err;
	err = bundle_open_memory(path, map, bytes, ret_bundle, error);
	if (err < 0) {
		if (map)
			munmap(map, bytes);
		return err;
	}
	ret_bundle->map = map;
	ret_bundle->map_bytes = bytes;
	return 0;
}

void bundle_close(struct bundle *bundle)
{
	free(bundle->sections);
	ranks_release(&bundle->ranks);
	free(bundle->meta.version);
	free(bundle->meta.command);
	free(bundle->meta.losses);
	if (bundle->map)
		munmap(bundle->map, bundle->map_bytes);
	*bundle = (struct bundle){0};
}

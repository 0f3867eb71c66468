/* Lists the spools of a folder, checks each, and packs them into the .dagtap file. */
#include "cli/gather.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/spool_listing.h"
#include "record/spool.h"
#include "record/spool_reader.h"
#include "trace/pack/pack.h"

static volatile sig_atomic_t interrupted;

void gather_interrupt(int signal_number)
{
	(void)signal_number;
	interrupted = 1;
}

bool gather_is_interrupted(void)
{
	return interrupted;
}

/* The progress, shown on a terminal. */
struct progress {
	uint32_t spool; /* number of the current one, from 1 */
	uint32_t spool_count;
	bool is_told; /* a line was printed, which must be cleared */
};

/* What the functions below need to add a spool to the bundle. */
struct passage {
	struct bundle_writer *writer;
	struct progress progress;
	struct gather_result *result;
	struct dagtap_error *error;
};

static void show_progress(void *context, uint64_t done, uint64_t total)
{
	struct progress *progress = &((struct passage *)context)->progress;

	if (!isatty(STDERR_FILENO))
		return;
	progress->is_told = true;
	fprintf(stderr, "\rdagtap: packing spool %u of %u: %u %%", progress->spool,
		progress->spool_count, (unsigned)(total ? done * 100 / total : 100));
}

static int append_packed(void *context, const void *bytes, size_t size)
{
	struct passage *passage = context;

	if (interrupted)
		return dagtap_error_set(passage->error, -EINTR, "interrupted");
	return bundle_append(passage->writer, bytes, size, passage->error);
}

static int put_packed(struct passage *passage, uint32_t pid, const char *path,
		      const struct spool_reader *reader)
{
	const struct pack_sink sink = {append_packed, show_progress, passage};
	int err = bundle_begin_section(passage->writer, BUNDLE_PACKED, pid, passage->error);

	if (err < 0)
		return err;
	err = pack_write(reader, &sink);
	if (err == -ENOMEM)
		return dagtap_error_set(passage->error, err, "%s: out of memory", path);
	return err < 0 ? err : bundle_end_section(passage->writer, passage->error);
}

/* Stores a file that cannot be read as a spool unchanged. The loader then reports why it cannot
 * be read. */
static int put_as_it_is(struct passage *passage, uint32_t pid, const char *path, int fd)
{
	struct stat status;
	void *image = MAP_FAILED;
	int err;

	if (fstat(fd, &status) == 0)
		image = status.st_size
				? mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0)
				: NULL;
	if (image == MAP_FAILED)
		return dagtap_error_set(passage->error, -errno, "%s: %s", path, strerror(errno));
	err = bundle_put_spool(passage->writer, pid, image, (uint64_t)status.st_size,
			       passage->error);
	if (image)
		munmap(image, (size_t)status.st_size);
	return err;
}

static void count_spool(struct gather_result *result, const struct spool_reader *reader)
{
	const struct spool_ledger *ledger = spool_reader_ledger(reader);
	uint64_t damages;
	size_t kept;

	for (int class = 0; class < RECORD_CLASS_COUNT; class ++)
		for (int cause = 0; cause < RECORD_DROP_COUNT; cause++)
			result->lost +=
				cause == RECORD_DROP_RING ? 0 : ledger->dropped[class][cause];
	result->dispatches += ledger->found[RECORD_CLASS_DISPATCH];
	result->calls += ledger->found[RECORD_CLASS_API];
	result->is_truncated |= !spool_reader_info(reader)->closed;
	spool_reader_damages(reader, &kept, &damages);
	result->is_damaged |= damages != 0;
}

/* Whether the record says that a capture source is absent. HIP is excepted: it is absent in every
 * program that does not use it. */
static bool tells_absence(const struct record_source *source)
{
	return source->header.type == RECORD_SOURCE && source->header.tag == RECORD_SOURCE_ABSENT &&
	       strncmp(source->name, "hip", sizeof(source->name)) != 0;
}

/* Finds the first such record. A capture source writes it when it starts, so in a spool without
 * GPU work it comes early. */
static void find_absence(struct gather_result *result, const struct spool_reader *reader)
{
	struct spool_cursor cursor;
	struct spool_record record;

	for (uint32_t w = 0; w < spool_reader_writer_count(reader) && !*result->absence; w++) {
		spool_cursor_init(&cursor, reader, w);
		while (!*result->absence && spool_cursor_next(&cursor, &record)) {
			const struct record_source *source = (const void *)record.header;

			if (tells_absence(source))
				snprintf(result->absence, sizeof(result->absence), "%.*s: %.*s",
					 (int)sizeof(source->name), source->name,
					 (int)source->text_bytes, source->text);
		}
	}
}

static int put_spool(struct passage *passage, const char *path, int fd)
{
	const char *slash = strrchr(path, '/');
	uint32_t pid = (uint32_t)strtoul(slash ? slash + 1 : path, NULL, 10);
	const struct spool_ledger *ledger;
	struct spool_reader *reader;
	int result = spool_reader_open_fd(fd, path, &reader, passage->error);

	if (result == -EINVAL || result == -ENODATA) {
		passage->result->is_damaged = true;
		return put_as_it_is(passage, pid, path, fd);
	}
	if (result < 0)
		return result;
	ledger = spool_reader_ledger(reader);
	count_spool(passage->result, reader);
	if (!ledger->found[RECORD_CLASS_DISPATCH] && !ledger->found[RECORD_CLASS_COPY])
		find_absence(passage->result, reader);
	result = put_packed(passage, pid, path, reader);
	spool_reader_close(reader);
	return result;
}

static int put_named(struct passage *passage, const struct gather_request *request,
		     const char *name)
{
	char *path;
	int fd, err;

	if (asprintf(&path, "%s/%s", request->folder, name) < 0)
		return dagtap_error_set(passage->error, -ENOMEM, "out of memory");
	fd = listing_open(request->folder_fd, name);
	err = fd < 0 ? dagtap_error_set(passage->error, -errno, "%s: %s", path, strerror(errno))
		     : put_spool(passage, path, fd);
	if (fd >= 0)
		close(fd);
	free(path);
	return err;
}

static int put_all(struct passage *passage, const struct gather_request *request,
		   struct dirent **entries, int count)
{
	struct progress *progress = &passage->progress;
	int err = 0;

	progress->spool_count = (uint32_t)count;
	for (int i = 0; i < count && err == 0; i++) {
		progress->spool++;
		err = put_named(passage, request, entries[i]->d_name);
	}
	if (progress->is_told)
		fputs("\r\033[K", stderr);
	return err;
}

static int write_bundle(const struct gather_request *request, struct dirent **entries, int count,
			struct gather_result *counts, struct dagtap_error *error)
{
	struct bundle_writer *writer = NULL;
	struct passage passage = {.result = counts, .error = error};
	int err = bundle_create(request->output, request->force, &writer, error);

	if (err < 0)
		return err;
	passage.writer = writer;
	err = bundle_put_meta(writer, request->meta, error);
	if (err == 0)
		err = put_all(&passage, request, entries, count);
	if (err < 0) {
		bundle_abandon(writer);
		return err;
	}
	return bundle_finish(writer, error);
}

/* Removes from the list the entries for which DROP returns non-zero. Returns how many are left. */
static int take_out(int folder_fd, struct dirent **entries, int count,
		    uint32_t (*drop)(int folder_fd, const char *name))
{
	int kept = 0;

	for (int i = 0; i < count; i++) {
		if (drop(folder_fd, entries[i]->d_name))
			free(entries[i]);
		else
			entries[kept++] = entries[i];
	}
	return kept;
}

/* Whether the name belongs to no regular file. Prints a line on stderr if so. */
static uint32_t is_foreign(int folder_fd, const char *name)
{
	int fd = listing_open(folder_fd, name);

	if (fd >= 0)
		close(fd);
	else if (errno == ELOOP || errno == ENXIO)
		fprintf(stderr, "dagtap: %s: not a regular file; it is left out\n", name);
	else
		return 0;
	return fd < 0;
}

int gather_spools(const struct gather_request *request, struct gather_result *ret_result,
		  struct dagtap_error *error)
{
	struct gather_result counts = {0};
	struct dirent **entries;
	struct stat status;
	int found = scandirat(request->folder_fd, ".", &entries, listing_is_spool, alphasort);
	int files, count, err = 0;

	if (found < 0)
		return dagtap_error_set(error, -errno, "%s: %s", request->folder, strerror(errno));
	files = take_out(request->folder_fd, entries, found, is_foreign);
	count = request->leave_live ? take_out(request->folder_fd, entries, files, listing_is_live)
				    : files;
	if (count > 0)
		err = write_bundle(request, entries, count, &counts, error);
	counts.spool_count = (uint32_t)count;
	counts.live_count = (uint32_t)(files - count);
	counts.foreign_count = (uint32_t)(found - files);
	if (count > 0 && stat(request->output, &status) == 0)
		counts.file_bytes = (uint64_t)status.st_size;
	if (err == 0)
		*ret_result = counts;
	for (int i = 0; i < count; i++) {
		if (err == 0 && !request->keep)
			unlinkat(request->folder_fd, entries[i]->d_name, 0);
		free(entries[i]);
	}
	free(entries);
	return err;
}

int gather_one(const struct gather_request *request, const char *name,
	       struct gather_result *ret_result, struct dagtap_error *error)
{
	struct gather_result counts = {.spool_count = 1};
	struct dirent entry = {0}, *entries[] = {&entry};
	int err;

	if (strlen(name) >= sizeof(entry.d_name))
		return dagtap_error_set(error, -ENAMETOOLONG, "%s: %s", name,
					strerror(ENAMETOOLONG));
	strcpy(entry.d_name, name);
	err = write_bundle(request, entries, 1, &counts, error);
	if (err == 0)
		*ret_result = counts;
	return err;
}

uint32_t gather_tell_lost(int folder_fd, FILE *out)
{
	struct dirent **entries;
	int count = scandirat(folder_fd, ".", &entries, listing_is_lost, alphasort);
	uint32_t told = 0;

	for (int i = 0; i < count; i++) {
		int pid, code;

		if (sscanf(entries[i]->d_name, "%d.%d", &pid, &code) == 2) {
			fprintf(out, "process %d was not recorded: %s\n", pid, strerror(code));
			told++;
		}
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	return told;
}

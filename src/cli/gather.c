#include "cli/gather.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/reader.h"
#include "record/spool.h"
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

static bool has_suffix(const char *name, const char *suffix)
{
	size_t chars = strlen(name), suffix_chars = strlen(suffix);

	return chars > suffix_chars && !strcmp(name + chars - suffix_chars, suffix);
}

static int is_spool(const struct dirent *entry)
{
	return has_suffix(entry->d_name, SPOOL_SUFFIX);
}

/* The live part of a spool's header. False: it has none yet, or is none. */
static bool read_state(int folder_fd, const char *name, uint32_t *ret_pid, bool *ret_is_open)
{
	struct spool_header header;
	int fd = openat(folder_fd, name, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, &header, sizeof(header));

	if (fd >= 0)
		close(fd);
	if (got != (ssize_t)sizeof(header))
		return false;
	*ret_pid = header.pid;
	*ret_is_open = header.live.state == SPOOL_OPEN;
	return true;
}

/* Calls TAKE for the files of FOLDER that pass FILTER; returns the sum of what it returns. */
static uint32_t for_each(const char *folder, int (*filter)(const struct dirent *),
			 uint32_t (*take)(int folder_fd, const char *name))
{
	struct dirent **entries;
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int count = fd < 0 ? -1 : scandir(folder, &entries, filter, alphasort);
	uint32_t sum = 0;

	for (int i = 0; i < count; i++) {
		sum += take(fd, entries[i]->d_name);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	if (fd >= 0)
		close(fd);
	return sum;
}

static uint32_t has_process(int folder_fd, const char *name)
{
	uint32_t pid;
	bool is_open;

	return read_state(folder_fd, name, &pid, &is_open) &&
	       (kill((pid_t)pid, 0) == 0 || errno == EPERM);
}

static uint32_t is_live(int folder_fd, const char *name)
{
	uint32_t pid;
	bool is_open;

	return read_state(folder_fd, name, &pid, &is_open) && is_open &&
	       has_process(folder_fd, name);
}

uint32_t gather_count_live(const char *folder)
{
	return for_each(folder, is_spool, is_live);
}

uint32_t gather_count_processes(const char *folder)
{
	return for_each(folder, is_spool, has_process);
}

/* How far the gathering is, told on a terminal. */
struct progress {
	uint32_t spool; /* from 1 */
	uint32_t spool_count;
	bool is_told;
};

/* One spool's way into the bundle. */
struct passage {
	struct bundle_writer *writer;
	struct progress *progress;
	struct gather_result *result;
	struct dagtap_error *error;
};

static void show_progress(void *context, uint64_t done, uint64_t total)
{
	struct progress *progress = ((struct passage *)context)->progress;

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
	int result = bundle_begin_section(passage->writer, BUNDLE_PACKED, pid, passage->error);

	if (result < 0)
		return result;
	result = pack_write(reader, &sink);
	if (result == -ENOMEM)
		return dagtap_error_set(passage->error, result, "%s: out of memory", path);
	return result < 0 ? result : bundle_end_section(passage->writer, passage->error);
}

/* What cannot be read as a spool is kept as it is: whoever opens the recording is told why. */
static int put_as_it_is(struct passage *passage, uint32_t pid, const char *path)
{
	struct stat status;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *image = MAP_FAILED;
	int result;

	if (fd >= 0 && fstat(fd, &status) == 0)
		image = status.st_size
				? mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0)
				: NULL;
	if (image == MAP_FAILED)
		result = dagtap_error_set(passage->error, -errno, "%s: %s", path, strerror(errno));
	else
		result = bundle_put_spool(passage->writer, pid, image, (uint64_t)status.st_size,
					  passage->error);
	if (image && image != MAP_FAILED)
		munmap(image, (size_t)status.st_size);
	if (fd >= 0)
		close(fd);
	return result;
}

static void count_spool(struct gather_result *result, const struct spool_reader *reader)
{
	const struct spool_ledger *ledger = spool_reader_ledger(reader);

	for (int class = 0; class < RECORD_CLASS_COUNT; class ++)
		for (int cause = 0; cause < RECORD_DROP_COUNT; cause++)
			result->lost +=
				cause == RECORD_DROP_RING ? 0 : ledger->dropped[class][cause];
	result->dispatches += ledger->found[RECORD_CLASS_DISPATCH];
	result->calls += ledger->found[RECORD_CLASS_API];
	result->is_truncated |= !spool_reader_info(reader)->closed;
}

/* HIP is absent in every program that does not use it. */
static bool tells_absence(const struct record_source *source)
{
	return source->header.type == RECORD_SOURCE && source->header.tag == RECORD_SOURCE_ABSENT &&
	       strncmp(source->name, "hip", sizeof(source->name)) != 0;
}

/* Said where the part starts: early, in a spool without work. */
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

static int put_spool(struct passage *passage, const char *path)
{
	const char *slash = strrchr(path, '/');
	uint32_t pid = (uint32_t)strtoul(slash ? slash + 1 : path, NULL, 10);
	const struct spool_ledger *ledger;
	struct spool_reader *reader;
	int result = spool_reader_open(path, &reader, passage->error);

	if (result == -EINVAL)
		return put_as_it_is(passage, pid, path);
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

static int put_all(struct passage *passage, const char *folder, struct dirent **entries, int count)
{
	struct progress progress = {.spool_count = (uint32_t)count};
	int result = 0;

	passage->progress = &progress;
	for (int i = 0; i < count && result == 0; i++) {
		char *path;

		if (asprintf(&path, "%s/%s", folder, entries[i]->d_name) < 0)
			return dagtap_error_set(passage->error, -ENOMEM, "out of memory");
		progress.spool++;
		result = put_spool(passage, path);
		free(path);
	}
	if (progress.is_told)
		fputs("\r\033[K", stderr);
	return result;
}

static int write_bundle(const struct gather_request *request, struct dirent **entries, int count,
			struct gather_result *counts, struct dagtap_error *error)
{
	struct bundle_writer *writer = NULL;
	struct passage passage = {.result = counts, .error = error};
	int result = bundle_create(request->output, request->force, &writer, error);

	if (result < 0)
		return result;
	passage.writer = writer;
	result = bundle_put_meta(writer, request->meta, error);
	if (result == 0)
		result = put_all(&passage, request->folder, entries, count);
	if (result < 0) {
		bundle_abandon(writer);
		return result;
	}
	return bundle_finish(writer, error);
}

static uint32_t remove_file(int folder_fd, const char *name)
{
	return unlinkat(folder_fd, name, 0) == 0;
}

/* Takes the spools of live processes out of the list; returns how many are left in it. */
static int take_live_out(const char *folder, struct dirent **entries, int count)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int kept = 0;

	for (int i = 0; i < count; i++) {
		if (fd >= 0 && is_live(fd, entries[i]->d_name))
			free(entries[i]);
		else
			entries[kept++] = entries[i];
	}
	if (fd >= 0)
		close(fd);
	return kept;
}

static void remove_gathered(const char *folder, struct dirent **entries, int count)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	for (int i = 0; fd >= 0 && i < count; i++)
		remove_file(fd, entries[i]->d_name);
	if (fd >= 0)
		close(fd);
}

int gather_spools(const struct gather_request *request, struct gather_result *ret_result,
		  struct dagtap_error *error)
{
	struct gather_result counts = {0};
	struct dirent **entries;
	struct stat status;
	int found = scandir(request->folder, &entries, is_spool, alphasort);
	int count = found;
	int result = 0;

	if (found < 0)
		return dagtap_error_set(error, -errno, "%s: %s", request->folder, strerror(errno));
	if (request->leave_live)
		count = take_live_out(request->folder, entries, found);
	if (count > 0)
		result = write_bundle(request, entries, count, &counts, error);
	counts.spool_count = (uint32_t)count;
	counts.live_count = (uint32_t)(found - count);
	if (count > 0 && stat(request->output, &status) == 0)
		counts.file_bytes = (uint64_t)status.st_size;
	if (result == 0)
		*ret_result = counts;
	if (result == 0 && !request->keep)
		remove_gathered(request->folder, entries, count);
	for (int i = 0; i < count; i++)
		free(entries[i]);
	free(entries);
	return result;
}

static int is_lost(const struct dirent *entry)
{
	return has_suffix(entry->d_name, SPOOL_LOST_SUFFIX);
}

static uint32_t tell_lost(int folder_fd, const char *name)
{
	int pid, code;

	(void)folder_fd;
	if (sscanf(name, "%d.%d", &pid, &code) != 2)
		return 0;
	fprintf(stderr, "dagtap: process %d was not recorded: %s\n", pid, strerror(code));
	return 1;
}

uint32_t gather_tell_lost(const char *folder)
{
	return for_each(folder, is_lost, tell_lost);
}

static int is_ours(const struct dirent *entry)
{
	return is_spool(entry) || is_lost(entry) || has_suffix(entry->d_name, SPOOL_SUFFIX ".new");
}

void gather_remove(const char *folder)
{
	char *target = realpath(folder, NULL); /* where a ring is kept: FOLDER is then a link */

	for_each(folder, is_ours, remove_file);
	/* The link stays as long as something of others' is behind it. */
	if (!target || rmdir(target) == 0)
		unlink(folder);
	free(target);
}

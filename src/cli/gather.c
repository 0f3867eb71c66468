#include "cli/gather.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/spool.h"

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

/* A process that was killed leaves chunks that nobody took, all zero: they stay out. */
static uint64_t used_bytes(const void *image, uint64_t size)
{
	const struct spool_header *header = image;
	uint64_t used;

	if (size < sizeof(*header) ||
	    memcmp(header->magic, SPOOL_MAGIC, sizeof(header->magic)) != 0)
		return size;
	if (header->live.chunks_taken > size / SPOOL_CHUNK_BYTES)
		return size;
	used = header->chunk_offset + header->live.chunks_taken * SPOOL_CHUNK_BYTES;
	return used >= SPOOL_CHUNK_OFFSET && used < size ? used : size;
}

static int put_spool(struct bundle_writer *writer, const char *path, struct dagtap_error *error)
{
	struct stat status;
	const char *slash = strrchr(path, '/');
	uint32_t pid = (uint32_t)strtoul(slash ? slash + 1 : path, NULL, 10);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *image = MAP_FAILED;
	int result;

	if (fd >= 0 && fstat(fd, &status) == 0 && status.st_size > 0)
		image = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	else if (fd >= 0)
		errno = EINVAL;
	if (image == MAP_FAILED) {
		result = dagtap_error_set(error, -errno, "%s: %s", path, strerror(errno));
	} else {
		uint64_t bytes = used_bytes(image, (uint64_t)status.st_size);

		madvise(image, (size_t)status.st_size, MADV_SEQUENTIAL);
		result = bundle_put_spool(writer, pid, image, bytes, error);
		munmap(image, (size_t)status.st_size);
	}
	if (fd >= 0)
		close(fd);
	return result;
}

static void show_progress(int done, int total)
{
	if (!isatty(STDERR_FILENO) || total < 2)
		return;
	fprintf(stderr, "\rdagtap: gathering %d of %d spools", done, total);
	if (done == total)
		fputs("\r\033[K", stderr);
}

static int put_all(struct bundle_writer *writer, const char *folder, struct dirent **entries,
		   int count, struct dagtap_error *error)
{
	for (int i = 0; i < count; i++) {
		char *path;
		int result;

		if (asprintf(&path, "%s/%s", folder, entries[i]->d_name) < 0)
			return dagtap_error_set(error, -ENOMEM, "out of memory");
		result = put_spool(writer, path, error);
		free(path);
		if (result < 0)
			return result;
		show_progress(i + 1, count);
	}
	return 0;
}

static int write_bundle(const struct gather_request *request, struct dirent **entries, int count,
			struct dagtap_error *error)
{
	struct bundle_writer *writer = NULL;
	int result = bundle_create(request->output, request->force, &writer, error);

	if (result < 0)
		return result;
	result = bundle_put_meta(writer, request->meta, error);
	if (result == 0)
		result = put_all(writer, request->folder, entries, count, error);
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
		result = write_bundle(request, entries, count, error);
	if (result == 0)
		*ret_result = (struct gather_result){.spool_count = (uint32_t)count,
						     .live_count = (uint32_t)(found - count)};
	if (result == 0 && count > 0 && stat(request->output, &status) == 0)
		ret_result->file_bytes = (uint64_t)status.st_size;
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
	for_each(folder, is_ours, remove_file);
	rmdir(folder);
}

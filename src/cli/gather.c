#include "cli/gather.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
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

int gather_spools(const struct gather_request *request, struct gather_result *ret_result,
		  struct dagtap_error *error)
{
	struct dirent **entries;
	struct stat status;
	int count = scandir(request->folder, &entries, is_spool, alphasort);
	int result = 0;

	if (count < 0)
		return dagtap_error_set(error, -errno, "%s: %s", request->folder, strerror(errno));
	if (count > 0)
		result = write_bundle(request, entries, count, error);
	if (result == 0)
		*ret_result = (struct gather_result){.spool_count = (uint32_t)count};
	if (result == 0 && count > 0 && stat(request->output, &status) == 0)
		ret_result->file_bytes = (uint64_t)status.st_size;
	for (int i = 0; i < count; i++)
		free(entries[i]);
	free(entries);
	return result;
}

static int is_ours(const struct dirent *entry)
{
	return is_spool(entry) || has_suffix(entry->d_name, SPOOL_SUFFIX ".new");
}

void gather_remove(const char *folder)
{
	struct dirent **entries;
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int count = scandir(folder, &entries, is_ours, alphasort);

	for (int i = 0; i < count; i++) {
		if (fd >= 0)
			unlinkat(fd, entries[i]->d_name, 0);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	if (fd >= 0)
		close(fd);
	rmdir(folder);
}

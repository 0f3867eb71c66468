/* Code object readers, and the HSA functions on them. */
#include "softgpu/code_object_reader.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "softgpu/api.h"
#include "softgpu/handle.h"
#include "softgpu/softgpu_threads.h"
#include "softgpu/system_state.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t lock_once = PTHREAD_ONCE_INIT;
static struct handle_table readers;

static void guard_lock(void)
{
	process_guard_lock(&lock);
}

static void lock_readers(void)
{
	pthread_once(&lock_once, guard_lock);
	pthread_mutex_lock(&lock);
}

struct code_object_reader *reader_retain(hsa_code_object_reader_t handle)
{
	struct code_object_reader *reader;

	lock_readers();
	reader = handle_find(&readers, HANDLE_READER, handle.handle);
	if (reader)
		reader->references++;
	pthread_mutex_unlock(&lock);
	return reader;
}

static void free_reader(struct code_object_reader *reader)
{
	free(reader->owned);
	free(reader->uri);
	free(reader);
}

void reader_release(struct code_object_reader *reader)
{
	bool last;

	lock_readers();
	last = --reader->references == 0;
	pthread_mutex_unlock(&lock);
	if (last)
		free_reader(reader);
}

/* Adds READER to the table and gives its handle. Frees READER on failure. */
static hsa_status_t publish(struct code_object_reader *reader, hsa_code_object_reader_t *ret_handle)
{
	uint64_t handle;
	int err;

	reader->references = 1;
	lock_readers();
	err = reader->uri ? handle_add(&readers, HANDLE_READER, reader, &handle) : -ENOMEM;
	pthread_mutex_unlock(&lock);
	if (err < 0) {
		free_reader(reader);
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	}
	ret_handle->handle = handle;
	return HSA_STATUS_SUCCESS;
}

static char *make_memory_uri(const void *bytes, size_t size)
{
	char *uri;

	if (asprintf(&uri, "memory://%d#offset=0x%zx&size=%zu", getpid(), (size_t)bytes, size) < 0)
		return NULL;
	return uri;
}

hsa_status_t
softgpu_hsa_code_object_reader_create_from_memory(const void *code_object, size_t size,
						  hsa_code_object_reader_t *code_object_reader)
{
	struct code_object_reader *reader;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!code_object || size == 0 || !code_object_reader)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	reader = calloc(1, sizeof(*reader));
	if (!reader)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	reader->bytes = code_object;
	reader->size = size;
	reader->file = -1;
	reader->uri = make_memory_uri(code_object, size);
	return publish(reader, code_object_reader);
}

/* Returns whether C stands for itself in a file URI; other characters are written as %XX. */
static bool is_uri_character(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c != '\0' && strchr("/_.~-", c));
}

static char *make_file_uri(int file, size_t offset, size_t size)
{
	char link[64];
	char path[PATH_MAX];
	char encoded[3 * PATH_MAX];
	char *to = encoded;
	char *uri;
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", file);
	length = readlink(link, path, sizeof(path));
	for (ssize_t i = 0; i < length; i++) {
		if (is_uri_character(path[i]))
			*to++ = path[i];
		else
			to += sprintf(to, "%%%02X", (unsigned char)path[i]);
	}
	*to = '\0';
	if (asprintf(&uri, "file://%s#offset=%zu&size=%zu", encoded, offset, size) < 0)
		return NULL;
	return uri;
}

static bool read_file(int file, size_t offset, uint8_t *bytes, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = pread(file, bytes + done, size - done, (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		done += (size_t)n;
	}
	return true;
}

static hsa_status_t create_from_file(hsa_file_t file, size_t offset, size_t size,
				     hsa_code_object_reader_t *ret_reader)
{
	struct code_object_reader *reader = calloc(1, sizeof(*reader));
	uint8_t *bytes = malloc(size ? size : 1);

	if (!reader || !bytes) {
		free(reader);
		free(bytes);
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	}
	if (!read_file(file, offset, bytes, size)) {
		free(reader);
		free(bytes);
		return HSA_STATUS_ERROR_INVALID_FILE;
	}
	reader->owned = bytes;
	reader->bytes = bytes;
	reader->size = size;
	reader->is_file = true;
	reader->file = file;
	reader->uri = make_file_uri(file, offset, size);
	return publish(reader, ret_reader);
}

hsa_status_t reader_create_from_file(hsa_file_t file, size_t offset, size_t size,
				     hsa_code_object_reader_t *ret_reader)
{
	struct stat stat;

	if (fstat(file, &stat) < 0 || !S_ISREG(stat.st_mode))
		return HSA_STATUS_ERROR_INVALID_FILE;
	if (size == 0 || offset > (size_t)stat.st_size || size > (size_t)stat.st_size - offset)
		return HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
	return create_from_file(file, offset, size, ret_reader);
}

hsa_status_t
softgpu_hsa_code_object_reader_create_from_file(hsa_file_t file,
						hsa_code_object_reader_t *code_object_reader)
{
	struct stat stat;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!code_object_reader)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (fstat(file, &stat) < 0 || !S_ISREG(stat.st_mode))
		return HSA_STATUS_ERROR_INVALID_FILE;
	return create_from_file(file, 0, (size_t)stat.st_size, code_object_reader);
}

hsa_status_t softgpu_hsa_code_object_reader_destroy(hsa_code_object_reader_t code_object_reader)
{
	struct code_object_reader *reader;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	lock_readers();
	reader = handle_remove(&readers, HANDLE_READER, code_object_reader.handle);
	pthread_mutex_unlock(&lock);
	if (!reader)
		return HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER;
	reader_release(reader);
	return HSA_STATUS_SUCCESS;
}

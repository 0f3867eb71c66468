/* Opens a spool, with the checks of spool_header.c, spool_chunks.c and spool_counts.c, closes it,
 * and answers what it holds. cursor.c gives out the records. */
#include "record/spool_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/spool_reader_state.h"

/* ---- open and close ---- */

static int read_spool(struct spool_reader *r, struct dagtap_error *error)
{
	int err = reader_check_header(r, error);

	if (err)
		return err;
	r->writers = r->cut ? r->cut->writers
			    : (const struct spool_writer *)(r->bytes + SPOOL_HEADER_BYTES);
	r->found = calloc(1, sizeof(*r->found));
	r->is_damaged = calloc(SPOOL_WRITER_COUNT, sizeof(*r->is_damaged));
	if (!r->found || !r->is_damaged)
		return dagtap_error_set(error, -ENOMEM, "%s: out of memory", r->name);
	err = reader_read_header(r, error);
	if (err)
		return err;
	reader_count_places(r);
	return 0;
}

int spool_reader_check(struct spool_reader *r, spool_part_read *read, void *context)
{
	int result = reader_find_chunks(r, read, context);

	if (result < 0)
		return result;
	if (r->cut)
		live_cut_finish(r->cut);
	reader_check_counts(r);
	free(r->found);
	free(r->is_damaged);
	r->found = NULL;
	r->is_damaged = NULL;
	r->is_checked = true;
	return result;
}

bool spool_reader_is_checked(const struct spool_reader *r)
{
	return r->is_checked;
}

static int check_all(struct spool_reader *r, struct dagtap_error *error)
{
	int result = spool_reader_check(r, NULL, NULL);

	return result < 0 ? dagtap_error_set(error, result, "%s: out of memory", r->name) : 0;
}

/* Takes ownership of MAPPING and CUT, also when it fails. */
static int create_reader(const void *bytes, size_t length, void *mapping, struct live_cut *cut,
			 const char *name, struct spool_reader **ret_reader,
			 struct dagtap_error *error)
{
	struct spool_reader *r = calloc(1, sizeof(*r));
	int err;

	if (!r) {
		if (mapping)
			munmap(mapping, length);
		live_cut_release(cut);
		return dagtap_error_set(error, -ENOMEM, "%s: out of memory", name);
	}
	r->bytes = bytes;
	r->length = length;
	r->mapping = mapping;
	r->cut = cut;
	r->header = cut ? &cut->header : bytes;
	r->name = strdup(name);
	err = r->name ? read_spool(r, error)
		      : dagtap_error_set(error, -ENOMEM, "%s: out of memory", name);
	/* Of a file that is still written, before its process goes on much longer. */
	if (!err && cut)
		err = check_all(r, error);
	if (err) {
		spool_reader_close(r);
		return err;
	}
	*ret_reader = r;
	return 0;
}

int spool_reader_open_memory_unchecked(const void *bytes, size_t length, const char *name,
				       struct spool_reader **ret_reader, struct dagtap_error *error)
{
	if ((uintptr_t)bytes % 8)
		return dagtap_error_set(error, -EINVAL, "%s: memory is not aligned to 8 bytes",
					name);
	return create_reader(bytes, length, NULL, NULL, name, ret_reader, error);
}

/* Checks what was opened without a check, with RESULT. */
static int finish_open(int result, struct spool_reader *r, struct spool_reader **ret_reader,
		       struct dagtap_error *error)
{
	if (!result && !r->is_checked)
		result = check_all(r, error);
	if (!result)
		*ret_reader = r;
	else
		spool_reader_close(r);
	return result;
}

int spool_reader_open_memory(const void *bytes, size_t length, const char *name,
			     struct spool_reader **ret_reader, struct dagtap_error *error)
{
	struct spool_reader *r = NULL;
	int result = spool_reader_open_memory_unchecked(bytes, length, name, &r, error);

	return finish_open(result, r, ret_reader, error);
}

/* A private, writable mapping: check_records removes passed-over records from our copy of a file
 * that is still written. */
static int map_file(int fd, size_t length, void **ret_mapping)
{
	void *mapping =
		mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, fd, 0);

	if (mapping == MAP_FAILED)
		return -errno;
	*ret_mapping = mapping;
	return 0;
}

static int open_fd_unchecked(int fd, const char *name, struct spool_reader **ret_reader,
			     struct dagtap_error *error)
{
	struct live_cut *cut = NULL;
	struct stat status;
	void *mapping = NULL;
	/* The counts are read before the size: all that they count lies within this
	 * size. */
	int err = live_cut_take(fd, &cut);

	if (!err && fstat(fd, &status))
		err = -errno;
	else if (!err && !S_ISREG(status.st_mode))
		err = -EISDIR;
	else if (!err && status.st_size > 0)
		err = map_file(fd, (size_t)status.st_size, &mapping);
	if (err) {
		live_cut_release(cut);
		return dagtap_error_set(error, err, "%s: %s", name,
					err == -EISDIR ? "not a regular file"
						       : strerrordesc_np(-err));
	}
	return create_reader(mapping, mapping ? (size_t)status.st_size : 0, mapping, cut, name,
			     ret_reader, error);
}

int spool_reader_open_fd(int fd, const char *name, struct spool_reader **ret_reader,
			 struct dagtap_error *error)
{
	struct spool_reader *r = NULL;
	int result = open_fd_unchecked(fd, name, &r, error);

	return finish_open(result, r, ret_reader, error);
}

int spool_reader_open_unchecked(const char *path, struct spool_reader **ret_reader,
				struct dagtap_error *error)
{
	/* O_NONBLOCK: the open of a FIFO must not wait for its other end. */
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	int result;

	if (fd < 0)
		return dagtap_error_set(error, -errno, "%s: %s", path, strerrordesc_np(errno));
	result = open_fd_unchecked(fd, path, ret_reader, error);
	close(fd);
	return result;
}

int spool_reader_open(const char *path, struct spool_reader **ret_reader,
		      struct dagtap_error *error)
{
	struct spool_reader *r = NULL;
	int result = spool_reader_open_unchecked(path, &r, error);

	return finish_open(result, r, ret_reader, error);
}

void spool_reader_close(struct spool_reader *r)
{
	if (!r)
		return;
	if (r->mapping)
		munmap(r->mapping, r->length);
	live_cut_release(r->cut);
	free(r->found);
	free(r->is_damaged);
	free(r->chunks);
	free(r->file_order);
	free(r->name);
	free(r);
}

/* ---- answers ---- */

const struct spool_info *spool_reader_info(const struct spool_reader *r)
{
	return &r->info;
}

const struct spool_ledger *spool_reader_ledger(const struct spool_reader *r)
{
	return &r->ledger;
}

const struct spool_damage *spool_reader_damages(const struct spool_reader *r, size_t *ret_kept,
						uint64_t *ret_total)
{
	*ret_kept = r->damages_kept;
	*ret_total = r->damages_total;
	return r->damages;
}

uint32_t spool_reader_writer_count(const struct spool_reader *r)
{
	return r->writer_count;
}

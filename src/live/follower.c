/* Reads the records of a spool while it grows (see follower.h). */
#include "live/follower.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/table.h"
#include "live/follower_ring.h"
#include "record/record_check.h"
#include "record/spool_header.h"
#include "record/writer.h"

static int map_header(struct follower *follower, const char *name, bool takes_ring,
		      struct dagtap_error *error)
{
	struct stat status;
	void *mapping;
	int err;

	if (fstat(follower->fd, &status))
		return dagtap_error_set(error, -errno, "%s: %s", name, strerrordesc_np(errno));
	if (!S_ISREG(status.st_mode))
		return dagtap_error_set(error, -EISDIR, "%s: not a regular file", name);
	if (status.st_size < SPOOL_HEADER_BYTES)
		return dagtap_error_set(error, -ENODATA, "%s: the file ends inside its header",
					name);
	mapping = mmap(NULL, SPOOL_HEADER_BYTES, PROT_READ, MAP_SHARED, follower->fd, 0);
	if (mapping == MAP_FAILED)
		return dagtap_error_set(error, -errno, "%s: %s", name, strerrordesc_np(errno));
	follower->header = mapping;
	err = spool_header_check(mapping, (size_t)status.st_size, name, error);
	if (!err && follower->header->ring_bytes && !takes_ring)
		err = dagtap_error_set(error, -EOPNOTSUPP,
				       "%s: a ring recording cannot be followed", name);
	return err;
}

int follower_open(struct follower *follower, int fd, const char *name, bool takes_ring,
		  struct dagtap_error *error)
{
	int err;

	*follower = (struct follower){.fd = fcntl(fd, F_DUPFD_CLOEXEC, 3)};
	if (follower->fd < 0)
		return dagtap_error_set(error, -errno, "%s: %s", name, strerrordesc_np(errno));
	err = map_header(follower, name, takes_ring, error);
	if (!err && follower->header->ring_bytes) {
		follower->copy = malloc(SPOOL_CHUNK_BYTES);
		if (!follower->copy)
			err = dagtap_error_set(error, -ENOMEM, "%s: out of memory", name);
	}
	if (err)
		follower_close(follower);
	return err;
}

static void unmap_chunk(struct followed_chunk *followed)
{
	if (followed->chunk)
		munmap((void *)followed->chunk, SPOOL_CHUNK_BYTES);
	followed->chunk = NULL;
}

void follower_close(struct follower *follower)
{
	for (size_t i = 0; i < follower->chunk_count; i++)
		unmap_chunk(&follower->chunks[i]);
	free(follower->chunks);
	free(follower->seen);
	free(follower->copy);
	if (follower->header)
		munmap((void *)follower->header, SPOOL_HEADER_BYTES);
	if (follower->fd > 0)
		close(follower->fd);
	*follower = (struct follower){0};
}

/* ---- chunks ---- */

static int map_chunk(const struct follower *follower, struct followed_chunk *followed)
{
	off_t offset = (off_t)(SPOOL_CHUNK_OFFSET + followed->place * SPOOL_CHUNK_BYTES);
	void *mapping;

	if (followed->chunk)
		return 0;
	mapping = mmap(NULL, SPOOL_CHUNK_BYTES, PROT_READ, MAP_SHARED, follower->fd, offset);
	if (mapping == MAP_FAILED)
		return -errno;
	followed->chunk = mapping;
	return 0;
}

/* Adds the places of the TAKEN chunks that are not among the chunks yet. Without a ring, chunks are
 * taken in the order of their places; thousands of places are ready behind them, and have no
 * label. */
static int add_places(struct follower *follower, uint64_t taken)
{
	uint64_t places = 0;
	int err = follower_count_places(follower, &places);

	if (places > taken)
		places = taken;
	if (err < 0 || places <= follower->next_place)
		return err;
	if (table_reserve((void **)&follower->chunks, &follower->chunk_room,
			  follower->chunk_count + places - follower->next_place,
			  sizeof(*follower->chunks)) < 0)
		return -ENOMEM;
	while (follower->next_place < places)
		follower->chunks[follower->chunk_count++] = (struct followed_chunk){
			.place = follower->next_place++,
			.index = UINT32_MAX,
		};
	return 0;
}

/* Reads the label of a chunk that had none, if it has one now. Without a mapping: the process cuts
 * off the places that it did not use when it closes the spool. TAKEN is chunks_taken before the
 * first label is read: chunks that were taken later are left to the next call. */
static void read_label(struct follower *follower, struct followed_chunk *followed, uint64_t taken)
{
	struct follower_label label;
	bool is_sound;

	if (!follower_read_label(follower, followed->place, &label))
		return;
	is_sound = follower_label_is_sound(follower, &label);
	if (is_sound && follower_label_is_later(&label, taken))
		return;
	followed->at = SPOOL_CHUNK_HEAD_BYTES;
	followed->index = label.index;
	follower->labels++;
	if (!is_sound) {
		follower->damage++;
		followed->at = SPOOL_CHUNK_BYTES;
	}
}

/* Looks for labels, and brings the chunks into their order. */
static int find_chunks(struct follower *follower)
{
	uint64_t taken =
		atomic_load_explicit(&follower->header->live.chunks_taken, memory_order_acquire);
	uint64_t labels = follower->labels;
	int err;

	if (follower->copy)
		return follower_ring_find(follower);
	if (taken == labels)
		return 0;
	err = add_places(follower, taken);
	for (size_t i = 0; i < follower->chunk_count && err == 0; i++) {
		if (!follower->chunks[i].at)
			read_label(follower, &follower->chunks[i], taken);
	}
	if (follower->labels != labels)
		follower_sort(follower);
	return err;
}

/* Removes the chunks that are read to their end. */
static void drop_chunks(struct follower *follower)
{
	size_t kept = 0;

	for (size_t i = 0; i < follower->chunk_count; i++) {
		if (follower->chunks[i].at >= SPOOL_CHUNK_BYTES)
			unmap_chunk(&follower->chunks[i]);
		else
			follower->chunks[kept++] = follower->chunks[i];
	}
	follower->chunk_count = kept;
}

/* ---- records ---- */

/* The state of one call of follower_read. */
struct reading {
	struct follower *follower;
	size_t bytes_left;
	follower_take *take;
	void *context;
};

/* The record at AT of the chunk, or NULL if it is not complete. */
static const struct record_header *next_record(const void *chunk, uint32_t at_byte, uint32_t limit)
{
	const char *at = (const char *)chunk + at_byte;

	if (at_byte >= limit)
		return NULL;
	/* The header is the last store of a record. Pairs with the release in writer_commit. */
	if (!(uint16_t)atomic_load_explicit((const _Atomic uint64_t *)at, memory_order_acquire))
		return NULL;
	return (const struct record_header *)at;
}

/* Maps a chunk, and finds how far it may be read. */
static int look_into(const struct follower *follower, struct followed_chunk *followed,
		     struct follower_view *ret_view)
{
	int err = map_chunk(follower, followed);

	if (err < 0)
		return err;
	ret_view->chunk = followed->chunk;
	/* Pairs with the release with which the writer gives the chunk up: no record comes later,
	 * and used_bytes is valid. */
	ret_view->is_open = atomic_load_explicit(&followed->chunk->state, memory_order_acquire) ==
			    SPOOL_CHUNK_OPEN;
	ret_view->limit = ret_view->is_open ? SPOOL_CHUNK_BYTES : followed->chunk->used_bytes;
	if (ret_view->limit > SPOOL_CHUNK_BYTES)
		ret_view->limit = SPOOL_CHUNK_BYTES;
	return 0;
}

/* Reads the records of a chunk. Leaves the chunk at its end if nothing more comes in it. */
static int read_chunk(struct reading *reading, struct followed_chunk *followed,
		      const struct follower_view *view)
{
	const uint32_t limit = view->limit;
	const struct record_header *record;
	int err = 0;

	while (err == 0 && reading->bytes_left &&
	       (record = next_record(view->chunk, followed->at, limit))) {
		size_t bytes = record->words * 8u;

		if (record_check(record, limit - followed->at)) {
			reading->follower->damage++;
			followed->at = SPOOL_CHUNK_BYTES;
			return 0;
		}
		if (record->type == RECORD_THREAD)
			followed->tid = record->tag;
		if (record->type < RECORD_TYPE_COUNT)
			reading->follower->read[record_class_of(record->type)]++;
		if (record->type < RECORD_TYPE_COUNT)
			err = reading->take(reading->context, record, followed->tid);
		followed->at += (uint32_t)bytes;
		reading->bytes_left -= bytes < reading->bytes_left ? bytes : reading->bytes_left;
	}
	if (err == 0 && reading->bytes_left && !view->is_open)
		followed->at = SPOOL_CHUNK_BYTES;
	return err;
}

void follower_mark(struct follower *follower)
{
	follower->mark =
		atomic_load_explicit(&follower->header->live.chunks_taken, memory_order_acquire);
	follower->is_marked = true;
}

bool follower_is_past_mark(const struct follower *follower)
{
	return !follower->is_marked;
}

void follower_note_death(struct follower *follower)
{
	follower->is_dead = true;
	follower->is_scanned = false;
}

int follower_read(struct follower *follower, size_t most_bytes, follower_take *take, void *context)
{
	struct reading reading = {follower, most_bytes, take, context};
	int err = find_chunks(follower);
	size_t i = 0;

	for (; i < follower->chunk_count && err == 0 && reading.bytes_left; i++) {
		struct followed_chunk *followed = &follower->chunks[i];
		struct follower_view view = {0};

		if (!followed->at || followed->at >= SPOOL_CHUNK_BYTES)
			continue;
		if (!follower->copy)
			err = look_into(follower, followed, &view);
		else if (!follower_ring_copy(follower, followed, &view))
			continue;
		if (err == 0)
			err = read_chunk(&reading, followed, &view);
	}
	/* The chunks before the last one have been read as far as they were complete. */
	if (err == 0 &&
	    (reading.bytes_left || (i && follower->chunks[i - 1].index >= follower->mark)))
		follower->is_marked = false;
	drop_chunks(follower);
	return err == 0 && !reading.bytes_left ? 1 : err;
}

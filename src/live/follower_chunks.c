/* What both parts of a follower need: the places and labels of chunks, their order, and the end of
 * the recording. The contracts are in follower.h and follower_ring.h. */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "live/follower_ring.h"

bool follower_is_closed(const struct follower *follower)
{
	return atomic_load_explicit(&follower->header->live.state, memory_order_acquire) ==
	       SPOOL_CLOSED;
}

int follower_count_places(const struct follower *follower, uint64_t *ret_places)
{
	struct stat status;
	uint64_t bytes;

	if (fstat(follower->fd, &status))
		return -errno;
	bytes = (uint64_t)status.st_size;
	*ret_places =
		bytes < SPOOL_CHUNK_OFFSET ? 0 : (bytes - SPOOL_CHUNK_OFFSET) / SPOOL_CHUNK_BYTES;
	return 0;
}

bool follower_read_label(const struct follower *follower, uint64_t place,
			 struct follower_label *ret_label)
{
	off_t offset = (off_t)(SPOOL_CHUNK_OFFSET + place * SPOOL_CHUNK_BYTES);

	/* The magic is the label's last store, so the second read has all of the label. */
	for (int look = 0; look < 2; look++) {
		if (pread(follower->fd, ret_label, sizeof(*ret_label), offset) !=
			    sizeof(*ret_label) ||
		    !ret_label->magic)
			return false;
	}
	return true;
}

bool follower_label_is_sound(const struct follower *follower, const struct follower_label *label)
{
	return label->magic == SPOOL_CHUNK_MAGIC &&
	       label->session_id == follower->header->session_id;
}

bool follower_label_is_later(const struct follower_label *label, uint64_t taken)
{
	return (int32_t)(label->index - (uint32_t)taken) >= 0;
}

static int by_index(const void *left, const void *right)
{
	const struct followed_chunk *a = left, *b = right;

	if (a->index != b->index)
		return a->index < b->index ? -1 : 1;
	return (a->place > b->place) - (a->place < b->place);
}

void follower_sort(struct follower *follower)
{
	qsort(follower->chunks, follower->chunk_count, sizeof(*follower->chunks), by_index);
}

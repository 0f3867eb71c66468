/* Reads chunks that their process may reuse at any time: see follower_ring.h.
 *
 * A chunk is read with pread and never mapped, because the process cuts off the end of the file
 * when it closes the spool, and a load from there would end this process. After each copy the label
 * is read again: if it is the same, the chunk was not reused before, since a reuse clears the magic
 * first (ring_reuse), and the copy is good. */
#include "live/follower_ring.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "base/table.h"
#include "record/spool_reader.h"
#include "record/writer.h"

/* ---- finding chunks ---- */

/* Makes room for the places that the file has got. */
static int add_places(struct follower *follower)
{
	uint64_t places = 0;
	int err = follower_count_places(follower, &places);

	if (err < 0 || places <= follower->next_place)
		return err;
	if (table_reserve((void **)&follower->seen, &follower->seen_room, places,
			  sizeof(*follower->seen)) < 0)
		return -ENOMEM;
	for (; follower->next_place < places; follower->next_place++)
		follower->seen[follower->next_place] = 0;
	return 0;
}

static void lose(struct follower *follower, struct followed_chunk *followed)
{
	follower->lost_chunks++;
	followed->at = SPOOL_CHUNK_BYTES;
}

/* The chunk that was at PLACE before is lost if it was not read to its end. */
static void lose_place(struct follower *follower, uint64_t place)
{
	for (size_t i = 0; i < follower->chunk_count; i++) {
		struct followed_chunk *followed = &follower->chunks[i];

		if (followed->place == place && followed->at < SPOOL_CHUNK_BYTES)
			lose(follower, followed);
	}
}

/* TAKEN is chunks_taken before the scan: chunks that were taken later are left to the next scan. */
static int look_at_place(struct follower *follower, uint64_t place, uint64_t taken)
{
	struct follower_label label;
	bool is_sound;

	if (!follower_read_label(follower, place, &label) ||
	    follower->seen[place] == label.index + 1u)
		return 0;
	is_sound = follower_label_is_sound(follower, &label);
	if (is_sound && follower_label_is_later(&label, taken))
		return 0;
	if (follower->seen[place])
		lose_place(follower, place);
	if (table_reserve((void **)&follower->chunks, &follower->chunk_room,
			  follower->chunk_count + 1, sizeof(*follower->chunks)) < 0)
		return -ENOMEM;
	follower->seen[place] = label.index + 1u;
	follower->labels++;
	if (!is_sound) {
		follower->damage++;
		return 0;
	}
	follower->chunks[follower->chunk_count++] = (struct followed_chunk){
		.place = place, .index = label.index, .at = SPOOL_CHUNK_HEAD_BYTES};
	return 0;
}

int follower_ring_find(struct follower *follower)
{
	bool is_closed = follower_is_closed(follower);
	uint64_t taken =
		atomic_load_explicit(&follower->header->live.chunks_taken, memory_order_acquire);
	uint64_t labels = follower->labels;
	int err;

	/* A chunk that is taken gets its label a moment later: so one more scan follows each. */
	if (taken == follower->scanned_taken && follower->is_scanned &&
	    is_closed == follower->is_scanned_closed)
		return 0;
	follower->is_scanned = taken == follower->scanned_taken;
	follower->is_scanned_closed = is_closed;
	follower->scanned_taken = taken;
	err = add_places(follower);
	for (uint64_t place = 0; place < follower->next_place && err == 0; place++)
		err = look_at_place(follower, place, taken);
	if (follower->labels != labels)
		follower_sort(follower);
	return err;
}

/* ---- copying ---- */

static bool read_at(const struct follower *follower, const struct followed_chunk *followed,
		    uint32_t from, uint32_t end, void *to)
{
	off_t offset = (off_t)(SPOOL_CHUNK_OFFSET + followed->place * SPOOL_CHUNK_BYTES + from);

	return pread(follower->fd, to, end - from, offset) == (ssize_t)(end - from);
}

static bool is_same(const struct follower *follower, const struct followed_chunk *followed)
{
	struct follower_label label;

	return read_at(follower, followed, 0, sizeof(label), &label) &&
	       label.magic == SPOOL_CHUNK_MAGIC && label.index == followed->index;
}

/* Reads state and used_bytes. */
static bool read_head(struct follower *follower, const struct followed_chunk *followed,
		      struct follower_view *ret_view)
{
	const struct spool_chunk *head = (const void *)follower->copy;
	bool is_full = false;

	/* The writer stores used_bytes before the state: once the state is seen, a second read has
	 * used_bytes. */
	for (int look = 0; look < 2; look++) {
		if (!read_at(follower, followed, 0, SPOOL_CHUNK_HEAD_BYTES, follower->copy))
			return false;
		is_full = look ? is_full : head->state != SPOOL_CHUNK_OPEN;
	}
	ret_view->is_open = !is_full;
	ret_view->limit = is_full && head->used_bytes < SPOOL_CHUNK_BYTES ? head->used_bytes
									  : SPOOL_CHUNK_BYTES;
	return true;
}

/* The end of the complete records in the copy. */
static uint32_t find_end(const struct follower *follower, uint32_t at, uint32_t limit)
{
	while (at < limit) {
		const struct record_header *record = (const void *)(follower->copy + at);

		if (!record->type)
			return at;
		/* One that makes no sense is the last one: the reader finds it. */
		if (!record->words || record->words * 8u > limit - at)
			return limit;
		at += record->words * 8u;
	}
	return limit;
}

bool follower_ring_copy(struct follower *follower, struct followed_chunk *followed,
			struct follower_view *ret_view)
{
	uint32_t at = followed->at;
	bool is_read = read_head(follower, followed, ret_view);

	/* A record's header is its last store: what the first read shows to be complete, the second
	 * one has completely. */
	for (int look = 0; look < 2 && is_read && at < ret_view->limit; look++) {
		is_read = read_at(follower, followed, at, ret_view->limit, follower->copy + at);
		if (is_read && look == 0 && ret_view->is_open)
			ret_view->limit = find_end(follower, at, ret_view->limit);
	}
	ret_view->chunk = follower->copy;
	if (is_read && is_same(follower, followed))
		return true;
	lose(follower, followed);
	return false;
}

/* ---- counts ---- */

static uint64_t load(const _Atomic uint64_t *field)
{
	return atomic_load_explicit(field, memory_order_relaxed);
}

/* Adds the counts of one writer: lost gets what it wrote. */
static void add_counts(const struct spool_counts *counts, struct follower_counts *total)
{
	for (int class = 0; class < RECORD_CLASS_COUNT; class ++) {
		uint64_t dropped = 0;

		for (int cause = 0; cause < RECORD_DROP_COUNT; cause++)
			dropped += cause == RECORD_DROP_RING ? 0
							     : load(&counts->dropped[class][cause]);
		total->dropped[class] += dropped;
		/* The process may count meanwhile. */
		total->lost[class] += load(&counts->attempted[class]) > dropped
					      ? load(&counts->attempted[class]) - dropped
					      : 0;
	}
}

/* Takes records off TOTAL that a killed process had counted and not completed: they were never in a
 * chunk. If the spool cannot be read they stay. */
static void take_off_in_flight(const struct follower *follower, struct follower_counts *total)
{
	struct spool_reader *reader;
	const struct spool_ledger *ledger;

	if (spool_reader_open_fd(follower->fd, "spool", &reader, NULL) < 0)
		return;
	ledger = spool_reader_ledger(reader);
	for (int class = 0; class < RECORD_CLASS_COUNT; class ++)
		total->lost[class] -= ledger->in_flight[class] < total->lost[class]
					      ? ledger->in_flight[class]
					      : total->lost[class];
	spool_reader_close(reader);
}

void follower_count(const struct follower *follower, struct follower_counts *ret_counts)
{
	uint64_t used = load(&follower->header->live.writers_used);
	struct follower_counts total = {.lost_chunks = follower->lost_chunks};
	struct spool_writer writer;

	for (uint64_t i = 0; i < used && i < SPOOL_WRITER_COUNT; i++) {
		off_t offset = (off_t)(SPOOL_HEADER_BYTES + i * SPOOL_WRITER_BYTES);

		if (pread(follower->fd, &writer, sizeof(writer), offset) != sizeof(writer))
			break;
		add_counts(&writer.counts, &total);
	}
	for (int class = 0; class < RECORD_CLASS_COUNT; class ++) {
		const _Atomic uint64_t *dropped = follower->header->live.counts.dropped[class];
		uint64_t written = total.lost[class], read = follower->read[class];

		total.read[class] = read;
		total.lost[class] = written > read ? written - read : 0;
		for (int cause = 0; cause < RECORD_DROP_COUNT; cause++)
			total.dropped[class] += load(&dropped[cause]);
		total.no_writer += load(&dropped[RECORD_DROP_NO_WRITER]);
	}
	if (follower->is_dead && !follower_is_closed(follower))
		take_off_in_flight(follower, &total);
	*ret_counts = total;
}

void follower_counts_limit(struct follower_counts *counts, const struct follower_counts *before)
{
	for (int class = 0; class < RECORD_CLASS_COUNT; class ++) {
		uint64_t written = before->read[class] + before->lost[class];
		uint64_t read = counts->read[class];

		counts->lost[class] = written > read ? written - read : 0;
	}
}

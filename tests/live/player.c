/* Plays a spool again: see player.h. */
#include "player.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/table.h"

#define ENDED UINT32_MAX

static const struct player *sorted; /* for by_writer */

static const struct spool_chunk *chunk_of(const struct player *player, uint32_t number)
{
	return (const void *)(player->image + SPOOL_CHUNK_OFFSET +
			      (size_t)number * SPOOL_CHUNK_BYTES);
}

static int by_writer(const void *left, const void *right)
{
	const struct spool_chunk *a = chunk_of(sorted, *(const uint32_t *)left);
	const struct spool_chunk *b = chunk_of(sorted, *(const uint32_t *)right);

	if (a->writer != b->writer)
		return a->writer < b->writer ? -1 : 1;
	return (a->sequence > b->sequence) - (a->sequence < b->sequence);
}

static int by_number(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

/* The record at the chunk's cursor; NULL: the label or the end comes next. */
static const struct record_header *record_at(const struct player *player, uint32_t i)
{
	const struct spool_chunk *from = chunk_of(player, player->order[i]);
	const struct record_header *record =
		(const void *)((const unsigned char *)from + player->at[i]);

	if (!player->at[i] || player->at[i] >= SPOOL_CHUNK_BYTES || !record->type)
		return NULL;
	return from->state == SPOOL_CHUNK_OPEN || player->at[i] < from->used_bytes ? record : NULL;
}

static void find_anchors(struct player *player)
{
	for (uint32_t i = 0; i < player->chunk_count; i++) {
		const struct record_header *record;

		for (player->at[i] = SPOOL_CHUNK_HEAD_BYTES; (record = record_at(player, i));
		     player->at[i] += record->words * 8u) {
			uint64_t *place;

			if (record->type != RECORD_ANCHOR)
				continue;
			place = table_add((void **)&player->anchors, &player->anchors_count,
					  sizeof(*place));
			assert_non_null(place);
			*place = ((const struct record_anchor *)(const void *)record)->host_ns;
		}
		player->at[i] = 0;
	}
	if (player->anchors_count)
		qsort(player->anchors, player->anchors_count, sizeof(uint64_t), by_number);
}

void player_begin(struct player *player, const void *image, size_t length, uint64_t seed)
{
	uint32_t places = (uint32_t)((length - SPOOL_CHUNK_OFFSET) / SPOOL_CHUNK_BYTES);
	struct spool_header *header;

	*player = (struct player){.image = image, .length = length, .random = seed * 2 + 1};
	player->fd = memfd_create("played.spool", MFD_CLOEXEC);
	assert_true(player->fd >= 0);
	assert_int_equal(ftruncate(player->fd, (off_t)length), 0);
	player->file = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, player->fd, 0);
	assert_true(player->file != MAP_FAILED);
	memcpy(player->file, image, SPOOL_CHUNK_OFFSET);
	header = (struct spool_header *)player->file;
	header->live.state = SPOOL_OPEN;
	player->order = calloc(places + 1, sizeof(*player->order));
	player->at = calloc(places + 1, sizeof(*player->at));
	assert_non_null(player->order);
	assert_non_null(player->at);
	for (uint32_t i = 0; i < places; i++)
		if (chunk_of(player, i)->magic == SPOOL_CHUNK_MAGIC)
			player->order[player->chunk_count++] = i;
	sorted = player;
	qsort(player->order, player->chunk_count, sizeof(*player->order), by_writer);
	find_anchors(player);
}

static uint32_t draw(struct player *player, uint32_t limit)
{
	player->random = player->random * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(player->random >> 33) % limit;
}

/* Whether something of the chunk may come next: those before it of its writer are complete. */
static bool is_next(const struct player *player, uint32_t i)
{
	const struct record_header *record;

	if (player->at[i] == ENDED)
		return false;
	record = record_at(player, i);
	if (record && record->type == RECORD_ANCHOR &&
	    ((const struct record_anchor *)(const void *)record)->host_ns !=
		    player->anchors[player->next_anchor])
		return false;
	return i == 0 || player->at[i - 1] == ENDED ||
	       chunk_of(player, player->order[i])->writer !=
		       chunk_of(player, player->order[i - 1])->writer;
}

/* Writes the label, a record, or the chunk's end. */
static void write_next(struct player *player, uint32_t i)
{
	const struct spool_chunk *from = chunk_of(player, player->order[i]);
	struct spool_chunk *to =
		(struct spool_chunk *)(player->file +
				       ((const unsigned char *)from - player->image));
	const struct record_header *record = record_at(player, i);

	if (!player->at[i]) {
		memcpy(to, from, SPOOL_CHUNK_HEAD_BYTES);
		to->used_bytes = 0;
		to->state = SPOOL_CHUNK_OPEN;
		player->at[i] = SPOOL_CHUNK_HEAD_BYTES;
		return;
	}
	if (record) {
		player->next_anchor += record->type == RECORD_ANCHOR;
		memcpy((unsigned char *)to + player->at[i], record, record->words * 8u);
		player->at[i] += record->words * 8u;
		return;
	}
	to->used_bytes = from->used_bytes;
	to->state = from->state;
	player->at[i] = ENDED;
}

bool player_step(struct player *player, uint32_t most)
{
	struct spool_header *header = (struct spool_header *)player->file;

	for (uint32_t k = 0; k < most; k++) {
		uint32_t first = player->chunk_count ? draw(player, player->chunk_count) : 0, i;

		for (i = 0; i < player->chunk_count; i++)
			if (is_next(player, (first + i) % player->chunk_count))
				break;
		if (i == player->chunk_count) {
			header->live.state =
				((const struct spool_header *)(const void *)player->image)
					->live.state;
			return k > 0;
		}
		write_next(player, (first + i) % player->chunk_count);
	}
	return true;
}

void player_end(struct player *player)
{
	munmap(player->file, player->length);
	close(player->fd);
	free(player->order);
	free(player->at);
	free(player->anchors);
}

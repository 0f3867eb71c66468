/* Finds the chunks of a spool, and checks their labels, checksums and records. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "base/workers.h"
#include "record/record_check.h"
#include "record/spool_reader_state.h"
#include "record/writer.h"

/* ---- records ---- */

static const char *find_record_fault(const struct record_header *header, uint32_t at,
				     uint32_t limit)
{
	if (!header->type)
		return "record of no type";
	if (at == SPOOL_CHUNK_HEAD_BYTES && header->type != RECORD_THREAD)
		return "chunk does not begin with its thread";
	return record_check(header, limit - at);
}

/* What a part of the file is checked with. A thread has its own struct found_records. */
struct check {
	struct spool_reader *r;
	struct found_records *found;
	struct spool_damage *damages; /* of the part, the first DAMAGES_KEPT */
	uint32_t damages_kept;
	uint64_t damages_total;
	bool no_memory;
};

static void note_damage(struct check *check, const struct spool_damage *damage)
{
	struct spool_damage *place;

	check->damages_total++;
	if (check->damages_kept == DAMAGES_KEPT)
		return;
	place = table_add((void **)&check->damages, &check->damages_kept, sizeof(*place));
	if (place)
		*place = *damage;
	check->no_memory |= !place;
}

/* Adds the damages of a part to those of the parts before it, and frees them. */
static int take_damages(struct spool_reader *r, struct check *check)
{
	for (uint32_t i = 0; i < check->damages_kept; i++)
		reader_add_damage(r, check->damages[i].kind, check->damages[i].writer,
				  check->damages[i].offset, check->damages[i].chunks,
				  check->damages[i].cause);
	r->damages_total += check->damages_total - check->damages_kept;
	free(check->damages);
	check->damages = NULL;
	return check->no_memory ? -ENOMEM : 0;
}

/* Subtracts a record from its writer's. */
static void uncount_record(struct found_records *found, uint32_t writer,
			   const struct record_header *header)
{
	if (header->type >= RECORD_TYPE_COUNT)
		found->unknown--;
	else
		found->of_writer[writer][record_class_of(header->type)]--;
}

/* The header is the last store of a record. Pairs with the release in writer_commit. */
static bool is_written(const struct record_header *header)
{
	return (uint16_t)atomic_load_explicit((const _Atomic uint64_t *)header,
					      memory_order_acquire) != RECORD_NONE;
}

/* Whether the record was written after the cut. */
static bool is_cut_off(const struct spool_reader *r, uint32_t writer,
		       const struct record_header *header)
{
	return r->cut && header->type < RECORD_TYPE_COUNT &&
	       !live_cut_takes(r->cut, writer, header->type);
}

/* Adds the records of a chunk to its writer's, and sets found->types. */
static void take_counts(struct found_records *records, struct found_chunk *found,
			const uint32_t counts[RECORD_TYPE_COUNT + 1])
{
	for (int type = 0; type < RECORD_TYPE_COUNT; type++) {
		if (counts[type] == 0)
			continue;
		records->of_writer[found->writer][record_class_of(type)] += counts[type];
		found->types |= 1ull << type;
	}
	records->unknown += counts[RECORD_TYPE_COUNT];
}

/* How far ahead of a record its chunk is fetched into the first level of the CPU's cache, in bytes.
 * The checksum has brought the chunk into the second, where each header would wait for the one
 * before it: the check of the records takes 15 % less time. Half or twice the distance makes no
 * difference. */
#define CHECK_AHEAD 1024

/* Checks and counts the records of a chunk, and sets found->end and found->types. In an open
 * chunk a zero header is the end; in a full or sealed one the records must reach exactly to its
 * used length. */
static void check_records(struct check *check, struct found_chunk *found)
{
	const struct spool_reader *r = check->r;
	const char *chunk = (const char *)reader_chunk_at(r, found->offset);
	bool open = found->state == SPOOL_CHUNK_OPEN, has_cut = r->cut;
	uint32_t limit = open ? SPOOL_CHUNK_BYTES : reader_chunk_at(r, found->offset)->used_bytes;
	uint32_t end = found->end;
	uint32_t counts[RECORD_TYPE_COUNT + 1] = {0}; /* the last one: of unknown types */

	for (uint32_t at = end, bytes; at < limit; at += bytes) {
		const struct record_header *header = (const struct record_header *)(chunk + at);
		const char *fault;

		__builtin_prefetch(chunk + at + CHECK_AHEAD);
		if (open && !is_written(header))
			break;
		fault = find_record_fault(header, at, limit);
		if (fault) {
			note_damage(check,
				    &(struct spool_damage){SPOOL_DAMAGE_RECORD, found->writer,
							   found->offset + at, 1, fault});
			break;
		}
		bytes = header->words * 8u;
		if (has_cut && is_cut_off(r, found->writer, header))
			continue;
		counts[header->type < RECORD_TYPE_COUNT ? header->type : RECORD_TYPE_COUNT]++;
		/* Closes the gap that a passed-over record left, in our private
		 * copy of the page. */
		if (at != end)
			memmove((char *)chunk + end, header, bytes);
		end += bytes;
	}
	found->end = end;
	take_counts(check->found, found, counts);
}

/* Whether the chunk was never taken, or taken by a thread that was killed before it stored the
 * label's magic. */
static bool is_unlabelled(const struct spool_reader *r, const struct spool_chunk *chunk)
{
	static const unsigned char zeros[SPOOL_CHUNK_HEAD_BYTES];

	if (r->info.closed)
		return !memcmp(chunk, zeros, sizeof(zeros));
	/* Pairs with the release in label_chunk. */
	return !atomic_load_explicit(&chunk->magic, memory_order_acquire);
}

/* Returns what is wrong with the chunk's label; NULL if nothing is. */
static const char *find_label_fault(const struct spool_reader *r, const struct spool_chunk *chunk,
				    uint32_t state)
{
	if (atomic_load_explicit(&chunk->magic, memory_order_relaxed) != SPOOL_CHUNK_MAGIC)
		return "no chunk here";
	if (chunk->session_id != r->header->session_id)
		return "chunk of another spool";
	if (chunk->writer >= r->writers_used)
		return "chunk of a writer that never was";
	if (state < SPOOL_CHUNK_OPEN || state > SPOOL_CHUNK_SEALED)
		return "chunk in an unknown state";
	if (state != SPOOL_CHUNK_SEALED && r->info.closed)
		return "unsealed chunk in a closed spool";
	if (state != SPOOL_CHUNK_OPEN &&
	    (chunk->used_bytes < SPOOL_CHUNK_HEAD_BYTES || chunk->used_bytes > SPOOL_CHUNK_BYTES ||
	     chunk->used_bytes % 8))
		return "chunk with a used length that cannot be";
	return NULL;
}

/* Checks the labelled chunk at OFFSET and its records. False: it is not to be read. */
static bool find_chunk(struct check *check, uint64_t offset, struct found_chunk *ret_chunk)
{
	const struct spool_reader *r = check->r;
	const struct spool_chunk *chunk = reader_chunk_at(r, offset);
	uint32_t state = atomic_load_explicit(&chunk->state, memory_order_acquire);
	const char *fault;
	bool trusted = true;

	if (r->cut && !live_cut_has_chunk(r->cut, chunk->writer, chunk->sequence))
		return false;
	fault = find_label_fault(r, chunk, state);
	if (fault) {
		note_damage(check, &(struct spool_damage){SPOOL_DAMAGE_LABEL, SPOOL_NO_WRITER,
							  offset, 1, fault});
		return false;
	}
	if (state == SPOOL_CHUNK_SEALED &&
	    chunk->crc != spool_chunk_crc(chunk, chunk->used_bytes)) {
		note_damage(check, &(struct spool_damage){SPOOL_DAMAGE_CHUNK_SUM, chunk->writer,
							  offset, 1, NULL});
		trusted = false;
	}
	*ret_chunk = (struct found_chunk){
		.offset = offset,
		.writer = chunk->writer,
		.sequence = chunk->sequence,
		.end = trusted ? SPOOL_CHUNK_HEAD_BYTES : 0,
		.state = state,
	};
	/* Now, while its bytes are in the cache. */
	if (trusted)
		check_records(check, ret_chunk);
	return true;
}

/* Number of places in the file with chunks that were taken. With a ring a place is taken more than
 * once. */
static uint64_t chunks_in_file(const struct spool_reader *r)
{
	uint64_t taken = reader_load(&r->header->live.chunks_taken);
	uint64_t made = reader_load(&r->header->live.places);

	return r->header->ring_bytes && made < taken ? made : taken;
}

/* The place of a chunk in the file, and its label. */
struct labelled {
	uint32_t place;
	uint32_t writer;
	uint32_t sequence;
};

static int compare_labelled(const void *a, const void *b)
{
	const struct labelled *left = a, *right = b;

	if (left->writer != right->writer)
		return left->writer < right->writer ? -1 : 1;
	return (left->sequence > right->sequence) - (left->sequence < right->sequence);
}

/* Finds the chunks of a ring that is still written. They lie in any order, but live_cut_takes
 * needs the records of a writer in the order of writing; so the chunks are sorted first. */
static int find_live_ring(struct spool_reader *r, uint64_t places)
{
	struct labelled *list = calloc(places ? places : 1, sizeof(*list));
	struct check check = {.r = r, .found = r->found};
	size_t count = 0;

	if (!list)
		return -ENOMEM;
	for (uint64_t i = 0; i < places; i++)
		live_cut_copy_chunk((struct spool_chunk *)(r->bytes + SPOOL_CHUNK_OFFSET +
							   i * SPOOL_CHUNK_BYTES));
	live_cut_settle_ring(r->cut);
	for (uint64_t i = 0; i < places; i++) {
		const struct spool_chunk *chunk =
			reader_chunk_at(r, SPOOL_CHUNK_OFFSET + i * SPOOL_CHUNK_BYTES);

		if (!is_unlabelled(r, chunk))
			list[count++] =
				(struct labelled){(uint32_t)i, chunk->writer, chunk->sequence};
	}
	qsort(list, count, sizeof(*list), compare_labelled);
	for (size_t i = 0; i < count; i++)
		r->chunk_count += find_chunk(
			&check, SPOOL_CHUNK_OFFSET + (uint64_t)list[i].place * SPOOL_CHUNK_BYTES,
			&r->chunks[r->chunk_count]);
	free(list);
	return take_damages(r, &check);
}

/* Checking a file in parts of KEEP_CHUNKS places. A place's chunk is found at the same place of
 * r->chunks, or `state` is 0 there. */
struct check_all {
	struct spool_reader *r;
	struct found_records *found; /* by worker */
	struct check *parts;
	spool_part_read *read; /* NULL: nobody reads the chunks while they are checked */
	void *context;
};

struct spool_part {
	struct check *check;
	uint64_t place, end; /* of the next chunk; the end of the part */
};

bool spool_part_next(struct spool_part *part, struct spool_stretch *ret_stretch)
{
	const struct spool_reader *r = part->check->r;

	while (part->place < part->end) {
		uint64_t place = part->place++, offset = reader_offset_of(place);

		if (reader_is_reusing(r, place) || is_unlabelled(r, reader_chunk_at(r, offset)) ||
		    !find_chunk(part->check, offset, &r->chunks[place]))
			continue;
		reader_fill_stretch(r, &r->chunks[place], ret_stretch);
		return true;
	}
	return false;
}

static int check_part(void *check_all, unsigned worker, uint32_t number)
{
	const struct check_all *all = check_all;
	struct check *check = &all->parts[number];
	struct spool_part part = {.check = check};
	struct spool_stretch unread;
	int err = 0;

	reader_part_places(all->r, number, &part.place, &part.end);
	*check = (struct check){.r = all->r, .found = &all->found[worker]};
	reader_map_part(all->r, number);
	if (all->read)
		err = all->read(all->context, worker, number, &part);
	while (spool_part_next(&part, &unread))
		continue;
	reader_give_back_part(all->r, number);
	return err;
}

static void add_found(struct found_records *sum, const struct found_records *found)
{
	sum->unknown += found->unknown;
	for (int writer = 0; writer < SPOOL_WRITER_COUNT; writer++) {
		for (int class = 0; class < RECORD_CLASS_COUNT; class ++)
			sum->of_writer[writer][class] += found->of_writer[writer][class];
	}
}

/* Threads share the parts; those of a cut need the order of the file. */
static int check_parts(struct check_all *all)
{
	struct spool_reader *r = all->r;
	uint32_t part_count = spool_reader_step_count(r);
	unsigned threads = workers_count(r->cut ? 1 : WORKERS_ALL);
	int err;

	all->parts = table_zeroed(part_count, sizeof(*all->parts));
	all->found = calloc(threads, sizeof(*all->found));
	if (!all->parts || !all->found)
		return -ENOMEM;
	err = workers_run(threads, part_count, check_part, all);
	for (uint32_t i = 0; i < part_count; i++) {
		if (take_damages(r, &all->parts[i]) < 0)
			err = -ENOMEM;
	}
	for (unsigned i = 0; i < threads; i++)
		add_found(r->found, &all->found[i]);
	for (uint64_t i = 0; i < r->places; i++) {
		if (r->chunks[i].state)
			r->chunks[r->chunk_count++] = r->chunks[i];
	}
	return err;
}

void reader_count_places(struct spool_reader *r)
{
	uint64_t taken = chunks_in_file(r);

	r->places = (r->length - SPOOL_CHUNK_OFFSET) / SPOOL_CHUNK_BYTES;
	if (r->writers_trusted && taken > r->places)
		reader_add_damage(r, SPOOL_DAMAGE_CUT, SPOOL_NO_WRITER, r->length,
				  taken - r->places, NULL);
	/* The process cuts off the chunks behind these when it closes the file, perhaps
	 * now: touching their mapping could raise SIGBUS. */
	if (r->mapping && r->writers_trusted && r->places > taken)
		r->places = taken;
}

static int find_all(struct spool_reader *r, spool_part_read *read, void *context)
{
	struct check_all all = {.r = r, .read = read, .context = context};
	int err;

	r->chunks = calloc(r->places ? r->places : 1, sizeof(*r->chunks));
	if (!r->chunks)
		return -ENOMEM;
	if (r->cut && r->header->ring_bytes)
		return find_live_ring(r, r->places);
	err = check_parts(&all);
	free(all.parts);
	free(all.found);
	return err;
}

static int compare_chunks(const void *a, const void *b)
{
	const struct found_chunk *left = a;
	const struct found_chunk *right = b;

	if (left->writer != right->writer)
		return left->writer < right->writer ? -1 : 1;
	if (left->sequence != right->sequence)
		return left->sequence < right->sequence ? -1 : 1;
	return left->offset < right->offset ? -1 : left->offset > right->offset;
}

/* Subtracts the chunk's records from the counts. */
static void uncount_chunk(struct spool_reader *r, const struct found_chunk *found)
{
	const char *chunk = (const char *)reader_chunk_at(r, found->offset);
	uint32_t at = SPOOL_CHUNK_HEAD_BYTES;

	while (at < found->end) {
		const struct record_header *header = (const struct record_header *)(chunk + at);

		uncount_record(r->found, found->writer, header);
		at += header->words * 8u;
	}
}

/* Of chunks with the same writer and sequence keeps the first in the file. r->chunks is sorted.
 * Returns whether there were any. */
static bool drop_duplicates(struct spool_reader *r)
{
	struct found_chunk *chunks = r->chunks;
	size_t kept = 0, found = r->chunk_count;

	for (size_t i = 0; i < r->chunk_count; i++) {
		const struct found_chunk *chunk = &chunks[i];
		const struct found_chunk *before = kept ? &chunks[kept - 1] : NULL;

		if (before && before->writer == chunk->writer &&
		    before->sequence == chunk->sequence) {
			reader_add_damage(r, SPOOL_DAMAGE_DUPLICATE, chunk->writer, chunk->offset,
					  1, NULL);
			uncount_chunk(r, chunk);
		} else {
			r->ledger.chunks_read += chunk->end != 0;
			chunks[kept++] = *chunk;
		}
	}
	r->chunk_count = kept;
	return kept < found;
}

static int compare_offsets(const void *a, const void *b, void *context)
{
	const struct found_chunk *chunks = context;
	uint64_t left = chunks[*(const uint32_t *)a].offset;
	uint64_t right = chunks[*(const uint32_t *)b].offset;

	return left < right ? -1 : left > right;
}

static int order_by_offset(struct spool_reader *r)
{
	r->file_order = calloc(r->chunk_count + 1, sizeof(*r->file_order));
	if (!r->file_order)
		return -ENOMEM;
	for (uint32_t i = 0; i < r->chunk_count; i++)
		r->file_order[i] = i;
	qsort_r(r->file_order, r->chunk_count, sizeof(*r->file_order), compare_offsets, r->chunks);
	return 0;
}

int reader_find_chunks(struct spool_reader *r, spool_part_read *read, void *context)
{
	int err = find_all(r, read, context);
	bool has_duplicates;

	if (err)
		return err;
	qsort(r->chunks, r->chunk_count, sizeof(*r->chunks), compare_chunks);
	has_duplicates = drop_duplicates(r);
	if (r->chunk_count)
		r->writer_count = r->chunks[r->chunk_count - 1].writer + 1;
	return order_by_offset(r) < 0 ? -ENOMEM : has_duplicates;
}

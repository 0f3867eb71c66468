/* Opens a spool and checks all of it. cursor.c gives out the records. */
#include "record/spool_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/table.h"
#include "base/workers.h"
#include "record/record_check.h"
#include "record/spool_reader_state.h"
#include "record/writer.h"

/* Notes a damage. CAUSE is static text, or NULL for the kind's text. */
static void add_damage(struct spool_reader *r, enum spool_damage_kind kind, uint32_t writer,
		       uint64_t offset, uint64_t chunks, const char *cause)
{
	r->damages_total++;
	if (writer < SPOOL_WRITER_COUNT)
		r->is_damaged[writer] = true;
	if (r->damages_kept == DAMAGES_KEPT)
		return;
	r->damages[r->damages_kept++] = (struct spool_damage){
		.kind = kind,
		.writer = writer,
		.offset = offset,
		.chunks = chunks,
		.cause = cause ? cause : spool_damage_text(kind),
	};
}

/* Relaxed: of a file that is still written, r->header and r->writers are copies (live_cut.h). */
static uint64_t load(const _Atomic uint64_t *field)
{
	return atomic_load_explicit(field, memory_order_relaxed);
}

/* ---- chunks that a ring has reused ---- */

/* The chunk that was being reused when the process was killed; it counts as reused (struct
 * spool_reuse). NULL when there is none, as always in a closed file. */
static const struct spool_reuse *reuse(const struct spool_reader *r)
{
	const struct spool_reuse *intent = &r->header->live.reuse;

	return !r->info.closed && load(&intent->writer) ? intent : NULL;
}

static const struct spool_reuse *reuse_of(const struct spool_reader *r, uint32_t writer)
{
	const struct spool_reuse *intent = reuse(r);

	return intent && load(&intent->writer) == writer + 1ull ? intent : NULL;
}

static bool is_being_reused(const struct spool_reader *r, uint64_t place)
{
	const struct spool_reuse *intent = reuse(r);

	return intent && intent->place == place;
}

static uint64_t chunks_reused(const struct spool_reader *r, uint32_t writer)
{
	const struct spool_reuse *intent = reuse_of(r, writer);

	return intent ? intent->chunks : load(&r->writers[writer].chunks_reused);
}

static uint64_t dropped_of(const struct spool_reader *r, uint32_t writer, int class, int cause)
{
	const struct spool_reuse *intent = cause == RECORD_DROP_RING ? reuse_of(r, writer) : NULL;

	return intent ? intent->records[class]
		      : load(&r->writers[writer].counts.dropped[class][cause]);
}

/* ---- header ---- */

static bool is_terminated(const char *text, size_t size)
{
	return memchr(text, '\0', size) != NULL;
}

/* Returns what is wrong with the header, and its offset; NULL if nothing is. */
static const char *find_header_fault(const struct spool_header *h, uint64_t *ret_offset)
{
	*ret_offset = offsetof(struct spool_header, header_bytes);
	if (h->header_bytes != SPOOL_HEADER_BYTES || h->writer_bytes != SPOOL_WRITER_BYTES ||
	    h->writer_count != SPOOL_WRITER_COUNT || h->chunk_bytes != SPOOL_CHUNK_BYTES ||
	    h->class_count != SPOOL_CLASS_COUNT || h->cause_count != SPOOL_CAUSE_COUNT ||
	    h->chunk_offset != SPOOL_CHUNK_OFFSET)
		return "header sizes are not those of this version";
	*ret_offset = offsetof(struct spool_header, host);
	if (!is_terminated(h->host, sizeof(h->host)) || !is_terminated(h->exe, sizeof(h->exe)))
		return "name in the header is not terminated";
	*ret_offset = offsetof(struct spool_header, cmdline_bytes);
	if (h->cmdline_bytes > sizeof(h->cmdline))
		return "command line runs past the header";
	return NULL;
}

static size_t lesser(size_t a, size_t b)
{
	return a < b ? a : b;
}

static int check_header(struct spool_reader *r, struct dagtap_error *error)
{
	const struct spool_header *h = r->header;
	const char *fault;
	uint64_t offset;

	if (r->length == 0)
		return dagtap_error_at(error, -ENODATA, r->name, 0, "the file is empty");
	if (memcmp(h->magic, SPOOL_MAGIC, lesser(r->length, sizeof(h->magic))) != 0)
		return dagtap_error_at(error, -EINVAL, r->name, 0, "not a spool file");
	if (r->length < SPOOL_CHUNK_OFFSET)
		return dagtap_error_at(error, -ENODATA, r->name, r->length,
				       "the file ends inside its header");
	if (h->version != SPOOL_VERSION)
		return dagtap_error_at(
			error, -EINVAL, r->name, offsetof(struct spool_header, version),
			"spool version %u, this program reads %u", h->version, SPOOL_VERSION);
	if (h->fixed_crc != spool_fixed_crc(h))
		return dagtap_error_at(error, -EINVAL, r->name, 0,
				       "header does not match its checksum");
	fault = find_header_fault(h, &offset);
	if (fault)
		return dagtap_error_at(error, -EINVAL, r->name, offset, "%s", fault);
	return 0;
}

static int check_live(struct spool_reader *r, struct dagtap_error *error)
{
	const struct spool_live *live = &r->header->live;
	uint32_t state = atomic_load_explicit(&live->state, memory_order_relaxed);

	r->writers_used = load(&live->writers_used);
	if (state != SPOOL_OPEN && state != SPOOL_CLOSED)
		return dagtap_error_at(error, -EINVAL, r->name,
				       SPOOL_LIVE_OFFSET + offsetof(struct spool_live, state),
				       "unknown state %u", state);
	if (r->writers_used > SPOOL_WRITER_COUNT)
		return dagtap_error_at(error, -EINVAL, r->name,
				       SPOOL_LIVE_OFFSET +
					       offsetof(struct spool_live, writers_used),
				       "more writers in use than there are");
	r->info.closed = state == SPOOL_CLOSED;
	r->writers_trusted =
		!r->info.closed ||
		live->counts_crc == spool_counts_crc(live, r->writers, r->writers_used);
	if (!r->writers_trusted)
		add_damage(r, SPOOL_DAMAGE_COUNTS_SUM, SPOOL_NO_WRITER, SPOOL_LIVE_OFFSET, 0, NULL);
	return 0;
}

static void fill_info(struct spool_reader *r)
{
	const struct spool_header *h = r->header;

	r->info.pid = h->pid;
	r->info.ppid = h->ppid;
	r->info.session = h->session;
	r->info.session_id = h->session_id;
	r->info.start_ns = h->start_ns;
	r->info.start_realtime_ns = h->start_realtime_ns;
	r->info.end_ns = r->info.closed ? h->live.end_ns : 0;
	r->info.host = h->host;
	r->info.exe = h->exe;
	r->info.cmdline = h->cmdline;
	r->info.cmdline_bytes = h->cmdline_bytes;
}

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
		add_damage(r, check->damages[i].kind, check->damages[i].writer,
			   check->damages[i].offset, check->damages[i].chunks,
			   check->damages[i].cause);
	r->damages_total += check->damages_total - check->damages_kept;
	free(check->damages);
	check->damages = NULL;
	return check->no_memory ? -ENOMEM : 0;
}

/* Adds COUNT to the record's class: 1, or UINT64_MAX to subtract one. */
static void count_record(struct found_records *found, uint32_t writer,
			 const struct record_header *header, uint64_t count)
{
	if (header->type >= RECORD_TYPE_COUNT)
		found->unknown += count;
	else
		found->of_writer[writer][record_class_of(header->type)] += count;
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

/* Checks and counts the records of a chunk, and sets found->end and found->types. In an open
 * chunk a zero header is the end; in a full or sealed one the records must reach exactly to its
 * used length. */
static void check_records(struct check *check, struct found_chunk *found)
{
	const struct spool_reader *r = check->r;
	const char *chunk = (const char *)reader_chunk_at(r, found->offset);
	bool open = found->state == SPOOL_CHUNK_OPEN;
	uint32_t limit = open ? SPOOL_CHUNK_BYTES : reader_chunk_at(r, found->offset)->used_bytes;

	for (uint32_t at = found->end, bytes; at < limit; at += bytes) {
		const struct record_header *header = (const struct record_header *)(chunk + at);
		const char *fault;

		if (!is_written(header) && open)
			break;
		fault = find_record_fault(header, at, limit);
		if (fault) {
			note_damage(check,
				    &(struct spool_damage){SPOOL_DAMAGE_RECORD, found->writer,
							   found->offset + at, 1, fault});
			break;
		}
		bytes = header->words * 8u;
		if (is_cut_off(r, found->writer, header))
			continue;
		count_record(check->found, found->writer, header, 1);
		if (header->type < RECORD_TYPE_COUNT)
			found->types |= 1ull << header->type;
		/* Closes the gap that a passed-over record left, in our private
				 * copy of the page. */
		if (at != found->end)
			memmove((char *)chunk + found->end, header, bytes);
		found->end += bytes;
	}
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
	uint64_t taken = load(&r->header->live.chunks_taken);
	uint64_t made = load(&r->header->live.places);

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
	uint64_t places;
};

static int check_part(void *check_all, unsigned worker, uint32_t part)
{
	const struct check_all *all = check_all;
	const struct spool_reader *r = all->r;
	struct check *check = &all->parts[part];
	uint64_t first = (uint64_t)part * KEEP_CHUNKS;
	uint64_t end = first + KEEP_CHUNKS < all->places ? first + KEEP_CHUNKS : all->places;
	uint64_t part_offset = SPOOL_CHUNK_OFFSET + first * SPOOL_CHUNK_BYTES;

	*check = (struct check){.r = all->r, .found = &all->found[worker]};
	reader_map_ahead(r, part_offset, KEEP_CHUNKS * SPOOL_CHUNK_BYTES);
	for (uint64_t i = first; i < end; i++) {
		uint64_t offset = SPOOL_CHUNK_OFFSET + i * SPOOL_CHUNK_BYTES;

		if (!is_being_reused(r, i) && !is_unlabelled(r, reader_chunk_at(r, offset)))
			find_chunk(check, offset, &r->chunks[i]);
	}
	if (end - first == KEEP_CHUNKS)
		reader_give_back(r, part_offset, KEEP_CHUNKS * SPOOL_CHUNK_BYTES);
	return 0;
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
static int check_parts(struct check_all *all, uint32_t part_count)
{
	struct spool_reader *r = all->r;
	unsigned threads = workers_count(r->cut ? 1 : WORKERS_ALL);
	int err = 0;

	all->parts = table_zeroed(part_count, sizeof(*all->parts));
	all->found = calloc(threads, sizeof(*all->found));
	if (!all->parts || !all->found)
		return -ENOMEM;
	workers_run(threads, part_count, check_part, all);
	for (uint32_t i = 0; i < part_count; i++) {
		if (take_damages(r, &all->parts[i]) < 0)
			err = -ENOMEM;
	}
	for (unsigned i = 0; i < threads; i++)
		add_found(r->found, &all->found[i]);
	for (uint64_t i = 0; i < all->places; i++) {
		if (r->chunks[i].state)
			r->chunks[r->chunk_count++] = r->chunks[i];
	}
	return err;
}

/* Finds and checks all chunks. */
static int find_chunks(struct spool_reader *r)
{
	uint64_t places = (r->length - SPOOL_CHUNK_OFFSET) / SPOOL_CHUNK_BYTES;
	uint64_t taken = chunks_in_file(r);
	struct check_all all;
	int err;

	r->chunks = calloc(places ? places : 1, sizeof(*r->chunks));
	if (!r->chunks)
		return -ENOMEM;
	if (r->writers_trusted && taken > places)
		add_damage(r, SPOOL_DAMAGE_CUT, SPOOL_NO_WRITER, r->length, taken - places, NULL);
	/* The process cuts off the chunks behind these when it closes the file, perhaps
		 * now: touching their mapping could raise SIGBUS. */
	if (r->mapping && r->writers_trusted && places > taken)
		places = taken;
	if (r->cut && r->header->ring_bytes)
		return find_live_ring(r, places);
	all = (struct check_all){.r = r, .places = places};
	err = check_parts(&all, (uint32_t)((places + KEEP_CHUNKS - 1) / KEEP_CHUNKS));
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

		count_record(r->found, found->writer, header, UINT64_MAX);
		at += header->words * 8u;
	}
}

/* Of chunks with the same writer and sequence keeps the first in the file. r->chunks is sorted. */
static void drop_duplicates(struct spool_reader *r)
{
	struct found_chunk *chunks = r->chunks;
	size_t kept = 0;

	for (size_t i = 0; i < r->chunk_count; i++) {
		const struct found_chunk *chunk = &chunks[i];
		const struct found_chunk *before = kept ? &chunks[kept - 1] : NULL;

		if (before && before->writer == chunk->writer &&
		    before->sequence == chunk->sequence) {
			add_damage(r, SPOOL_DAMAGE_DUPLICATE, chunk->writer, chunk->offset, 1,
				   NULL);
			uncount_chunk(r, chunk);
		} else {
			r->ledger.chunks_read += chunk->end != 0;
			chunks[kept++] = *chunk;
		}
	}
	r->chunk_count = kept;
}

/* ---- missing chunks: compares the sequence numbers with each other, then with the writer ---- */

static void check_last_sequence(struct spool_reader *r, uint32_t writer, uint64_t next)
{
	uint64_t counted = load(&r->writers[writer].chunks);
	uint64_t offset = SPOOL_HEADER_BYTES + (uint64_t)writer * SPOOL_WRITER_BYTES;

	if (!r->writers_trusted)
		return;
	if (counted > next)
		add_damage(r, SPOOL_DAMAGE_MISSING, writer, offset, counted - next,
			   "the writer's last chunks are missing");
	/* A killed writer may have labelled a chunk that it had not counted yet
		 * (label_chunk). */
	else if (counted + !r->info.closed < next)
		add_damage(r, SPOOL_DAMAGE_COUNTS, writer, offset, 0,
			   "more chunks than their writer counted");
}

static void check_sequences(struct spool_reader *r)
{
	size_t i = 0;

	for (uint32_t writer = 0; writer < r->writers_used; writer++) {
		uint64_t next = r->writers_trusted ? chunks_reused(r, writer) : 0;

		for (; i < r->chunk_count && r->chunks[i].writer == writer; i++) {
			const struct found_chunk *chunk = &r->chunks[i];

			if (chunk->sequence > next)
				add_damage(r, SPOOL_DAMAGE_MISSING, writer, chunk->offset,
					   chunk->sequence - next,
					   "chunks before this one are missing");
			next = (uint64_t)chunk->sequence + 1;
		}
		check_last_sequence(r, writer, next);
	}
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

/* ---- ledger ---- */

/* Records without a writer were all dropped. So `dropped` stands for `attempted` too: any number of
 * threads may have been killed between the two additions. */
static void add_session_counts(struct spool_ledger *ledger, const struct spool_counts *counts)
{
	for (int class = 0; class < RECORD_CLASS_COUNT; class ++) {
		for (int cause = 0; cause < RECORD_DROP_COUNT; cause++) {
			uint64_t dropped = load(&counts->dropped[class][cause]);

			ledger->attempted[class] += dropped;
			ledger->dropped[class][cause] += dropped;
		}
	}
}

static void add_counts(struct spool_reader *r, uint32_t writer)
{
	for (int class = 0; class < RECORD_CLASS_COUNT; class ++) {
		r->ledger.attempted[class] += load(&r->writers[writer].counts.attempted[class]);
		for (int cause = 0; cause < RECORD_DROP_COUNT; cause++)
			r->ledger.dropped[class][cause] += dropped_of(r, writer, class, cause);
	}
}

/* Number of records that should be in the writer's chunks. Wraps if the counts are wrong. */
static uint64_t not_dropped(const struct spool_reader *r, uint32_t writer, int class)
{
	uint64_t count = load(&r->writers[writer].counts.attempted[class]);

	for (int cause = 0; cause < RECORD_DROP_COUNT; cause++)
		count -= dropped_of(r, writer, class, cause);
	return count;
}

/* Records per writer that a killed writer may have counted but not completed: one record, and the
 * THREAD record before it if it began a chunk. */
#define IN_FLIGHT_MOST 2

/* Compares the writer's counts with the records found. A difference becomes in_flight, or
 * missing. */
static void check_counts(struct spool_reader *r, uint32_t writer)
{
	const uint64_t *found = r->found->of_writer[writer];
	uint64_t short_of[RECORD_CLASS_COUNT];
	uint64_t sum = 0;
	bool in_flight;

	for (int class = 0; class < RECORD_CLASS_COUNT; class ++) {
		short_of[class] = not_dropped(r, writer, class) - found[class];
		/* If more were found than counted, the difference wraps to a huge
				 * number. */
		sum = short_of[class] > UINT32_MAX ? UINT64_MAX : sum + short_of[class];
		if (sum > UINT32_MAX)
			break;
	}
	in_flight = !r->info.closed && sum <= IN_FLIGHT_MOST;
	if (sum && !in_flight && !r->is_damaged[writer] && !r->ledger.unknown)
		add_damage(r, SPOOL_DAMAGE_COUNTS, writer,
			   SPOOL_HEADER_BYTES + (uint64_t)writer * SPOOL_WRITER_BYTES, 0,
			   "records found are not those counted");
	if (sum > UINT32_MAX)
		return;
	for (int class = 0; class < RECORD_CLASS_COUNT; class ++)
		(in_flight ? r->ledger.in_flight : r->ledger.missing)[class] += short_of[class];
}

static void close_ledger(struct spool_reader *r)
{
	r->ledger.chunks_taken = load(&r->header->live.chunks_taken);
	r->ledger.unknown = r->found->unknown;
	for (int writer = 0; writer < SPOOL_WRITER_COUNT; writer++) {
		for (int class = 0; class < RECORD_CLASS_COUNT; class ++)
			r->ledger.found[class] += r->found->of_writer[writer][class];
	}
	for (int class = 0; class < RECORD_CLASS_COUNT; class ++)
		r->ledger.late[class] = load(&r->header->live.late[class]);
	add_session_counts(&r->ledger, &r->header->live.counts);
	for (uint32_t writer = 0; writer < r->writers_used; writer++) {
		add_counts(r, writer);
		if (r->writers_trusted)
			check_counts(r, writer);
	}
}

/* ---- open and close ---- */

static int read_chunks(struct spool_reader *r)
{
	int err = find_chunks(r);

	if (err)
		return err;
	qsort(r->chunks, r->chunk_count, sizeof(*r->chunks), compare_chunks);
	drop_duplicates(r);
	if (r->chunk_count)
		r->writer_count = r->chunks[r->chunk_count - 1].writer + 1;
	if (r->cut)
		live_cut_finish(r->cut);
	check_sequences(r);
	err = order_by_offset(r);
	if (err)
		return err;
	close_ledger(r);
	return 0;
}

static int read_spool(struct spool_reader *r, struct dagtap_error *error)
{
	int err = check_header(r, error);

	if (err)
		return err;
	r->writers = r->cut ? r->cut->writers
			    : (const struct spool_writer *)(r->bytes + SPOOL_HEADER_BYTES);
	r->found = calloc(1, sizeof(*r->found));
	r->is_damaged = calloc(SPOOL_WRITER_COUNT, sizeof(*r->is_damaged));
	if (!r->found || !r->is_damaged)
		return dagtap_error_set(error, -ENOMEM, "%s: out of memory", r->name);
	err = check_live(r, error);
	if (err)
		return err;
	fill_info(r);
	err = read_chunks(r);
	if (err)
		return dagtap_error_set(error, err, "%s: out of memory", r->name);
	free(r->found);
	free(r->is_damaged);
	r->found = NULL;
	r->is_damaged = NULL;
	return 0;
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
	if (err) {
		spool_reader_close(r);
		return err;
	}
	*ret_reader = r;
	return 0;
}

int spool_reader_open_memory(const void *bytes, size_t length, const char *name,
			     struct spool_reader **ret_reader, struct dagtap_error *error)
{
	if ((uintptr_t)bytes % 8)
		return dagtap_error_set(error, -EINVAL, "%s: memory is not aligned to 8 bytes",
					name);
	return create_reader(bytes, length, NULL, NULL, name, ret_reader, error);
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

int spool_reader_open_fd(int fd, const char *name, struct spool_reader **ret_reader,
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

int spool_reader_open(const char *path, struct spool_reader **ret_reader,
		      struct dagtap_error *error)
{
	/* O_NONBLOCK: the open of a FIFO must not wait for its other end. */
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	int result;

	if (fd < 0)
		return dagtap_error_set(error, -errno, "%s: %s", path, strerrordesc_np(errno));
	result = spool_reader_open_fd(fd, path, ret_reader, error);
	close(fd);
	return result;
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

const char *spool_damage_text(enum spool_damage_kind kind)
{
	static const char *const texts[SPOOL_DAMAGE_COUNT] = {
#define X(name, text) text,
		SPOOL_DAMAGES(X)
#undef X
	};

	return texts[kind];
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

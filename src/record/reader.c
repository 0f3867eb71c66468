#include "record/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/check.h"
#include "record/writer.h"

#define DAMAGES_KEPT 64

/* Pages that were read are given back in steps of this many chunks. */
#define KEEP_CHUNKS 128

/* A chunk with a label. */
struct found_chunk {
	uint64_t offset;
	uint32_t writer;
	uint32_t sequence;
	uint32_t end; /* one past the last sound record, in the chunk; 0 = not to be trusted */
	uint32_t state;
	uint64_t types; /* 1 << record type each */
};

/* What was found of one writer, to be held against its lane. */
struct found_lane {
	uint64_t records[RECORD_CLASS_COUNT];
	bool damaged;
};

struct spool_reader {
	const unsigned char *bytes;
	size_t length;
	void *mapping; /* NULL: the caller's memory */
	char *name;

	const struct spool_header *header;
	const struct spool_lane *lanes;
	uint64_t lanes_used;
	bool lanes_trusted;
	struct spool_info info;
	struct spool_ledger ledger;

	struct found_chunk *chunks;
	size_t chunk_count;
	uint32_t *file_order; /* numbers of the chunks as they lie in the file */
	uint32_t writer_count;
	struct found_lane *found; /* while opening: one a lane */

	struct spool_damage damages[DAMAGES_KEPT];
	size_t damages_kept;
	uint64_t damages_total;
};

static void add_damage(struct spool_reader *r, enum spool_damage_kind kind, uint32_t writer,
		       uint64_t offset, uint64_t chunks, const char *cause)
{
	r->damages_total++;
	if (writer < SPOOL_LANE_COUNT)
		r->found[writer].damaged = true;
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

/* The live half is atomic for the writing process's sake; a finished file is just read. */
static uint64_t load(const _Atomic uint64_t *field)
{
	return atomic_load_explicit(field, memory_order_relaxed);
}

/* ---- header ---- */

static bool is_terminated(const char *text, size_t size)
{
	return memchr(text, '\0', size) != NULL;
}

static const char *find_header_fault(const struct spool_header *h, uint64_t *ret_offset)
{
	*ret_offset = offsetof(struct spool_header, header_bytes);
	if (h->header_bytes != SPOOL_HEADER_BYTES || h->lane_bytes != SPOOL_LANE_BYTES ||
	    h->lane_count != SPOOL_LANE_COUNT || h->chunk_bytes != SPOOL_CHUNK_BYTES ||
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

static int check_header(struct spool_reader *r, struct dagtap_error *error)
{
	const struct spool_header *h = r->header;
	const char *fault;
	uint64_t offset;

	if (r->length == 0)
		return dagtap_error_at(error, -EINVAL, r->name, 0, "the file is empty");
	if (r->length < sizeof(h->magic) || memcmp(h->magic, SPOOL_MAGIC, sizeof(h->magic)) != 0)
		return dagtap_error_at(error, -EINVAL, r->name, 0, "not a spool file");
	if (r->length < SPOOL_CHUNK_OFFSET)
		return dagtap_error_at(error, -EINVAL, r->name, r->length,
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

	r->lanes_used = load(&live->lanes_used);
	if (state != SPOOL_OPEN && state != SPOOL_CLOSED)
		return dagtap_error_at(error, -EINVAL, r->name,
				       SPOOL_LIVE_OFFSET + offsetof(struct spool_live, state),
				       "unknown state %u", state);
	if (r->lanes_used > SPOOL_LANE_COUNT)
		return dagtap_error_at(error, -EINVAL, r->name,
				       SPOOL_LIVE_OFFSET + offsetof(struct spool_live, lanes_used),
				       "more lanes in use than there are");
	r->info.closed = state == SPOOL_CLOSED;
	r->lanes_trusted = !r->info.closed ||
			   live->counts_crc == spool_counts_crc(live, r->lanes, r->lanes_used);
	if (!r->lanes_trusted)
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

/* ---- chunks ---- */

static const struct spool_chunk *chunk_at(const struct spool_reader *r, uint64_t offset)
{
	return (const struct spool_chunk *)(r->bytes + offset);
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

/* COUNT is 1, or all ones to take one back. */
static void count_record(struct spool_reader *r, uint32_t writer,
			 const struct record_header *header, uint64_t count)
{
	enum record_class class;

	if (header->type >= RECORD_TYPE_COUNT) {
		r->ledger.unknown += count;
		return;
	}
	class = record_class_of(header->type);
	r->ledger.found[class] += count;
	r->found[writer].records[class] += count;
}

/* In an open chunk a zero header is the end; in a finished one the records reach exactly to its
 * used length. */
static void check_records(struct spool_reader *r, struct found_chunk *found)
{
	const struct spool_chunk *chunk = chunk_at(r, found->offset);
	bool open = found->state == SPOOL_CHUNK_OPEN;
	uint32_t limit = open ? SPOOL_CHUNK_BYTES : chunk->used_bytes;

	while (found->end < limit) {
		const struct record_header *header =
			(const struct record_header *)((const char *)chunk + found->end);
		const char *fault;

		if (!header->type && open)
			break;
		fault = find_record_fault(header, found->end, limit);
		if (fault) {
			add_damage(r, SPOOL_DAMAGE_RECORD, found->writer,
				   found->offset + found->end, 1, fault);
			break;
		}
		count_record(r, found->writer, header, 1);
		if (header->type < RECORD_TYPE_COUNT)
			found->types |= 1ull << header->type;
		found->end += header->words * 8u;
	}
}

/* Never taken; or taken by a thread that was killed before the label's last store. */
static bool is_unlabelled(const struct spool_reader *r, const struct spool_chunk *chunk)
{
	static const unsigned char zeros[SPOOL_CHUNK_HEAD_BYTES];

	if (r->info.closed)
		return !memcmp(chunk, zeros, sizeof(zeros));
	return !atomic_load_explicit(&chunk->magic, memory_order_relaxed);
}

static const char *find_label_fault(const struct spool_reader *r, const struct spool_chunk *chunk,
				    uint32_t state)
{
	if (atomic_load_explicit(&chunk->magic, memory_order_relaxed) != SPOOL_CHUNK_MAGIC)
		return "no chunk here";
	if (chunk->session_id != r->header->session_id)
		return "chunk of another spool";
	if (chunk->writer >= r->lanes_used)
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

/* Notes every labelled chunk, in the file's order. */
static void find_chunk(struct spool_reader *r, uint64_t offset)
{
	const struct spool_chunk *chunk = chunk_at(r, offset);
	uint32_t state = atomic_load_explicit(&chunk->state, memory_order_relaxed);
	const char *fault = find_label_fault(r, chunk, state);
	bool trusted = true;

	if (fault) {
		add_damage(r, SPOOL_DAMAGE_LABEL, SPOOL_NO_WRITER, offset, 1, fault);
		return;
	}
	if (state == SPOOL_CHUNK_SEALED &&
	    chunk->crc != spool_chunk_crc(chunk, chunk->used_bytes)) {
		add_damage(r, SPOOL_DAMAGE_CHUNK_SUM, chunk->writer, offset, 1, NULL);
		trusted = false;
	}
	r->chunks[r->chunk_count] = (struct found_chunk){
		.offset = offset,
		.writer = chunk->writer,
		.sequence = chunk->sequence,
		.end = trusted ? SPOOL_CHUNK_HEAD_BYTES : 0,
		.state = state,
	};
	/* Right away: its bytes are at hand. */
	if (trusted)
		check_records(r, &r->chunks[r->chunk_count]);
	r->chunk_count++;
}

/* The file's pages come back by themselves when they are read again. */
static void give_back(const struct spool_reader *r, uint64_t offset, uint64_t bytes)
{
	if (r->mapping)
		madvise((char *)r->mapping + offset, bytes, MADV_DONTNEED);
}

/* At once, which costs a fraction of a fault for every few pages. */
static void map_ahead(const struct spool_reader *r, uint64_t offset, uint64_t bytes)
{
	if (r->mapping && offset < r->length)
		madvise((char *)r->mapping + offset,
			bytes < r->length - offset ? bytes : r->length - offset,
			MADV_POPULATE_READ);
}

static int find_chunks(struct spool_reader *r)
{
	uint64_t places = (r->length - SPOOL_CHUNK_OFFSET) / SPOOL_CHUNK_BYTES;
	uint64_t taken = load(&r->header->live.chunks_taken);

	r->chunks = calloc(places ? places : 1, sizeof(*r->chunks));
	if (!r->chunks)
		return -ENOMEM;
	if (r->lanes_trusted && taken > places)
		add_damage(r, SPOOL_DAMAGE_CUT, SPOOL_NO_WRITER, r->length, taken - places, NULL);
	for (uint64_t i = 0; i < places; i++) {
		uint64_t offset = SPOOL_CHUNK_OFFSET + i * SPOOL_CHUNK_BYTES;

		if (i % KEEP_CHUNKS == 0)
			map_ahead(r, offset, KEEP_CHUNKS * SPOOL_CHUNK_BYTES);
		if (!is_unlabelled(r, chunk_at(r, offset)))
			find_chunk(r, offset);
		if (i % KEEP_CHUNKS == KEEP_CHUNKS - 1)
			give_back(r, offset + SPOOL_CHUNK_BYTES - KEEP_CHUNKS * SPOOL_CHUNK_BYTES,
				  KEEP_CHUNKS * SPOOL_CHUNK_BYTES);
	}
	return 0;
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

static void uncount_chunk(struct spool_reader *r, const struct found_chunk *found)
{
	const char *chunk = (const char *)chunk_at(r, found->offset);
	uint32_t at = SPOOL_CHUNK_HEAD_BYTES;

	while (at < found->end) {
		const struct record_header *header = (const struct record_header *)(chunk + at);

		count_record(r, found->writer, header, UINT64_MAX);
		at += header->words * 8u;
	}
}

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

/* ---- gaps: the labels against each other, then against the lane ---- */

static void check_last_sequence(struct spool_reader *r, uint32_t writer, uint64_t next)
{
	uint64_t counted = load(&r->lanes[writer].chunks);
	uint64_t offset = SPOOL_HEADER_BYTES + (uint64_t)writer * SPOOL_LANE_BYTES;

	if (!r->lanes_trusted)
		return;
	if (counted > next)
		add_damage(r, SPOOL_DAMAGE_MISSING, writer, offset, counted - next,
			   "the writer's last chunks are missing");
	/* A killed writer may have labelled its chunk and not counted it yet. */
	else if (counted + !r->info.closed < next)
		add_damage(r, SPOOL_DAMAGE_COUNTS, writer, offset, 0,
			   "more chunks than their writer counted");
}

static void check_sequences(struct spool_reader *r)
{
	size_t i = 0;

	for (uint32_t writer = 0; writer < r->lanes_used; writer++) {
		uint64_t next = 0;

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

static void add_counts(struct spool_ledger *ledger, const struct spool_counts *counts)
{
	for (int class = 0; class < RECORD_CLASS_COUNT; class ++) {
		ledger->attempted[class] += load(&counts->attempted[class]);
		for (int cause = 0; cause < RECORD_DROP_COUNT; cause++)
			ledger->dropped[class][cause] += load(&counts->dropped[class][cause]);
	}
}

static uint64_t not_dropped(const struct spool_counts *counts, int class)
{
	uint64_t count = load(&counts->attempted[class]);

	for (int cause = 0; cause < RECORD_DROP_COUNT; cause++)
		count -= load(&counts->dropped[class][cause]);
	return count;
}

/* A killed writer was inside of at most one record, and perhaps of the THREAD record before it. */
#define IN_FLIGHT_MOST 2

static void check_lane(struct spool_reader *r, uint32_t writer)
{
	const struct found_lane *found = &r->found[writer];
	uint64_t short_of[RECORD_CLASS_COUNT];
	uint64_t sum = 0;
	bool in_flight;

	for (int class = 0; class < RECORD_CLASS_COUNT; class ++) {
		short_of[class] =
			not_dropped(&r->lanes[writer].counts, class) - found->records[class];
		/* More found than counted: wraps, and shows as a huge sum. */
		sum = short_of[class] > UINT32_MAX ? UINT64_MAX : sum + short_of[class];
		if (sum > UINT32_MAX)
			break;
	}
	in_flight = !r->info.closed && sum <= IN_FLIGHT_MOST;
	if (sum && !in_flight && !found->damaged && !r->ledger.unknown)
		add_damage(r, SPOOL_DAMAGE_COUNTS, writer,
			   SPOOL_HEADER_BYTES + (uint64_t)writer * SPOOL_LANE_BYTES, 0,
			   "records found are not those counted");
	if (sum > UINT32_MAX)
		return;
	for (int class = 0; class < RECORD_CLASS_COUNT; class ++)
		(in_flight ? r->ledger.in_flight : r->ledger.missing)[class] += short_of[class];
}

static void close_ledger(struct spool_reader *r)
{
	r->ledger.chunks_taken = load(&r->header->live.chunks_taken);
	for (int class = 0; class < RECORD_CLASS_COUNT; class ++)
		r->ledger.late[class] = load(&r->header->live.late[class]);
	add_counts(&r->ledger, &r->header->live.counts);
	for (uint32_t writer = 0; writer < r->lanes_used; writer++) {
		add_counts(&r->ledger, &r->lanes[writer].counts);
		if (r->lanes_trusted)
			check_lane(r, writer);
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
	r->lanes = (const struct spool_lane *)(r->bytes + SPOOL_HEADER_BYTES);
	r->found = calloc(SPOOL_LANE_COUNT, sizeof(*r->found));
	if (!r->found)
		return dagtap_error_set(error, -ENOMEM, "%s: out of memory", r->name);
	err = check_live(r, error);
	if (err)
		return err;
	fill_info(r);
	err = read_chunks(r);
	if (err)
		return dagtap_error_set(error, err, "%s: out of memory", r->name);
	free(r->found);
	r->found = NULL;
	return 0;
}

static int create_reader(const void *bytes, size_t length, void *mapping, const char *name,
			 struct spool_reader **ret_reader, struct dagtap_error *error)
{
	struct spool_reader *r = calloc(1, sizeof(*r));
	int err;

	if (!r) {
		if (mapping)
			munmap(mapping, length);
		return dagtap_error_set(error, -ENOMEM, "%s: out of memory", name);
	}
	r->bytes = bytes;
	r->length = length;
	r->mapping = mapping;
	r->header = bytes;
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
	return create_reader(bytes, length, NULL, name, ret_reader, error);
}

static int map_file(int fd, size_t length, void **ret_mapping)
{
	void *mapping = mmap(NULL, length, PROT_READ, MAP_PRIVATE, fd, 0);

	if (mapping == MAP_FAILED)
		return -errno;
	*ret_mapping = mapping;
	return 0;
}

int spool_reader_open(const char *path, struct spool_reader **ret_reader,
		      struct dagtap_error *error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	void *mapping = NULL;
	int err = 0;

	if (fd < 0)
		return dagtap_error_set(error, -errno, "%s: %s", path, strerrordesc_np(errno));
	if (fstat(fd, &status))
		err = -errno;
	else if (!S_ISREG(status.st_mode))
		err = -EISDIR;
	else if (status.st_size > 0)
		err = map_file(fd, (size_t)status.st_size, &mapping);
	close(fd);
	if (err)
		return dagtap_error_set(error, err, "%s: %s", path,
					err == -EISDIR ? "not a regular file"
						       : strerrordesc_np(-err));
	return create_reader(mapping, mapping ? (size_t)status.st_size : 0, mapping, path,
			     ret_reader, error);
}

void spool_reader_close(struct spool_reader *r)
{
	if (!r)
		return;
	if (r->mapping)
		munmap(r->mapping, r->length);
	free(r->found);
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

/* ---- cursor ---- */

static size_t first_chunk_of(const struct spool_reader *r, uint64_t writer)
{
	size_t low = 0;
	size_t high = r->chunk_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (r->chunks[middle].writer < writer)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void spool_cursor_init(struct spool_cursor *cursor, const struct spool_reader *r, uint32_t writer)
{
	*cursor = (struct spool_cursor){
		.reader = r,
		.chunk = first_chunk_of(r, writer),
		.chunks_end = first_chunk_of(r, (uint64_t)writer + 1),
		.at = SPOOL_CHUNK_HEAD_BYTES,
	};
}

static const struct record_header *next_header(struct spool_cursor *cursor)
{
	const struct spool_reader *r = cursor->reader;

	while (cursor->chunk < cursor->chunks_end) {
		const struct found_chunk *chunk = &r->chunks[cursor->chunk];

		if (cursor->at < chunk->end)
			return (const struct record_header *)(r->bytes + chunk->offset +
							      cursor->at);
		cursor->chunk++;
		cursor->at = SPOOL_CHUNK_HEAD_BYTES;
	}
	return NULL;
}

bool spool_cursor_next(struct spool_cursor *cursor, struct spool_record *ret_record)
{
	const struct record_header *header;

	while ((header = next_header(cursor))) {
		const struct found_chunk *chunk = &cursor->reader->chunks[cursor->chunk];
		uint64_t offset = chunk->offset + cursor->at;

		cursor->at += header->words * 8u;
		if (header->type >= RECORD_TYPE_COUNT)
			continue;
		if (header->type == RECORD_THREAD)
			cursor->tid = header->tag;
		*ret_record = (struct spool_record){
			.header = header,
			.type = (enum record_type)header->type,
			.bytes = header->words * 8u,
			.tid = cursor->tid,
			.writer = chunk->writer,
			.offset = offset,
		};
		return true;
	}
	return false;
}

/* ---- chunks ---- */

uint32_t spool_reader_chunk_count(const struct spool_reader *r)
{
	return (uint32_t)r->chunk_count;
}

uint32_t spool_reader_chunk_in_file(const struct spool_reader *r, uint32_t place)
{
	return r->file_order[place];
}

/* One step of chunks in the file's order, from PLACE on; 0 bytes if they do not lie side by side. */
static uint64_t step_at(const struct spool_reader *r, uint32_t place, uint64_t *ret_offset)
{
	uint32_t end = r->chunk_count - place < KEEP_CHUNKS ? (uint32_t)r->chunk_count
							    : place + KEEP_CHUNKS;
	uint64_t last = r->chunks[r->file_order[end - 1]].offset;

	*ret_offset = r->chunks[r->file_order[place]].offset;
	return last - *ret_offset == (uint64_t)(end - place - 1) * SPOOL_CHUNK_BYTES
		       ? last - *ret_offset + SPOOL_CHUNK_BYTES
		       : 0;
}

/* Maps the next step and gives back the one before. */
static void move_on(const struct spool_reader *r, uint32_t place)
{
	uint64_t offset, bytes;

	if (!r->mapping || place % KEEP_CHUNKS)
		return;
	if (place >= KEEP_CHUNKS) {
		bytes = step_at(r, place - KEEP_CHUNKS, &offset);
		give_back(r, offset, bytes);
	}
	if (place < r->chunk_count) {
		bytes = step_at(r, place, &offset);
		map_ahead(r, offset, bytes);
	}
}

bool spool_reader_next_chunk(const struct spool_reader *r, uint32_t *place, uint32_t *ret_chunk)
{
	move_on(r, *place);
	if (*place == r->chunk_count)
		return false;
	*ret_chunk = r->file_order[(*place)++];
	return true;
}

void spool_reader_stretch(const struct spool_reader *r, uint32_t chunk,
			  struct spool_stretch *ret_stretch)
{
	const struct found_chunk *found = &r->chunks[chunk];
	const struct spool_chunk *at = chunk_at(r, found->offset);

	*ret_stretch = (struct spool_stretch){
		.writer = found->writer,
		.types = found->types,
		.records = at->records,
		.bytes = found->end ? found->end - SPOOL_CHUNK_HEAD_BYTES : 0,
	};
}

void spool_reader_forget(const struct spool_reader *r, uint32_t chunk)
{
	give_back(r, r->chunks[chunk].offset, SPOOL_CHUNK_BYTES);
}
